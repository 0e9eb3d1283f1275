"""The regressors: each returns its forecasts of new rows.

Libraries are imported inside the functions: a process pays only for what it measures.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any, NamedTuple

import numpy as np

__all__ = ["METHODS", "Forecast", "is_installed"]

COVERAGE = 0.95
MOST_GPR = 1000
"""Training rows of Gaussian processes, whose cost grows with the cube of their number."""
MOST_HETGPY = 400


class Forecast(NamedTuple):
    """Intervals of new targets and, if the method has a density, its logarithm at the targets."""

    mean: np.ndarray | None
    lower: np.ndarray
    upper: np.ndarray
    log_density: np.ndarray | None
    noise_gain: float | None = None
    is_default: bool | None = None
    """Whether the fit with constant noise was returned."""


def _normal(mean: np.ndarray, std: np.ndarray, y: np.ndarray) -> Forecast:
    density = -0.5 * (np.log(2.0 * np.pi * std**2) + ((y - mean) / std) ** 2)
    return Forecast(mean, mean - 1.96 * std, mean + 1.96 * std, density)


def _relvec(noise: str) -> Any:
    def run(X: np.ndarray, y: np.ndarray) -> Any:
        from relvec import RVMRegressor

        model = RVMRegressor(noise=noise).fit(X, y)

        def forecast(X_new: np.ndarray, y_new: np.ndarray) -> Forecast:
            lower, upper = model.predict_interval(X_new, COVERAGE).T
            density = model.log_predictive_density(X_new, y_new)
            gain = model.noise_gain_
            return Forecast(model.predict(X_new), lower, upper, density, gain, gain == 0.0)

        return forecast

    return run


def _ngboost(X: np.ndarray, y: np.ndarray) -> Any:
    """Return NGBoost with as many steps as were best on a fifth of the rows."""
    from ngboost import NGBRegressor

    from bench.accuracy.boosting import fit_ngboost

    def make(steps: int) -> Any:
        return NGBRegressor(n_estimators=steps, random_state=0, verbose=False)

    model = fit_ngboost(make, X, y, "regression")

    def forecast(X_new: np.ndarray, y_new: np.ndarray) -> Forecast:
        found = model.pred_dist(X_new).params
        return _normal(found["loc"], found["scale"], y_new)

    return forecast


def _quantile_boosting(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    low, high = (
        HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=0).fit(X, y)
        for level in (0.5 - 0.5 * COVERAGE, 0.5 + 0.5 * COVERAGE)
    )

    def forecast(X_new: np.ndarray, y_new: np.ndarray) -> Forecast:
        return Forecast(None, low.predict(X_new), high.predict(X_new), None)

    return forecast


def _gpr(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = np.random.RandomState(0).permutation(len(y))[:MOST_GPR]
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1])) + WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    model = make_pipeline(StandardScaler(), process).fit(X[rows], y[rows])

    def forecast(X_new: np.ndarray, y_new: np.ndarray) -> Forecast:
        return _normal(*model.predict(X_new, return_std=True), y_new)

    return forecast


def _hetgpy(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the heteroscedastic Gaussian process of Binois, Gramacy and Ludkovski (2018)."""
    from hetgpy import hetGP

    if len(y) > MOST_HETGPY:
        raise ValueError(f"not run on more than {MOST_HETGPY} rows.")
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    span = np.where(span > 0.0, span, 1.0)
    centre, scale = y.mean(), y.std()
    model = hetGP()
    model.mle((X - low) / span, (y - centre) / scale, covtype="Gaussian")

    def forecast(X_new: np.ndarray, y_new: np.ndarray) -> Forecast:
        found = model.predict((X_new - low) / span)
        variance = np.maximum(found["sd2"] + found["nugs"], 1e-12)
        return _normal(centre + scale * found["mean"], scale * np.sqrt(variance), y_new)

    return forecast


METHODS = {
    "relvec heteroscedastic": _relvec("heteroscedastic"),
    "relvec constant": _relvec("constant"),
    "NGBoost": _ngboost,
    "GPR": _gpr,
    "hetgpy": _hetgpy,
    "HGB quantiles": _quantile_boosting,
}
_PACKAGES = {"NGBoost": "ngboost", "hetgpy": "hetgpy"}


def is_installed(method: str) -> bool:
    """Whether the package of a method is installed."""
    return importlib.util.find_spec(_PACKAGES.get(method, "sklearn")) is not None


def quiet() -> None:
    """Silence warnings of peers about their own convergence."""
    warnings.simplefilter("ignore")
