"""Figures in the sentences of pages, and in the committed tables of the benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers_docs import DOCS, ROOT

NUMBERS = r"(?<![\d.])(\d+(?: \d{3})*(?:\.\d+)?)"
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
WORDS += ["eleven", "twelve"]
README, START, GUIDE = ROOT / "README.md", DOCS / "start.md", DOCS / "guide"
BENCH = ROOT / "bench" / "README.md"


def claimed(page: Path, pattern: str) -> list[float]:
    """The figures of the one sentence of a page that is like this; ``#`` stands for a figure."""
    text = " ".join(page.read_text("utf-8").split())
    found = re.findall(pattern.replace("#", NUMBERS), text)
    assert len(found) == 1, f"{page.name} has {len(found)} sentences like {pattern!r}"
    row = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [_value(figure) for figure in row]


def _value(figure: str) -> float:
    word = figure.lower()
    return float(WORDS.index(word) if word in WORDS else word.replace(" ", ""))


def table(part: str, title: str) -> dict[str, list[str]]:
    """Rows of a table of the benchmarks, by their first cell."""
    text = BENCH.read_text("utf-8")
    text = text[text.index(f"<!-- table:{part} -->") : text.index(f"<!-- /table:{part} -->")]
    lines = text[text.index(f"**{title}") :].split("\n\n")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def mean_of(cell: str) -> float:
    """The figure in a cell, without its standard error."""
    return float(cell.split("±")[0])
