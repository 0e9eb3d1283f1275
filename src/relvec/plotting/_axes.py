"""What all pictures share: colours, axes and the checks of what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._compat import optional
from relvec._typing import Vector

__all__ = [
    "DATA",
    "INK",
    "MODEL",
    "OTHER",
    "STYLES",
    "check_line",
    "finish",
    "legend_above",
    "take_axes",
]

INK, DATA, MODEL, OTHER = "0.15", "0.5", "#1f5a99", "#c2410c"
"""Truth and text, observations, what was fitted, and what is to stand out from it."""
STYLES = (
    (MODEL, "-"),
    (OTHER, "--"),
    ("#00795c", "-."),
    ("#8c3a6b", ":"),
    ("#b8860b", (0, (5, 1, 1, 1, 1, 1))),
)
"""Colours and dashes: either tells lines of several models apart."""


def take_axes(ax: Any, n_axes: int, what: str, **layout: Any) -> tuple[Any, list[Any]]:
    """Return a figure and `n_axes` of its axes: those given, or new ones.

    Parameters
    ----------
    ax : matplotlib Axes, sequence of them, or None
        Where to draw; None makes a new figure.
    n_axes : int
        How many are needed.
    what : str
        What the picture consists of, for the error.
    **layout : dict
        Of a new figure: arguments of ``pyplot.subplots``.
    """
    if ax is None:
        pyplot = optional("matplotlib.pyplot")
        figure, axes = pyplot.subplots(**{"layout": "constrained", **layout}, squeeze=False)
        return figure, list(axes.ravel())
    axes = [ax] if hasattr(ax, "plot") else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_axes or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(
            f"ax must hold {n_axes} matplotlib axes, for {what}; got {len(axes)} of type "
            f"{type(axes[0]).__name__ if axes else 'nothing'}. Leave ax out for a new figure."
        )
    return axes[0].figure, axes


def finish(axes: Any, *, legend: str | None = None, grid: bool = False) -> None:
    """Take away what says nothing, and add a legend at a place unless that is None."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.grid(color="0.92", lw=0.8)
        axes.set_axisbelow(True)
    if legend is not None:
        axes.legend(frameon=False, fontsize=9, loc=legend)


def legend_above(axes: Any) -> None:
    """Put a legend in one line above the axes, where it hides nothing."""
    legend = axes.legend(
        frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=4
    )
    for handle in legend.legend_handles:
        if hasattr(handle, "set_markersize"):
            handle.set_markersize(5)


def check_line(name: str, values: Any, length: int | None = None) -> Vector:
    """Return `values` as real numbers along a line, of a given length."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        hint = {
            2: " For an image use ImageDisplay; of several channels draw one at a time.",
            3: " For an image use ImageDisplay.",
        }.get(array.ndim, "")
        if array.dtype.kind == "c":
            hint = " Draw the real and the imaginary part each by itself."
        raise ValueError(
            f"{name} must be real numbers along a line; got an array of shape {array.shape} and "
            f"type {array.dtype}.{hint}"
        )
    if length is not None and len(array) != length:
        raise ValueError(
            f"{name} must hold {length} values, as many as the denoised signal; got {len(array)}."
        )
    return array.astype(np.float64)
