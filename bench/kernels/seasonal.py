"""Methods on regular grids: seasonal-naive forecasts, exponential smoothing, seasonal ARIMA.

Series with missing or irregular times are put on the grid of their calendar; places without an
observation are missing. ARIMA takes missing values as they are. The other two get linear
interpolation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bench.accuracy.forecasts import Forecast, NormalForecast
from bench.kernels.forecasts import Fitted, LogForecast, SimulatedForecast, is_positive
from bench.kernels.problems import Calendar, Rows

__all__ = ["Grid", "find_season", "fit_arima", "fit_naive", "fit_smoothing"]

LEAST_CORRELATION = 0.3
"""Least autocorrelation of increments that is taken for a season."""
N_PATHS = 1000
"""Simulated futures of exponential smoothing."""
MOST_ITERATIONS = {"ETS": 1000, "ARIMA": 100}
"""ARIMA takes numerical derivatives, and is at its optimum after a few tens of iterations."""
SHORT_ORDERS = ((0, 1), (1, 0), (1, 1), (2, 0), (0, 2), (2, 1))
"""Numbers p, q of autoregressive and moving-average terms beside a season."""
N_HARMONICS = 6
"""Sine and cosine pairs for each of several seasons."""


class Grid(NamedTuple):
    """A series on a regular grid, the means of observations that share a place, NaN for none."""

    values: np.ndarray
    start: float
    calendar: Calendar

    @classmethod
    def of(cls, rows: Rows) -> Grid:
        """Return the grid of the training rows."""
        x = rows.X[:, 0]
        calendar = rows.calendar or Calendar(float(np.median(np.diff(np.unique(x)))))
        place = np.rint((x - x[0]) / calendar.step).astype(int)
        total = np.bincount(place, rows.y)
        with np.errstate(invalid="ignore"):
            return cls(total / np.bincount(place), float(x[0]), calendar)

    @property
    def filled(self) -> np.ndarray:
        """Return the values with gaps interpolated."""
        place, known = np.arange(len(self.values)), np.isfinite(self.values)
        return np.interp(place, place[known], self.values[known])

    def steps_ahead(self, X_new: np.ndarray) -> np.ndarray:
        """Return how many steps after the last observation times lie, at least one."""
        place = np.rint((X_new[:, 0] - self.start) / self.calendar.step).astype(int)
        return np.maximum(place - len(self.values) + 1, 1)


def fit_naive(rows: Rows) -> Fitted:
    """Repeat the last season; its longest one, or the lag of the highest autocorrelation."""
    grid = Grid.of(rows)
    values, seasons = grid.filled, grid.calendar.seasons
    season = max(seasons) if seasons else find_season(values)
    deviation = float(np.sqrt(np.mean((values[season:] - values[:-season]) ** 2)))

    def forecast(X_new: np.ndarray) -> Forecast:
        steps = grid.steps_ahead(X_new) - 1
        n_cycles = steps // season + 1
        return NormalForecast(values[steps % season - season], deviation * np.sqrt(n_cycles))

    return Fitted(forecast)


def find_season(values: np.ndarray) -> int:
    """Return the lag of the highest autocorrelation of increments, or one if all are low."""
    change = np.diff(values) - np.diff(values).mean()
    lags = np.arange(2, len(values) // 3)
    correlation = [np.dot(change[lag:], change[:-lag]) / np.dot(change, change) for lag in lags]
    best = int(np.argmax(correlation))
    return int(lags[best]) if correlation[best] >= LEAST_CORRELATION else 1


def fit_smoothing(rows: Rows) -> Fitted:
    """Fit all models of exponential smoothing; the corrected AIC decides."""
    import pandas as pd
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    grid = Grid.of(rows)
    series = pd.Series(grid.filled)
    found = []
    for options in _smoothing_models(grid):
        model = ETSModel(series, **options).fit(disp=False, maxiter=MOST_ITERATIONS["ETS"])
        if np.isfinite(model.aicc):
            found.append(model)
    best = min(found, key=lambda each: each.aicc)

    def forecast(X_new: np.ndarray) -> Forecast:
        steps = grid.steps_ahead(X_new)
        mean = best.forecast(int(steps.max())).to_numpy()
        paths = best.simulate(int(steps.max()), anchor="end", repetitions=N_PATHS, rng=0).to_numpy()
        return SimulatedForecast(mean[steps - 1], paths[steps - 1])

    return Fitted(forecast)


def _smoothing_models(grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield the models that Hyndman's `ets` considers, with the shortest season."""
    seasons, is_positive_series = grid.calendar.seasons, bool(grid.filled.min() > 0.0)
    trends = ((None, False), ("add", False), ("add", True))
    for error, (trend, damped), season in itertools.product(
        ("add", "mul"), trends, (None, "add", "mul")
    ):
        # Additive errors beside a multiplicative season are left out there, as unstable.
        if (error == "add" and season == "mul") or (season and not seasons):
            continue
        if "mul" in (error, season) and not is_positive_series:
            continue
        yield {
            "error": error,
            "trend": trend,
            "damped_trend": damped,
            "seasonal": season,
            "seasonal_periods": seasons[0] if season else None,
        }


def fit_arima(rows: Rows) -> Fitted:
    """Fit seasonal ARIMA models; AIC decides, of the targets' logarithms with their Jacobian.

    The model of order (0, 1, 1) chooses between targets and logarithms. Several seasons at once
    are sines and cosines with ARIMA errors.
    """
    grid = Grid.of(rows)
    known = grid.values[np.isfinite(grid.values)]
    first, *others = _arima_orders(grid)
    fits = [(_fit_order(grid.values, grid, first), NormalForecast)]
    if is_positive(known):
        fits.append((_fit_order(np.log(grid.values), grid, first), LogForecast))
    jacobian = {NormalForecast: 0.0, LogForecast: 2.0 * float(np.log(known).sum())}
    best, kind = min(fits, key=lambda each: each[0].aic + jacobian[each[1]])
    values = grid.values if kind is NormalForecast else np.log(grid.values)
    candidates = [best, *(_fit_order(values, grid, options) for options in others)]
    best = min(candidates, key=lambda each: each.aic if np.isfinite(each.aic) else np.inf)
    return Fitted(_make_arima_forecast(best, grid, kind))


def _arima_orders(grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield orders; differences are the same in all, so that their AIC can be compared."""
    calendar = grid.calendar
    if len(calendar.seasons) == 1 and calendar.is_exact:
        for (p, q), seasonal in itertools.product(SHORT_ORDERS, ((0, 1, 1), (1, 1, 1))):
            yield {"order": (p, 1, q), "seasonal_order": (*seasonal, calendar.seasons[0])}
        return
    seasonal = [(0, 0, 0, 0)]
    if not calendar.is_exact:
        seasonal += [(p, 0, q, calendar.seasons[0]) for p, q in ((1, 0), (1, 1), (2, 0))]
    drifts = (None, "t") if not calendar.seasons else (None,)
    # Beside two seasons every order has 26 parameters, most of them of the waves.
    orders = SHORT_ORDERS[:3] if len(calendar.seasons) > 1 else (*SHORT_ORDERS, (3, 0), (2, 2))
    for (p, q), season, drift in itertools.product(orders, seasonal, drifts):
        yield {"order": (p, 1, q), "seasonal_order": season, "trend": drift}


def _make_waves(grid: Grid, place: np.ndarray) -> np.ndarray | None:
    """Return sines and cosines of several seasons, each pair once; None for one season or none."""
    seasons = grid.calendar.seasons
    if len(seasons) < 2:
        return None
    cycles = {k / season for season in seasons for k in range(1, N_HARMONICS + 1)}
    angle = 2.0 * np.pi * place[:, np.newaxis] * np.array(sorted(cycles))
    return np.hstack([np.sin(angle), np.cos(angle)])


def _fit_order(values: np.ndarray, grid: Grid, options: dict[str, Any]) -> Any:
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    waves = _make_waves(grid, np.arange(len(values)))
    return SARIMAX(values, waves, **options).fit(disp=False, maxiter=MOST_ITERATIONS["ARIMA"])


def _make_arima_forecast(model: Any, grid: Grid, kind: Callable[..., Any]) -> Any:
    def forecast(X_new: np.ndarray) -> Forecast:
        steps = grid.steps_ahead(X_new)
        place = len(grid.values) + np.arange(int(steps.max()))
        found = model.get_forecast(len(place), exog=_make_waves(grid, place))
        return kind(found.predicted_mean[steps - 1], found.se_mean[steps - 1])

    return forecast
