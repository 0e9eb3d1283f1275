"""Cross-validation of whole pipelines, all on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from relvec.cli.console import CommandConsole
from relvec.cli.encoding import encoded_columns
from relvec.cli.errors import UsageError
from relvec.cli.limits import LIMITS
from relvec.cli.metrics import Prediction, measure, predict_table
from relvec.cli.problem import Problem
from relvec.cli.sampling import stream

__all__ = [
    "Outcome",
    "check_folds",
    "cross_validate",
    "make_folds",
    "relevance_of",
    "say_many_folds",
]

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass
class Outcome:
    """How one model did on all folds."""

    figures: list[dict[str, float]] = field(default_factory=list)
    relevance: list[dict[str, float]] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of predictions for a thousand rows, one for each fold."""

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean and standard error of every figure over the folds."""
        names = self.figures[0] if self.figures else {}
        return {name: _mean_and_error([f[name] for f in self.figures]) for name in names}

    def mean_relevance(self) -> dict[str, float]:
        """Rise of the error without each column, the largest first."""
        names = self.relevance[0] if self.relevance else {}
        means = {name: float(np.mean([r[name] for r in self.relevance])) for name in names}
        return dict(sorted(means.items(), key=lambda item: -item[1]))


def _mean_and_error(values: list[float]) -> dict[str, float]:
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return {"mean": mean, "se": 0.0 if error < LIMITS.rounding * abs(mean) else error}


def check_folds(n_folds: int, otherwise: str = "") -> None:
    """Refuse what is no cross-validation, before anything is read."""
    if n_folds < 2:
        raise UsageError(f"--folds must be 2 or more; got {n_folds}. {otherwise}".rstrip())


def say_many_folds(asked: int, folds: Folds, n_fits: int, console: CommandConsole) -> None:
    """Say that there are fewer folds than asked for, or that they take long."""
    if folds and len(folds) < asked:
        console.note(
            f"There are {len(folds)} folds, not {asked}: every fold needs two rows, and classes "
            "to learn from."
        )
    if n_fits > console.limits.many_fits:
        console.note(f"These are {n_fits} fits; --folds 5 or 10 would do.")


def make_folds(problem: Problem, n_folds: int, seed: int) -> Folds:
    """Rows to learn from and rows to test on, shuffled; classes in their shares."""
    n_folds = min(n_folds, max(2, problem.n_rows // 2))
    rows = np.zeros(problem.n_rows)
    if problem.task == "regression":
        return list(KFold(n_folds, shuffle=True, random_state=seed).split(rows))
    largest = int(np.unique(problem.target, return_counts=True)[1].max())
    splitter = StratifiedKFold(min(n_folds, largest), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes smaller than the number of folds
        folds = list(splitter.split(rows, problem.target))
    return [fold for fold in folds if len(np.unique(problem.target[fold[0]])) > 1]


def cross_validate(
    candidates: Mapping[str, Any],
    problem: Problem,
    folds: Folds,
    *,
    advance: Callable[[int], None] = lambda steps: None,
    ask: Callable[[Any, pl.DataFrame], Prediction] = predict_table,
    size_of: Callable[[Any], float] | None = None,
    relevance_for: tuple[str, ...] = (),
    seed: int = 0,
) -> dict[str, Outcome]:
    """Fit every candidate on every fold and measure it on the rest.

    Everything that is learnt, medians and levels included, is learnt on the rows of the fold.
    """
    outcomes = {name: Outcome() for name in candidates}
    for train, test in folds:
        inputs, held_out = problem.table[train], problem.table[test]
        for name, candidate in candidates.items():
            with warnings.catch_warnings():
                # those of the final fit are said; here they would come once for each fold
                warnings.simplefilter("ignore")
                fitted = clone(candidate).fit(inputs, problem.target[train])
                said = ask(fitted, held_out)
            outcome = outcomes[name]
            outcome.figures.append(measure(problem.target[test], said))
            if size_of is not None:
                outcome.sizes.append(size_of(fitted))
                outcome.seconds.append(_seconds_for_1000(partial(ask, fitted), held_out))
            if name in relevance_for:
                known = problem.target[test]
                outcome.relevance.append(relevance_of(fitted, held_out, known, seed))
            advance(1)
    return outcomes


def _seconds_for_1000(work: Callable[[pl.DataFrame], Any], table: pl.DataFrame) -> float:
    """Time of predictions for a thousand rows, the better of two."""
    rows = table[np.resize(np.arange(len(table)), 1000)]
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        work(rows)
        times.append(time.perf_counter() - begin)
    return min(times)


def relevance_of(
    fitted: Any, table: pl.DataFrame, target: np.ndarray, seed: int
) -> dict[str, float]:
    """How much the error rises when the values of one column are shuffled among rows.

    Of many rows some are drawn. The error is the root mean square, or for classes the log loss.
    """
    rng = stream(seed, "relevance")
    if len(target) > LIMITS.relevance_rows:
        # files are often sorted: the first rows would not speak for all
        rows = np.sort(rng.choice(len(target), LIMITS.relevance_rows, replace=False))
        table, target = table[rows], target[rows]
    encoder, model = fitted[0], fitted[-1]
    inputs = encoder.transform(table)
    seen = np.array([variable for variable, _ in encoded_columns(encoder)])
    repeats = int(np.clip(LIMITS.shuffled_rows // (len(target) * len(table.columns)), 1, 10))

    def error() -> float:
        figures = measure(target, predict_table(model, inputs, with_std=False))
        return figures["log_loss"] if "log_loss" in figures else figures["rmse"]

    before = error()
    rises = {}
    for name in table.columns:
        where = seen == name
        kept = inputs[:, where]
        errors = []
        for _ in range(repeats):
            inputs[:, where] = kept[rng.permutation(len(kept))]
            errors.append(error())
        inputs[:, where] = kept
        rise = float(np.mean(errors)) - before
        rises[name] = rise if abs(rise) > LIMITS.rounding * before else 0.0
    return rises
