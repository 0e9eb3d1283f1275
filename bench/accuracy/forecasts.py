"""Predictive distributions of targets, whoever made them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

__all__ = ["Forecast", "ModelForecast", "NormalForecast", "crps_from_quantiles"]

N_LEVELS = 400
"""Quantiles in the CRPS of a distribution without a closed form: its error is then below 1e-3
of the CRPS for Gaussian and for Student distributions."""
IS_NORMAL = 1e-6
"""Largest difference in log density from a Gaussian that is taken for one."""


class Forecast(Protocol):
    """One distribution for each test row."""

    @property
    def mean(self) -> np.ndarray:
        """Return the expected targets."""

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log densities at the targets, row by row."""

    def interval(self, coverage: float) -> np.ndarray:
        """Return central intervals of this probability, of shape (n_samples, 2)."""

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability scores, row by row."""


class NormalForecast:
    """Gaussian distributions."""

    def __init__(self, mean: np.ndarray, deviation: np.ndarray | float) -> None:
        self._mean = np.asarray(mean, dtype=float)
        self.deviation = np.broadcast_to(np.asarray(deviation, dtype=float), self._mean.shape)

    @property
    def mean(self) -> np.ndarray:
        """Return the expected targets."""
        return self._mean

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log densities at the targets, row by row."""
        z = (y - self._mean) / self.deviation
        return -0.5 * z**2 - np.log(self.deviation) - 0.5 * np.log(2.0 * np.pi)

    def interval(self, coverage: float) -> np.ndarray:
        """Return central intervals of this probability, of shape (n_samples, 2)."""
        half = ndtri(0.5 + 0.5 * coverage) * self.deviation
        return np.column_stack([self._mean - half, self._mean + half])

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return ``s (z (2 F(z) - 1) + 2 f(z) - 1 / sqrt(pi))`` with ``z = (y - mean) / s``."""
        z = (y - self._mean) / self.deviation
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return self.deviation * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * density - np.pi**-0.5)


def crps_from_quantiles(quantile: np.ndarray, level: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return twice the mean pinball loss over equally spaced levels, row by row.

    Parameters
    ----------
    quantile : ndarray of shape (n_samples, n_levels)
        Quantiles of the distributions.
    level : ndarray of shape (n_levels,)
        Their probabilities: the middles of equal parts of [0, 1].
    y : ndarray of shape (n_samples,)
        Targets.
    """
    gap = y[:, np.newaxis] - quantile
    return 2.0 * np.mean(np.maximum(level * gap, (level - 1.0) * gap), axis=1)


class ModelForecast:
    """Predictive distributions of a regressor of relvec, by its public methods.

    Whatever distribution its defaults lead to is judged as it is: the density is the model's
    own, and the CRPS comes from its quantiles unless its density is Gaussian.
    """

    def __init__(self, model: Any, X: np.ndarray) -> None:
        self.model, self.X = model, X
        mean, deviation = model.predict(X, return_std=True)
        self.normal = NormalForecast(mean, deviation)

    @property
    def mean(self) -> np.ndarray:
        """Return the expected targets."""
        return self.normal.mean

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log densities at the targets, row by row."""
        return np.asarray(self.model.log_predictive_density(self.X, y))

    def interval(self, coverage: float) -> np.ndarray:
        """Return central intervals of this probability, of shape (n_samples, 2)."""
        return np.asarray(self.model.predict_interval(self.X, coverage))

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability scores, row by row."""
        distance = np.abs(self.log_density(y) - self.normal.log_density(y))
        if np.all(distance <= IS_NORMAL * (1.0 + np.abs(self.normal.log_density(y)))):
            return self.normal.crps(y)
        level = (np.arange(N_LEVELS) + 0.5) / N_LEVELS
        upper = [self.interval(2.0 * p - 1.0) for p in level[N_LEVELS // 2 :]]
        low = np.column_stack([ends[:, 0] for ends in reversed(upper)])
        high = np.column_stack([ends[:, 1] for ends in upper])
        return crps_from_quantiles(np.hstack([low, high]), level, y)
