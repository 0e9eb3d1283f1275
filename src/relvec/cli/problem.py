"""A table with a target becomes a problem: what is asked, of which columns, in which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import find_column, split_names
from relvec.cli.console import CommandConsole
from relvec.cli.drawing import Rows
from relvec.cli.errors import CommandError, UsageError, listed, suggestion
from relvec.cli.kinds import (
    Column,
    Dropped,
    as_levels,
    as_numbers,
    describe_column,
    nearly_numbers,
    partly_numbers,
)
from relvec.cli.kinds import prepare as prepare_table
from relvec.cli.limits import LIMITS
from relvec.cli.sources import Source

__all__ = ["Problem", "read_target", "state_problem"]

TRUTH = ("true", "false")
TASKS = ("auto", "regression", "classification")


@dataclass(frozen=True)
class Problem:
    """All that is asked.

    Parameters
    ----------
    table : DataFrame
        The inputs, prepared.
    target : ndarray
        Numbers, or labels as text.
    places : ndarray
        Where the rows are in the file; the first row after the header is 1.
    """

    table: pl.DataFrame
    target: np.ndarray
    name: str
    task: str
    columns: list[Column]
    dropped: list[Dropped]
    rows: dict[str, int]
    places: np.ndarray

    @property
    def n_rows(self) -> int:
        """Rows in use."""
        return len(self.target)

    def facts(self) -> dict[str, Any]:
        """What is said and kept about it."""
        facts: dict[str, Any] = {
            "target": self.name,
            "task": self.task,
            "rows": self.rows,
            "columns": [column.facts() for column in self.columns],
            "dropped": [{"name": each.name, "why": each.why} for each in self.dropped],
        }
        if self.task == "classification":
            facts["classes"] = np.unique(self.target).tolist()
        return facts


def state_problem(
    rows: Rows,
    source: Source,
    console: CommandConsole,
    *,
    target: str,
    task: str = "auto",
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    max_levels: int = LIMITS.max_levels,
) -> Problem:
    """Decide what is asked; every choice that may surprise is said in a sentence."""
    frame = rows.frame
    if task not in TASKS:
        raise UsageError(
            f"--task {task} is not known; it can be {', '.join(TASKS)}." + suggestion(task, TASKS)
        )
    features = _named(features, "feature", "--features", target, frame, source)
    drop = _named(drop, "dropped", "--drop", target, frame, source)
    categorical = _named(categorical, "categorical", "--categorical", target, frame, source)
    _say_rows(rows, target, console)
    task, values = _task_and_target(frame[target], task, console)
    wanted = [name for name in (features or frame.columns) if name not in (target, *drop)]
    inputs = frame.select(wanted)
    columns, dropped = _describe(inputs, [*features, *categorical], categorical, max_levels)
    if not columns:  # one that counts up is time, if there is no other
        columns, dropped = _describe(inputs, wanted, categorical, max_levels)
    _say_dropped(dropped, source, console)
    if not columns:
        raise CommandError(f"{source.name} has no column from which '{target}' could be predicted.")
    _say_columns(columns, frame, categorical, console)
    table = prepare_table(frame, columns)
    _say_copies(table, values, console)
    return Problem(table, values, target, task, columns, dropped, rows.counts(), rows.places)


def _named(
    names: Sequence[str],
    role: str,
    option: str,
    target: str,
    frame: pl.DataFrame,
    source: Source,
) -> list[str]:
    """Columns that an option names: they are there, and none is the target."""
    found = split_names(names, frame.columns)
    for name in found:
        find_column(name, frame.columns, source, role=role)
    if target in found:
        raise UsageError(
            f"'{target}' is the target; it cannot be given with {option} too. --task says "
            "whether it is a number or a class."
        )
    return found


def _describe(
    frame: pl.DataFrame, named: Sequence[str], categorical: Sequence[str], max_levels: int
) -> tuple[list[Column], list[Dropped]]:
    """Columns that a model can use, and those that it cannot."""
    described = [
        describe_column(
            series,
            max_levels=max_levels,
            as_level=series.name in categorical,
            is_wanted=series.name in named,
        )
        for series in frame
    ]
    columns = [each for each in described if isinstance(each, Column)]
    return columns, [each for each in described if isinstance(each, Dropped)]


def _say_rows(rows: Rows, target: str, console: CommandConsole) -> None:
    """Say which rows are not used."""
    if rows.n_known < rows.n_read:
        n_missing = rows.n_read - rows.n_known
        console.note(f"{n_missing} of {rows.n_read} rows have no '{target}' and are not used.")
    if len(rows.frame) < rows.n_known:
        console.note(
            f"Of {rows.n_known} rows, {len(rows.frame)} drawn by chance are used; --max-rows "
            "changes that."
        )


def _say_dropped(dropped: list[Dropped], source: Source, console: CommandConsole) -> None:
    """Say which columns are left out, or refuse a table with mistakes in one."""
    for each in dropped:
        if each.is_mistake:
            raise CommandError(f"In {source.name} c{each.sentence()[1:]}")
    console.notes_of_many("columns are left out", [each.sentence() for each in dropped])


def _say_columns(
    columns: list[Column], frame: pl.DataFrame, categorical: Sequence[str], console: CommandConsole
) -> None:
    """Say what may surprise about the columns that are used."""
    for column in columns:
        if column.kind == "date":
            console.note(
                f"Column '{column.name}' holds dates: the model takes {column.made_as}, one "
                "number; --drop leaves it out."
            )
        elif column.name not in categorical:
            mixed = partly_numbers(column, frame[column.name])
            if mixed:
                console.note(mixed)
    console.notes_of_many(
        "columns have missing values",
        [_gaps_of(column, frame[column.name]) for column in columns if column.n_missing],
    )


def _say_copies(table: pl.DataFrame, target: np.ndarray, console: CommandConsole) -> None:
    """Warn of rows that are in the table twice: a fold then tests what another one has seen.

    Rows of levels and counts are often equal by chance; fractions are not.
    """
    whole = table.with_columns(pl.Series("", target))
    measured = any(each.dtype.is_float() and not (each % 1 == 0).all() for each in whole)
    n_copies = len(whole) - whole.n_unique()
    if measured and n_copies >= LIMITS.copies * len(whole):
        console.note(
            f"{n_copies} of {len(whole)} rows are exact copies of others. If they are the same "
            "things twice, remove them first: errors on unseen rows come out too small."
        )


def _gaps_of(column: Column, series: pl.Series) -> str:
    """Say how many values are missing, and what they get."""
    instead = (
        "'missing' is one more level of it"
        if column.kind == "level"
        else "the median stands for them, and one more input says where"
    )
    n_beyond = column.n_missing - as_levels(series).null_count()
    infinite = f" ({n_beyond} of them infinite or beyond {LIMITS.largest:g})" if n_beyond else ""
    return (
        f"Column '{column.name}' misses {column.n_missing} of {len(series)} values{infinite}: "
        f"{instead}."
    )


def _task_and_target(
    series: pl.Series, task: str, console: CommandConsole
) -> tuple[str, np.ndarray]:
    """Choose regression or classification from the target, if that is left open.

    Text and true/false are classes. So are two different numbers, and whole numbers of at
    most ten different values. All other numbers are numbers.
    """
    name = series.name
    if series.dtype.is_temporal():
        raise CommandError(f"The target '{name}' holds dates; numbers or classes are needed.")
    numbers, bad = as_numbers(series)
    if task == "auto":
        misspelt = nearly_numbers(series, bad, at_most=LIMITS.few_texts)
        if misspelt:
            raise CommandError(
                f"The target '{name}' is not a number everywhere: {misspelt}. Add --task "
                "classification if all are classes."
            )
        is_text = bad is not None or series.dtype == pl.Boolean
        task = "classification" if is_text or _are_codes(series, numbers, console) else "regression"
    if task == "regression":
        return task, _as_quantities(series, numbers, bad)
    return task, _as_classes(series, bad, console)


def _are_codes(series: pl.Series, numbers: pl.Series, console: CommandConsole) -> bool:
    """Whether numbers are taken for classes; of more than two that is said."""
    n_different = series.n_unique()
    if n_different == 2:
        return True
    if n_different > LIMITS.codes or not (numbers.drop_nulls() % 1 == 0).all():
        return False
    if n_different > 2:
        console.note(
            f"'{series.name}' has {n_different} different numbers, taken for classes; if they are "
            "quantities, add --task regression."
        )
    return True


def _as_classes(series: pl.Series, bad: int | None, console: CommandConsole) -> np.ndarray:
    name = series.name
    labels = as_levels(series, fold_truth=False)
    counts = labels.value_counts(sort=True)
    n_classes = len(counts)
    if n_classes == 1:
        raise CommandError(
            f"The target '{name}' is {labels.item(0)!r} in all rows; two classes are needed."
        )
    if n_classes == len(labels) or n_classes > LIMITS.max_classes:
        misspelt = nearly_numbers(series, bad)
        if misspelt:
            raise CommandError(f"The target '{name}' is not a number everywhere: {misspelt}.")
        quantities = "" if bad is not None else " If they are quantities, add --task regression."
        if n_classes == len(labels):
            raise CommandError(
                f"All values of the target '{name}' differ, so there is nothing to learn about "
                f"them as classes.{quantities}"
            )
        raise CommandError(
            f"The target '{name}' has {n_classes} different values, such as {labels.item(0)!r}; at "
            f"most {LIMITS.max_classes} classes are possible.{quantities}"
        )
    rare = counts.filter(pl.col("count") < LIMITS.few_rows)[name].to_list()
    if rare:
        console.note(
            f"Classes with fewer than {LIMITS.few_rows} rows: {listed(rare)}. Little can be learnt "
            "about them, and the figures hardly test it."
        )
    return np.asarray(labels.to_list(), dtype=str)


def _as_quantities(series: pl.Series, numbers: pl.Series, bad: int | None) -> np.ndarray:
    if bad is not None:
        misspelt = nearly_numbers(series, bad)
        hint = f" {misspelt[0].upper()}{misspelt[1:]}." if misspelt else ""
        raise CommandError(
            f"The target '{series.name}' must hold numbers for a regression, but one row has "
            f"{str(series.item(bad))!r}.{hint}"
        )
    if numbers.null_count():
        raise CommandError(f"The target '{series.name}' has values beyond 1e100 or infinite ones.")
    if numbers.n_unique() == 1:
        raise CommandError(
            f"The target '{series.name}' is {numbers.item(0):g} in all rows: there is nothing to "
            "learn."
        )
    return numbers.to_numpy()


def read_target(
    series: pl.Series, task: str, classes: Sequence[Any] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Targets of new rows as a model of this task knows them, and which rows have one.

    True and true are one class, in the spelling of `classes`: files differ in it.

    Examples
    --------
    >>> read_target(pl.Series([True, None]), "classification", ["False", "True"])
    (array(['True'], dtype='<U4'), array([ True, False]))
    """
    if task == "classification":
        labels = as_levels(series, fold_truth=False)
        known = labels.is_not_null().to_numpy()
        spelling = {str(c).lower(): str(c) for c in classes if str(c).lower() in TRUTH}
        present = [spelling.get(label.lower(), label) for label in labels.drop_nulls().to_list()]
        return np.asarray(present, dtype=str), known
    numbers, bad = as_numbers(series)
    if bad is not None:
        raise CommandError(
            f"The target '{series.name}' must hold numbers, but one row has "
            f"{str(series.item(bad))!r}."
        )
    return numbers.drop_nulls().to_numpy(), numbers.is_not_null().to_numpy()
