"""Priors that give every log precision a density of its own: the place to add one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from relvec._typing import Vector
from relvec.priors.base import BoundPrior, GroupLabels, InverseGamma, Prior, Statistics


class SeparablePrior(Prior):
    """A prior that is a product of one density per atom: derive from this to add your own.

    The log density is a function of ``log lam``, the log precision of the weight of a unit-norm
    atom in units of the noise, which makes the model independent of the units of atoms and target.
    It is taken over the prior standard deviation ``lam^(-1/2)`` of the weight, relative to a
    deviation of zero, an absent atom; over ``log lam`` itself, with the factor ``lam^(-1/2)`` of
    that change of variables, absent atoms would have no density to compare with. So it must tend
    to zero for ``log lam`` to infinity, and must not rise as fast as ``lam^(-1/2)`` for ``log lam``
    to minus infinity. All three methods work elementwise on arrays of any shape; the best
    precision of an atom is found by a search. Run `relvec.testing.check_prior` on it.

    Parameters
    ----------
    noise : InverseGamma, optional
        Density of the noise variance; flat in its logarithm by default.

    Examples
    --------
    A half-Cauchy density of the prior standard deviation of each weight:

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
        """Log density at each log precision, relative to that of an absent atom."""

    @abstractmethod
    def slope(self, log_lam: Vector) -> Vector:
        """Derivative of `log_density`."""

    @abstractmethod
    def curvature(self, log_lam: Vector) -> Vector:
        """Second derivative of `log_density`."""

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior of particular atoms."""
        return BoundSeparable(self)


class BoundSeparable(BoundPrior):
    """A density of every log precision, the best of which is searched for.

    Parameters
    ----------
    prior : SeparablePrior
        The density.
    """

    has_density = True

    def __init__(self, prior: SeparablePrior) -> None:
        super().__init__(prior.noise)
        self.prior = prior

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Log density of each log precision, relative to that of an absent atom."""
        return self.prior.log_density(log_lam)

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        return self.prior.slope(log_lam), self.prior.curvature(log_lam)

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best precision of one atom, by a search."""
        return search_best_precision(self, known, n_effective, noise_variance)


def search_best_precision(
    prior: BoundPrior, known: Statistics, n_effective: float, noise_variance: float | None
) -> tuple[Vector, Vector]:
    """Best precision and gain of one atom under any density: a grid, then bisection of the slope.

    See `BoundPrior.best_precision`. The grid has three points per decade, which resolves every
    density that is smooth on that scale; bisection is exact to rounding.
    """
    shape = np.broadcast_shapes(np.shape(known.s), np.shape(known.quadratic))
    s, q = np.broadcast_to(known.s, shape), np.broadcast_to(known.q, shape)
    w = np.broadcast_to(0.0 if known.w is None else known.w, shape)
    grid = np.linspace(-30.0, 30.0, 81)
    with np.errstate(all="ignore"):

        def gain(theta: Vector) -> Vector:
            lam = np.exp(theta)
            x = lam + s
            if noise_variance is None:
                fit = n_effective * np.log1p(-known.explained / x)
            else:
                fit = -q * q / (noise_variance * x)
            value: Vector = -0.5 * (fit + np.log1p(s / lam)) - w / x
            return value + prior.log_density(theta, noise_variance)

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
        for at in grid:
            here = gain(np.full(shape, at))
            better = here > best
            best, theta = np.where(better, here, best), np.where(better, at, theta)
        low, high = theta - (grid[1] - grid[0]), theta + (grid[1] - grid[0])
        for _ in range(60):
            middle = 0.5 * (low + high)
            rises = slope(middle) > 0.0
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        theta = 0.5 * (low + high)
        best = gain(theta)
    # A maximum at the far end of the grid is an atom that is better left out.
    found = np.isfinite(best) & (theta < grid[-1])
    return np.where(found, best, -np.inf), np.exp(theta)
