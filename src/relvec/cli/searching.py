"""`relvec fit --search`: construct a kernel for a series or a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import relvec
from relvec import KernelSearchRegressor
from relvec.cli.columns import check_column
from relvec.cli.console import CommandConsole
from relvec.cli.dates import as_times, days_since_epoch
from relvec.cli.encoding import build_pipeline, encoded_columns
from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.forward import hold_out_end
from relvec.cli.limits import LIMITS
from relvec.cli.model_file import save_model
from relvec.cli.problem import Problem
from relvec.cli.search_facts import describe_search
from relvec.cli.sources import Source
from relvec.cli.summaries.search import search_summary
from relvec.cli.validation import cross_validate, make_folds, note_fold_count

if TYPE_CHECKING:
    from relvec.cli.fitting import FitRequest

__all__ = ["SearchRequest", "check_time", "fit_search"]


@dataclass(frozen=True)
class SearchRequest:
    """Options of `relvec fit` on kernel searches."""

    is_requested: bool = False
    time: str | None = None
    effort: str | None = None
    mode: str | None = None

    def check(self, request: FitRequest) -> None:
        """Check the options against each other, before anything is read."""
        given = {"--time": self.time, "--effort": self.effort, "--mode": self.mode}
        names = [name for name, value in given.items() if value is not None]
        if not self.is_requested:
            if names:
                raise UsageError(f"{names[0]} needs --search, which finds the structure of series.")
            return
        if request.task not in ("auto", "regression"):
            raise UsageError(f"--search is for regression; got --task {request.task}.")
        if request.model != "auto":
            raise UsageError(f"Give --search or --model {request.model}, not both.")
        if request.sample.is_requested or request.noise.is_requested:
            raise UsageError(
                "--search has constant noise and finds transforms of the target by itself; options "
                "of noise, exposure, transforms and sampling are for the other models."
            )
        if self.time is not None and request.features:
            raise UsageError(
                "--time names the only input of the series; give --features without it."
            )
        self.make_model()

    def make_model(self) -> KernelSearchRegressor:
        """Make the unfitted estimator."""
        options = {"effort": self.effort, "mode": self.mode}
        given = {name: value for name, value in options.items() if value is not None}
        for name, value in given.items():
            choices = CHOICES[name]
            if value not in choices:
                raise UsageError(f"--{name} must be one of {', '.join(choices)}; got {value!r}.")
        return KernelSearchRegressor().set_params(**given)


CHOICES = {
    "effort": ("fast", "balanced", "thorough"),
    "mode": ("accuracy", "interpretable"),
}


def check_time(request: SearchRequest, target: str, names: list[str], source: Source) -> None:
    """Raise unless the column of times exists and is not the target."""
    if request.time is None:
        return
    check_column(request.time, names, source, role="time")
    if request.time == target:
        raise UsageError(f"'{target}' is the target; --time must name another column.")


def fit_search(problem: Problem, request: FitRequest, console: CommandConsole) -> None:
    """Search, estimate the accuracy on held-out rows, save the model and print a summary."""
    is_series = len(problem.columns) == 1
    if is_series:
        problem = _order_by_time(problem, request.search.time is not None, console)
    _note_what_was_chosen(problem, request, console)
    model = request.search.make_model()
    pipeline = build_pipeline(problem.columns, problem.n_rows, model)
    facts: dict[str, Any] = {"source": request.source, "relvec": relvec.__version__}
    facts |= problem.to_dict() | {"model": "search"}
    with console.progress("searching", 2 if request.with_cv else 1) as advance:
        if request.with_cv and is_series:
            held_out = hold_out_end(pipeline, problem, console)
            if held_out is not None:
                facts["held_out"] = held_out
            advance(1)
        elif request.with_cv:
            facts |= _cross_validate(pipeline, problem, request, console)
            advance(1)
        pipeline.fit(problem.table, problem.target)
        advance(1)
    found = describe_search(pipeline[-1], [name for _, name in encoded_columns(pipeline[0])])
    facts["n_basis_functions"] = found["n_columns"]
    facts["notes"] = list(console.notes)
    save_model(pipeline, request.output, facts)
    facts |= {"search": found, "output": request.output}
    facts["bytes"] = Path(request.output).stat().st_size
    if not console.quiet or console.as_json:
        console.report(facts, lambda: search_summary(facts))


def _note_what_was_chosen(problem: Problem, request: FitRequest, console: CommandConsole) -> None:
    names = [column.name for column in problem.columns]
    if len(names) == 1:
        console.note(f"'{problem.name}' is modelled as a series, a function of '{names[0]}'.")
        return
    times = [column.name for column in problem.columns if column.kind == "date"]
    hint = f" For a forecast from '{times[0]}' alone add --time '{times[0]}'." if times else ""
    console.note(
        f"'{problem.name}' is modelled as a function of {len(names)} columns: "
        f"{format_names(names)}.{hint}"
    )


def _order_by_time(problem: Problem, is_named: bool, console: CommandConsole) -> Problem:
    """Return the rows in order of their only column; dates become dates for the model."""
    (column,) = problem.columns
    table = problem.table
    if column.kind == "category":
        raise CommandError(
            f"Column '{column.name}' contains text, but a series needs numbers or dates. Name the "
            "column of times with --time."
        )
    if column.n_missing:
        known = ~table[column.name].is_nan()
        console.note(
            f"{column.n_missing} of {len(table)} rows are not used: '{column.name}' is missing."
        )
        problem = _take_rows(problem, np.flatnonzero(known.to_numpy()))
        table = problem.table
    values = table[column.name].to_numpy()
    order = np.argsort(values, kind="stable")
    if (np.diff(order) != 1).any():
        console.note(f"The rows are not in order of '{column.name}'; they are sorted.")
        problem = _take_rows(problem, order)
    if is_named or column.kind == "date":
        _refuse_repeated_times(problem, column.name)
    if problem.n_rows < LIMITS.min_rows:
        raise CommandError(
            f"The series has {problem.n_rows} rows with a time and a '{problem.name}'; at least "
            f"{LIMITS.min_rows} are needed."
        )
    if column.kind == "number":
        return replace(problem, columns=[replace(column, n_missing=0)])
    days = problem.table[column.name] + days_since_epoch(column.origin)
    return replace(
        problem,
        table=pl.DataFrame([as_times(days)]),
        columns=[replace(column, kind="time", n_missing=0, origin="")],
    )


def _take_rows(problem: Problem, rows: np.ndarray) -> Problem:
    return replace(
        problem,
        table=problem.table[rows],
        target=problem.target[rows],
        row_numbers=problem.row_numbers[rows],
    )


def _refuse_repeated_times(problem: Problem, name: str) -> None:
    """Raise if times repeat: the table then probably holds several series."""
    values = problem.table[name].to_numpy()
    repeated = np.flatnonzero(np.diff(values) == 0.0)
    if not len(repeated):
        return
    first = problem.row_numbers[repeated[0]], problem.row_numbers[repeated[0] + 1]
    raise CommandError(
        f"'{name}' has {len(repeated)} repeated times, for example in rows {first[0]} and "
        f"{first[1]}. If the table holds several series, keep the rows of one; if not, keep one "
        "row, or the mean, for each time."
    )


def _cross_validate(
    pipeline: Any, problem: Problem, request: FitRequest, console: CommandConsole
) -> dict[str, Any]:
    """Cross-validate the search for a table with the same baselines as other models."""
    from relvec.cli.fitting import make_baselines

    folds = make_folds(problem, request.folds, request.seed)
    candidates = {"search": pipeline} | make_baselines(problem, request.seed)
    note_fold_count(request.folds, folds, len(folds) * len(candidates) + 1, console)
    results = cross_validate(
        candidates, problem, folds, importance_for=("search",), seed=request.seed
    )
    return {
        "cross_validation": {
            "folds": len(folds),
            "models": {name: found.summary() for name, found in results.items()},
        },
        "permutation_importance": results["search"].mean_importance(),
    }
