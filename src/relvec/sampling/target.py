"""The collapsed posterior of a model: weights and noise variance are integrated out.

With unit-norm atoms ``Phi``, weights ``w_i ~ N(0, sigma^2 / d_i)`` and ``H = G_aa + D`` of the
active atoms ``a``, the likelihood of the set of atoms and their precisions is, up to a constant,

    log p(t | a, d) = sum_i log(d_i) / 2 - log|H| / 2 - nu log E,
    E = rate + (t't - b'H^-1 b) / 2,

with ``b = Phi_a't``, ``nu = shape + N / 2`` and a prior ``IG(shape, rate)`` of the noise variance.
Where the noise variance is known, ``- nu log E`` is replaced by ``-E / sigma^2``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.moments.base import Moments
from relvec.sampling.priors import SizePrior

__all__ = ["KnownNoise", "NoiseDensity", "Target", "UnknownNoise"]


LARGEST_GAIN = 600.0
"""Gain in nats up to which its exponential, and sums of them, are finite numbers."""


class NoiseDensity(ABC):
    """How the likelihood depends on the residual sum of squares, given what is known of the noise.

    ``error`` is ``E`` above.
    """

    @abstractmethod
    def log_likelihood(self, error: float) -> float:
        """Return the part of the log likelihood that depends on `error`."""

    @abstractmethod
    def gains(self, total: Matrix, quality: Vector, error: float | Vector) -> Matrix:
        """Return the gain of each atom by the residual sum of squares that it explains, in nats.

        The gain in log likelihood is larger by ``log(d / (d + s)) / 2``, which does not depend on
        the noise.

        Parameters
        ----------
        total : ndarray of shape (n_levels, n_atoms)
            ``d + s`` of each precision and atom, given the others in the model.
        quality : ndarray of shape (n_atoms,)
            ``q`` of each atom.
        error : float or ndarray of shape (n_atoms,)
            ``E`` of the model without the atom.

        Returns
        -------
        gains : ndarray of shape (n_levels, n_atoms)
        """

    @abstractmethod
    def estimate(self, error: float) -> float:
        """Return the order of magnitude of the noise variance."""

    @abstractmethod
    def draw(self, error: float, rng: np.random.Generator) -> float:
        """Draw the noise variance."""


@dataclass(frozen=True)
class UnknownNoise(NoiseDensity):
    """Noise variance with an inverse Gamma prior, integrated out."""

    shape: float
    """``nu``: shape of the prior plus half the number of observations."""

    def log_likelihood(self, error: float) -> float:
        """Return ``-nu log E``."""
        return -self.shape * math.log(error)

    def gains(self, total: Matrix, quality: Vector, error: float | Vector) -> Matrix:
        """Return ``-nu log(1 - q^2 / (2 (d + s) E))``."""
        # E falls by q^2 / (2 (d + s)). The share that is left is positive; the bound is for
        # rounding errors of models that explain the target to the last digit.
        left = (0.5 * quality * quality / error) / total
        np.subtract(1.0, left, out=left)
        np.maximum(left, 1e-14, out=left)
        np.log(left, out=left)
        left *= -self.shape
        return left

    def estimate(self, error: float) -> float:
        """Return ``E / nu``."""
        return error / self.shape

    def draw(self, error: float, rng: np.random.Generator) -> float:
        """Draw from the inverse Gamma distribution with shape ``nu`` and rate ``E``."""
        return error / float(rng.standard_gamma(self.shape))


@dataclass(frozen=True)
class KnownNoise(NoiseDensity):
    """Noise of a known variance ``sigma^2``."""

    variance: float = 1.0

    def log_likelihood(self, error: float) -> float:
        """Return ``-E / sigma^2 = -(t't - b'H^-1 b) / (2 sigma^2)``."""
        return -error / self.variance

    def gains(self, total: Matrix, quality: Vector, error: float | Vector) -> Matrix:
        """Return ``q^2 / (2 sigma^2 (d + s))``."""
        gain: Matrix = (0.5 * quality * quality / self.variance) / total
        return gain

    def estimate(self, error: float) -> float:
        """Return the variance."""
        return self.variance

    def draw(self, error: float, rng: np.random.Generator) -> float:
        """Return the variance."""
        return self.variance


@dataclass(frozen=True, eq=False)
class Target:
    """Posterior over sets of atoms and their precisions: moments of the data, and priors."""

    moments: Moments
    precision: Vector
    """Values of the grid of precisions, equally probable."""
    size_prior: SizePrior
    noise: NoiseDensity
    rate: float
    """Rate of the inverse Gamma prior of the noise variance; zero for known noise."""
    diagonal: Vector
    """Squared norm of every atom; zero if it is not usable."""
    movable: BoolArray
    """Atoms that may enter and leave; others are never in the model, or `fixed`."""
    fixed: Vector
    """Precisions of atoms that are always in the model: the first ones of every state, which are
    the last atoms of the moments."""
    power: float = 1.0
    """Power of the likelihood: less than one for the hotter chains of parallel tempering."""

    @cached_property
    def n_movable(self) -> int:
        """Number of atoms that may be in the model."""
        return int(np.count_nonzero(self.movable))

    @property
    def fixed_atoms(self) -> IndexArray:
        """Atoms that are always in the model."""
        n_atoms = len(self.movable)
        return np.arange(n_atoms - len(self.fixed), n_atoms)

    @cached_property
    def immovable(self) -> IndexArray:
        """Atoms that are never in the model, or always."""
        return np.flatnonzero(~self.movable)

    def weigh(
        self, sparsity: Vector, quality: Vector, error: float | Vector
    ) -> tuple[Vector, Matrix]:
        """Return the log Bayes factor of each atom, and the probabilities of its precisions.

        The Bayes factor compares the models with and without it, averaged over the grid; the
        probabilities, of shape (n_levels, n_atoms), are not normalised.
        """
        d = self.precision[:, np.newaxis]
        total = d + sparsity
        gains = self.noise.gains(total, quality, error)
        shrinkage = np.divide(d, total, out=total)
        np.sqrt(shrinkage, out=shrinkage)
        if self.power != 1.0:
            gains *= self.power
            shrinkage **= self.power
        # gains are not negative, so that only large ones need a shift
        largest = gains.max(axis=0) if gains.max(initial=0.0) > LARGEST_GAIN else None
        if largest is not None:
            gains -= largest
        shares = np.exp(gains, out=gains)
        shares *= shrinkage
        factor = np.log(shares.sum(axis=0))
        if largest is not None:
            factor += largest
        factor -= math.log(len(self.precision))
        return factor, shares
