"""What every prior provides: the protocols of `Prior` and `BoundPrior`.

A `Prior` holds parameters only. `Prior.bind` returns a `BoundPrior` for a number of samples and
particular atoms; solvers work with that. The objective of a solver is the log evidence plus::

    - sum_i c_i gamma_i  +  sum_i h(log lam_i)  -  shape log(sigma^2) - rate / sigma^2

with

- ``lam_i = alpha_i sigma^2``: weight precisions of unit-norm atoms in units of the noise precision
  (see `relvec.moments.base`);
- ``gamma_i = 1 - lam_i S_ii``: effective degrees of freedom of the atom (the well-determinedness of
  MacKay 1992; Tipping 2001, eq. 17), and ``c_i`` the penalty on each (Schmolck & Everson 2007);
- ``h``: the log density of a log precision, relative to an absent atom (``lam`` infinite), for
  which it is zero;
- the last two terms: the log density of ``log sigma^2`` (`InverseGamma`).
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
"""Function that returns the group label of every atom, by "level" or by "part"; see
`relvec.bases.BoundBasis.groups`."""


class InverseGamma(BaseEstimator):
    """Inverse Gamma prior of the noise variance, that is a Gamma prior of the noise precision.

    It adds ``-shape * log(sigma^2) - rate / sigma^2`` to the objective: the log density of
    ``log(sigma^2)`` (Tipping 2001, eqs. 6 and 36, with ``c = shape`` and ``d = rate``). Every prior
    takes one as its parameter `noise`.

    Parameters
    ----------
    shape, rate : float, default=0.0
        Equivalent to ``2 shape`` further observations with a residual sum of squares of ``2 rate``.
        The mode of the density of ``log(sigma^2)`` is at ``sigma^2 = rate / shape``.

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
        """Return the prior with its parameters as floats.

        Raises
        ------
        ValueError
            If a parameter is negative or not finite.
        """
        return InverseGamma(
            check_positive("shape of the noise", self.shape, allow_zero=True),
            check_positive("rate of the noise", self.rate, allow_zero=True),
        )

    def log_density(self, noise_variance: float) -> float:
        """Return the log density of the log variance, without its constant."""
        # Gamma(shape, rate) of the precision 1 / sigma^2, as a density of its logarithm: exponent
        # shape, not shape - 1 (Tipping 2001, appendix A).
        return float(-self.shape * np.log(noise_variance) - self.rate / noise_variance)


class RateHyperprior(NamedTuple):
    """Gamma hyperprior of the rate of a Laplace prior, if the rate is learnt.

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
    """Terms that the density ``h`` adds to a fixed-point update of a precision.

    Without a prior the update is ``lam = a / b``: MacKay's has ``a = gamma_i``, ``b = mu_i^2 /
    sigma^2``, EM's has ``a = 1``, ``b = mu_i^2 / sigma^2 + S_ii`` (Tipping 2001, eqs. 44 and 43).
    With ``2 h'(log x) = constant - scale x + inverse / x`` it becomes the positive root ``x`` of
    ``(b + scale) x^2 - (a + constant) x - inverse = 0``.
    """

    constant: Vector | float = 0.0
    scale: Vector | float = 0.0
    inverse: Vector | float = 0.0


class Statistics(NamedTuple):
    """Sparsity and quality factors of atoms (Tipping & Faul 2003, section 3), one entry per atom.

    They describe each atom in the model *without* it. With ``phi`` the unit-norm atom, ``t`` the
    target and ``K = I + Phi Lam^-1 Phi'`` the covariance of the target in units of the noise
    variance, without the atom, an atom of precision ``lam`` changes the log evidence by
    ``(q^2 / (sigma^2 (lam + s)) - log(1 + s / lam)) / 2`` if the noise variance is held.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.priors import BoundFlat, Statistics
    >>> gain, lam = BoundFlat().best_precision(Statistics(np.ones(1), np.full(1, 3.0)), 50.0, 1.0)
    >>> lam
    array([0.125])
    """

    s: Vector
    """Sparsity factor ``phi' K^-1 phi``."""
    q: Vector
    """Quality factor ``phi' K^-1 t``."""
    w: Vector | None = None
    """Penalty factor: an atom of precision ``lam`` adds ``w / (lam + s)`` to the penalty on degrees
    of freedom. It is ``c phi' K^-2 phi`` if all atoms have the penalty ``c``. It is negative where
    an atom takes degrees of freedom from others with larger penalties. None without penalties."""
    quadratic: Vector | float = 0.0
    """``R = t' K^-1 t``; not used if the noise variance is held."""

    def subset(self, atoms: IndexArray) -> Statistics:
        """Return the statistics of the atoms at positions `atoms`; ``R`` is shared by all."""
        w = None if self.w is None else self.w[atoms]
        return Statistics(self.s[atoms], self.q[atoms], w, self.quadratic)

    @property
    def explained(self) -> Vector:
        """``u = q^2 / R``, bounded below ``s``: by Cauchy-Schwarz ``u <= s``, up to rounding."""
        # u = s would make log(1 - u / x) diverge as lam tends to zero: the target would be fitted
        # without residual.
        return np.minimum(self.q * self.q / self.quadratic, self.s * (1.0 - 1e-14))


class BoundPrior(ABC):
    """Base class of priors bound to atoms: the terms of the objective and their derivatives.

    Subclasses implement `best_precision`; those with a density also set `has_density` and implement
    `log_density` and `derivatives`. Arrays have one entry per atom, or any shape that broadcasts
    with that. `SeparablePrior` does all this for a density you write down.

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
    """Penalty ``c`` per effective degree of freedom: one number, or one per atom."""
    is_penalised: bool = False
    """Whether any penalty is positive."""
    has_density: bool = False
    """Whether log precisions have a density ``h``."""
    is_removable: bool = True
    """Whether atoms can be absent: an infinite precision has positive density."""
    rate: float = 0.0
    """Rate of a Laplace prior; zero for others."""
    rate_hyperprior: RateHyperprior | None = None
    """Hyperprior of the rate of a Laplace prior, if the rate is to be learnt."""

    def __init__(self, noise: InverseGamma | None = None) -> None:
        if not (noise is None or isinstance(noise, InverseGamma)):
            raise TypeError(f"noise must be an InverseGamma or None; got {noise!r}.")
        self.noise = InverseGamma() if noise is None else noise.checked()

    def subset(self, atoms: IndexArray) -> Self:
        """Return the prior of the atoms at positions `atoms`."""
        return self

    def with_rate(self, rate: float) -> Self:
        """Return the Laplace prior with another rate; other priors return themselves."""
        return self

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Return the log density ``h`` of each log precision, relative to an absent atom.

        `noise_variance` is None when the noise is profiled out; priors whose density depends on the
        noise need a number.
        """
        return np.zeros(np.shape(log_lam))

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        zero = np.zeros(np.shape(log_lam))
        return zero, zero

    @abstractmethod
    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Return the precision that maximises the objective in one atom, all others fixed.

        Parameters
        ----------
        known : Statistics
            Statistics of each atom in the model without it.
        n_effective : float
            Number of observations ``N``, less one with an intercept.
        noise_variance : float or None
            The noise variance if it is held. None if it is profiled out: the maximum is then joint
            over the precision and the noise variance.

        Returns
        -------
        gain : ndarray
            Change of the objective compared with the atom left out; minus infinity where the best
            precision is infinite.
        lam : ndarray
            The maximiser; undefined where the gain is minus infinity.
        """

    def has_no_gain(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> BoolArray:
        """Return which atoms do not raise the objective at any precision.

        Equivalent to ``gain <= 0`` of `best_precision`; override it if that is cheaper to decide.
        """
        no_gain: BoolArray = ~(self.best_precision(known, n_effective, noise_variance)[0] > 0.0)
        return no_gain

    def entry_ratio(self, known: Statistics, noise_variance: float) -> Vector:
        """Return a score that ranks absent atoms, including those that would not gain.

        It is ``q^2 / (sigma^2 s)`` under the flat prior. With the noise held, an atom gains if and
        only if the score exceeds one; under a general density it is only a heuristic.
        """
        # The penalty w / (lam + s) has the same dependence on lam as -q^2 / (2 sigma^2 (lam + s)),
        # so that with the noise held q^2 / sigma^2 - 2 w replaces q^2 / sigma^2.
        ratio = known.q * known.q / noise_variance
        return (ratio if known.w is None else ratio - 2.0 * known.w) / known.s

    def noise_pseudo_observations(self, lam: Vector) -> tuple[float, float]:
        """Return the prior of the noise as pseudo-observations: their number and sum of squares."""
        # -2 log p(sigma^2) = 2 shape log(sigma^2) + 2 rate / sigma^2 has the form of N log(sigma^2)
        # + R / sigma^2.
        return 2.0 * self.noise.shape, 2.0 * self.noise.rate

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return the terms that the density adds to fixed-point updates of the precisions.

        By default the derivative of ``h`` at the present precision, split by sign so that the root
        stays positive.
        """
        if not self.has_density:
            return FixedPointTerms()
        # A positive 2 h' goes to the numerator, a negative one to the denominator, where it is
        # scale x with scale = -2 h' / lam at the present precision: the fixed point is the same,
        # and the update stays positive.
        slope = 2.0 * self.derivatives(log_lam, noise_variance)[0]
        return FixedPointTerms(np.maximum(slope, 0.0), np.maximum(-slope, 0.0) * np.exp(-log_lam))


class Prior(BaseEstimator, ABC):
    """Base class of priors over weight precisions and noise variance: parameters only, cloneable.

    Subclasses implement `bind`. Run `relvec.testing.check_prior` on a new prior.

    See Also
    --------
    SeparablePrior : Base class for a density of your own.

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
    """Prior of the noise variance; None is flat in its logarithm."""
    keeps_all_atoms: bool = False
    """Whether no atom can be absent, because an infinite precision has zero density."""

    @abstractmethod
    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior for particular atoms.

        Parameters
        ----------
        n_samples : float
            Number of observations (sum of the sample weights), for information criteria.
        column_norm : ndarray of shape (n_atoms,), optional
            Norms of the raw atoms, for priors on raw precisions: these are ``norm^2`` times those
            of unit-norm atoms. Default, one.
        groups : callable, optional
            Function that returns the group label of every atom, by "level" or by "part".

        Returns
        -------
        bound : BoundPrior
        """
