"""Cross-validation of pipelines on the same folds, and permutation importance."""

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
from relvec.cli.errors import UsageError, suggest_name
from relvec.cli.limits import LIMITS
from relvec.cli.metrics import Prediction, compute_metrics, predict_table
from relvec.cli.problem import Problem
from relvec.cli.randomness import make_generator
from relvec.cli.row_columns import RowValues
from relvec.comparing.splits import make_rolling_folds

__all__ = [
    "FoldResults",
    "check_folds",
    "compute_permutation_importance",
    "cross_validate",
    "make_folds",
    "make_time_folds",
    "note_fold_count",
]

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass
class FoldResults:
    """Results of one model on all folds."""

    metrics: list[dict[str, float]] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    """Predictions of the held-out rows."""
    importance: list[dict[str, float]] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Prediction time for 1000 rows, one value per fold."""

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean and standard error of every metric over the folds."""
        names = self.metrics[0] if self.metrics else {}
        return {name: _mean_and_standard_error([f[name] for f in self.metrics]) for name in names}

    def mean_importance(self) -> dict[str, float]:
        """Permutation importance of each column, averaged over the folds, the largest first."""
        names = self.importance[0] if self.importance else {}
        means = {name: float(np.mean([r[name] for r in self.importance])) for name in names}
        return dict(sorted(means.items(), key=lambda item: -item[1]))


def _mean_and_standard_error(values: list[float]) -> dict[str, float]:
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return {"mean": mean, "se": 0.0 if error < LIMITS.rounding * abs(mean) else error}


def check_folds(n_folds: int, hint: str = "") -> None:
    """Check the number of folds before anything is read."""
    if n_folds < 2:
        raise UsageError(f"--folds must be at least 2; got {n_folds}. {hint}".rstrip())


def note_fold_count(requested: int, folds: Folds, n_fits: int, console: CommandConsole) -> None:
    """Note that there are fewer folds than requested, or that there are many fits."""
    if folds and len(folds) < requested:
        console.note(
            f"Only {len(folds)} of {requested} folds are used: each needs at least two held-out "
            "rows, and at least two classes to train on."
        )
    if n_fits > console.limits.many_fits:
        console.note(f"{n_fits} fits are needed; --folds 5 or 10 is usually enough.")


def make_folds(problem: Problem, n_folds: int, seed: int) -> Folds:
    """Make shuffled folds of training and held-out rows, stratified by class."""
    n_folds = min(n_folds, max(2, problem.n_rows // 2))
    rows = np.zeros(problem.n_rows)
    if problem.task != "classification":
        return list(KFold(n_folds, shuffle=True, random_state=seed).split(rows))
    largest = int(np.unique(problem.target, return_counts=True)[1].max())
    splitter = StratifiedKFold(min(n_folds, largest), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        folds = list(splitter.split(rows, problem.target))
    return [fold for fold in folds if len(np.unique(problem.target[fold[0]])) > 1]


def make_time_folds(
    problem: Problem, n_folds: int, time: str | None, console: CommandConsole
) -> Folds:
    """Make rolling origins: expanding training rows in the order of time, the next rows held out.

    Time is a column of numbers or dates; by default the first column of dates, or else the order of
    the rows in the table.
    """
    kinds = {column.name: column.kind for column in problem.columns}
    if time is None:
        time = next((name for name, kind in kinds.items() if kind == "date"), None)
        console.note(
            "Rows are in the order of the table; use --time for another order."
            if time is None
            else f"Rows are in the order of column '{time}'; use --time for another order."
        )
    elif kinds.get(time) not in ("number", "date"):
        raise UsageError(
            f"--time must name a column of numbers or dates that is used; got {time!r}."
            + suggest_name(time, [name for name, kind in kinds.items() if kind != "category"])
        )
    order = np.arange(problem.n_rows)
    if time is not None:
        values = problem.table[time].cast(pl.Float64).to_numpy()
        order = np.argsort(values, kind="stable")  # missing values (NaN) come last
    try:
        folds = make_rolling_folds(problem.n_rows, n_folds)
    except ValueError as error:
        raise UsageError(f"--rolling with --folds {n_folds}: {error}") from error
    in_order = [(order[train], order[test]) for train, test in folds]
    if problem.task != "classification":
        return in_order
    return [fold for fold in in_order if len(np.unique(problem.target[fold[0]])) > 1]


def cross_validate(
    candidates: Mapping[str, Any],
    problem: Problem,
    folds: Folds,
    *,
    advance: Callable[[int], None] = lambda steps: None,
    predict: Callable[..., Prediction] = predict_table,
    model_size: Callable[[Any], float] | None = None,
    importance_for: tuple[str, ...] = (),
    seed: int = 0,
) -> dict[str, FoldResults]:
    """Fit every candidate on the training rows of every fold; evaluate on the held-out rows.

    The whole pipeline is fitted in each fold, including the medians and categories of the encoder.
    """
    results = {name: FoldResults() for name in candidates}
    for train, test in folds:
        training, held_out = problem.table[train], problem.table[test]
        known = problem.target[test]
        of_training, of_held_out = (
            None if problem.row_values is None else problem.row_values.select(rows)
            for rows in (train, test)
        )
        for name, candidate in candidates.items():
            options = {} if of_training is None else of_training.fit_options(candidate)
            with warnings.catch_warnings():
                # warnings of the final fit are shown; here they would repeat for each fold
                warnings.simplefilter("ignore")
                fitted = clone(candidate).fit(training, problem.target[train], **options)
                prediction = predict(fitted, held_out, target=known, row_values=of_held_out)
            fold_results = results[name]
            fold_results.metrics.append(compute_metrics(known, prediction))
            fold_results.predictions.append(prediction)
            if model_size is not None:
                fold_results.sizes.append(model_size(fitted))
                fold_results.seconds.append(_time_1000_rows(partial(predict, fitted), held_out))
            if name in importance_for:
                fold_results.importance.append(
                    compute_permutation_importance(fitted, held_out, known, seed, of_held_out)
                )
            advance(1)
    return results


def _time_1000_rows(work: Callable[[pl.DataFrame], Any], table: pl.DataFrame) -> float:
    """Measure the time to predict 1000 rows; the shorter of two runs."""
    rows = table[np.resize(np.arange(len(table)), 1000)]
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        work(rows)
        times.append(time.perf_counter() - begin)
    return min(times)


def compute_permutation_importance(
    fitted: Any,
    table: pl.DataFrame,
    target: np.ndarray,
    seed: int,
    row_values: RowValues | None = None,
) -> dict[str, float]:
    """Compute the permutation importance of each column (Breiman 2001).

    It is the increase in RMSE, in deviance for counts, or in log loss for classes, when the values
    of the column are permuted among the rows. A column of categories is permuted as a whole, not
    feature by feature.
    """
    rng = make_generator(seed, "relevance")  # another label would change the random numbers
    if len(target) > LIMITS.importance_rows:
        # a random subset: files are often sorted, so that the first rows are not representative
        rows = np.sort(rng.choice(len(target), LIMITS.importance_rows, replace=False))
        table, target = table[rows], target[rows]
        row_values = None if row_values is None else row_values.select(rows)
    encoder, model = fitted[0], fitted[-1]
    features = encoder.transform(table)
    column_of_feature = np.array([column for column, _ in encoded_columns(encoder)])
    repeats = int(np.clip(LIMITS.permuted_rows // (len(target) * len(table.columns)), 1, 10))

    def error() -> float:
        prediction = predict_table(model, features, with_std=False, row_values=row_values)
        metrics = compute_metrics(target, prediction)
        return next(metrics[key] for key in ("log_loss", "deviance", "rmse") if key in metrics)

    unpermuted = error()
    importance = {}
    for name in table.columns:
        is_of_column = column_of_feature == name
        original = features[:, is_of_column]
        errors = []
        for _ in range(repeats):
            features[:, is_of_column] = original[rng.permutation(len(original))]
            errors.append(error())
        features[:, is_of_column] = original
        increase = float(np.mean(errors)) - unpermuted
        importance[name] = increase if abs(increase) > LIMITS.rounding * unpermuted else 0.0
    return importance
