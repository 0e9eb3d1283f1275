"""Predictive distributions that have no closed form: averages over a Gaussian latent value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from relvec._typing import ArrayLike, Matrix, Vector

__all__ = ["MixturePrediction"]


@dataclass(frozen=True)
class MixturePrediction:
    """Distributions of targets averaged over the nodes of a quadrature of the latent value."""

    distribution: Callable[[Matrix], Any]
    """Distribution of targets at latent values, as in `scipy.stats`."""
    centre: Vector
    deviation: Vector
    nodes: Matrix
    """Latent values, shape (n_rows, n_nodes)."""
    shares: Vector
    """Of the nodes."""

    @classmethod
    def over(
        cls,
        distribution: Callable[[Matrix], Any],
        mean: Vector,
        variance: Vector,
        n_nodes: int = 21,
    ) -> MixturePrediction:
        """Average over latent values of some mean and variance, by Gauss and Hermite's rule."""
        points, shares = np.polynomial.hermite_e.hermegauss(n_nodes)
        centre, deviation = np.asarray(mean, float), np.sqrt(np.asarray(variance, float))
        nodes = centre[:, None] + np.multiply.outer(deviation, points)
        return cls(distribution, centre, deviation, nodes, shares / shares.sum())

    @property
    def mean(self) -> Vector:
        """Expected target."""
        result: Vector = self.distribution(self.nodes).mean() @ self.shares
        return result

    @property
    def variance(self) -> Vector:
        """Variance of a new target: within the nodes and between them."""
        inner = self.distribution(self.nodes)
        means = inner.mean()
        between = (means - (means @ self.shares)[:, None]) ** 2
        result: Vector = (inner.var() + between) @ self.shares
        return result

    def cdf(self, target: ArrayLike) -> Vector:
        """Probability that a new target is no larger."""
        rows = np.asarray(target, float)[..., None]
        result: Vector = self.distribution(self.nodes).cdf(rows) @ self.shares
        return result

    def quantile(self, level: float) -> Vector:
        """Return the smallest targets below which a new one is with probability `level`."""
        each = self.distribution(self.nodes)
        at_nodes = each.ppf(level)
        # the quantile of an average is between those of its parts
        low, high = at_nodes.min(axis=1), at_nodes.max(axis=1)
        is_whole = hasattr(each.dist, "pmf")
        if is_whole:
            low = low - 1.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            if is_whole:
                middle = np.floor(middle)
            done = (middle <= low) | (middle >= high)
            if done.all():
                break
            enough = self.cdf(middle) >= level
            high = np.where(enough & ~done, middle, high)
            low = np.where(enough | done, low, middle)
        return high

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals that hold a new target with this probability, (n_rows, 2)."""
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Log density, or log probability, of targets."""
        rows = np.asarray(target, float)[:, None]
        each = self.distribution(self.nodes)
        at_nodes = each.logpmf(rows) if hasattr(each.dist, "pmf") else each.logpdf(rows)
        result: Vector = logsumexp(at_nodes, axis=1, b=self.shares)
        return result

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        normal = rng.normal(size=(len(self.centre), n_samples))
        latent = self.centre[:, None] + self.deviation[:, None] * normal
        draws = self.distribution(latent).rvs(size=latent.shape, random_state=rng)
        return np.asarray(draws, dtype=np.float64)
