"""A table with a target becomes a problem: what is asked, of which columns, in which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import find_column, split_names
from relvec.cli.drawing import Rows
from relvec.cli.errors import CommandError, UsageError, listed, suggestion
from relvec.cli.kinds import (
    FEW,
    LARGEST,
    MAX_LEVELS,
    Column,
    Dropped,
    as_levels,
    as_numbers,
    describe_column,
    nearly_numbers,
    partly_numbers,
)
from relvec.cli.kinds import prepare as prepare_table
from relvec.cli.sources import Source
from relvec.cli.talk import Talk

__all__ = ["Problem", "read_target", "state_problem"]

CODES = 10
"""Whole numbers of at most so many different values are taken for classes."""
MAX_CLASSES = 100
COPIES = 0.02
"""Share of rows that are copies of others from which on the screen says so."""
FEW_ROWS = 5
"""Of a class with fewer rows than usual folds the screen says so."""
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
    talk: Talk,
    *,
    target: str,
    task: str = "auto",
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    max_levels: int = MAX_LEVELS,
) -> Problem:
    """Decide what is asked; every choice that may surprise is said in a sentence."""
    frame = rows.frame
    if task not in TASKS:
        raise UsageError(
            f"--task {task} is not known; it can be {', '.join(TASKS)}." + suggestion(task, TASKS)
        )
    features = split_names(features, frame.columns)
    drop = split_names(drop, frame.columns)
    categorical = split_names(categorical, frame.columns)
    for role, names in (("feature", features), ("dropped", drop), ("categorical", categorical)):
        for name in names:
            find_column(name, frame.columns, source, role=role)
    for option, names in (
        ("--features", features),
        ("--drop", drop),
        ("--categorical", categorical),
    ):
        if target in names:
            raise UsageError(
                f"'{target}' is the target; it cannot be given with {option} too. --task says "
                "whether it is a number or a class."
            )
    if rows.n_known < rows.n_read:
        n_missing = rows.n_read - rows.n_known
        talk.note(f"{n_missing} of {rows.n_read} rows have no '{target}' and are not used.")
    if len(frame) < rows.n_known:
        talk.note(
            f"Of {rows.n_known} rows, {len(frame)} drawn by chance are used; --max-rows changes "
            "that."
        )
    task, values = _task_and_target(frame[target], task, talk)
    wanted = [name for name in (features or frame.columns) if name != target and name not in drop]

    def describe(named: Sequence[str]) -> list[Column | Dropped]:
        return [
            describe_column(
                frame[name],
                max_levels=max_levels,
                as_level=name in categorical,
                is_wanted=name in named,
            )
            for name in wanted
        ]

    described = describe([*features, *categorical])
    if not any(isinstance(each, Column) for each in described):
        described = describe(wanted)  # a column that counts up is time, if there is no other
    dropped = [each for each in described if isinstance(each, Dropped)]
    for each in dropped:
        if each.is_mistake:
            raise CommandError(f"In {source.name} c{each.sentence()[1:]}")
    columns = [each for each in described if isinstance(each, Column)]
    talk.notes_of_many("columns are left out", [each.sentence() for each in dropped])
    if not columns:
        raise CommandError(f"{source.name} has no column from which '{target}' could be predicted.")
    for column in columns:
        if column.kind == "date":
            talk.note(
                f"Column '{column.name}' holds dates: the model takes {column.made_as}, one "
                "number; --drop leaves it out."
            )
        elif column.name not in categorical:
            mixed = partly_numbers(column, frame[column.name])
            if mixed:
                talk.note(mixed)
    talk.notes_of_many(
        "columns have missing values",
        [_gaps_of(column, frame[column.name]) for column in columns if column.n_missing],
    )
    table = prepare_table(frame, columns)
    _say_copies(table, values, talk)
    return Problem(table, values, target, task, columns, dropped, rows.counts(), rows.places)


def _say_copies(table: pl.DataFrame, target: np.ndarray, talk: Talk) -> None:
    """Warn of rows that are in the table twice: a fold then tests what another one has seen.

    Rows of levels and counts are often equal by chance; fractions are not.
    """
    whole = table.with_columns(pl.Series("", target))
    measured = any(each.dtype.is_float() and not (each % 1 == 0).all() for each in whole)
    n_copies = len(whole) - whole.n_unique()
    if measured and n_copies >= COPIES * len(whole):
        talk.note(
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
    infinite = f" ({n_beyond} of them infinite or beyond {LARGEST:g})" if n_beyond else ""
    return (
        f"Column '{column.name}' misses {column.n_missing} of {len(series)} values{infinite}: "
        f"{instead}."
    )


def _task_and_target(series: pl.Series, task: str, talk: Talk) -> tuple[str, np.ndarray]:
    """Choose regression or classification from the target, if that is left open.

    Text and true/false are classes. So are two different numbers, and whole numbers of at
    most ten different values. All other numbers are numbers.
    """
    name = series.name
    if series.dtype.is_temporal():
        raise CommandError(f"The target '{name}' holds dates; numbers or classes are needed.")
    numbers, bad = as_numbers(series)
    is_text = bad is not None or series.dtype == pl.Boolean
    n_different = series.n_unique()
    if task == "auto":
        misspelt = nearly_numbers(series, bad, at_most=FEW)
        if misspelt:
            raise CommandError(
                f"The target '{name}' is not a number everywhere: {misspelt}. Add --task "
                "classification if all are classes."
            )
        whole = not is_text and bool((numbers.drop_nulls() % 1 == 0).all())
        are_codes = n_different == 2 or (whole and n_different <= CODES)
        task = "classification" if is_text or are_codes else "regression"
        if task == "classification" and not is_text and n_different > 2:
            talk.note(
                f"'{name}' has {n_different} different numbers, taken for classes; if they are "
                "quantities, add --task regression."
            )
    if task == "regression":
        return task, _as_quantities(series, numbers, bad)
    return task, _as_classes(series, bad, talk)


def _as_classes(series: pl.Series, bad: int | None, talk: Talk) -> np.ndarray:
    name = series.name
    labels = as_levels(series, fold_truth=False)
    counts = labels.value_counts(sort=True)
    n_classes = len(counts)
    if n_classes == 1:
        raise CommandError(
            f"The target '{name}' is {labels.item(0)!r} in all rows; two classes are needed."
        )
    if n_classes == len(labels) or n_classes > MAX_CLASSES:
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
            f"most {MAX_CLASSES} classes are possible.{quantities}"
        )
    rare = counts.filter(pl.col("count") < FEW_ROWS)[name].to_list()
    if rare:
        talk.note(
            f"Classes with fewer than {FEW_ROWS} rows: {listed(rare)}. Little can be learnt about "
            "them, and the figures hardly test it."
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
