"""Gaussian processes of scikit-learn with the kernels that a user writes down for a series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.accuracy.forecasts import NormalForecast
from bench.accuracy.regressors import MOST_LEARNT
from bench.kernels.forecasts import LEVEL, Fitted, LogForecast, is_positive
from bench.kernels.problems import Rows

__all__ = ["find_period", "fit_periodic", "fit_smooth"]

RESTARTS = 4
"""Random initialisations beside the given one, as in the accuracy suite."""
SMOOTH, NARROW = (1e-2, 1e2), (0.9, 1.1)
"""Bounds of length-scales, in standard deviations of time, and of a period around its guess."""
SHAPE = (1e-1, 1e1)
"""Bounds of the length-scale within a period, where the whole of it has length pi."""
VARIANCE, NOISE = (1e-3, 1e3), (1e-6, 1e1)
"""Bounds of variances, of standardised targets."""


def fit_smooth(rows: Rows) -> Fitted:
    """Fit a squared exponential and noise."""
    return _fit(rows, [_make_trend()])


def fit_periodic(rows: Rows) -> Fitted:
    """Fit a squared exponential, a season whose shape changes slowly, and noise.

    The period begins at each season of the calendar, the highest evidence deciding, and without a
    calendar at the strongest peak of the periodogram.
    """
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared

    kernels = []
    for period in _guess_periods(rows):
        limits = tuple(factor * period for factor in NARROW)
        season = ConstantKernel(1.0, VARIANCE) * RBF(10.0, SMOOTH)
        season *= ExpSineSquared(1.0, period, SHAPE, limits)
        kernels.append(season + _make_trend())
    return _fit(rows, kernels)


def _make_trend() -> Any:
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    return ConstantKernel(1.0, VARIANCE) * RBF(1.0, SMOOTH)


def _guess_periods(rows: Rows) -> list[float]:
    """Return initial periods in standard deviations of time."""
    x, calendar = rows.X[:, 0], rows.calendar
    known = [] if calendar is None else [calendar.step * season for season in calendar.seasons]
    return [period / x.std() for period in known or [find_period(x, rows.y)]]


def find_period(x: np.ndarray, y: np.ndarray) -> float:
    """Return the period with the strongest peak of the least-squares periodogram.

    A quadratic trend is removed first. Periods are between four median spacings and half the
    range.
    """
    from scipy.signal import lombscargle

    u = (x - x.mean()) / np.ptp(x)
    rest = y - np.polyval(np.polyfit(u, y, 2), u)
    shortest = 4.0 * float(np.median(np.diff(np.unique(x)))) / np.ptp(x)
    # Ten frequencies to the width of a peak.
    cycles = np.arange(2.0, 1.0 / shortest, 0.1)
    power = lombscargle(u, rest, 2.0 * np.pi * cycles)
    return float(np.ptp(x) / cycles[np.argmax(power)])


def _fit(rows: Rows, kernels: Sequence[Any]) -> Fitted:
    """Fit the kernel, to targets or to their logarithms, whose evidence is the highest."""
    from sklearn.gaussian_process.kernels import WhiteKernel

    centre, unit = rows.X.mean(), rows.X.std()
    X, y = (rows.X - centre) / unit, rows.y
    found = []
    for kernel in kernels:
        noisy = kernel + WhiteKernel(0.1, NOISE)
        plain = _ascend(noisy, X, y)
        found.append((_find_evidence(plain), plain, NormalForecast))
        if is_positive(y):
            log = _ascend(noisy, X, np.log(y))
            found.append((_find_evidence(log) - np.log(y).sum(), log, LogForecast))
    _, best, kind = max(found, key=lambda each: each[0])
    target = y if kind is NormalForecast else np.log(y)
    return _describe(_ascend(best.kernel_, X, target, RESTARTS), centre, unit, kind)


def _ascend(kernel: Any, X: np.ndarray, y: np.ndarray, n_restarts: int = 0) -> Any:
    """Return a process of all rows, its kernel learnt from at most `MOST_LEARNT` of them."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    few = np.random.RandomState(0).permutation(len(y))[:MOST_LEARNT]
    learnt = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=n_restarts, random_state=0
    ).fit(X[few], y[few])
    return GaussianProcessRegressor(learnt.kernel_, normalize_y=True, optimizer=None).fit(X, y)


def _find_evidence(process: Any) -> float:
    """Return the log evidence of the targets before they were standardised."""
    n_rows, unit = len(process.X_train_), float(process._y_train_std)
    return float(process.log_marginal_likelihood_value_) - n_rows * np.log(unit)


def _describe(process: Any, centre: float, unit: float, kind: Callable[..., Any]) -> Fitted:
    noise = process.kernel_.k2.noise_level * float(process._y_train_std) ** 2

    def predict(X_new: np.ndarray) -> Any:
        return process.predict((X_new - centre) / unit, return_std=True)

    def find_band(X_new: np.ndarray) -> np.ndarray:
        mean, deviation = predict(X_new)
        return kind(mean, np.sqrt(np.maximum(deviation**2 - noise, 0.0))).interval(LEVEL)

    warp = "log" if kind is LogForecast else "identity"
    return Fitted(lambda X_new: kind(*predict(X_new)), find_band, warp=warp)
