"""Likelihoods that are Gaussian in the latent function, given auxiliary variables.

An augmentation multiplies ``p(t | f)`` by the density of auxiliary variables such that, given them,
the likelihood of the latent function ``f_k`` is ``prod_n N(kappa_n / omega_n | f_nk, 1 / omega_n)``
up to a constant. Weights and models are then sampled as in a regression with row precisions
``omega`` and linear terms ``kappa`` (`relvec.sampling.augmented`).

There is no such exact augmentation of the Poisson likelihood. A negative binomial likelihood with a
large shape, say 1000, is close to it (`relvec.sampling.count_augmentation`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import check_classes, check_rows
from relvec.likelihoods.softmax import log_sum_exp
from relvec.sampling.polya_gamma import sample_polya_gamma
from relvec.sampling.priors import PrecisionGrid
from relvec.sampling.target import KnownNoise, NoiseDensity

__all__ = ["Augmentation", "BernoulliAugmentation", "SoftmaxAugmentation", "WorkingRows"]


class WorkingRows(NamedTuple):
    """Rows of a working regression: one draw of the auxiliary variables."""

    precision: Vector
    """``omega``, in units of the noise variance."""
    linear: Vector
    """``kappa``: the working response is ``kappa / omega``."""

    @property
    def target_ss(self) -> float:
        """``sum_n kappa_n^2 / omega_n``; rows without weight contribute nothing."""
        used = self.precision > 0.0
        return float((self.linear[used] ** 2 / self.precision[used]).sum())


class Augmentation(ABC):
    """Targets with a likelihood that has an exact augmentation.

    A new one sets the attributes, implements `augment` and `log_density`, and, if the likelihood
    has parameters, `init_parameters` and `update_parameters`.

    Notes
    -----
    A sweep first updates the parameters with the auxiliary variables integrated out, then draws
    the auxiliary variables given the new parameters: in this order, the two are a draw from their
    joint conditional distribution (a blocked update). In the other order the auxiliary variables
    would be those of the old parameters, and the chain would have another stationary distribution
    (van Dyk & Park 2008, "Partially collapsed Gibbs samplers").
    """

    target: Vector
    """Observed targets."""
    weight: Vector
    """Frequency weights of the rows."""
    n_latent: int = 1
    """Number of latent functions."""
    intercept_precision: float
    """Prior precision of the constant of each latent function, in units of the noise variance."""
    grid: PrecisionGrid
    """Precisions of the other atoms, if the sampler is given none."""
    noise: NoiseDensity = KnownNoise(1.0)
    """Density of the working regression given its residual sum of squares."""
    rate: float = 0.0
    """Rate of the inverse Gamma prior of the noise variance; zero if there is none."""
    first_noise: float = 1.0
    """Noise variance of the first state."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    def init_parameters(self, rng: np.random.Generator) -> Vector:
        """Draw own parameters to start from."""
        return np.empty(0)

    def update_parameters(
        self, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> Vector:
        """Return new parameters given the latent functions, auxiliary variables integrated out."""
        return parameters

    @abstractmethod
    def augment(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> WorkingRows:
        """Draw auxiliary variables; return the working regression of latent function `k`.

        Parameters
        ----------
        k : int
            Number of the latent function.
        latent : ndarray of shape (n_rows, n_latent)
            Values of all latent functions, without offsets.
        noise : float
            Noise variance.
        parameters : ndarray of shape (n_parameters,)
            Own parameters.
        rng : numpy Generator
        """

    @abstractmethod
    def log_density(self, latent: Matrix, noise: float, parameters: Vector) -> float:
        """Return the log likelihood, plus the log prior of the parameters and of the noise."""


class BernoulliAugmentation(Augmentation):
    """Two classes with the logistic link (Polson, Scott & Windle 2013).

    With ``psi = f + offset`` and ``omega ~ PG(w, psi)``, the likelihood of a row,
    ``[exp(psi)^t / (1 + exp(psi))]^w``, is proportional to
    ``exp(w (t - 1/2) psi - omega psi^2 / 2)`` (their theorem 1).

    Parameters
    ----------
    target : array-like of shape (n_rows,)
        Classes, 0 and 1.
    sample_weight : array-like of shape (n_rows,), optional
        Frequency weights; the shape of the Pólya-Gamma variables. Fractions are allowed.
    offset : array-like of shape (n_rows,), optional
        Known part of the logit.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import BernoulliAugmentation
    >>> rows = BernoulliAugmentation([0, 1, 1], sample_weight=[1, 2, 0]).augment(
    ...     0, np.zeros((3, 1)), 1.0, np.empty(0), np.random.default_rng(0)
    ... )
    >>> rows.linear
    array([-0.5,  1. ,  0. ])
    """

    # Standard deviation 10: probabilities of a constant logit down to exp(-20).
    intercept_precision = 0.01

    def __init__(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        self.target, weight, offsets = check_rows(target, sample_weight, offset)
        check_classes(self.target, 2)
        self.weight = np.ones(self.n_rows) if weight is None else weight
        self.offset = np.zeros(self.n_rows) if offsets is None else offsets
        self.grid = PrecisionGrid(1.0 / 10.0**2, 1.0, n_levels=5)

    def augment(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> WorkingRows:
        """Draw Pólya-Gamma variables given the logits."""
        precision = sample_polya_gamma(self.weight, latent[:, 0] + self.offset, rng)
        linear = self.weight * (self.target - 0.5) - precision * self.offset
        return WorkingRows(precision, linear)

    def log_density(self, latent: Matrix, noise: float, parameters: Vector) -> float:
        """Return ``sum_n w_n (t_n psi_n - log(1 + exp(psi_n)))``."""
        psi = latent[:, 0] + self.offset
        return float(self.weight @ (self.target * psi - np.logaddexp(0.0, psi)))


class SoftmaxAugmentation(Augmentation):
    """Several classes, one latent function each.

    Given the others, the likelihood of ``psi_k`` is logistic in ``eta_k = psi_k - c_k`` with
    ``c_k = log sum_{j != k} exp psi_j`` (Holmes & Held 2006; Polson, Scott & Windle 2013): the
    latent functions are updated in turn, each with its own Pólya-Gamma variables. Classes are
    treated alike; the common part of the logits, which the likelihood does not see, has its prior.

    Parameters
    ----------
    target : array-like of shape (n_rows,)
        Classes, ``0, ..., n_classes - 1``.
    n_classes : int
        Number of classes.
    sample_weight : array-like of shape (n_rows,), optional
        Frequency weights.
    offset : array-like of shape (n_rows, n_classes), optional
        Known part of the logits.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import SoftmaxAugmentation
    >>> augmentation = SoftmaxAugmentation([0, 1, 2], 3)
    >>> round(augmentation.log_density(np.zeros((3, 3)), 1.0, np.empty(0)), 3)  # 3 log(1/3)
    -3.296
    """

    # Standard deviation 5 of each logit, 7 of a difference.
    intercept_precision = 0.04

    def __init__(
        self,
        target: ArrayLike,
        n_classes: int,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        self.n_latent = check_integer("n_classes", n_classes, minimum=2)
        self.target, weight, offsets = check_rows(target, sample_weight, offset, self.n_latent)
        self.classes = check_classes(self.target, self.n_latent)
        self.weight = np.ones(self.n_rows) if weight is None else weight
        self.offset = np.zeros((self.n_rows, self.n_latent)) if offsets is None else offsets
        self.grid = PrecisionGrid(1.0 / 10.0**2, 1.0, n_levels=5)

    def augment(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> WorkingRows:
        """Draw Pólya-Gamma variables given the logits, for class `k` against the others."""
        others = log_sum_exp(np.delete(latent + self.offset, k, axis=1))
        shift = self.offset[:, k] - others
        precision = sample_polya_gamma(self.weight, latent[:, k] + shift, rng)
        return WorkingRows(precision, self.weight * ((self.classes == k) - 0.5) - precision * shift)

    def log_density(self, latent: Matrix, noise: float, parameters: Vector) -> float:
        """Return the weighted sum of log probabilities of the observed classes."""
        psi = latent + self.offset
        own = psi[np.arange(self.n_rows), self.classes]
        return float(self.weight @ (own - log_sum_exp(psi)))
