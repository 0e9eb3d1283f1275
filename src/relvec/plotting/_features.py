"""What the pictures of inputs share: names, checks, rows, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._typing import IndexArray, Matrix, Vector
from relvec.plotting._axes import INK, check_line, plain, tone
from relvec.plotting._estimators import predictor

__all__ = [
    "FAINT",
    "attribute_of",
    "check_amounts",
    "check_names",
    "check_table",
    "count_of",
    "label_rows",
    "names_of",
    "row_figure",
    "row_font",
    "shorten",
    "spread_apart",
]

FAINT = "0.55"
"""What was dropped: dark enough to read, too light to take for the rest."""
LONGEST = 28
"""Letters of a name that are shown."""


def attribute_of(estimator: Any, attribute: str, display: str, content: str) -> Any:
    """Return a fitted attribute of an estimator or of the last step of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Where to look.
    attribute : str
        Name of what is needed.
    display : str
        Who needs it, for the error.
    content : str
        What it holds, for the error.
    """
    model = predictor(estimator)
    if hasattr(model, attribute):
        return getattr(model, attribute)
    check_is_fitted(estimator)
    raise TypeError(
        f"{display} needs an estimator that learns how much each input matters and keeps "
        f"{content} in {attribute}; {type(model).__name__} has no such attribute."
    )


def names_of(estimator: Any, n_features: int, feature_names: Any = None) -> list[str]:
    """Return names of inputs: those given, those the estimator saw, or x0, x1 and so on."""
    if feature_names is None:
        feature_names = getattr(predictor(estimator), "feature_names_in_", None)
    if feature_names is None and isinstance(estimator, Pipeline):
        try:
            feature_names = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            feature_names = None  # a step that cannot tell
    return check_names(feature_names, n_features)


def check_names(feature_names: Any, n_features: int) -> list[str]:
    """Return as many names as there are inputs; x0, x1 and so on if none are given."""
    if feature_names is None:
        return [f"x{number}" for number in range(n_features)]
    if isinstance(feature_names, str) or np.ndim(feature_names) != 1:
        raise TypeError(
            f"feature_names must be a sequence of names, one for each input; got {feature_names!r}."
        )
    names = [str(name) for name in feature_names]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must hold {n_features} names, one for each input; got {len(names)}."
        )
    return names


def check_amounts(
    name: str, values: Any, shape: tuple[int, ...] | None = None, *, allow_nan: bool = False
) -> Vector:
    """Return values of one number per input that must not be negative."""
    array = check_line(name, values)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: there is no input to draw.")
    if shape is not None and array.shape != shape:
        raise ValueError(
            f"{name} must hold {shape[0]} values, one for each input; got {len(array)}."
        )
    known = array[~np.isnan(array)] if allow_nan else array
    if not np.isfinite(known).all() or (known < 0.0).any():
        raise ValueError(
            f"{name} must be finite and not negative; got {known.min()} to {known.max()}."
        )
    return array


def count_of(number: int, noun: str = "input") -> str:
    """Return a number with its noun: 1 input, 2 inputs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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


def check_table(name: str, values: Any, rows: str) -> Matrix:
    """Return a table with a column for each input."""
    table = np.asarray(values)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or 0 in table.shape:
        raise ValueError(
            f"{name} must be a table of numbers with a row for each {rows} and a column for each "
            f"input; got an array of shape {table.shape} and type {table.dtype}."
        )
    table = table.astype(np.float64)
    if not np.isfinite(table).all() or (table < 0.0).any():
        raise ValueError(f"{name} must be finite and not negative; it holds other values.")
    return table


def shorten(name: str) -> str:
    """Return a name, cut where it is too long to be drawn."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
