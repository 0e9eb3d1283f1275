"""Series of known structure: trends, seasons and their sums and products, to test kernel search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec._typing import Matrix, Vector
from relvec.datasets.functions import RegressionTruth
from relvec.datasets.two_classes import Seed

__all__ = ["SERIES_NAMES", "make_series"]


def _growing_sine(X: Matrix) -> Vector:
    x = X[:, 0]
    values: Vector = x * np.sin(2.0 * np.pi * x / 1.7 + 0.4)
    return values


def _trend_and_season(X: Matrix) -> Vector:
    x = X[:, 0]
    values: Vector = 0.6 * x + 1.2 * np.exp(np.sin(2.0 * np.pi * x / 2.3))
    return values


def _report(X: Matrix) -> Vector:
    x = X[:, 0]
    values: Vector = 0.5 * np.sin(x) + 0.5 * x - 0.02 * (x - 5.0) ** 2
    return values


def _zero(X: Matrix) -> Vector:
    return np.zeros(len(X))


def _interpolate(X: Matrix, grid: Vector, values: Vector) -> Vector:
    found: Vector = np.interp(X[:, 0], grid, values)
    return found


class _Series(NamedTuple):
    function: Callable[[Matrix], Vector] | None
    """None for a random smooth function."""
    low: float
    high: float
    scale: float | None
    """What the noise is a multiple of; None for the standard deviation of the function."""


SERIES = {
    "growsine": _Series(_growing_sine, 0.0, 10.0, None),
    "trendseason": _Series(_trend_and_season, 0.0, 10.0, None),
    # The usual noise, 0.2, is half the amplitude of the sine; the whole function varies by 4.
    "report": _Series(_report, -10.0, 10.0, 1.25),
    "smooth": _Series(None, 0.0, 10.0, None),
    # All of the noise, whatever its level: there is nothing to compare it with.
    "noise": _Series(_zero, 0.0, 10.0, 5.0),
}
SERIES_NAMES = tuple(SERIES)
LENGTH_SCALE = 1.2
"""Of the random function, whose range has length 10."""
JITTER = 1e-8
"""Added to the variance of one of the random function, so that its covariance has a root."""


def make_series(
    name: str,
    n_samples: int = 100,
    *,
    noise: float = 0.2,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make a series of known structure: a trend, a season, their sum or product, with noise.

    Times are uniform, in increasing order. Structures are written as sums of products of LIN (a
    line), PER (a period) and SE (a smooth function):

    ============= ============================================= =======================
    name          function                                      structure
    ============= ============================================= =======================
    "growsine"    x sin(2 pi x / 1.7 + 0.4) on [0, 10]          PER x LIN
    "trendseason" 0.6 x + 1.2 exp(sin(2 pi x / 2.3)) on [0, 10] LIN + PER
    "report"      0.5 sin x + 0.5 x - 0.02 (x - 5)^2 on         LIN + LIN x LIN + PER
                  [-10, 10]
    "smooth"      Gaussian process of length-scale 1.2 on       SE
                  [0, 10], another for each seed
    "noise"       zero on [0, 10]                               none
    ============= ============================================= =======================

    Parameters
    ----------
    name : {"growsine", "trendseason", "report", "smooth", "noise"}
        Which series, one of `SERIES_NAMES`.
    n_samples : int, default=100
        Number of times.
    noise : float, default=0.2
        Standard deviation of the noise as a multiple of that of the function over its range; of
        "report", whose season is a small part of it, of 1.25; of "noise" of 5.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Times.
    y : ndarray of shape (n_samples,)
        Values with noise.
    truth : RegressionTruth
        The function at any times, to be asked up to half a range after the last one. Only if
        `return_truth`.

    References
    ----------
    Duvenaud, Lloyd, Grosse, Tenenbaum and Ghahramani (2013), Structure discovery in nonparametric
    regression through compositional kernel search, ICML.

    Examples
    --------
    >>> from relvec.datasets import make_series
    >>> X, y, truth = make_series("growsine", random_state=0, return_truth=True)
    >>> X.shape, y.shape
    ((100, 1), (100,))
    >>> later = truth([[11.0], [12.0]])
    """
    kind = SERIES[check_choice("name", name, SERIES_NAMES)]
    n_samples = check_integer("n_samples", n_samples, minimum=1)
    noise = check_positive("noise", noise, allow_zero=True)
    with_truth = check_bool("return_truth", return_truth)
    random = check_random_state(random_state)
    function = kind.function or _draw_smooth(kind, random)
    points = np.linspace(kind.low, kind.high, 300)[:, np.newaxis]
    scale = function(points).std() if kind.scale is None else kind.scale
    relevant = np.arange(0 if name == "noise" else 1)
    ends = np.array([kind.low]), np.array([kind.high])
    truth = RegressionTruth(function, *ends, relevant, noise * float(scale))
    X = np.sort(random.uniform(*ends, size=(n_samples, 1)), axis=0)
    y = function(X) + truth.noise_std * random.standard_normal(n_samples)
    return (X, y, truth) if with_truth else (X, y)


def _draw_smooth(kind: _Series, random: np.random.RandomState) -> Callable[[Matrix], Vector]:
    """Draw a smooth function, on a grid that reaches beyond the range of the data."""
    grid = np.linspace(kind.low - 1.0, kind.high + 6.0, 400)
    distance = (grid[:, np.newaxis] - grid) / LENGTH_SCALE
    covariance = np.exp(-0.5 * distance**2) + JITTER * np.eye(len(grid))
    root = cholesky(covariance, lower=True)
    return partial(_interpolate, grid=grid, values=root @ random.standard_normal(len(grid)))
