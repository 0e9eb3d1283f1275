"""Tables: on the terminal, as Markdown, and inside bench/README.md."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.runner import Record

README = Path(__file__).with_name("README.md")
LEAST_WIDTH = 18
"""Characters left to the names of rows where a screen is narrow."""
PACKAGES = ("relvec", "fastrvm", "sklearn-rvm", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Table:
    """A title, a head and rows of ready-made cells."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table in Markdown, numbers to the right."""
        lines = [f"**{self.title}**", "", _line(self.head)]
        lines.append(_line(["---"] + ["--:"] * (len(self.head) - 1)))
        return "\n".join(lines + [_line(row) for row in self.rows])

    def plain(self) -> str:
        """Return the table in aligned columns."""
        cells = [self.head, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.head))]
        lines = []
        for first, *others in cells:
            numbers = [cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([first.ljust(widths[0]), *numbers]))
        return "\n".join([self.title, *lines])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with so many significant digits and no exponent, or a dash."""
    if value is None:
        return "–"
    if value and abs(value) < 10 ** (digits - 1):
        text = f"{value:.{digits}g}"
        return text if "e" not in text else f"{value:.1e}"
    return f"{value:.0f}"


def times(value: float | None) -> str:
    """Return a ratio, like 11×."""
    return "–" if value is None else f"{number(value, 2 if value < 100 else 3)}×"


def _width(table: Table) -> int:
    """Characters that a table takes in a frame."""
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]
    return sum(widths) + 3 * len(widths) + 1


def show(tables: Sequence[Table]) -> None:
    """Print the tables, with rich if it is installed."""
    try:
        from rich.console import Console
        from rich.table import Table as RichTable
    except ImportError:
        print("\n\n".join(table.plain() for table in tables))
        return
    console = Console()
    for table in tables:
        if not console.is_terminal:  # a file has no width
            console = Console(width=max(110, console.width, _width(table)))
        drawn = RichTable(title=table.title, title_justify="left")
        for i, name in enumerate(table.head):
            # names of rows may take several lines but never vanish
            longest = max((len(row[i]) for row in table.rows), default=0)
            least = min(LEAST_WIDTH, longest) if i == 0 else None
            drawn.add_column(name, justify="right" if i else "left", min_width=least)
        for row in table.rows:
            drawn.add_row(*row)
        console.print(drawn)


def describe_run(
    records: Sequence[Record], command: str, packages: Sequence[str] = PACKAGES
) -> str:
    """Return a description of the run: computer, versions, date, command."""
    blas = sorted(
        {
            f"{library['internal_api']} {library['version']}"
            for record in records
            for library in record.get("blas", ())
        }
    )
    versions = [f"{name} {version}" for name in packages if (version := _version(name))]
    lines = (
        f"{datetime.date.today().isoformat()}, `{command}`",
        f"{_cpu_model()}, {os.cpu_count()} cores, one BLAS thread per process, {platform.system()}",
        f"Python {platform.python_version()}, {', '.join([*versions, *blas])}",
    )
    return "\n".join(f"- {line}" for line in lines)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return found.group(1).strip() if found else platform.machine()


def markdown(tables: Sequence[Table], facts: str, notes: Sequence[str]) -> str:
    """Return a whole report."""
    parts = [facts, *(table.markdown() for table in tables)]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def write_readme(suite: str, report: str, readme: Path = README) -> None:
    """Put the report between the markers of its suite in the page."""
    start, end = f"<!-- table:{suite} -->", f"<!-- /table:{suite} -->"
    text = readme.read_text(encoding="utf-8")
    head, found, rest = text.partition(start)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{readme.name} must hold the lines {start} and {end}.")
    readme.write_text(f"{head}{start}\n{report}{end}{tail}", encoding="utf-8")
