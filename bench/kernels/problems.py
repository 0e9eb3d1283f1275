"""Series to extrapolate, series of known structure, and published sets of several features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.accuracy.problems import PROBLEMS as SETS
from bench.classification.problems import read_set
from bench.kernels.published import BEST_RMSE
from relvec.datasets import make_friedman, make_series

__all__ = [
    "CALENDARS",
    "FILE",
    "PARTS",
    "STRUCTURES",
    "Calendar",
    "Rows",
    "draw",
    "read_series",
]

FILE = "lloyd_series.npz"
N_NEW = 300
"""Places at which a known function is compared, in the range of the data and after it."""
HORIZON = 0.4
"""Length of the extrapolation of a known function, in lengths of the data."""


class Calendar(NamedTuple):
    """What a forecaster knows of the dates: methods on regular grids are told, relvec is not."""

    step: float
    """Spacing of the grid in years."""
    seasons: tuple[int, ...] = ()
    """Lengths of its seasons in steps, the shortest first."""
    is_exact: bool = True
    """Whether the seasons keep their phase."""


MONTHS = Calendar(1.0 / 12.0, (12,))
CALENDARS = {
    "airline": MONTHS,
    "solar": Calendar(1.0, (11,), is_exact=False),
    "mauna": MONTHS,
    "internet": Calendar(1.0 / 8760.0, (24, 168)),
    "calls": MONTHS,
    "gas": MONTHS,
    "unemployment": MONTHS,
    "wages": Calendar(1.0),
}


class Rows(NamedTuple):
    """Training and test rows; `X_after` lies after the data and has a known function."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    calendar: Calendar | None = None
    X_after: np.ndarray | None = None
    y_after: np.ndarray | None = None


def read_series(name: str, is_development: bool) -> Rows:
    """Return the first 90 % of a series and the rest; in development the last 10 % is not read.

    Then the first 80 % is for training and the next 10 % for the test. Rows are in order of time.
    """
    arrays = read_set(FILE)
    train, test = arrays[f"{name}_train"], arrays[f"{name}_test"]
    n = len(train) + len(test)
    train = train[np.argsort(train[:, 0], kind="stable")]
    if is_development:
        cut = round(0.8 * n)
        train, test = train[:cut], train[cut:]
    return Rows(train[:, :1], train[:, 1], test[:, :1], test[:, 1], CALENDARS[name])


def _draw_structure(name: str, seed: int) -> Rows:
    X, y, truth = make_series(name, random_state=seed, return_truth=True)
    low, high = float(truth.low[0]), float(truth.high[0])
    inside = np.linspace(low, high, N_NEW)[:, np.newaxis]
    after = np.linspace(high, high + HORIZON * (high - low), N_NEW)[:, np.newaxis]
    return Rows(X, y, inside, truth(inside), None, after, truth(after))


def _draw_friedman(seed: int) -> Rows:
    X, y, truth = make_friedman(1, 240, random_state=seed, return_truth=True)
    X_test, _ = truth.sample(1000, random_state=seed + 10**6)
    return Rows(X, y, X_test, truth(X_test))


STRUCTURES = {
    "growsine": "PER x LIN",
    "trendseason": "LIN + PER",
    "report": "LIN + LIN x LIN + PER",
    "smooth": "SE",
    "noise": "none",
    "friedman1": "LIN(x3) + LIN(x4) + SE(x0, x1) + SE(x2)",
}
"""Series of known structure, and Friedman's first function of ten features."""

PARTS = {
    "series": tuple(BEST_RMSE),
    "structure": tuple(STRUCTURES),
    "regression": ("uci_boston", "uci_energy", "uci_yacht"),
}


def _draw_set(name: str, number: int) -> Rows:
    found = SETS[name].draw(number)
    return Rows(found.X, found.y, found.X_test, found.y_test)


def draw(part: str, problem: str, seed: int, is_development: bool) -> Rows:
    """Return the rows of a problem: of a seed, or of the split with this number."""
    if part == "series":
        return read_series(problem, is_development)
    if part == "regression":
        return _draw_set(problem, seed)

    return _draw_friedman(seed) if problem == "friedman1" else _draw_structure(problem, seed)
