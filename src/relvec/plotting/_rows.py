"""Labelled rows, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from relvec._typing import IndexArray, Vector
from relvec.describing.names import shorten
from relvec.plotting._axes import adapt_colour, escape_mathtext
from relvec.plotting._style import FAINT, INK

__all__ = [
    "compute_figure_size",
    "compute_font_size",
    "format_percent",
    "label_rows",
    "spread_labels",
]


def compute_figure_size(n_rows: int, width: float) -> dict[str, Any]:
    """Compute the size of a figure with legible row labels."""
    return {"figsize": (width, 0.9 + 0.26 * max(n_rows, 3))}


def compute_font_size(axes: Any, n_rows: int) -> float:
    """Compute the font size, in points, at which row labels do not overlap."""
    height = axes.get_window_extent().height / axes.figure.dpi * 72.0
    return float(np.clip(0.85 * height / max(n_rows, 1), 4.0, 9.0))


def format_percent(share: float) -> str:
    """Format a probability in percent; 0 and 100 only if exact."""
    if 0.0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1.0:
        return ">99 %"
    return f"{100.0 * share:.0f} %"


def label_rows(axes: Any, names: Sequence[str], is_faint: Any, note: str | None) -> Any:
    """Label the rows of a plot from the top, with a note below them; return the note.

    Parameters
    ----------
    axes : matplotlib Axes
        Rows are at 0, 1, ... from the top.
    names : sequence of str
        Names of the rows.
    is_faint : sequence of bool
        Which labels are drawn in a faint colour.
    note : str or None
        Text in an additional row.
    """
    n_rows = len(names) + (note is not None)
    axes.set_ylim(n_rows - 0.4, -0.6)
    shown = [escape_mathtext(shorten(name)) for name in names]
    axes.set_yticks(np.arange(len(names)), shown, fontsize=compute_font_size(axes, n_rows))
    for label, faint in zip(axes.get_yticklabels(), is_faint, strict=True):
        label.set_color(adapt_colour(axes, FAINT if faint else INK))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    if note is None:
        return None
    return axes.annotate(
        note,
        (0.0, len(names)),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=compute_font_size(axes, n_rows),
        color=adapt_colour(axes, FAINT),
        style="italic",
        bbox={"fc": axes.get_facecolor(), "ec": "none", "pad": 1.0},
        zorder=5,
    )


def spread_labels(positions: Vector, gap: float) -> tuple[IndexArray, Vector]:
    """Move labels apart along an edge from 0 to 1, each as little as possible.

    Parameters
    ----------
    positions : ndarray of shape (n_labels,)
        Desired positions, the most important first.
    gap : float
        Minimum distance.

    Returns
    -------
    kept : ndarray of shape (n_kept,)
        Labels that fit.
    moved : ndarray of shape (n_kept,)
        Their new positions.
    """
    if not len(positions):
        return np.arange(0), np.empty(0)
    n_fitting = int(1.0 / gap) + 1
    kept = np.arange(len(positions))[:n_fitting]
    order = np.argsort(positions[kept], kind="stable")
    steps = gap * np.arange(len(kept))
    # Labels a gap apart are non-decreasing once the gaps are taken out: isotonic regression
    # gives the nearest such positions.
    most = max(1.0 - steps[-1], 0.0)
    level = isotonic_regression(positions[kept][order] - steps, y_min=0.0, y_max=most)
    moved = np.empty(len(kept))
    moved[order] = level + steps
    return kept, moved
