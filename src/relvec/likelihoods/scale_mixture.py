"""Noise and predictive distributions that are mixtures of Gaussians with a common mean.

Noise whose variance is uncertain, Student-t noise and contaminated normal noise are all scale
mixtures of Gaussians (Andrews & Mallows 1974). Added to a Gaussian function value they are again
scale mixtures, with the variance of the function value added to each component.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri
from sklearn.utils import check_random_state

from relvec._checks import check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector

__all__ = ["NoiseMixture", "NoiseModel", "ScaleMixturePrediction"]


class NoiseMixture(NamedTuple):
    """Noise of each row as a mixture of Gaussians of mean zero.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import NoiseMixture
    >>> noise = NoiseMixture(np.array([[1.0, 9.0]]), np.array([0.75, 0.25]))
    >>> noise.total_variance
    array([3.])
    """

    variance: Matrix
    """Variance of each component, shape (n_rows, n_components)."""
    weight: Matrix | Vector
    """Probability of each component, shape (n_components,) or (n_rows, n_components)."""

    @property
    def total_variance(self) -> Vector:
        """Variance of the noise of each row."""
        return np.asarray((self.variance * self.weight).sum(axis=1))

    def sample(self, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw noise, shape (n_rows, n_draws)."""
        n_rows, n_components = self.variance.shape
        normal = rng.standard_normal((n_rows, n_draws))
        if n_components == 1:
            return np.sqrt(self.variance) * normal
        # Inverse of the distribution function of the component: count the bounds below a uniform.
        bounds = np.cumsum(np.broadcast_to(self.weight, self.variance.shape), axis=1)[:, None, :-1]
        component = (rng.random((n_rows, n_draws))[:, :, None] > bounds).sum(axis=2)
        return np.sqrt(np.take_along_axis(self.variance, component, axis=1)) * normal


class NoiseModel(Protocol):
    """Distribution of the noise as a function of the inputs, fitted to residuals.

    Examples
    --------
    Noise whose standard deviation is the absolute value of the input:

    >>> import numpy as np
    >>> from relvec.likelihoods import NoiseMixture
    >>> class Proportional:
    ...     def components(self, X):
    ...         return NoiseMixture(X[:, :1] ** 2, np.ones(1))
    ...
    ...     def row_variance(self, X, squared, weight=None):
    ...         return X[:, 0] ** 2
    >>> Proportional().components(np.array([[1.0], [3.0]])).total_variance
    array([1., 9.])
    """

    def components(self, X: Any) -> NoiseMixture:
        """Return the noise at inputs, in the units of the noise variances of the training rows."""

    def row_variance(self, X: Any, squared: Vector, weight: Vector | None = None) -> Vector:
        """Return the noise variance that each training row had in the regression.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            All training inputs.
        squared : ndarray of shape (n_samples,)
            Expected squared errors under the posterior.
        weight : ndarray of shape (n_samples,), optional
            Frequency weights.
        """


class ScaleMixturePrediction(NamedTuple):
    """Predictive distributions that are mixtures of Gaussians with a common mean, one per row.

    Examples
    --------
    Noise that is nine times as variable in one of four cases:

    >>> import numpy as np
    >>> from relvec.likelihoods import ScaleMixturePrediction
    >>> mixed = ScaleMixturePrediction(
    ...     mean=np.array([5.0]), variances=np.array([[1.0, 9.0]]), weight=np.array([0.75, 0.25])
    ... )
    >>> mixed.std.round(2), mixed.interval(0.95).round(2)
    (array([1.73]), array([[1.15, 8.85]]))
    """

    mean: Vector
    variances: Matrix
    """Variance of each component, noise included, shape (n_rows, n_components)."""
    weight: Matrix | Vector
    """Probability of each component, shape (n_components,) or (n_rows, n_components)."""

    @property
    def variance(self) -> Vector:
        """Variance of a new target."""
        return np.asarray((self.variances * self.weight).sum(axis=1))

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return np.sqrt(self.variance)

    def cdf(self, target: ArrayLike) -> Vector:
        """Return the probability that each target is at most the given one."""
        away = check_targets(target, np.shape(self.mean)) - self.mean
        return self._probability_below(away)

    def _probability_below(self, away: Vector) -> Vector:
        each = ndtr(away[:, None] / np.sqrt(self.variances))
        return np.asarray((each * self.weight).sum(axis=1))

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target at probability `level`."""
        return self.mean + self._find_deviation(check_probability("level", level))

    def _find_deviation(self, level: float) -> Vector:
        """Return the distance of a quantile from the mean, by bisection of the distribution."""
        # Between the quantiles of the narrowest and the widest component.
        z, std = float(ndtri(level)), np.sqrt(self.variances)
        ends = np.sort(z * np.stack([std.min(axis=1), std.max(axis=1)]), axis=0)
        low, high = ends[0], ends[1]
        for _ in range(100):
            middle = 0.5 * (low + high)
            # The spacing of floating-point numbers is reached: the interval cannot shrink further.
            if ((middle <= low) | (middle >= high)).all():
                break
            is_below = self._probability_below(middle) < level
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return 0.5 * (low + high)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""
        # Symmetric about the mean, like every component.
        half = self._find_deviation(0.5 + 0.5 * check_probability("coverage", coverage))
        return np.stack([self.mean - half, self.mean + half], axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density of observed targets."""
        squared = (check_targets(target, np.shape(self.mean)) - self.mean)[:, None] ** 2
        each = -0.5 * (np.log(2.0 * np.pi * self.variances) + squared / self.variances)
        weight = np.broadcast_to(self.weight, each.shape)
        return np.asarray(logsumexp(each, axis=1, b=weight))

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        noise = NoiseMixture(self.variances, self.weight)
        return self.mean[:, None] + noise.sample(n_samples, np.random.default_rng(seed))
