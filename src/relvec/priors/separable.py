"""Separable priors: one density per log precision. Derive from `SeparablePrior` to add one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from relvec._typing import Vector
from relvec.priors.base import BoundPrior, GroupLabels, InverseGamma, Prior, Statistics


class SeparablePrior(Prior):
    """Base class of priors that are a product of one density per atom (basis function).

    Implement three elementwise functions of ``log_lam``: the log density, its slope and its
    curvature. ``lam`` is the precision of the weight of a unit-norm atom in units of the noise
    precision, which makes the model independent of the units of atoms and target. The best
    precision of an atom is found by a one-dimensional search. Run `relvec.testing.check_prior` on
    the class.

    The density is that of the prior standard deviation ``lam^(-1/2)`` of the weight, relative to a
    standard deviation of zero, at which the atom is absent. (A density of ``log lam`` would have a
    further factor ``lam^(-1/2)``, and zero density for absent atoms.) The log density must
    therefore tend to zero as ``log_lam`` tends to infinity. As ``log_lam`` tends to minus infinity
    it must grow more slowly than ``-log_lam / 2``, otherwise the objective has no maximum.

    Parameters
    ----------
    noise : InverseGamma, optional
        Prior of the noise variance; flat in its logarithm by default.

    Examples
    --------
    A half-Cauchy prior of the standard deviation of each weight:

    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> from relvec.priors import SeparablePrior
    >>> class HalfCauchy(SeparablePrior):
    ...     def __init__(self, scale=1.0, *, noise=None):
    ...         self.scale = scale
    ...         self.noise = noise
    ...
    ...     def log_density(self, log_lam):
    ...         return -np.log1p(np.exp(-log_lam) / self.scale**2)
    ...
    ...     def slope(self, log_lam):
    ...         return 1.0 / (1.0 + self.scale**2 * np.exp(log_lam))
    ...
    ...     def curvature(self, log_lam):
    ...         return -self.slope(log_lam) * (1.0 - self.slope(log_lam))
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=50)
    >>> SparseBayesRegressor(LinearBasis(), prior=HalfCauchy()).fit(X, y).relevance_
    array([0])
    """

    def __init__(self, *, noise: InverseGamma | None = None) -> None:
        self.noise = noise

    @abstractmethod
    def log_density(self, log_lam: Vector) -> Vector:
        """Return the log density at each log precision, relative to an absent atom."""

    @abstractmethod
    def slope(self, log_lam: Vector) -> Vector:
        """Return the first derivative of `log_density`."""

    @abstractmethod
    def curvature(self, log_lam: Vector) -> Vector:
        """Return the second derivative of `log_density`."""

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior for particular atoms."""
        return BoundSeparable(self)


class BoundSeparable(BoundPrior):
    """Separable prior bound to atoms.

    Parameters
    ----------
    prior : SeparablePrior
        The prior.
    """

    has_density = True

    def __init__(self, prior: SeparablePrior) -> None:
        super().__init__(prior.noise)
        self.prior = prior

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Return the log density of each log precision, relative to an absent atom."""
        return self.prior.log_density(log_lam)

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        return self.prior.slope(log_lam), self.prior.curvature(log_lam)

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Return the best precision of one atom and its gain, by a search."""
        return search_best_precision(self, known, n_effective, noise_variance)


def search_best_precision(
    prior: BoundPrior, known: Statistics, n_effective: float, noise_variance: float | None
) -> tuple[Vector, Vector]:
    """Find the best precision of one atom under any density: a grid, then bisection of the slope.

    See `BoundPrior.best_precision`. The grid has three points per decade, which resolves every
    density that is smooth on that scale; bisection is exact to rounding.
    """
    shape = np.broadcast_shapes(np.shape(known.s), np.shape(known.quadratic))
    s, q = np.broadcast_to(known.s, shape), np.broadcast_to(known.q, shape)
    w = np.broadcast_to(0.0 if known.w is None else known.w, shape)
    # lam is relative to a unit column and the noise: at e^30 the atom has no influence, at e^-30
    # its weight is not shrunk.
    grid = np.linspace(-30.0, 30.0, 81)
    with np.errstate(all="ignore"):
        # The change of the objective by an atom of log precision theta, with x = lam + s:
        # -(N log(1 - u / x) + log(1 + s / lam)) / 2 - w / x + h(theta), noise profiled out;
        # -(-q^2 / (sigma^2 x) + log(1 + s / lam)) / 2 - w / x + h(theta), noise held.
        def gain(theta: Vector) -> Vector:
            lam = np.exp(theta)
            x = lam + s
            if noise_variance is None:
                fit = n_effective * np.log1p(-known.explained / x)
            else:
                fit = -q * q / (noise_variance * x)
            value: Vector = -0.5 * (fit + np.log1p(s / lam)) - w / x
            return value + prior.log_density(theta, noise_variance)

        # Its derivative with respect to theta.
        def slope(theta: Vector) -> Vector:
            lam = np.exp(theta)
            x = lam + s
            if noise_variance is None:
                u = known.explained
                fit = n_effective * u * lam / (x * (x - u))
            else:
                fit = q * q * lam / (noise_variance * x * x)
            value: Vector = 0.5 * (s / x - fit) + w * lam / (x * x)
            return value + prior.derivatives(theta, noise_variance)[0]

        best = np.full(shape, -np.inf)
        theta = np.full(shape, grid[-1])
        for log_lam in grid:
            value_there = gain(np.full(shape, log_lam))
            better = value_there > best
            best = np.where(better, value_there, best)
            theta = np.where(better, log_lam, theta)
        # The best grid point is not lower than its neighbours, so the slope changes sign between
        # them. Bisection of the slope is accurate to rounding; comparing values near a flat maximum
        # would be accurate to its square root only.
        low, high = theta - (grid[1] - grid[0]), theta + (grid[1] - grid[0])
        for _ in range(60):
            middle = 0.5 * (low + high)
            rises = slope(middle) > 0.0
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        theta = 0.5 * (low + high)
        best = gain(theta)
    # A maximum at the upper end of the grid means that the best precision is infinite.
    found = np.isfinite(best) & (theta < grid[-1])
    return np.where(found, best, -np.inf), np.exp(theta)
