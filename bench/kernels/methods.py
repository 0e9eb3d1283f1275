"""The methods of each part: each takes training rows and returns what is fitted.

Libraries are imported inside the functions: a process pays only for what it measures.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.accuracy import regressors
from bench.accuracy.forecasts import NormalForecast
from bench.kernels.forecasts import LEVEL, Fitted, forecast_model
from bench.kernels.problems import Rows
from bench.kernels.processes import fit_periodic, fit_smooth
from bench.kernels.seasonal import fit_arima, fit_naive, fit_smoothing

__all__ = [
    "FAST",
    "INTERPRETABLE",
    "METHODS",
    "NAMES",
    "OURS",
    "SEARCHES",
    "Method",
    "methods_of",
]

OURS, INTERPRETABLE, FAST = "relvec", "relvec interpretable", "relvec fast"
SEARCHES = (OURS, INTERPRETABLE, FAST)


class Method(NamedTuple):
    """A method and where it is compared."""

    fit: Callable[[Rows], Fitted]
    parts: tuple[str, ...]
    package: str = "sklearn"
    """Module that must be there."""

    @property
    def is_installed(self) -> bool:
        """Whether the library is there to be measured."""
        return importlib.util.find_spec(self.package) is not None


def _search(**options: Any) -> Callable[[Rows], Fitted]:
    """Return the fit of relvec's kernel search with these options, otherwise at its defaults."""

    def fit(rows: Rows) -> Fitted:
        from relvec import KernelSearchRegressor

        model = KernelSearchRegressor(**options).fit(rows.X, rows.y)
        return _describe(model, structure=model.expression_, warp=model.transform_)

    return fit


def _fit_vectors(rows: Rows) -> Fitted:
    """Fit a relevance vector machine at its defaults."""
    from relvec import RVMRegressor

    return _describe(RVMRegressor().fit(rows.X, rows.y))


def _describe(model: Any, **found: str) -> Fitted:
    def find_band(X_new: np.ndarray) -> np.ndarray:
        return model.predict_interval(X_new, LEVEL, include_noise=False)

    return Fitted(lambda X_new: forecast_model(model, X_new), find_band, **found)


def _fit_line(rows: Rows) -> Fitted:
    """Fit a line by least squares."""
    centre = rows.X.mean()
    columns = np.hstack([np.ones_like(rows.X), rows.X - centre])
    weights, *_ = np.linalg.lstsq(columns, rows.y)
    noise = float(np.sum((rows.y - columns @ weights) ** 2)) / (len(rows.y) - 2)
    covariance = np.linalg.inv(columns.T @ columns)

    def forecast(X_new: np.ndarray) -> NormalForecast:
        new = np.hstack([np.ones_like(X_new), X_new - centre])
        leverage = np.sum((new @ covariance) * new, axis=1)
        return NormalForecast(new @ weights, np.sqrt(noise * (1.0 + leverage)))

    return Fitted(forecast)


def _of_accuracy_suite(fit: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[[Rows], Fitted]:
    return lambda rows: Fitted(fit(rows.X, rows.y).forecast)


SERIES, ONE_FEATURE, SEVERAL = ("series",), ("series", "structure"), ("structure", "regression")
ALL = (*SERIES, *SEVERAL)
METHODS = {
    OURS: Method(_search(), ALL),
    INTERPRETABLE: Method(_search(mode="interpretable"), ALL),
    FAST: Method(_search(effort="fast"), ALL),
    "GP smooth": Method(fit_smooth, ONE_FEATURE),
    "GP periodic": Method(fit_periodic, ONE_FEATURE),
    "linear": Method(_fit_line, SERIES),
    "seasonal naive": Method(fit_naive, SERIES),
    "ETS": Method(fit_smoothing, SERIES, "statsmodels"),
    "SARIMAX": Method(fit_arima, SERIES, "statsmodels"),
    "RVMRegressor": Method(_fit_vectors, SEVERAL),
    "GP ARD": Method(_of_accuracy_suite(regressors.fit_process), SEVERAL),
    "boosting": Method(_of_accuracy_suite(regressors.fit_boosting), ("regression",)),
}
NAMES = tuple(METHODS)


def methods_of(part: str, problem: str) -> list[str]:
    """Return the methods that a problem is given to; those of series need a single feature."""
    found = [name for name, method in METHODS.items() if part in method.parts]
    if part != "structure":
        return found
    omitted = ("GP smooth", "GP periodic") if problem == "friedman1" else ("GP ARD",)
    return [name for name in found if name not in omitted]
