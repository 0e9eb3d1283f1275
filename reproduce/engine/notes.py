"""Explanations of values that were not reproduced, stored apart from the code."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from reproduce.engine.cells import Cell

__all__ = ["NOTES", "UNEXPLAINED", "Note", "explain", "read_notes"]

NOTES = Path(__file__).parents[1] / "NOTES.toml"
UNEXPLAINED = "Not explained yet."


class Note(NamedTuple):
    """An explanation of some cells."""

    experiment: str
    line: str
    """A pattern with * and ?, as for files."""
    column: str
    text: str

    def is_about(self, experiment: str, cell: Cell) -> bool:
        """Whether the note explains a cell."""
        return (
            self.experiment == experiment
            and fnmatchcase(cell.line, self.line)
            and fnmatchcase(cell.column, self.column)
        )


def read_notes(path: Path = NOTES) -> list[Note]:
    """Return all notes."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("note", [])
    return [
        Note(
            entry["experiment"],
            entry.get("line", "*"),
            entry.get("column", "*"),
            " ".join(entry["text"].split()),
        )
        for entry in entries
    ]


def explain(notes: Sequence[Note], experiment: str, cell: Cell) -> str:
    """Return the first note on a cell, or `UNEXPLAINED`."""
    found = (note.text for note in notes if note.is_about(experiment, cell))
    return next(found, UNEXPLAINED)
