"""Models in files, with what the commands need to know about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import relvec.io
from relvec.cli.console import CommandConsole, plain
from relvec.cli.errors import CommandError, UsageError, listed, suggestion
from relvec.cli.kinds import Column
from relvec.cli.notes import are_of_fit, columns_of, what_is_wrong
from relvec.cli.sources import find_source
from relvec.cli.writing import replacing

__all__ = ["StoredModel", "load_model", "match_columns", "save_model"]


@dataclass(frozen=True)
class StoredModel:
    """A model from a file.

    Parameters
    ----------
    pipeline : estimator
        Of tables; or a bare model of numbers, if it was not saved by `relvec fit`.
    columns : list of Column
        Inputs in their order; empty if their names are not known.
    """

    path: str
    pipeline: Any
    columns: list[Column]
    target: str
    task: str
    about: dict[str, Any]

    @property
    def model(self) -> Any:
        """The last step: the model itself."""
        return self.pipeline[-1] if hasattr(self.pipeline, "steps") else self.pipeline

    @property
    def classes(self) -> list[Any]:
        """What a classifier tells apart."""
        return np.asarray(getattr(self.pipeline, "classes_", ())).tolist()

    @property
    def takes_tables(self) -> bool:
        """Whether columns are known by their names and kinds."""
        return are_of_fit(self.about)


def save_model(pipeline: Any, path: str, about: dict[str, Any]) -> None:
    """Write a model file, whole or not at all."""
    with replacing(path) as temporary:
        relvec.io.save(pipeline, temporary, about=plain(about))


def load_model(path: str) -> StoredModel:
    """Read a model file."""
    if path == "-":
        raise UsageError("A model is read from a file, not from the standard input.")
    find_source(path, format="model", formats=("model",))
    about = relvec.io.inspect(path).about
    pipeline = relvec.io.load(path)
    task = "classification" if hasattr(pipeline, "classes_") else "regression"
    if not are_of_fit(about):
        names = getattr(pipeline, "feature_names_in_", ())
        columns = [Column(str(name), "number") for name in names]
        return StoredModel(path, pipeline, columns, str(about.get("target", "target")), task, about)
    wrong = what_is_wrong(about, pipeline)
    if wrong:
        raise CommandError(
            f"'{path}' cannot be used: its notes are damaged ({wrong}). Copy or make the file "
            "again."
        )
    return StoredModel(path, pipeline, columns_of(about), about["target"], task, about)


def match_columns(
    stored: StoredModel, names: Sequence[str], where: str, console: CommandConsole
) -> list[Column]:
    """The columns of a table that the model needs, in its order, whatever theirs is."""
    if not stored.columns:
        return _by_position(stored, names, where)
    needed = [column.name for column in stored.columns]
    absent = [name for name in needed if name not in names]
    if absent:
        raise CommandError(
            f"{where} lacks {len(absent)} of the {len(needed)} columns that "
            f"'{Path(stored.path).name}' needs: {listed(absent)}.{_hints(absent, names, needed)}"
        )
    extra = [name for name in names if name not in needed and name != stored.target]
    if extra:
        console.note(f"Not used by the model: {listed(extra)}.")
    return stored.columns


def _hints(absent: list[str], names: Sequence[str], needed: list[str]) -> str:
    """What columns that are not there may be called, or why there are so few."""
    if len(names) == 1 and len(needed) > 1:
        return " Only one column was found: is the delimiter right? See --delimiter."
    spare = [name for name in names if name not in needed]
    found = {name: suggestion(name, spare).strip() for name in absent}
    return "".join(f" For '{name}': {hint}" for name, hint in found.items() if hint)


def _by_position(stored: StoredModel, names: Sequence[str], where: str) -> list[Column]:
    """A model that knows no names takes as many columns as it was fitted to, in their order."""
    inputs = [name for name in names if name != stored.target]
    wanted = int(stored.pipeline.n_features_in_)
    if len(inputs) != wanted:
        raise CommandError(
            f"'{Path(stored.path).name}' knows no column names and needs {wanted} columns; "
            f"{where} has {len(inputs)}: {listed(inputs)}."
        )
    return [Column(name, "number") for name in inputs]
