"""Style of the plots, and plots that several experiments use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["COLOURS", "GREY", "draw_line_fit", "make_figure"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Palette of Okabe and Ito, suitable for colour-blind readers."""
GREY = "0.65"


def make_figure(
    n_rows: int = 1, n_columns: int = 1, *, width: float = 4.5, height: float = 3.0, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure and an array of two dimensions of its axes; sizes are those of a panel."""
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def draw_line_fit(
    axes: Axes,
    *,
    truth: tuple[np.ndarray, np.ndarray] | None = None,
    data: tuple[np.ndarray, np.ndarray] | None = None,
    curve: tuple[np.ndarray, np.ndarray] | None = None,
    vectors: Sequence[int] | None = None,
    title: str = "",
    colour: str = COLOURS[0],
) -> None:
    """Draw a function of one input: the truth in grey, data as dots, vectors circled."""
    if truth is not None:
        axes.plot(*truth, color=GREY, linewidth=3.0, label="truth")
    if data is not None:
        axes.plot(*data, ".", color="0.35", markersize=3.0, label="data")
    if curve is not None:
        axes.plot(*curve, color=colour, linewidth=1.3, label="fit")
    if vectors is not None and data is not None:
        chosen = np.asarray(vectors, dtype=int)
        where = (np.asarray(each)[chosen] for each in data)
        axes.plot(*where, "o", color=colour, fillstyle="none", markersize=8.0, label="vectors")
    axes.set_title(title, fontsize="medium")
