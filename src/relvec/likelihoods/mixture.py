"""Predictive distributions without closed form, by quadrature over a Gaussian latent value."""

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
    """Predictive distributions ``int p(t | f) N(f | mean, variance) df``, one per row.

    Integrals are computed by the trapezoidal rule on evenly spaced nodes, which converges
    exponentially for Gaussian weights once the spacing resolves the integrand. If ``p(t | f)`` is
    much narrower in ``f`` than the Gaussian, or the target is far in the tail, `log_density` moves
    the nodes to where its integrand is large.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> prediction = Poisson().predict(mean=np.array([1.0]), variance=np.array([0.25]))
    >>> prediction.mean.round(2), prediction.quantile(0.9)
    (array([3.08]), array([6.]))
    """

    distribution: Callable[[Matrix], Any]
    """Function that returns ``p(t | f)`` at latent values, a frozen `scipy.stats` distribution."""
    centre: Vector
    """Mean of the latent values."""
    deviation: Vector
    """Standard deviation of the latent values."""
    n_nodes: int = 241

    @classmethod
    def from_moments(
        cls, distribution: Callable[[Matrix], Any], mean: Vector, variance: Vector
    ) -> MixturePrediction:
        """Return the predictive distributions for Gaussian latent values."""
        return cls(distribution, np.asarray(mean, float), np.sqrt(np.asarray(variance, float)))

    @property
    def _standard_nodes(self) -> Vector:
        return np.linspace(-8.0, 8.0, self.n_nodes)  # the normal density is below 1e-14 outside

    @property
    def _nodes(self) -> Matrix:
        """Latent values, shape (n_rows, n_nodes)."""
        return self.centre[:, None] + np.multiply.outer(self.deviation, self._standard_nodes)

    @property
    def _node_weights(self) -> Vector:
        # Trapezoidal rule: for an analytic integrand that decays at both ends its error falls
        # exponentially with the spacing. Normalised sums make the weights a distribution.
        weights: Vector = np.exp(-0.5 * self._standard_nodes**2)
        return weights / weights.sum()

    @property
    def mean(self) -> Vector:
        """Expected target."""
        result: Vector = self.distribution(self._nodes).mean() @ self._node_weights
        return result

    @property
    def variance(self) -> Vector:
        """Variance of a new target, by the law of total variance."""
        inner, weights = self.distribution(self._nodes), self._node_weights
        means = inner.mean()
        # Var t = E var(t | f) + var E(t | f); centred before squaring, so that nothing cancels.
        between = (means - (means @ weights)[:, None]) ** 2
        result: Vector = (inner.var() + between) @ weights
        return result

    def cdf(self, target: ArrayLike) -> Vector:
        """Return the probability that a new target is at most `target`."""
        rows = np.asarray(target, float)[..., None]
        result: Vector = self.distribution(self._nodes).cdf(rows) @ self._node_weights
        return result

    def quantile(self, level: float) -> Vector:
        """Return the smallest ``t`` with ``P(target <= t) >= level``, by bisection."""
        level = check_probability("level", level)
        each = self.distribution(self._nodes)
        node_values = each.ppf(level)
        # The quantile of a mixture lies between the quantiles of its components.
        low, high = np.nanmin(node_values, axis=1), np.nanmax(node_values, axis=1)
        is_discrete, least = hasattr(each.dist, "pmf"), float(each.dist.a)
        if is_discrete:
            # Bisection keeps P(target <= low) < level <= P(target <= high); the lowest component
            # quantile may itself be the answer.
            low = low - 1.0
        for _ in range(1200):  # from any number to its neighbour
            middle = 0.5 * (low + high)
            if is_discrete:
                middle = np.floor(middle)
            done = (middle <= low) | (middle >= high)
            if done.all():
                break
            enough = self.cdf(middle) >= level
            high = np.where(enough & ~done, middle, high)
            low = np.where(enough | done, low, middle)
        return np.maximum(high, least)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""
        coverage = check_probability("coverage", coverage)
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density, or log probability, of observed targets."""
        rows = check_targets(target, self.centre.shape).astype(np.float64)[:, None]
        points = np.linspace(-1.0, 1.0, 81)
        # Range shift +- half of the standardised latent value; 8 standard deviations to begin with.
        shift, half = np.zeros(len(rows)), np.full(len(rows), 8.0)
        # Adapt the range of the nodes until it covers the peak of the integrand and little more.
        for _ in range(40):
            standardised = shift[:, None] + np.multiply.outer(half, points)
            with np.errstate(over="ignore", invalid="ignore"):  # such nodes get density zero below
                each = self.distribution(
                    self.centre[:, None] + self.deviation[:, None] * standardised
                )
                node_values = each.logpmf(rows) if hasattr(each.dist, "pmf") else each.logpdf(rows)
            # Log integrand: log p(t | f) + log N(z | 0, 1) without its constant, which is added at
            # the end.
            values = node_values - 0.5 * standardised**2
            values = np.where(np.isfinite(values), values, -np.inf)
            best = values.max(axis=1)
            counts = values > (best - 35.0)[:, None]  # terms above 1e-15 of the largest
            first, last = np.argmax(counts, axis=1), 80 - np.argmax(counts[:, ::-1], axis=1)
            # The integrand has not decayed at an end (a target far in the tail): widen the range.
            is_open = np.maximum(values[:, 0], values[:, -1]) > best - 30.0
            # Fewer than 30 of the 81 nodes on the peak: the trapezoidal sum would not resolve it.
            narrow = (last - first < 30) & np.isfinite(best) & ~is_open
            if not (narrow | is_open).any():
                break
            middle = shift + half * 0.5 * (points[first] + points[last])
            width = half * np.maximum(0.5 * (points[last] - points[first]), 0.0) + half / 40.0
            shift = np.where(narrow, middle, shift)
            half = np.where(is_open, 2.0 * half, np.where(narrow, width, half))
        spacing = standardised[:, 1] - standardised[:, 0]
        # Summed in logarithms: the density of a target far in the tail underflows otherwise.
        result: Vector = logsumexp(values, axis=1) + np.log(spacing / np.sqrt(2.0 * np.pi))
        return result

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        normal = rng.normal(size=(len(self.centre), n_samples))
        latent = self.centre[:, None] + self.deviation[:, None] * normal
        draws = self.distribution(latent).rvs(size=latent.shape, random_state=rng)
        return np.asarray(draws, dtype=np.float64)
