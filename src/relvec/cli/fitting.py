"""`relvec fit`: from a table to a model file and one screen about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

import relvec
from relvec.cli import models
from relvec.cli.console import CommandConsole
from relvec.cli.drawing import draw_rows
from relvec.cli.encoding import build_pipeline, pooled_levels
from relvec.cli.errors import UsageError, listed
from relvec.cli.limits import LIMITS
from relvec.cli.model_file import save_model
from relvec.cli.problem import Problem, state_problem
from relvec.cli.reading import read_blocks
from relvec.cli.sources import find_source
from relvec.cli.summaries.fit import fit_screen
from relvec.cli.tuning import linear_steps
from relvec.cli.validation import (
    Outcome,
    check_folds,
    cross_validate,
    make_folds,
    relevance_of,
    say_many_folds,
)
from relvec.cli.writing import check_target

__all__ = ["FitRequest", "fit_command"]


@dataclass(frozen=True)
class FitRequest:
    """What was asked for on the command line."""

    source: str
    target: str
    output: str
    task: str = "auto"
    model: str = "auto"
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    max_levels: int = LIMITS.max_levels
    max_rows: int = LIMITS.max_rows
    folds: int = 5
    with_cv: bool = True
    seed: int = 0
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


def fit_command(console: CommandConsole, request: FitRequest) -> None:
    """Read, choose, cross-validate, fit, save, and say so."""
    if request.output == "-":
        raise UsageError("A model does not go to the standard output; name a file with -o.")
    check_target(request.output, request.source)
    if request.with_cv:
        check_folds(request.folds, "--no-cv leaves them out.")
    if request.model != "auto":
        models.make_model(request.model, "regression", 0, 0)
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
    )
    problem = state_problem(
        draw_rows(
            read_blocks(source),
            source,
            target=request.target,
            max_rows=request.max_rows,
            seed=request.seed,
        ),
        source,
        console,
        target=request.target,
        task=request.task,
        features=request.features,
        drop=request.drop,
        categorical=request.categorical,
        max_levels=request.max_levels,
    )
    if problem.n_rows > LIMITS.many_rows:
        console.note(
            f"With {problem.n_rows} rows, kernels are centred on {LIMITS.n_centres} of them, "
            "spread over the data."
        )
    facts: dict[str, Any] = {"source": request.source, "relvec": relvec.__version__}
    facts |= problem.facts()
    pipeline, learnt = _fit_problem(problem, request, console)
    facts |= learnt
    facts["seed"] = request.seed
    facts["notes"] = list(console.notes)
    save_model(pipeline, request.output, facts)
    facts["output"] = request.output
    facts["bytes"] = Path(request.output).stat().st_size
    if not console.quiet or console.as_json:
        console.answer(facts, lambda: fit_screen(facts))


def candidates_for(problem: Problem, names: Sequence[str], seed: int) -> dict[str, Pipeline]:
    """Pipelines of our models by name."""
    return {
        name: build_pipeline(
            problem.columns,
            problem.n_rows,
            models.make_model(name, problem.task, problem.n_rows, seed),
        )
        for name in names
    }


def baselines_for(problem: Problem, seed: int) -> dict[str, Pipeline]:
    """What every model has to beat: no inputs at all, and a linear model of all of them."""
    linear = linear_steps(problem.task, seed)
    if problem.task == "regression":
        steps = {"mean": [DummyRegressor()], "ridge": linear}
    else:
        steps = {"class shares": [DummyClassifier(strategy="prior")], "logistic": linear}
    return {
        name: build_pipeline(problem.columns, problem.n_rows, *parts)
        for name, parts in steps.items()
    }


def _fit_problem(
    problem: Problem, request: FitRequest, console: CommandConsole
) -> tuple[Pipeline, dict[str, Any]]:
    """The fitted pipeline and what was learnt about it."""
    names = (request.model,) if request.model != "auto" else models.AUTO
    if not request.with_cv:
        names = names if len(names) == 1 else ("rvm",)
    ours = candidates_for(problem, names, request.seed)
    facts: dict[str, Any] = {"model": names[0]}
    folds = make_folds(problem, request.folds, request.seed) if request.with_cv else []
    baselines = baselines_for(problem, request.seed)
    steps = len(folds) * (len(ours) + len(baselines)) + 1
    say_many_folds(request.folds, folds, steps, console)
    with console.progress("fitting", steps) as advance:
        if folds:
            outcomes = cross_validate(
                ours | baselines,
                problem,
                folds,
                advance=advance,
                relevance_for=names,
                seed=request.seed,
            )
            facts |= _of_outcomes(outcomes, names, len(folds))
        pipeline = ours[facts["model"]].fit(problem.table, problem.target)
        advance(1)
    if not folds:
        rises = relevance_of(pipeline, problem.table, problem.target, request.seed)
        facts["relevance"] = dict(sorted(rises.items(), key=lambda item: -item[1]))
    for name, levels in pooled_levels(pipeline[0]).items():
        console.note(f"Rare levels of '{name}' are taken together: {listed(levels)}.")
    facts |= _of_model(pipeline[-1], problem)
    _warn_in_words(facts, problem, console)
    return pipeline, facts


def _of_outcomes(
    outcomes: dict[str, Outcome], names: Sequence[str], n_folds: int
) -> dict[str, Any]:
    """What cross-validation says: which model is best, how good all are, what matters."""
    chosen = _best(outcomes, names)
    summaries = {name: outcome.summary() for name, outcome in outcomes.items()}
    return {
        "model": chosen,
        "cross_validation": {"folds": n_folds, "models": summaries},
        "relevance": outcomes[chosen].mean_relevance(),
    }


def _of_model(model: Any, problem: Problem) -> dict[str, Any]:
    """What the fitted model says of itself."""
    facts: dict[str, Any] = {"vectors": len(model.relevance_)}
    if hasattr(model, "relevance_vectors_"):
        facts["vector_rows"] = problem.places[model.relevance_].tolist()
    if hasattr(model, "model_kind_"):
        facts["scale_kind"] = model.model_kind_
    if problem.task == "regression":
        facts["noise_std"] = float(model.noise_variance_) ** 0.5
    return facts


def _best(outcomes: dict[str, Outcome], names: Sequence[str]) -> str:
    """The model of highest predictive density on the rows it had not seen."""

    def merit(name: str) -> float:
        summary = outcomes[name].summary()
        if "log_loss" in summary:
            return -summary["log_loss"]["mean"]
        return summary["log_density"]["mean"]

    return max(names, key=merit)


def _warn_in_words(facts: dict[str, Any], problem: Problem, console: CommandConsole) -> None:
    """Say what a careful reader of the figures would say."""
    if facts["vectors"] == 0:
        console.note(
            f"Nothing in the inputs is worth keeping: the model is the same for all rows of "
            f"'{problem.name}'."
        )
    if "cross_validation" not in facts:
        return
    results = facts["cross_validation"]["models"]
    ours = results[facts["model"]]
    key, trivial, linear = (
        ("rmse", "mean", "ridge")
        if problem.task == "regression"
        else ("log_loss", "class shares", "logistic")
    )
    error = ours[key]["mean"]
    if facts["vectors"] and error > 0.98 * results[trivial][key]["mean"]:
        console.note(
            "On rows it had not seen the model is hardly better than knowing no inputs at all."
        )
    elif error > results[linear][key]["mean"] + ours[key]["se"]:
        console.note(
            f"On these data {linear} has the smaller error; relvec compare shows more models."
        )
    _warn_of_error_bars(ours, console)


def _warn_of_error_bars(ours: dict[str, Any], console: CommandConsole) -> None:
    """Say if the model is surer than it is right."""
    if "coverage" in ours and ours["coverage"]["mean"] < 0.88:
        console.note(
            f"Only {ours['coverage']['mean']:.0%} of rows it had not seen lie in their 95 % "
            "intervals: take its error bars for too narrow."
        )
    if "confidence" in ours and ours["confidence"]["mean"] > ours["accuracy"]["mean"] + 0.08:
        console.note("It is surer than it is right: take its probabilities for too extreme.")
