"""Tables, charts and number formats of the printed summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from relvec.cli.console import escape_controls

__all__ = [
    "bar_chart",
    "format_mean",
    "format_number",
    "format_percent",
    "format_size",
    "key_values",
    "legend",
    "table",
]


def format_number(value: float | None, digits: int = 3) -> str:
    """Format a number with so many significant digits; a dash if it is missing.

    Examples
    --------
    >>> (
    ...     format_number(1234.567),
    ...     format_number(0.012345),
    ...     format_number(27646639),
    ...     format_number(None),
    ... )
    ('1235', '0.0123', '2.76e+07', '–')
    """
    if value is None or value != value:
        return "–"
    if abs(value) >= 1e7:  # too long without a power of ten
        return f"{value:.{digits}g}"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def format_mean(summary: Mapping[str, float | None] | None, form: str = "") -> str:
    """Format mean ± standard error: as "percent", with three "decimals", or as numbers.

    Examples
    --------
    >>> format_mean({"mean": 1.234, "se": 0.1})
    '1.23 ± 0.10'
    >>> format_mean({"mean": 0.1234, "se": 0.01}, "percent")
    '12.3 % ± 1.0'
    >>> format_mean({"mean": -0.00199, "se": 0.00078}, "decimals")
    '-0.002 ± 0.001'
    """
    if summary is None or summary["mean"] is None:
        return "–"
    mean, error = float(summary["mean"]), summary["se"]
    if form == "percent":
        text, more = format_percent(summary), f"{100 * (error or 0.0):.1f}"
    elif form == "decimals" and abs(mean) < 100.0:
        text, more = f"{mean:.3f}", f"{error or 0.0:.3f}"
    else:
        text, more = format_number(mean), format_number(error, 2)
    return text if error is None or error != error else f"{text} ± {more}"


def format_percent(summary: Mapping[str, float | None]) -> str:
    """Format the mean of a fraction as a percentage.

    Examples
    --------
    >>> format_percent({"mean": 0.934, "se": 0.01})
    '93.4 %'
    """
    mean = summary["mean"]
    return "–" if mean is None else f"{100 * mean:.1f} %"


def format_size(n_bytes: int) -> str:
    """Format a number of bytes."""
    return f"{n_bytes} bytes" if n_bytes < 2000 else f"{n_bytes / 1000:.1f} kB"


def legend(*sentences: str) -> Padding:
    """Explanations below a table, in dim text."""
    return Padding(Text(escape_controls(" ".join(sentences)), style="dim"), (0, 1))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Make a table: the first column left-aligned, the others right-aligned without wrapping."""
    result = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for number, header in enumerate(headers):
        result.add_column(
            escape_controls(header),
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number > 0,
        )
    for row in rows:
        result.add_row(*map(escape_controls, row))
    return result


def key_values(pairs: Sequence[tuple[str, str]]) -> Table:
    """Make a list of names and values, one pair per line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(escape_controls(name), escape_controls(value))
    return grid


def bar_chart(values: Mapping[str, Any], title: str, unit: str, width: int = 24) -> Table:
    """Make a bar chart of positive values."""
    largest = max(values.values(), default=1.0)
    rows = [
        [name, format_number(value), "█" * max(1, round(width * value / largest))]
        for name, value in values.items()
    ]
    result = table([title, unit, ""], rows)
    result.columns[2].justify = "left"
    return result
