"""Colours, dashes, markers and sizes shared by all displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = [
    "DATA",
    "FAINT",
    "INK",
    "MODEL",
    "OTHER",
    "STYLE",
    "LineStyle",
    "Style",
    "class_colour",
    "class_marker",
    "line_style",
]

INK, DATA, MODEL, OTHER = "0.15", "0.5", "#1f5a99", "#c2410c"
"""Colours of text and truth, of data, of the model, and of highlighted elements."""
FAINT = "0.55"
"""Colour of dropped elements."""
PALETTE = (
    MODEL,
    OTHER,
    "#00795c",
    "#8c3a6b",
    "#b8860b",
    "#4b9cd3",
    "#6b7280",
    "#e78ac3",
    "#7c4a1e",
    "#93a66b",
)
"""Colours of models and classes; they also differ in lightness."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Style:
    """Sizes shared by all displays."""

    font_size: float = 9.0
    """Font size of legends, notes and row labels, in points."""
    title_size: float = 10.0
    """Font size of titles, in points."""
    ordinary_width: float = 3.2
    """Width of axes, in inches, from which text has its usual size."""
    least_size: float = 0.65
    """Smallest legible text, relative to the usual size."""
    legend_width: float = 1.08
    """Maximum width of a legend above the axes, relative to their width before layout."""
    total_width: float = 1.25
    """The same, including the tick labels at the left."""


STYLE = Style()


class LineStyle(NamedTuple):
    """Colour, dashes and marker of one of several lines."""

    colour: str
    dashes: Any
    marker: str


def line_style(index: int) -> LineStyle:
    """Return the style of the line of one of several models.

    Examples
    --------
    >>> line_style(1)
    LineStyle(colour='#c2410c', dashes='--', marker='s')
    """
    turn = index % len(DASHES)
    return LineStyle(PALETTE[turn], DASHES[turn], MARKERS[turn])


def class_colour(index: int) -> str:
    """Return the colour of a class."""
    return PALETTE[index % len(PALETTE)]


def class_marker(index: int) -> str:
    """Return the marker of the rows of a class."""
    return MARKERS[index % len(MARKERS)]
