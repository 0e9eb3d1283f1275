"""Predictive distributions as mixtures over draws from a posterior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, ndtri, stdtr, stdtrit
from sklearn.utils import check_random_state

from relvec._checks import check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector

__all__ = ["DrawMixturePrediction"]


class DrawMixturePrediction(NamedTuple):
    """Predictive distributions that are mixtures of Gaussians, one per row, equally weighted.

    Every component is the prediction of one draw from the posterior. With `df` the components are
    Student-t distributions.

    Examples
    --------
    Two draws that disagree:

    >>> import numpy as np
    >>> from relvec.likelihoods import DrawMixturePrediction
    >>> prediction = DrawMixturePrediction(np.array([[-2.0, 2.0]]), np.array([[1.0, 1.0]]))
    >>> prediction.mean, prediction.variance, prediction.interval(0.95).round(1)
    (array([0.]), array([5.]), array([[-3.6,  3.6]]))
    """

    means: Matrix
    """Mean of each component, shape (n_rows, n_draws)."""
    variances: Matrix
    """Variance of each component, shape (n_rows, n_draws) or (1, n_draws); of Student-t components
    the squared scale."""
    df: Vector | None = None
    """Degrees of freedom of Student-t components, shape (n_draws,)."""

    @property
    def mean(self) -> Vector:
        """Mean of a new target."""
        return np.asarray(self.means.mean(axis=1))

    @property
    def variance(self) -> Vector:
        """Variance of a new target: within and between components.

        Infinite if a Student-t component has at most two degrees of freedom.
        """
        within = self.variances
        if self.df is not None:
            with np.errstate(divide="ignore"):
                within = within * np.where(self.df > 2.0, self.df / np.abs(self.df - 2.0), np.inf)
        return np.asarray(within.mean(axis=1) + self.means.var(axis=1))

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return np.sqrt(self.variance)

    def cdf(self, target: ArrayLike) -> Vector:
        """Return the probability that each target is at most the given one."""
        return self._probability_below(check_targets(target, (len(self.means),)))

    def _probability_below(self, values: Vector) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            each = (values[:, None] - self.means) / np.sqrt(self.variances)
        # components without variance are steps at their mean
        each = np.where(np.isnan(each), 0.0, each)
        below = ndtr(each) if self.df is None else stdtr(self.df, each)
        return np.asarray(below.mean(axis=1))

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target at probability `level`, by bisection."""
        level = check_probability("level", level)
        standard = ndtri(level) if self.df is None else stdtrit(self.df, level)
        each = self.means + standard * np.sqrt(self.variances)
        # The quantile of a mixture lies between the quantiles of its components.
        low, high = each.min(axis=1), each.max(axis=1)
        # to a millionth of the root mean square scale, below the error of any number of draws
        scale = np.sqrt(self.variances.mean(axis=1) + self.means.var(axis=1))
        for _ in range(200):
            if not ((high - low) > 1e-6 * scale).any():
                break
            middle = 0.5 * (low + high)
            is_below = self._probability_below(middle) < level
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return 0.5 * (low + high)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""
        outside = 0.5 - 0.5 * check_probability("coverage", coverage)
        return np.stack([self.quantile(outside), self.quantile(1.0 - outside)], axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density of observed targets."""
        away = check_targets(target, (len(self.means),))[:, None] - self.means
        squared = away**2 / self.variances
        if self.df is None:
            each = -0.5 * (np.log(2.0 * np.pi * self.variances) + squared)
        else:
            half = 0.5 * (self.df + 1.0)
            constant = gammaln(half) - gammaln(0.5 * self.df)
            scale = 0.5 * np.log(np.pi * self.df * self.variances)
            each = constant - scale - half * np.log1p(squared / self.df)
        return np.asarray(logsumexp(each, axis=1) - np.log(each.shape[1]))

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples); rows share the draws they come from."""
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        chosen = rng.integers(self.means.shape[1], size=n_samples)
        std = np.sqrt(np.broadcast_to(self.variances, self.means.shape)[:, chosen])
        noise = rng.standard_normal(std.shape)
        if self.df is not None:
            noise *= np.sqrt(self.df[chosen] / rng.chisquare(self.df[chosen], std.shape))
        return self.means[:, chosen] + std * noise
