"""Forecasts of the peers, beside those of the accuracy suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.accuracy.forecasts import Forecast, ModelForecast, NormalForecast

__all__ = ["LEVEL", "Fitted", "LogForecast", "SimulatedForecast", "forecast_model", "is_positive"]

LEVEL = 0.95
LEAST_RATIO = 1.5
"""Least ratio of the largest to the smallest target at which a logarithm is tried."""


@dataclass(frozen=True)
class Fitted:
    """A fitted method."""

    forecast: Callable[[np.ndarray], Forecast]
    """Inputs to distributions of new targets."""
    band: Callable[[np.ndarray], np.ndarray] | None = None
    """Inputs to 95 % intervals of the function, without the noise."""
    structure: str | None = None
    """Its name, if one is found."""
    warp: str | None = None


class LogForecast(NormalForecast):
    """Targets whose logarithms are Gaussian; their median is the prediction."""

    @property
    def mean(self) -> np.ndarray:
        """Return the medians."""
        return np.exp(self._mean)

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log densities at the targets, row by row."""
        return super().log_density(np.log(y)) - np.log(y)

    def interval(self, coverage: float) -> np.ndarray:
        """Return central intervals of this probability, of shape (n_samples, 2)."""
        return np.exp(super().interval(coverage))


class SimulatedForecast(NormalForecast):
    """Intervals from simulated paths; the density is Gaussian with their standard deviation."""

    def __init__(self, mean: np.ndarray, paths: np.ndarray) -> None:
        super().__init__(mean, paths.std(axis=1))
        self.paths = paths

    def interval(self, coverage: float) -> np.ndarray:
        """Return central intervals of this probability, of shape (n_samples, 2)."""
        tail = 0.5 - 0.5 * coverage
        return np.quantile(self.paths, [tail, 1.0 - tail], axis=1).T


class _MomentForecast(ModelForecast):
    """A model without a density of its own: Gaussian with its mean and standard deviation."""

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log densities at the targets, row by row."""
        return self.normal.log_density(y)


def forecast_model(model: Any, X: np.ndarray) -> Forecast:
    """Return the forecasts of a regressor of relvec."""
    has_density = hasattr(model, "log_predictive_density")
    return (ModelForecast if has_density else _MomentForecast)(model, X)


def is_positive(y: np.ndarray) -> bool:
    """Whether a logarithm of the targets is worth trying."""
    return bool(y.min() > 0.0 and y.max() > LEAST_RATIO * y.min())
