"""Kernel density estimates: Scott, improved Sheather-Jones, Abramson, cross-validated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq
from scipy.special import logsumexp

__all__ = ["PEERS", "PEERS_OF_TWO", "improved_sheather_jones"]

Array = np.ndarray
LogDensity = Callable[[Array], Array]


def improved_sheather_jones(x: Array, n_grid: int = 2**12) -> float:
    """Return the bandwidth of Botev, Grotowski and Kroese (2010), Annals of Statistics 38.

    The fixed point is solved on a grid, and the bandwidth scaled by the length of that grid.
    KDEpy 1.1.12 scales it by the range of the data, which is less than half of its grid.
    """
    n, span = len(np.unique(x)), float(np.ptp(x))
    lower, upper = x.min() - span / 2, x.max() + span / 2
    counts, _ = np.histogram(x, np.linspace(lower, upper, n_grid + 1))
    a = dct(counts / counts.sum(), type=2)[1:] / 2
    squares, k = a**2, np.arange(1, n_grid, dtype=np.float64) ** 2

    def gap(t: float) -> float:
        f = 2 * np.pi**14 * np.sum(k**7 * squares * np.exp(-k * np.pi**2 * t))
        for s in range(6, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2)) / np.sqrt(2 * np.pi)
            constant = (1 + 0.5 ** (s + 0.5)) / 3
            time = (2 * constant * odd / (n * f)) ** (2 / (3 + 2 * s))
            f = 2 * np.pi ** (2 * s) * np.sum(k**s * squares * np.exp(-k * np.pi**2 * time))
        return t - (2 * n * np.sqrt(np.pi) * f) ** -0.4

    # The smallest root; the function is negative near zero.
    for end in (0.001, 0.003, 0.01, 0.03, 0.1):
        if gap(end) > 0:
            return float(np.sqrt(brentq(gap, 1e-12, end)) * (upper - lower))
    return _scott(x)


def _scott(x: Array) -> float:
    return float(x.std(ddof=1) * len(x) ** -0.2)


def _kde(x: Array, width: float | Array) -> LogDensity:
    """Return a log density: Gaussian kernels of one width, or one for each point."""

    def log_density(at: Array) -> Array:
        z = (at[:, None] - x) / width
        each = -0.5 * z**2 - np.log(width) - 0.5 * np.log(2 * np.pi)
        return logsumexp(each, axis=1) - np.log(len(x))

    return log_density


def scott(x: Array, support: tuple[float, float] | None) -> LogDensity:
    """Gaussian kernels, Scott's rule."""
    return _kde(x, _scott(x))


def isj(x: Array, support: tuple[float, float] | None) -> LogDensity:
    """Gaussian kernels, improved Sheather-Jones; reflected at the ends of a support."""
    if support is None:
        return _kde(x, improved_sheather_jones(x))
    lower, upper = support
    mirrored = np.concatenate([x, 2 * lower - x, 2 * upper - x])
    inner = _kde(mirrored, improved_sheather_jones(x))
    return lambda at: inner(at) + np.log(3)


def abramson(x: Array, support: tuple[float, float] | None) -> LogDensity:
    """Widths inversely proportional to the root of a pilot density (Abramson, 1982)."""
    width = improved_sheather_jones(x)
    pilot = _kde(x, width)(x)
    return _kde(x, width * np.exp(-0.5 * (pilot - pilot.mean())))


def cross_validated(x: Array, support: tuple[float, float] | None) -> LogDensity:
    """scikit-learn's KernelDensity, its bandwidth by five-fold cross-validation."""
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.neighbors import KernelDensity

    points = x.reshape(len(x), -1)
    scale = float(points.std(axis=0, ddof=1).mean()) * len(x) ** -0.2
    search = GridSearchCV(
        KernelDensity(),
        {"bandwidth": scale * np.geomspace(0.05, 2.0, 20)},
        cv=KFold(5, shuffle=True, random_state=0),
    ).fit(points)
    return lambda at: search.best_estimator_.score_samples(at.reshape(len(at), -1))


def scott_of_two(x: Array, support: None) -> LogDensity:
    """SciPy's gaussian_kde: Scott's rule with the full covariance."""
    from scipy.stats import gaussian_kde

    return lambda at: gaussian_kde(x.T).logpdf(at.T)


PEERS = {
    "Scott": scott,
    "ISJ": isj,
    "Abramson (ISJ)": abramson,
    "KDE cv": cross_validated,
}
PEERS_OF_TWO = {"Scott": scott_of_two, "KDE cv": cross_validated}
