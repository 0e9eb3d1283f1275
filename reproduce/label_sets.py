"""Sets with class labels on which Tipping (2001) reports, cut as they were cut there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduce.published import find

__all__ = ["Printed", "Split", "read_digits", "read_ripley", "read_set", "standardised"]


class Split(NamedTuple):
    """Rows to learn from and rows to be judged on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Printed(NamedTuple):
    """A line of Tipping's table: errors in percent."""

    name: str
    n: int
    svm_error: float
    error: float
    svm_vectors: float
    vectors: float


def standardised(split: Split) -> Split:
    """Return the split with the inputs at mean 0 and variance 1 on its training rows."""
    mean, scale = split.X.mean(axis=0), split.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    return split._replace(X=(split.X - mean) / scale, X_test=(split.X_test - mean) / scale)


def read_set(folder: str | Path | None, name: str) -> list[Split]:
    """Return the splits of a set: one if it came cut in two, else the given realisations."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        if "X_train" in file:
            parts = (file[key] for key in ("X_train", "y_train", "X_test", "y_test"))
            return [standardised(Split(*parts))]
        X, y = file["X"], file["y"]
        return [
            standardised(Split(X[train], y[train], X[test], y[test]))
            for train, test in zip(file["train"], file["test"], strict=True)
        ]


def read_ripley(folder: str | Path | None, n_draws: int) -> Iterator[Split]:
    """Yield draws of 100 training rows, inputs as they are: the width is given in their units."""
    with np.load(find(folder, "ripley_synth.npz"), allow_pickle=False) as file:
        X, y, rows = file["X_train"], file["y_train"], file["subset100"]
        X_test, y_test = file["X_test"], file["y_test"]
    for chosen in rows[:n_draws]:
        yield Split(X[chosen], y[chosen], X_test, y_test)


def read_digits(folder: str | Path | None) -> Split:
    """Return the digits of the U.S. Postal Service: pixels from -1 to 1, not standardised.

    Pixels share a unit, and those near the border are constant but for a few images: a variance
    of one would make them count most.
    """
    with np.load(find(folder, "usps.npz"), allow_pickle=False) as file:
        unit = float(file["x_scale"])
        X, X_test = file["X_train"] / unit, file["X_test"] / unit
        return Split(X, file["y_train"], X_test, file["y_test"])
