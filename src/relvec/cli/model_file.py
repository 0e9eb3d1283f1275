"""Model files with the metadata that the commands need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import relvec.io
from relvec.cli.console import CommandConsole, to_json_types
from relvec.cli.errors import CommandError, UsageError, format_names, suggest_name
from relvec.cli.kinds import Column
from relvec.cli.metadata import (
    find_defect,
    find_task,
    is_from_fit,
    read_columns,
    read_row_column,
    renew_metadata,
)
from relvec.cli.row_columns import RowColumn
from relvec.cli.sources import find_source
from relvec.cli.writing import atomic_output

__all__ = ["StoredModel", "load_model", "match_columns", "save_model"]


@dataclass(frozen=True)
class StoredModel:
    """A model from a file.

    Parameters
    ----------
    pipeline : estimator
        Pipeline that takes tables; or a bare model, if it was not saved by `relvec fit`.
    columns : list of Column
        Columns in the order of the model; empty if their names are not known.
    """

    path: str
    pipeline: Any
    columns: list[Column]
    target: str
    task: str
    about: dict[str, Any]

    @property
    def model(self) -> Any:
        """The model itself: the last step of the pipeline."""
        return self.pipeline[-1] if hasattr(self.pipeline, "steps") else self.pipeline

    @property
    def classes(self) -> list[Any]:
        """Classes of a classifier; empty for regression."""
        return np.asarray(getattr(self.pipeline, "classes_", ())).tolist()

    @property
    def row_column(self) -> RowColumn | None:
        """Column with the noise or the exposure of each row, if the model was fitted with one."""
        return read_row_column(self.about) if self.takes_tables else None

    @property
    def takes_tables(self) -> bool:
        """Whether the file was saved by `relvec fit`, so that kinds of columns are known."""
        return is_from_fit(self.about)


def save_model(pipeline: Any, path: str, about: dict[str, Any]) -> None:
    """Write a model file; a failure leaves no partial file."""
    with atomic_output(path) as temporary:
        relvec.io.save(pipeline, temporary, about=to_json_types(about))


def load_model(path: str) -> StoredModel:
    """Read a model file."""
    if path == "-":
        raise UsageError("A model cannot be read from the standard input; name a model file.")
    find_source(path, format="model", formats=("model",))
    about = renew_metadata(relvec.io.inspect(path).about)
    pipeline = relvec.io.load(path)
    task = find_task(pipeline)
    if not is_from_fit(about):
        names = getattr(pipeline, "feature_names_in_", ())
        columns = [Column(str(name), "number") for name in names]
        return StoredModel(path, pipeline, columns, str(about.get("target", "target")), task, about)
    defect = find_defect(about, pipeline)
    if defect:
        raise CommandError(
            f"'{path}' cannot be used: its metadata are damaged ({defect}). Copy the file again or "
            "fit the model again."
        )
    return StoredModel(path, pipeline, read_columns(about), about["target"], task, about)


def match_columns(
    stored: StoredModel, names: Sequence[str], where: str, console: CommandConsole
) -> list[Column]:
    """Return the columns that the model needs, in its order; an error if any is missing."""
    if not stored.columns:
        return _by_position(stored, names, where)
    needed = [column.name for column in stored.columns]
    absent = [name for name in needed if name not in names]
    if absent:
        raise CommandError(
            f"{where} does not have {len(absent)} of the {len(needed)} columns that "
            f"'{Path(stored.path).name}' needs: {format_names(absent)}."
            + _hints(absent, names, needed)
        )
    known = {*needed, stored.target, stored.row_column and stored.row_column.name}
    extra = [name for name in names if name not in known]
    if extra:
        console.note(f"Columns not used by the model: {format_names(extra)}.")
    return stored.columns


def _hints(absent: list[str], names: Sequence[str], needed: list[str]) -> str:
    """Suggest similar names for missing columns, or another delimiter."""
    if len(names) == 1 and len(needed) > 1:
        return " Only one column was found: is the delimiter correct? See --delimiter."
    spare = [name for name in names if name not in needed]
    found = {name: suggest_name(name, spare).strip() for name in absent}
    return "".join(f" For '{name}': {hint}" for name, hint in found.items() if hint)


def _by_position(stored: StoredModel, names: Sequence[str], where: str) -> list[Column]:
    """Match columns by position, for a model that was fitted without column names."""
    features = [name for name in names if name != stored.target]
    wanted = int(stored.pipeline.n_features_in_)
    if len(features) != wanted:
        raise CommandError(
            f"'{Path(stored.path).name}' was fitted without column names and needs {wanted} "
            f"columns; {where} has {len(features)}: {format_names(features)}."
        )
    return [Column(name, "number") for name in features]
