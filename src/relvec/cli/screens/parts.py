"""Pieces of screens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from relvec.cli.talk import visible

__all__ = ["bars", "figure", "pairs", "size", "table", "with_error"]


def figure(value: float | None, digits: int = 3) -> str:
    """A number with so many digits, or a dash.

    Examples
    --------
    >>> figure(1234.567), figure(0.012345), figure(None)
    ('1235', '0.0123', '–')
    """
    if value is None or value != value:
        return "–"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def with_error(summary: Mapping[str, float | None] | None, *, percent: bool = False) -> str:
    """Mean and standard error.

    Examples
    --------
    >>> with_error({"mean": 1.234, "se": 0.1})
    '1.23 ± 0.10'
    """
    if summary is None or summary["mean"] is None:
        return "–"
    mean, error = float(summary["mean"]), summary["se"]
    if percent:
        text = f"{100 * mean:.1f} %"
        return text if error is None or error != error else f"{text} ± {100 * error:.1f}"
    text = figure(mean)
    return text if error is None or error != error else f"{text} ± {figure(error, 2)}"


def size(n_bytes: int) -> str:
    """Bytes in a unit people read."""
    return f"{n_bytes} bytes" if n_bytes < 2000 else f"{n_bytes / 1000:.1f} kB"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Text on the left, figures on the right."""
    made = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for number, header in enumerate(headers):
        made.add_column(visible(header), justify="right" if number else "left", overflow="fold")
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


def bars(values: Mapping[str, Any], unit: str, limit: int = 8, width: int = 24) -> Table:
    """The largest values, as figures and as bars."""
    shown = {name: value for name, value in list(values.items())[:limit] if value and value > 0}
    largest = max(shown.values(), default=1.0)
    rows = [
        [name, figure(value), "█" * max(1, round(width * value / largest))]
        for name, value in shown.items()
    ]
    made = table(["most relevant", unit, ""], rows)
    made.columns[2].justify = "left"
    return made
