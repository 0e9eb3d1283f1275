"""`relvec compare`: models of relvec and scikit-learn, cross-validated on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from threadpoolctl import threadpool_limits

from relvec.cli import models, peers
from relvec.cli.columns import split_names
from relvec.cli.console import CommandConsole
from relvec.cli.encoding import build_pipeline
from relvec.cli.errors import UsageError, suggest_name
from relvec.cli.judging import (
    criteria_parts,
    describe_model,
    describe_verdict,
    judge_models,
    model_name,
    verdict_lines,
)
from relvec.cli.limits import Limits
from relvec.cli.problem import Problem, define_problem
from relvec.cli.reading import read_blocks
from relvec.cli.sources import Source
from relvec.cli.subsampling import draw_rows
from relvec.cli.summaries.fit import DEFINITIONS, headline
from relvec.cli.summaries.parts import format_mean, format_number, legend, table
from relvec.cli.validation import (
    FoldResults,
    Folds,
    check_folds,
    cross_validate,
    make_folds,
    make_time_folds,
    note_fold_count,
)
from relvec.comparing import ModelComparison

__all__ = ["compare_command"]

MODEL_NAMES = ("rvm", "linear", "select", *peers.PEERS)
SIZES = {
    "rvm": "vectors",
    "select": "vectors",
    "linear": "weights",
    "ridge": "weights",
    "svm": "vectors",
    "gp": "rows",
    "boosting": "leaves",
}


def compare_command(
    console: CommandConsole,
    source: Source,
    *,
    target: str,
    task: str,
    names: Sequence[str],
    drop: Sequence[str],
    n_folds: int,
    rolling: bool,
    time: str | None,
    max_rows: int,
    seed: int,
) -> None:
    """Cross-validate all models, rank them by RMSE or error rate, and judge which is the best."""
    check_folds(n_folds)
    if time is not None and not rolling:
        raise UsageError("--time is for --rolling. Add --rolling, or leave out --time.")
    names = _check_names(names)
    problem = define_problem(
        draw_rows(read_blocks(source), source, target=target, max_rows=max_rows, seed=seed),
        source,
        console,
        target=target,
        task=task,
        drop=drop,
    )
    folds = (
        make_time_folds(problem, n_folds, time, console)
        if rolling
        else make_folds(problem, n_folds, seed)
    )
    wanted = _keep_feasible(names or MODEL_NAMES, problem, folds, console)
    candidates = _make_candidates(wanted, problem, seed, console.limits)
    note_fold_count(n_folds, folds, len(folds) * len(candidates), console)
    # one BLAS thread for every model, so that prediction times are comparable
    with (
        threadpool_limits(1),
        console.progress("comparing", len(folds) * len(candidates)) as advance,
    ):
        results = cross_validate(
            candidates,
            problem,
            folds,
            advance=advance,
            predict=peers.predict_peer,
            model_size=peers.model_size,
        )
        comparison = judge_models(candidates, results, problem, folds, rolling=rolling)
    facts = problem.to_dict() | {
        "folds": len(folds),
        "held_out": comparison.folds,
        "models": _rank_models(results, comparison, problem.task),
        "verdict": describe_verdict(comparison),
        "notes": console.notes,
    }
    console.report(facts, lambda: _summarise(facts))


def _check_names(names: Sequence[str]) -> list[str]:
    """Check the requested model names and remove duplicates."""
    found = split_names(names, MODEL_NAMES)
    for name in found:
        if name not in MODEL_NAMES:
            raise UsageError(
                f"--model must be one of {', '.join(MODEL_NAMES)}; got {name!r}."
                + suggest_name(name, MODEL_NAMES)
            )
    return list(dict.fromkeys(found))


def _keep_feasible(
    names: Sequence[str], problem: Problem, folds: Folds, console: CommandConsole
) -> list[str]:
    """Drop models that cannot be fitted to every fold, and note restrictions."""
    wanted = list(names)
    n_rows, most = len(folds[0][0]), console.limits.gp_rows
    if "svm" in wanted and _smallest_class(problem, folds) < 2:
        wanted.remove("svm")
        console.note(
            "The support vector machine is left out: calibrating its probabilities needs at least "
            "two training rows of every class in each fold."
        )
    if "gp" in wanted and n_rows > most:
        console.note(
            f"The Gaussian process is fitted to {most} of {n_rows} rows, drawn at random, because "
            "its cost grows with the cube of the number of rows."
        )
    return wanted


def _smallest_class(problem: Problem, folds: Folds) -> float:
    """Return the size of the smallest class over the training parts of all folds."""
    if problem.task == "regression":
        return np.inf
    return min(np.unique(problem.target[train], return_counts=True)[1].min() for train, _ in folds)


def _make_candidates(
    names: Sequence[str], problem: Problem, seed: int, limits: Limits
) -> dict[str, Any]:
    """Make the pipelines of the models, and of the baseline."""
    candidates = {name: _make_pipeline(name, problem, seed, limits) for name in names}
    candidates[_baseline(problem.task)] = build_pipeline(
        problem.columns,
        problem.n_rows,
        DummyRegressor() if problem.task == "regression" else DummyClassifier(strategy="prior"),
    )
    return candidates


def _make_pipeline(name: str, problem: Problem, seed: int, limits: Limits) -> Any:
    if name in models.MODELS:
        steps = [models.make_model(name, problem.task, problem.n_rows, seed)]
    else:
        steps = peers.PEERS[name](problem.task, seed, limits)
    return build_pipeline(problem.columns, problem.n_rows, *steps)


def _rank_models(
    results: dict[str, FoldResults], comparison: ModelComparison, task: str
) -> dict[str, Any]:
    """Collect the results of each model, the smallest RMSE or error rate first."""
    key = "rmse" if task == "regression" else "error_rate"
    found: dict[str, dict[str, Any]] = {
        name: {
            "scores": fold_results.summary(),
            **describe_model(comparison[name]),
            "size": float(np.mean(fold_results.sizes)),
            "size_unit": SIZES.get(name, "weights"),
            "milliseconds_per_1000_rows": 1000.0 * float(np.median(fold_results.seconds)),
        }
        for name, fold_results in results.items()
    }
    return dict(sorted(found.items(), key=lambda item: item[1]["scores"][key]["mean"]))


def _summarise(facts: dict[str, Any]) -> list[Any]:
    is_regression = facts["task"] == "regression"
    rows = []
    for name, found in facts["models"].items():
        scores = found["scores"]
        if is_regression:
            cells = [format_mean(scores["rmse"]), format_mean(scores.get("mlpd"))]
        else:
            cells = [format_mean(scores["error_rate"], "percent"), format_mean(scores["log_loss"])]
        size = (
            "–"
            if name == _baseline(facts["task"])
            else _format_count(found["size"], found["size_unit"])
        )
        rows.append(
            [
                model_name(name, facts["task"]),
                *cells,
                size,
                format_number(found["milliseconds_per_1000_rows"]),
            ]
        )
    headers = [
        "model",
        *(("RMSE", "MLPD") if is_regression else ("error rate", "log loss")),
        "size",
        "ms",
    ]
    return [
        "",
        headline(facts),
        table(headers, rows),
        legend(*_define_columns(facts)),
        *criteria_parts(facts),
        "",
        *verdict_lines(facts),
    ]


def _define_columns(facts: dict[str, Any]) -> tuple[str, ...]:
    """Define the columns of the table."""
    is_regression = facts["task"] == "regression"
    error = "RMSE" if is_regression else "error rate"
    return (
        f"Mean over the held-out rows of {facts['held_out']} ± standard error over folds, the "
        f"smallest {error} first.",
        DEFINITIONS["mlpd" if is_regression else "log_loss"],
        "size: what the model stores for predictions. ms: milliseconds to predict 1000 rows.",
    )


def _format_count(number: float, what: str) -> str:
    """Format a count with its noun in singular or plural.

    Examples
    --------
    >>> _format_count(2.6, "vectors"), _format_count(1.0, "vectors"), _format_count(1.2, "leaves")
    ('3 vectors', '1 vector', '1 leaf')
    """
    count = f"{number:.0f}"
    one = {"leaves": "leaf"}.get(what, what.removesuffix("s"))
    return f"{count} {one if count == '1' else what}"


def _baseline(task: str) -> str:
    """Name of the model without features."""
    return "mean" if task == "regression" else "class_prior"
