"""Predictive distributions that have no closed form: averages over a Gaussian latent value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from relvec._checks import check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector

__all__ = ["MixturePrediction"]


@dataclass(frozen=True)
class MixturePrediction:
    """Distributions of targets averaged over a Gaussian latent value.

    Integrals are sums over evenly spaced nodes, which for Gaussian weights are accurate to many
    digits as soon as the spacing resolves the integrand. Where a target is much more precise than
    the latent value, or far from what is expected, `log_density` puts the nodes where its own
    integrand is.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> prediction = Poisson().predict(mean=np.array([1.0]), variance=np.array([0.25]))
    >>> prediction.mean.round(2), prediction.quantile(0.9)
    (array([3.08]), array([6.]))
    """

    distribution: Callable[[Matrix], Any]
    """Distribution of targets at latent values, as in `scipy.stats`."""
    centre: Vector
    deviation: Vector
    n_nodes: int = 241

    @classmethod
    def over(
        cls, distribution: Callable[[Matrix], Any], mean: Vector, variance: Vector
    ) -> MixturePrediction:
        """Average over latent values of some mean and variance."""
        return cls(distribution, np.asarray(mean, float), np.sqrt(np.asarray(variance, float)))

    @property
    def _points(self) -> Vector:
        return np.linspace(-8.0, 8.0, self.n_nodes)  # beyond, a normal density is below 1e-14

    @property
    def _nodes(self) -> Matrix:
        """Latent values, shape (n_rows, n_nodes)."""
        return self.centre[:, None] + np.multiply.outer(self.deviation, self._points)

    @property
    def _shares(self) -> Vector:
        shares: Vector = np.exp(-0.5 * self._points**2)
        return shares / shares.sum()

    @property
    def mean(self) -> Vector:
        """Expected target."""
        result: Vector = self.distribution(self._nodes).mean() @ self._shares
        return result

    @property
    def variance(self) -> Vector:
        """Variance of a new target: within the nodes and between them."""
        inner, shares = self.distribution(self._nodes), self._shares
        means = inner.mean()
        between = (means - (means @ shares)[:, None]) ** 2
        result: Vector = (inner.var() + between) @ shares
        return result

    def cdf(self, target: ArrayLike) -> Vector:
        """Probability that a new target is no larger."""
        rows = np.asarray(target, float)[..., None]
        result: Vector = self.distribution(self._nodes).cdf(rows) @ self._shares
        return result

    def quantile(self, level: float) -> Vector:
        """Return the smallest targets below which a new one is with probability `level`."""
        level = check_probability("level", level)
        each = self.distribution(self._nodes)
        at_nodes = each.ppf(level)
        # the quantile of an average is between those of its parts
        low, high = np.nanmin(at_nodes, axis=1), np.nanmax(at_nodes, axis=1)
        is_whole, least = hasattr(each.dist, "pmf"), float(each.dist.a)
        if is_whole:
            low = low - 1.0
        for _ in range(1200):  # from any number to its neighbour
            middle = 0.5 * (low + high)
            if is_whole:
                middle = np.floor(middle)
            done = (middle <= low) | (middle >= high)
            if done.all():
                break
            enough = self.cdf(middle) >= level
            high = np.where(enough & ~done, middle, high)
            low = np.where(enough | done, low, middle)
        return np.maximum(high, least)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals that hold a new target with this probability, (n_rows, 2)."""
        coverage = check_probability("coverage", coverage)
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Log density, or log probability, of targets."""
        rows = check_targets(target, self.centre.shape).astype(np.float64)[:, None]
        points = np.linspace(-1.0, 1.0, 81)
        shift, half = np.zeros(len(rows)), np.full(len(rows), 8.0)
        for _ in range(40):  # until the nodes cover what matters of the integrand, and little more
            places = shift[:, None] + np.multiply.outer(half, points)
            with np.errstate(over="ignore", invalid="ignore"):  # nothing is there
                each = self.distribution(self.centre[:, None] + self.deviation[:, None] * places)
                at_nodes = each.logpmf(rows) if hasattr(each.dist, "pmf") else each.logpdf(rows)
            values = at_nodes - 0.5 * places**2
            values = np.where(np.isfinite(values), values, -np.inf)
            best = values.max(axis=1)
            counts = values > (best - 35.0)[:, None]  # terms of more than 1e-15 of the largest
            first, last = np.argmax(counts, axis=1), 80 - np.argmax(counts[:, ::-1], axis=1)
            # the target is far from what is expected: the integrand goes on at an end
            is_open = np.maximum(values[:, 0], values[:, -1]) > best - 30.0
            narrow = (last - first < 30) & np.isfinite(best) & ~is_open
            if not (narrow | is_open).any():
                break
            middle = shift + half * 0.5 * (points[first] + points[last])
            width = half * np.maximum(0.5 * (points[last] - points[first]), 0.0) + half / 40.0
            shift = np.where(narrow, middle, shift)
            half = np.where(is_open, 2.0 * half, np.where(narrow, width, half))
        spacing = places[:, 1] - places[:, 0]
        result: Vector = logsumexp(values, axis=1) + np.log(spacing / np.sqrt(2.0 * np.pi))
        return result

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        normal = rng.normal(size=(len(self.centre), n_samples))
        latent = self.centre[:, None] + self.deviation[:, None] * normal
        draws = self.distribution(latent).rvs(size=latent.shape, random_state=rng)
        return np.asarray(draws, dtype=np.float64)
