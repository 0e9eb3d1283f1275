"""Log likelihood averaged over Gaussian errors of the latent values, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relvec._typing import Vector
from relvec.likelihoods.base import BoundLikelihood

__all__ = ["AveragedLikelihood"]


@dataclass(frozen=True)
class AveragedLikelihood(BoundLikelihood):
    """Log likelihood of another one, averaged over ``N(0, deviation^2)`` errors of each row.

    The average of a function of ``f + e`` has the averaged derivatives, so a likelihood that is
    concave in ``f`` stays so. The trapezoidal rule on evenly spaced nodes converges exponentially.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import NegativeBinomial
    >>> bound = NegativeBinomial(2.0).bind([3])
    >>> averaged = bound.averaged_over(np.array([0.5]))
    >>> f = np.zeros(1)
    >>> draws = bound.log_density(np.random.default_rng(0).normal(0.0, 0.5**0.5, 100_000))
    >>> bool(np.abs(averaged.log_density(f) - draws.mean()) < 0.02)
    True
    """

    inner: BoundLikelihood | None = None
    """The likelihood that is averaged."""
    deviation: Vector | float = 0.0
    """Standard deviation of the errors of each row."""

    def _average(self, function: Callable[[Vector], Vector], f: Vector) -> Vector:
        nodes = np.linspace(-6.0, 6.0, 49)  # the normal density is below 1e-8 outside
        weights = np.exp(-0.5 * nodes**2)
        weights /= weights.sum()
        total: Vector = np.zeros(len(f))
        for node, weight in zip(nodes, weights, strict=True):
            total += weight * function(f + node * self.deviation)
        return total

    @property
    def _inner(self) -> BoundLikelihood:
        assert self.inner is not None
        return self.inner

    def log_density(self, f: Vector) -> Vector:
        """Return the averaged log density of each row."""
        return self._average(self._inner.log_density, f)

    def slope(self, f: Vector) -> Vector:
        """Return the averaged slope."""
        return self._average(self._inner.slope, f)

    def curvature(self, f: Vector) -> Vector:
        """Return the averaged curvature."""
        return self._average(self._inner.curvature, f)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return the averaged slope of the curvature."""
        return self._average(self._inner.curvature_slope, f)
