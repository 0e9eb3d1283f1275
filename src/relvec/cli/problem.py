"""The learning problem defined by a table and a target: task, columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import check_column, split_names
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, format_names, suggest_name
from relvec.cli.kinds import (
    Column,
    Dropped,
    as_categories,
    as_numbers,
    describe_column,
    explain_mistyped,
    explain_mixed,
    prepare_columns,
)
from relvec.cli.limits import LIMITS
from relvec.cli.row_columns import RowColumn, RowValues, read_row_values
from relvec.cli.sources import Source
from relvec.cli.subsampling import SampledRows

__all__ = ["Problem", "define_problem", "read_target"]

BOOLEANS = ("true", "false")
TASKS = ("auto", "regression", "counts", "classification")


@dataclass(frozen=True)
class Problem:
    """A supervised learning problem.

    Parameters
    ----------
    table : DataFrame
        The columns used, converted by `prepare_columns`.
    target : ndarray
        Numbers, or class labels as text.
    row_numbers : ndarray
        Row numbers in the file; the first row after the header is 1.
    """

    table: pl.DataFrame
    target: np.ndarray
    name: str
    task: str
    columns: list[Column]
    dropped: list[Dropped]
    rows: dict[str, int]
    row_numbers: np.ndarray
    row_values: RowValues | None = None
    """Known noise variances, or exposures, of the rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return len(self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return the description for the JSON output and the model file."""
        facts: dict[str, Any] = {
            "target": self.name,
            "task": self.task,
            "rows": self.rows,
            "columns": [column.to_dict() for column in self.columns],
            "dropped": [{"name": each.name, "reason": each.reason} for each in self.dropped],
        }
        if self.task == "classification":
            facts["classes"] = np.unique(self.target).tolist()
        if self.row_values is not None:
            column = self.row_values.column
            facts["row_column"] = {"name": column.name, "role": column.role}
        return facts


def define_problem(
    rows: SampledRows,
    source: Source,
    console: CommandConsole,
    *,
    target: str,
    task: str = "auto",
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    max_categories: int = LIMITS.max_categories,
    row_column: RowColumn | None = None,
    is_search: bool = False,
) -> Problem:
    """Choose the task and the columns; every automatic choice is printed as a note."""
    frame = rows.frame
    if task not in TASKS:
        raise UsageError(
            f"--task must be one of {', '.join(TASKS)}; got {task!r}." + suggest_name(task, TASKS)
        )
    features = _resolve_names(features, "feature", "--features", target, frame, source)
    drop = _resolve_names(drop, "dropped", "--drop", target, frame, source)
    categorical = _resolve_names(categorical, "categorical", "--categorical", target, frame, source)
    _note_unused_rows(rows, target, console)
    row_values = read_row_values(row_column, frame, source, rows.row_numbers)
    if task == "auto" and row_column is not None:  # known noise, or counts with their exposure
        task = "counts" if row_column.parameter == "exposure" else "regression"
    task, values = _choose_task(frame[target], task, console)
    not_used = {target, *drop, *([] if row_column is None else [row_column.name])}
    wanted = [name for name in (features or frame.columns) if name not in not_used]
    candidates = frame.select(wanted)
    columns, dropped = _describe_columns(
        candidates, [*features, *categorical], categorical, max_categories
    )
    if not columns:  # use even a row identifier, which may be time, if it is the only column
        columns, dropped = _describe_columns(candidates, wanted, categorical, max_categories)
    _note_dropped_columns(dropped, source, console)
    if not columns:
        hint = _explain_text_times(candidates) if is_search else ""
        raise CommandError(f"{source.name} has no usable column to predict '{target}' from.{hint}")
    if not (is_search and len(columns) == 1):  # the dates of a series remain dates
        _note_conversions(columns, frame, categorical, console)
    table = prepare_columns(frame, columns)
    _note_duplicates(table, values, console)
    return Problem(
        *(table, values, target, task, columns, dropped, rows.counts(), rows.row_numbers),
        row_values=row_values,
    )


def _explain_text_times(candidates: pl.DataFrame) -> str:
    """Return how to write the times of a series, if its only column contains text."""
    names = [name for name, kind in candidates.schema.items() if kind == pl.String]
    if candidates.width != 1 or not names:
        return ""
    given = next(text for text in candidates[names[0]] if text is not None)
    return (
        f" '{names[0]}' contains text such as '{given}', but a series needs numbers or dates. "
        "Write dates with year, month and day, as in 2019-01-31."
    )


def _resolve_names(
    names: Sequence[str],
    role: str,
    option: str,
    target: str,
    frame: pl.DataFrame,
    source: Source,
) -> list[str]:
    """Return the columns named by an option; an error if one is missing or is the target."""
    found = split_names(names, frame.columns)
    for name in found:
        check_column(name, frame.columns, source, role=role)
    if target in found:
        raise UsageError(
            f"'{target}' is the target and cannot be given with {option} too. Use --task to choose "
            "between regression and classification."
        )
    return found


def _describe_columns(
    frame: pl.DataFrame, named: Sequence[str], categorical: Sequence[str], max_categories: int
) -> tuple[list[Column], list[Dropped]]:
    """Split the columns into usable and dropped ones."""
    described = [
        describe_column(
            series,
            max_categories=max_categories,
            as_category=series.name in categorical,
            is_requested=series.name in named,
        )
        for series in frame
    ]
    columns = [each for each in described if isinstance(each, Column)]
    return columns, [each for each in described if isinstance(each, Dropped)]


def _note_unused_rows(rows: SampledRows, target: str, console: CommandConsole) -> None:
    """Note how many rows are not used."""
    if rows.n_with_target < rows.n_read:
        n_missing = rows.n_read - rows.n_with_target
        console.note(f"{n_missing} of {rows.n_read} rows are not used: '{target}' is missing.")
    if len(rows.frame) < rows.n_with_target:
        console.note(
            f"{len(rows.frame)} of {rows.n_with_target} rows, drawn at random, are used; see "
            "--max-rows."
        )


def _note_dropped_columns(dropped: list[Dropped], source: Source, console: CommandConsole) -> None:
    """Note which columns are left out; raise an error if a column looks mistyped."""
    for each in dropped:
        if each.is_error:
            raise CommandError(f"In {source.name}, c{each.describe()[1:]}")
    console.note_many("columns are left out", [each.describe() for each in dropped])


def _note_conversions(
    columns: list[Column], frame: pl.DataFrame, categorical: Sequence[str], console: CommandConsole
) -> None:
    """Note conversions of dates and of mixed columns, and missing values."""
    for column in columns:
        if column.kind == "date":
            console.note(
                f"Column '{column.name}' contains dates, which are encoded as {column.unit}; use "
                "--drop to leave it out."
            )
        elif column.name not in categorical:
            mixed = explain_mixed(column, frame[column.name])
            if mixed:
                console.note(mixed)
    console.note_many(
        "columns have missing values",
        [_describe_missing(column, frame[column.name]) for column in columns if column.n_missing],
    )


def _note_duplicates(table: pl.DataFrame, target: np.ndarray, console: CommandConsole) -> None:
    """Note duplicate rows: copies of a held-out row among the training rows bias metrics.

    Rows of categories and counts are often equal by coincidence, so that the note is printed only
    if a column contains fractions.
    """
    rows = table.with_columns(pl.Series("", target))
    has_fractions = any(each.dtype.is_float() and not (each % 1 == 0).all() for each in rows)
    n_copies = len(rows) - rows.n_unique()
    if has_fractions and n_copies >= LIMITS.duplicate_fraction * len(rows):
        console.note(
            f"{n_copies} of {len(rows)} rows are duplicates of other rows. Remove them if they "
            "are the same cases: they make cross-validated errors too small."
        )


def _describe_missing(column: Column, series: pl.Series) -> str:
    """Describe the number of missing values and how they are encoded."""
    treatment = (
        "encoded as a category of their own"
        if column.kind == "category"
        else "median-imputed, with a missing-value indicator"
    )
    n_beyond = column.n_missing - as_categories(series).null_count()
    infinite = (
        f" ({n_beyond} of them infinite or larger than {LIMITS.largest_number:g})"
        if n_beyond
        else ""
    )
    return (
        f"Column '{column.name}': {column.n_missing} of {len(series)} values are "
        f"missing{infinite} and {treatment}."
    )


def _choose_task(series: pl.Series, task: str, console: CommandConsole) -> tuple[str, np.ndarray]:
    """Choose regression or classification, if `task` is "auto", and convert the target.

    A target of text or true/false, with two different numbers, or with at most ten different whole
    numbers means classification; any other numeric target means regression.
    """
    name = series.name
    if series.dtype.is_temporal():
        raise CommandError(f"The target '{name}' contains dates; numbers or classes are needed.")
    numbers, bad = as_numbers(series)
    if task == "auto":
        mistyped = explain_mistyped(series, bad, at_most=LIMITS.max_typo_fraction)
        if mistyped:
            raise CommandError(
                f"The target '{name}' is not numeric throughout: {mistyped}. If all values are "
                "classes, add --task classification."
            )
        is_text = bad is not None or series.dtype == pl.Boolean
        task = (
            "classification"
            if is_text or _is_class_code(series, numbers, console)
            else "regression"
        )
    if task == "counts":
        return task, _check_counts(_numeric_target(series, numbers, bad, task), series)
    if task == "regression":
        return task, _numeric_target(series, numbers, bad)
    return task, _class_target(series, bad, console)


def _is_class_code(series: pl.Series, numbers: pl.Series, console: CommandConsole) -> bool:
    """Whether numbers are treated as classes; a note is printed if there are more than two."""
    n_different = series.n_unique()
    if n_different == 2:
        return True
    if n_different > LIMITS.max_class_codes or not (numbers.drop_nulls() % 1 == 0).all():
        return False
    if n_different > 2:
        console.note(
            f"'{series.name}' has {n_different} different whole numbers, which are treated as "
            "classes; if they are quantities, add --task regression, if they count events, --task "
            "counts."
        )
    return True


def _class_target(series: pl.Series, bad: int | None, console: CommandConsole) -> np.ndarray:
    name = series.name
    labels = as_categories(series, fold_booleans=False)
    counts = labels.value_counts(sort=True)
    n_classes = len(counts)
    if n_classes == 1:
        raise CommandError(
            f"The target '{name}' is {labels.item(0)!r} in all rows; two classes are needed."
        )
    if n_classes == len(labels) or n_classes > LIMITS.max_classes:
        mistyped = explain_mistyped(series, bad)
        if mistyped:
            raise CommandError(f"The target '{name}' is not numeric throughout: {mistyped}.")
        quantities = "" if bad is not None else " If they are quantities, add --task regression."
        if n_classes == len(labels):
            raise CommandError(
                f"All values of the target '{name}' differ: every class would have one row."
                f"{quantities}"
            )
        raise CommandError(
            f"The target '{name}' has {n_classes} different values, such as {labels.item(0)!r}; at "
            f"most {LIMITS.max_classes} classes are possible.{quantities}"
        )
    rare = counts.filter(pl.col("count") < LIMITS.small_class_rows)[name].to_list()
    if rare:
        console.note(
            f"Classes with fewer than {LIMITS.small_class_rows} rows: {format_names(rare)}. Their "
            "predictions and the metrics for them are unreliable."
        )
    return np.asarray(labels.to_list(), dtype=str)


def _check_counts(values: np.ndarray, series: pl.Series) -> np.ndarray:
    """Return counts; raise unless all are whole numbers of at least zero."""
    is_wrong = (values < 0.0) | (values % 1.0 != 0.0)
    if is_wrong.any():
        raise CommandError(
            f"The target '{series.name}' must contain counts, whole numbers of at least zero, but "
            f"one row has {values[is_wrong][0]:g}. For other quantities use --task regression."
        )
    return values


def _numeric_target(
    series: pl.Series, numbers: pl.Series, bad: int | None, task: str = "regression"
) -> np.ndarray:
    if bad is not None:
        mistyped = explain_mistyped(series, bad)
        hint = f" {mistyped[0].upper()}{mistyped[1:]}." if mistyped else ""
        raise CommandError(
            f"The target '{series.name}' must contain numbers for {task}, but one row has "
            f"{str(series.item(bad))!r}.{hint}"
        )
    if numbers.null_count():
        raise CommandError(
            f"The target '{series.name}' has infinite values or values larger than 1e100."
        )
    if numbers.n_unique() == 1:
        raise CommandError(
            f"The target '{series.name}' is constant: {numbers.item(0):g} in all rows."
        )
    return numbers.to_numpy()


def read_target(
    series: pl.Series, task: str, classes: Sequence[Any] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Convert the target of new rows, and mark the rows that have one.

    True and true are the same class, spelt as in `classes`, because file formats differ in it.

    Examples
    --------
    >>> read_target(pl.Series([True, None]), "classification", ["False", "True"])
    (array(['True'], dtype='<U4'), array([ True, False]))
    """
    if task == "classification":
        labels = as_categories(series, fold_booleans=False)
        known = labels.is_not_null().to_numpy()
        spelling = {str(c).lower(): str(c) for c in classes if str(c).lower() in BOOLEANS}
        present = [spelling.get(label.lower(), label) for label in labels.drop_nulls().to_list()]
        return np.asarray(present, dtype=str), known
    numbers, bad = as_numbers(series)
    if bad is not None:
        raise CommandError(
            f"The target '{series.name}' must contain numbers, but one row has "
            f"{str(series.item(bad))!r}."
        )
    return numbers.drop_nulls().to_numpy(), numbers.is_not_null().to_numpy()
