"""Colours, dashes, marks and sizes: what makes displays look alike."""

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
"""Truth and text, observations, what was fitted, and what is to stand out from it."""
FAINT = "0.55"
"""What was dropped: dark enough to read, too light to take for the rest."""
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
"""Of models and classes; they also differ in lightness."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Style:
    """Sizes that all displays share."""

    font_size: float = 9.0
    """Of legends, notes and names of rows, in points: a little below that of the axes."""
    title_size: float = 10.0
    """Of what stands above axes, in points: as that of the axes."""
    ordinary_width: float = 3.2
    """Inches; words of the usual size fit on axes that are at least as wide."""
    least_size: float = 0.65
    """Share of the usual size below which words cannot be read."""
    room_above: float = 1.08
    """Width of a legend above axes, in widths that axes begin with: layouts make these wider."""
    room_in_all: float = 1.25
    """The same, with all that is left of the axes."""


STYLE = Style()


class LineStyle(NamedTuple):
    """How one of several lines is drawn: colour, dashes and mark each tell it apart."""

    colour: str
    dashes: Any
    marker: str


def line_style(place: int) -> LineStyle:
    """Style of the line of one of several models.

    Examples
    --------
    >>> line_style(1)
    LineStyle(colour='#c2410c', dashes='--', marker='s')
    """
    turn = place % len(DASHES)
    return LineStyle(PALETTE[turn], DASHES[turn], MARKERS[turn])


def class_colour(place: int) -> str:
    """Colour of a class."""
    return PALETTE[place % len(PALETTE)]


def class_marker(place: int) -> str:
    """Mark of the rows of a class."""
    return MARKERS[place % len(MARKERS)]
