"""Rows of names, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from relvec._typing import IndexArray, Vector
from relvec.describing.names import shorten
from relvec.plotting._axes import plain, tone
from relvec.plotting._style import FAINT, INK

__all__ = ["label_rows", "row_figure", "row_font", "spread_apart"]


def row_figure(n_rows: int, width: float) -> dict[str, Any]:
    """Size of a figure in which so many rows of names can be read."""
    return {"figsize": (width, 0.9 + 0.26 * max(n_rows, 3))}


def row_font(axes: Any, n_rows: int) -> float:
    """Size of letters, in points, with which so many rows of words do not overlap."""
    room = axes.get_window_extent().height / axes.figure.dpi * 72.0
    return float(np.clip(0.85 * room / max(n_rows, 1), 4.0, 9.0))


def label_rows(axes: Any, names: Sequence[str], is_faint: Any, note: str | None) -> Any:
    """Name the rows of a picture from the top, with a note below them; return the note.

    Parameters
    ----------
    axes : matplotlib Axes
        Rows are at 0, 1, ... from the top.
    names : sequence of str
        Of the rows.
    is_faint : sequence of bool
        Which names are to be faint.
    note : str or None
        What to write in one row more.
    """
    n_rows = len(names) + (note is not None)
    axes.set_ylim(n_rows - 0.4, -0.6)
    shown = [plain(shorten(name)) for name in names]
    axes.set_yticks(np.arange(len(names)), shown, fontsize=row_font(axes, n_rows))
    for label, faint in zip(axes.get_yticklabels(), is_faint, strict=True):
        label.set_color(tone(axes, FAINT if faint else INK))
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
        fontsize=row_font(axes, n_rows),
        color=tone(axes, FAINT),
        style="italic",
        bbox={"fc": axes.get_facecolor(), "ec": "none", "pad": 1.0},
        zorder=5,
    )


def spread_apart(places: Vector, gap: float) -> tuple[IndexArray, Vector]:
    """Move labels apart along an edge from 0 to 1, each as little as possible.

    Parameters
    ----------
    places : ndarray of shape (n_labels,)
        Where they should be, the most important first.
    gap : float
        How far apart they must be.

    Returns
    -------
    kept : ndarray of shape (n_kept,)
        Which of them there is room for.
    moved : ndarray of shape (n_kept,)
        Where those are to be.
    """
    if not len(places):
        return np.arange(0), np.empty(0)
    room = int(1.0 / gap) + 1
    kept = np.arange(len(places))[:room]
    order = np.argsort(places[kept], kind="stable")
    steps = gap * np.arange(len(kept))
    # Labels a gap apart are non-decreasing once the gaps are taken out: isotonic regression
    # gives the nearest such places.
    most = max(1.0 - steps[-1], 0.0)
    level = isotonic_regression(places[kept][order] - steps, y_min=0.0, y_max=most)
    moved = np.empty(len(kept))
    moved[order] = level + steps
    return kept, moved
