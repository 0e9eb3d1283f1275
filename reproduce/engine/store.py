"""Storage of finished tasks, so that an interrupted run can continue."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import relvec
from reproduce.engine.experiment import Task, Value

__all__ = ["Record", "Store", "fingerprint"]

PROJECT = Path(__file__).parents[2]
PRESENTATION = (
    "reproduce.engine",
    "reproduce.common.plots",
    "reproduce.common.optima_plots",
    "reproduce.common.sampler_plots",
)
"""Modules that affect only the presentation of results."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "PyWavelets")


class Record(NamedTuple):
    """Result and CPU time of a finished task."""

    value: Value
    seconds: float


def _source(module: str) -> Path | None:
    """Return the file of a module of this package, if it is one."""
    stem = PROJECT.joinpath(*module.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


def _imported(path: Path) -> Iterator[str]:
    """Yield the names of modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _own_modules(module: str) -> dict[str, Path]:
    """Return the module and all modules of this package that it imports, except presentation."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _source(name) if name.startswith("reproduce.") else None
        if path is None or name in found or name.startswith(PRESENTATION):
            continue
        found[name] = path
        waiting += _imported(path)
    return dict(sorted(found.items()))


@cache
def _digest_of_files(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def _digest_environment(module: str, folder: Path | None) -> str:
    """Return a digest of everything that the results of a module's tasks depend on."""
    library = sorted(Path(relvec.__file__).parent.rglob("*.py"))
    parts = [_digest_of_files(*library), _digest_of_files(*_own_modules(module).values())]
    if folder is not None:
        parts.append(_digest_of_files(*sorted(folder.glob("*.npz"))))
    parts += [importlib.metadata.version(name) for name in LIBRARIES]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def fingerprint(task: Task, folder: Path | None) -> str:
    """Return a digest that changes if the task, its code, the library or the data change.

    Parameters
    ----------
    task : Task
        The task.
    folder : Path or None
        Folder of the data.
    """
    words = [task.call.__qualname__, repr(task.arguments)]
    words.append(_digest_environment(task.call.__module__, folder))
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:20]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"A task may return numbers, text, lists and arrays; got {type(value)}.")


class Store:
    """Finished tasks of one experiment, a line of JSON for each.

    Parameters
    ----------
    path : Path
        The file; made when the first task is added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[tuple[str, str], Record] = {}
        self._ends_in_a_line = True
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            self._ends_in_a_line = not text or text.endswith("\n")
            for line in text.splitlines():
                try:
                    entry = json.loads(line)
                    known = Record(dict(entry["value"]), float(entry["seconds"]))
                    self._records[entry["key"], entry["fingerprint"]] = known
                except (ValueError, TypeError, KeyError):
                    continue  # an incomplete line of an interrupted run

    def get(self, key: str, mark: str) -> Record | None:
        """Return a finished task if it is stored with this fingerprint."""
        return self._records.get((key, mark))

    def add(self, key: str, mark: str, record: Record) -> Record:
        """Store a finished task, and return it as it will be read."""
        entry = {"key": key, "fingerprint": mark, **record._asdict()}
        line = json.dumps(entry, default=_plain)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n" if self._ends_in_a_line else "\n" + line + "\n")
        self._ends_in_a_line = True
        kept = Record(json.loads(line)["value"], record.seconds)
        self._records[key, mark] = kept
        return kept
