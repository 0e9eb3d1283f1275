"""Sets on which Tipping (2001) reports regressions, drawn and cut as there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduce.common.class_datasets import Split, standardised
from reproduce.common.published import find
from reproduce.common.regressions import draw_friedman

__all__ = ["N_DRAWS", "SEED", "SETS", "draw", "read_boston", "read_sinc"]

SETS = ("sinc_gauss", "sinc_unif", "friedman1", "friedman2", "friedman3", "boston")
N_DRAWS = 100
"""Repetitions of each in the paper, and frozen draws and splits in the folder of the data."""
SEED = 20000
"""Of the first draw of Friedman's functions."""


def read_sinc(folder: str | Path | None, noise: str, place: int) -> Split:
    """Return a frozen draw of the noise, "gauss" or "unif", and 1000 points without any."""
    with np.load(find(folder, "tipping_sinc.npz"), allow_pickle=False) as file:
        x, x_test = file["x"][:, np.newaxis], file["x_test"][:, np.newaxis]
        return Split(x, file["f"] + file[f"noise_{noise}"][place], x_test, file["f_test"])


def read_boston(folder: str | Path | None, place: int) -> Split:
    """Return a frozen split into 481 rows and 25."""
    with np.load(find(folder, "boston.npz"), allow_pickle=False) as file:
        X, y, chosen = file["X"], file["y"], file["train_481"][place]
    rest = np.setdiff1d(np.arange(len(y)), chosen)
    return Split(X[chosen], y[chosen], X[rest], y[rest])


def draw(folder: str | Path | None, name: str, place: int) -> Split:
    """Return one of the repetitions of a set, inputs standardised on the training rows.

    Parameters
    ----------
    folder : str, Path or None
        Data.
    name : str
        One of `SETS`.
    place : int
        Which repetition, from 0.
    """
    if name == "boston":
        split = read_boston(folder, place)
    elif name.startswith("sinc_"):
        split = read_sinc(folder, name.removeprefix("sinc_"), place)
    elif name in SETS:
        split = draw_friedman(int(name.removeprefix("friedman")), SEED + place)
    else:
        raise ValueError(f"The sets are {', '.join(SETS)}; got {name!r}.")
    return standardised(split)
