"""Sets with class labels on which Tipping (2001) reports, cut as they were cut there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduce.common.published import find

__all__ = [
    "Split",
    "count_splits",
    "read_digits",
    "read_ripley",
    "read_split",
    "standardised",
]


class Split(NamedTuple):
    """Rows to learn from and rows to be judged on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def standardised(split: Split) -> Split:
    """Return the split with the inputs at mean 0 and variance 1 on its training rows."""
    mean, scale = split.X.mean(axis=0), split.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    return split._replace(X=(split.X - mean) / scale, X_test=(split.X_test - mean) / scale)


def count_splits(folder: str | Path | None, name: str) -> int:
    """Return how many splits there are of a set: one if it came cut in two."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        return 1 if "X_train" in file else len(file["train"])


def read_split(folder: str | Path | None, name: str, place: int = 0) -> Split:
    """Return one of the splits of a set, standardised."""
    with np.load(find(folder, f"{name}.npz"), allow_pickle=False) as file:
        if "X_train" in file:
            parts = (file[key] for key in ("X_train", "y_train", "X_test", "y_test"))
            return standardised(Split(*parts))
        X, y = file["X"], file["y"]
        train, test = file["train"][place], file["test"][place]
        return standardised(Split(X[train], y[train], X[test], y[test]))


def read_ripley(folder: str | Path | None, draw: int) -> Split:
    """Return a draw of 100 training rows with the original features: r is in their units."""
    with np.load(find(folder, "ripley_synth.npz"), allow_pickle=False) as file:
        rows = file["subset100"][draw]
        return Split(file["X_train"][rows], file["y_train"][rows], file["X_test"], file["y_test"])


def read_digits(folder: str | Path | None) -> Split:
    """Return the digits of the U.S. Postal Service: pixels from -1 to 1, not standardised.

    Pixels have the same unit. Those near the border are nearly constant: standardised, they would
    dominate the distances.
    """
    with np.load(find(folder, "usps.npz"), allow_pickle=False) as file:
        unit = float(file["x_scale"])
        X, X_test = file["X_train"] / unit, file["X_test"] / unit
        return Split(X, file["y_train"], X_test, file["y_test"])
