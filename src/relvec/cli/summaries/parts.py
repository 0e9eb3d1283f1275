"""Pieces of screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from relvec.cli.console import visible

__all__ = ["bars", "figure", "legend", "pairs", "percent", "size", "table", "with_error"]


def figure(value: float | None, digits: int = 3) -> str:
    """A number with so many digits, or a dash.

    Examples
    --------
    >>> figure(1234.567), figure(0.012345), figure(27646639), figure(None)
    ('1235', '0.0123', '2.76e+07', '–')
    """
    if value is None or value != value:
        return "–"
    if abs(value) >= 1e7:  # too long without a power of ten
        return f"{value:.{digits}g}"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def with_error(summary: Mapping[str, float | None] | None, form: str = "") -> str:
    """Mean and standard error, as figures, as a "share" or, what is about 1, with "decimals".

    Examples
    --------
    >>> with_error({"mean": 1.234, "se": 0.1})
    '1.23 ± 0.10'
    >>> with_error({"mean": 0.1234, "se": 0.01}, "share")
    '12.3 % ± 1.0'
    >>> with_error({"mean": -0.00199, "se": 0.00078}, "decimals")
    '-0.002 ± 0.001'
    """
    if summary is None or summary["mean"] is None:
        return "–"
    mean, error = float(summary["mean"]), summary["se"]
    if form == "share":
        text, more = percent(summary), f"{100 * (error or 0.0):.1f}"
    elif form == "decimals" and abs(mean) < 100.0:
        text, more = f"{mean:.3f}", f"{error or 0.0:.3f}"
    else:
        text, more = figure(mean), figure(error, 2)
    return text if error is None or error != error else f"{text} ± {more}"


def percent(summary: Mapping[str, float | None]) -> str:
    """The mean of a share.

    Examples
    --------
    >>> percent({"mean": 0.934, "se": 0.01})
    '93.4 %'
    """
    mean = summary["mean"]
    return "–" if mean is None else f"{100 * mean:.1f} %"


def size(n_bytes: int) -> str:
    """Bytes in a unit people read."""
    return f"{n_bytes} bytes" if n_bytes < 2000 else f"{n_bytes / 1000:.1f} kB"


def legend(*sentences: str) -> Padding:
    """What the words of a table mean, in small print."""
    return Padding(Text(visible(" ".join(sentences)), style="dim"), (0, 1))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Text on the left, figures on the right; no figure is broken into lines."""
    made = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for number, header in enumerate(headers):
        made.add_column(
            visible(header),
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number > 0,
        )
    for row in rows:
        made.add_row(*map(visible, row))
    return made


def pairs(facts: Sequence[tuple[str, str]]) -> Table:
    """Names and what they are, one below the other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(visible(name), visible(value))
    return grid


def bars(values: Mapping[str, Any], unit: str, width: int = 24) -> Table:
    """Values that are positive, as figures and as bars."""
    largest = max(values.values(), default=1.0)
    rows = [
        [name, figure(value), "█" * max(1, round(width * value / largest))]
        for name, value in values.items()
    ]
    made = table(["most relevant", unit, ""], rows)
    made.columns[2].justify = "left"
    return made
