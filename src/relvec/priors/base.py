"""What is believed of the precisions before seeing the data, and what solvers ask of it.

A `Prior` is a recipe: parameters only. `Prior.bind` makes a `BoundPrior` of it, for a number of
samples and some atoms, and that is what a solver sees. To the log evidence it adds::

    - sum_i c_i gamma_i  +  sum_i h(log lam_i)  -  shape log(sigma^2) - rate / sigma^2

where ``gamma_i = 1 - lam_i S_ii`` are effective degrees of freedom, ``c_i`` is the penalty on each,
``h`` the log density of a log precision (zero at infinity, where the atom is absent), and the rest
the density of the noise variance. ``lam = alpha sigma^2`` are precisions of the weights of
unit-norm atoms in units of the noise, see `relvec.moments.base`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_positive
from relvec._typing import BoolArray, IndexArray, Vector

GroupLabels = Callable[[str], IndexArray]
"""Tells the group of every atom, by "level" or by "part"; see `relvec.bases.BoundBasis.groups`."""


class InverseGamma(BaseEstimator):
    """Inverse Gamma density of the noise variance: a Gamma density of its precision.

    It adds ``-shape * log(sigma^2) - rate / sigma^2`` to the log evidence, the density over
    ``log(sigma^2)``. Every prior takes one as its parameter `noise`.

    Parameters
    ----------
    shape, rate : float, default=0.0
        As if ``2 shape`` further observations had shown a sum of squares of ``2 rate``. The mode,
        in log variance, is ``rate / shape``.

    Examples
    --------
    >>> from relvec.priors import FlatPrior, InverseGamma
    >>> FlatPrior(noise=InverseGamma(shape=2.0, rate=0.5))
    FlatPrior(noise=InverseGamma(rate=0.5, shape=2.0))
    """

    def __init__(self, shape: float = 0.0, rate: float = 0.0) -> None:
        self.shape = shape
        self.rate = rate

    def checked(self) -> InverseGamma:
        """Return the density with numbers that are finite and not negative.

        Raises
        ------
        ValueError
            If they are not.
        """
        return InverseGamma(
            check_positive("shape of the noise", self.shape, allow_zero=True),
            check_positive("rate of the noise", self.rate, allow_zero=True),
        )

    def log_density(self, noise_variance: float) -> float:
        """Log density of the log variance, without its constant."""
        return float(-self.shape * np.log(noise_variance) - self.rate / noise_variance)


class RateHyperprior(NamedTuple):
    """Gamma density of the rate of a Laplace prior, which is then learnt.

    It adds ``(shape - 1) * log(rate) - inverse_scale * rate`` to the log evidence of the rate.

    Examples
    --------
    >>> from relvec.priors import LaplacePrior
    >>> LaplacePrior("auto").bind(100).rate_hyperprior
    RateHyperprior(shape=1.0, inverse_scale=0.1)
    """

    shape: float = 1.0
    inverse_scale: float = 0.1


class FixedPointTerms(NamedTuple):
    """How a density changes the fixed point of a precision, MacKay's or that of EM.

    The update is the positive root of ``(b + scale) x^2 - (a + constant) x - inverse`` in ``x =
    lam``, with ``a`` and ``b`` from the data: ``2 h'(log x) = constant - scale x + inverse / x``.
    """

    constant: Vector | float = 0.0
    scale: Vector | float = 0.0
    inverse: Vector | float = 0.0


class Statistics(NamedTuple):
    """What the model without an atom says of that atom, for some atoms.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.priors import BoundFlat, Statistics
    >>> gain, lam = BoundFlat().best_precision(Statistics(np.ones(1), np.full(1, 3.0)), 50.0, 1.0)
    >>> lam
    array([0.125])
    """

    s: Vector
    """Sparsity ``phi' K^-1 phi``."""
    q: Vector
    """Quality ``phi' K^-1 t``."""
    w: Vector | None = None
    """An atom of precision ``lam`` adds ``w / (lam + s)`` to the penalty; ``c phi' K^-2 phi`` for
    one number ``c``. Negative where an atom displaces others with larger penalties. None without
    penalties."""
    quadratic: Vector | float = 0.0
    """``R = t' K^-1 t``; not asked for if the noise is held."""

    def subset(self, atoms: IndexArray) -> Statistics:
        """Return those of some of the atoms, ``R`` being the same for all."""
        w = None if self.w is None else self.w[atoms]
        return Statistics(self.s[atoms], self.q[atoms], w, self.quadratic)

    @property
    def explained(self) -> Vector:
        """``u = q^2 / R``, less than ``s`` always: rounding must not make an atom explain more."""
        return np.minimum(self.q * self.q / self.quadratic, self.s * (1.0 - 1e-14))


class BoundPrior(ABC):
    """The prior of particular atoms: what solvers ask.

    Arrays have one entry per atom, or any shape that broadcasts against those of the atoms.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.priors import SmoothnessPrior, Statistics
    >>> bound = SmoothnessPrior("bic").bind(n_samples=100)
    >>> round(bound.penalty, 2)
    2.3
    >>> atom = Statistics(np.ones(1), np.full(1, 9.0), np.full(1, 2.3), 100.0)
    >>> gain, lam = bound.best_precision(atom, 100.0, 1.0)
    >>> gain.round(1)
    array([35.5])
    """

    penalty: float | Vector = 0.0
    """``c`` of each effective degree of freedom: one number, or one per atom."""
    is_penalised: bool = False
    """Whether any penalty is positive."""
    has_density: bool = False
    """Whether log precisions have a density ``h`` besides the penalty."""
    is_removable: bool = True
    """Whether an infinite precision, an atom that is absent, has a density to compare with."""
    rate: float = 0.0
    """Of a Laplace prior."""
    rate_hyperprior: RateHyperprior | None = None
    """Density of the rate of a Laplace prior, if that is to be learnt."""

    def __init__(self, noise: InverseGamma | None = None) -> None:
        if not (noise is None or isinstance(noise, InverseGamma)):
            raise TypeError(f"noise must be an InverseGamma or None; got {noise!r}.")
        self.noise = InverseGamma() if noise is None else noise.checked()

    def subset(self, atoms: IndexArray) -> Self:
        """Return the prior of some of the atoms."""
        return self

    def with_rate(self, rate: float) -> Self:
        """Return the prior at another rate; itself if it has none."""
        return self

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Log density ``h`` of each log precision, relative to that of an absent atom."""
        return np.zeros(np.shape(log_lam))

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        zero = np.zeros(np.shape(log_lam))
        return zero, zero

    @abstractmethod
    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best ``lam`` of one atom, all others fixed, and what it gains over leaving it out.

        Parameters
        ----------
        known : Statistics
            Of the atom in the model without it.
        n_effective, noise_variance
            ``N`` and the held noise; None when the noise is profiled out, in which case the optimum
            is joint with the noise.

        Returns
        -------
        gain : ndarray
            Change of the objective; minus infinity where the best ``lam`` is infinite.
        lam : ndarray
            The maximiser; meaningless where the gain is minus infinity.
        """

    def has_no_gain(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> BoolArray:
        """Tell which atoms the model is better without, whatever their precision."""
        hopeless: BoolArray = ~(self.best_precision(known, n_effective, noise_variance)[0] > 0.0)
        return hopeless

    def entry_ratio(self, known: Statistics, noise_variance: float) -> Vector:
        """Rank absent atoms, also those that would not gain.

        With the noise held an atom gains where this exceeds one, except under a density that has
        to be looked at in more detail.
        """
        ratio = known.q * known.q / noise_variance
        return (ratio if known.w is None else ratio - 2.0 * known.w) / known.s

    def noise_pseudo_observations(self, lam: Vector) -> tuple[float, float]:
        """What the prior says of the noise: as so many observations with that sum of squares."""
        return 2.0 * self.noise.shape, 2.0 * self.noise.rate

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return what the density adds to fixed points of the precisions."""
        if not self.has_density:
            return FixedPointTerms()
        slope = 2.0 * self.derivatives(log_lam, noise_variance)[0]
        return FixedPointTerms(np.maximum(slope, 0.0), np.maximum(-slope, 0.0) * np.exp(-log_lam))


class Prior(BaseEstimator, ABC):
    """A recipe for a density over the precisions of the weights and of the noise.

    See Also
    --------
    SeparablePrior : Derive from this one to add a density of your own.

    Examples
    --------
    >>> import math
    >>> from relvec.priors import BoundSmoothness, Prior
    >>> class HalfBic(Prior):
    ...     def bind(self, n_samples, column_norm=None, groups=None):
    ...         return BoundSmoothness(0.25 * math.log(n_samples))
    >>> round(HalfBic().bind(100).penalty, 2)
    1.15
    """

    noise: InverseGamma | None = None
    keeps_all_atoms: bool = False
    """Whether no atom can be absent: an infinite precision has no density to compare with."""

    @abstractmethod
    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior of particular atoms.

        Parameters
        ----------
        n_samples : float
            Observations, by which information criteria count.
        column_norm : ndarray of shape (n_atoms,), optional
            Norms of the atoms: by them raw precisions differ from those of unit-norm atoms. One,
            unless given.
        groups : callable, optional
            Tells the group of every atom, by "level" or by "part".
        """
