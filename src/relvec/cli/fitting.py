"""`relvec fit`: fit a model to a table, cross-validate it and save it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

import relvec
from relvec.cli import models
from relvec.cli.console import Advance, CommandConsole
from relvec.cli.encoding import build_pipeline, pooled_categories
from relvec.cli.errors import UsageError, format_names
from relvec.cli.limits import LIMITS
from relvec.cli.model_file import save_model
from relvec.cli.models import SAMPLED
from relvec.cli.noise_options import NoiseRequest, describe_noise, describe_transform
from relvec.cli.problem import Problem, define_problem
from relvec.cli.rates import mean_rate, poisson_steps
from relvec.cli.reading import read_blocks
from relvec.cli.sampling import REMEDIES, SampleRequest, describe_sampling
from relvec.cli.searching import SearchRequest, check_time, fit_search
from relvec.cli.sources import find_source
from relvec.cli.subsampling import draw_rows
from relvec.cli.summaries.fit import fit_summary
from relvec.cli.tuning import linear_steps
from relvec.cli.validation import (
    FoldResults,
    check_folds,
    compute_permutation_importance,
    cross_validate,
    make_folds,
    note_fold_count,
)
from relvec.cli.writing import check_output
from relvec.describing import (
    advise_on_noise,
    check_residuals,
    compute_quantile_residuals,
    find_transform,
    is_sampled,
    predict_distribution,
    shorten_chains,
)

__all__ = ["FitRequest", "fit_command"]

METRIC_NAMES = {"rmse": "RMSE", "deviance": "deviance", "log_loss": "log loss"}
COMPARISONS = {
    "regression": ("rmse", "mean", "ridge"),
    "counts": ("deviance", "mean_rate", "poisson"),
    "classification": ("log_loss", "class_prior", "logistic"),
}
"""Metric by which a model is compared with two baselines, without features and linear."""
PREDICTED = {"regression": "value", "counts": "rate", "classification": "probabilities"}
"""What a model of each task predicts."""


@dataclass(frozen=True)
class FitRequest:
    """Arguments of `relvec fit`."""

    source: str
    target: str
    output: str
    task: str = "auto"
    model: str = "auto"
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    max_categories: int = LIMITS.max_categories
    max_rows: int = LIMITS.max_rows
    noise: NoiseRequest = field(default_factory=NoiseRequest)
    sample: SampleRequest = field(default_factory=SampleRequest)
    search: SearchRequest = field(default_factory=SearchRequest)
    folds: int = 5
    with_cv: bool = True
    seed: int = 0
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


def fit_command(console: CommandConsole, request: FitRequest) -> None:
    """Read the table, select and fit a model, save it and print a summary."""
    if request.output == "-":
        raise UsageError("A model cannot be written to the standard output; name a file with -o.")
    check_output(request.output, request.source)
    if request.with_cv:
        check_folds(request.folds, "Use --no-cv to fit without cross-validation.")
    if request.model != "auto":
        models.make_model(request.model, "regression", 0, 0)
    request.noise.check()
    request.sample.check(request.model, request.task, request.noise)
    request.search.check(request)
    console.option_names = {
        "fit(X, y, noise_variance=...)": "--noise-variance COLUMN",
        **REMEDIES,
    }
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
    )
    rows = draw_rows(
        read_blocks(source),
        source,
        target=request.target,
        max_rows=request.max_rows,
        seed=request.seed,
    )
    search = request.search
    check_time(search, request.target, rows.frame.columns, source)
    problem = define_problem(
        rows,
        source,
        console,
        target=request.target,
        task="regression" if search.is_requested else request.task,
        features=request.features if search.time is None else [search.time],
        drop=request.drop,
        categorical=request.categorical,
        max_categories=request.max_categories,
        row_column=request.noise.find_row_column(request.target, request.features),
        is_search=search.is_requested,
    )
    if search.is_requested:
        fit_search(problem, request, console)
        return
    request.noise.check_task(problem.task)
    request.sample.check_task(problem.task)
    request.sample.note_transform(problem, console)
    if problem.n_rows > LIMITS.many_rows:
        console.note(
            f"With {problem.n_rows} rows, only {LIMITS.n_centers} of them, spread over the data, "
            "are candidates for relevance vectors."
        )
    facts: dict[str, Any] = {"source": request.source, "relvec": relvec.__version__}
    facts |= problem.to_dict()
    pipeline, model_facts = _fit_problem(problem, request, console)
    facts |= model_facts
    facts["seed"] = request.seed
    facts["notes"] = list(console.notes)
    save_model(pipeline, request.output, facts)
    facts["output"] = request.output
    facts["bytes"] = Path(request.output).stat().st_size
    if not console.quiet or console.as_json:
        console.report(facts, lambda: fit_summary(facts))


def make_candidates(
    problem: Problem, names: Sequence[str], seed: int, noise: NoiseRequest
) -> dict[str, Pipeline]:
    """Make pipelines of the relvec models, by name."""
    options = noise.model_options(problem.task, problem.target)
    return {
        name: build_pipeline(
            problem.columns,
            problem.n_rows,
            models.make_model(name, problem.task, problem.n_rows, seed, options),
        )
        for name in names
    }


def make_baselines(problem: Problem, seed: int) -> dict[str, Pipeline]:
    """Make the baselines: a model without features, and a linear one."""
    steps: dict[str, list[Any]]
    if problem.task == "regression":
        steps = {"mean": [DummyRegressor()], "ridge": linear_steps(problem.task, seed)}
    elif problem.task == "counts":
        steps = {"mean_rate": [mean_rate()], "poisson": poisson_steps(seed)}
    else:
        trivial = DummyClassifier(strategy="prior")
        steps = {"class_prior": [trivial], "logistic": linear_steps(problem.task, seed)}
    return {
        name: build_pipeline(problem.columns, problem.n_rows, *parts)
        for name, parts in steps.items()
    }


def _fit_problem(
    problem: Problem, request: FitRequest, console: CommandConsole
) -> tuple[Pipeline, dict[str, Any]]:
    """Select a model by cross-validation and fit it to all rows."""
    names = (request.model,) if request.model != "auto" else models.AUTO
    if not request.with_cv:
        names = names if len(names) == 1 else ("rvm",)
    noise = request.sample.adapt_noise(request.noise)
    ours = make_candidates(problem, names, request.seed, noise)
    row_values = problem.row_values
    facts: dict[str, Any] = {"model": names[0]}
    folds = make_folds(problem, request.folds, request.seed) if request.with_cv else []
    baselines = make_baselines(problem, request.seed)
    n_models = len(ours) + len(baselines) + request.sample.is_requested
    steps = len(folds) * n_models + 1
    note_fold_count(request.folds, folds, steps, console)
    score: np.ndarray | None = None
    with console.progress("fitting", steps) as advance:
        if folds:
            results = cross_validate(
                ours | baselines,
                problem,
                folds,
                advance=advance,
                importance_for=names,
                seed=request.seed,
            )
            chosen_name = _select_model(results, names)
            if request.sample.is_requested:
                chosen_name = _add_sampled(
                    ours, results, chosen_name, problem, request, folds, advance
                )
            facts |= _summarise_folds(results, chosen_name, len(folds))
            score = _collect_scores(results[facts["model"]], folds, problem.n_rows)
        elif request.sample.is_requested:
            facts["model"] = SAMPLED[names[0]]
            ours[facts["model"]] = request.sample.make_pipeline(names[0], problem, request.seed)
        chosen = ours[facts["model"]]
        options = {} if row_values is None else row_values.fit_options(chosen)
        pipeline = chosen.fit(problem.table, problem.target, **options)
        advance(1)
    if not folds:
        importance = compute_permutation_importance(
            pipeline, problem.table, problem.target, request.seed, row_values
        )
        facts["permutation_importance"] = dict(
            sorted(importance.items(), key=lambda item: -item[1])
        )
    for name, categories in pooled_categories(pipeline[0]).items():
        console.note(f"Rare categories of '{name}' are pooled: {format_names(categories)}.")
    facts |= _summarise_model(pipeline, problem)
    _note_weaknesses(facts, problem, console)
    _note_noise(pipeline, problem, score, console)
    return pipeline, facts


def _summarise_folds(results: dict[str, FoldResults], chosen: str, n_folds: int) -> dict[str, Any]:
    """Return the selected model, the metrics of all models and permutation importances."""
    summaries = {name: fold_results.summary() for name, fold_results in results.items()}
    return {
        "model": chosen,
        "cross_validation": {"folds": n_folds, "models": summaries},
        "permutation_importance": results[chosen].mean_importance(),
    }


def _add_sampled(
    ours: dict[str, Pipeline],
    results: dict[str, FoldResults],
    chosen: str,
    problem: Problem,
    request: FitRequest,
    folds: list[tuple[np.ndarray, np.ndarray]],
    advance: Advance,
) -> str:
    """Cross-validate the sampled variant of the selected model, with short chains.

    The metrics of the fitted model are then its own, not those of the model of highest evidence.
    """
    name = SAMPLED[chosen]
    ours[name] = request.sample.make_pipeline(chosen, problem, request.seed)
    found = cross_validate(
        {name: shorten_chains(ours[name])},
        problem,
        folds,
        advance=advance,
        importance_for=(name,),
        seed=request.seed,
    )
    baselines = {each: results.pop(each) for each in list(results) if each not in ours}
    results |= found | baselines
    return name


def _summarise_model(pipeline: Pipeline, problem: Problem) -> dict[str, Any]:
    """Return the number of basis functions, the noise and the kind of the fitted model."""
    model = pipeline[-1]
    if is_sampled(model):
        return describe_sampling(pipeline)
    facts: dict[str, Any] = {"n_basis_functions": len(model.relevance_)}
    if hasattr(model, "relevance_vectors_"):
        facts["relevance_vector_rows"] = problem.row_numbers[model.relevance_].tolist()
    if hasattr(model, "model_kind_"):
        facts["model_kind"] = model.model_kind_
    features = pipeline[:-1].transform(problem.table)
    return facts | describe_noise(model, features, problem.row_values) | describe_transform(model)


def _select_model(results: dict[str, FoldResults], names: Sequence[str]) -> str:
    """Return the model with the highest MLPD, or lowest log loss, on held-out rows."""

    def score(name: str) -> float:
        summary = results[name].summary()
        if "log_loss" in summary:
            return -summary["log_loss"]["mean"]
        return summary["mlpd"]["mean"]

    return max(names, key=score)


def _note_weaknesses(facts: dict[str, Any], problem: Problem, console: CommandConsole) -> None:
    """Note where the model is no better than a baseline, or miscalibrated."""
    if facts["n_basis_functions"] == 0:
        console.note(
            "No basis function was selected: the model predicts the same "
            f"{PREDICTED[problem.task]} of '{problem.name}' for all rows."
        )
    if "cross_validation" not in facts:
        return
    results = facts["cross_validation"]["models"]
    ours = results[facts["model"]]
    key, trivial, linear = COMPARISONS[problem.task]
    error = ours[key]["mean"]
    if facts["n_basis_functions"] and error > 0.98 * results[trivial][key]["mean"]:
        console.note(
            f"On held-out rows the {METRIC_NAMES[key]} of the model is hardly smaller than that of "
            f"the baseline without features ({models.BASELINES[trivial]})."
        )
    elif error > results[linear][key]["mean"] + ours[key]["se"]:
        console.note(
            f"On held-out rows {models.BASELINES[linear]} has a smaller {METRIC_NAMES[key]} than "
            "the fitted model; relvec compare shows more models."
        )
    _note_miscalibration(ours, console)


def _collect_scores(
    results: FoldResults, folds: Sequence[tuple[Any, Any]], n_rows: int
) -> np.ndarray | None:
    """Return the standardised residuals of the held-out rows of all folds, in order."""
    score = np.full(n_rows, np.nan)
    for (_, test), prediction in zip(folds, results.predictions, strict=True):
        if prediction.score is not None:
            score[test] = prediction.score
    return None if np.isnan(score).any() else score


def _note_noise(
    pipeline: Pipeline, problem: Problem, score: np.ndarray | None, console: CommandConsole
) -> None:
    """Note noise that the model does not describe, with the option that does."""
    is_short = score is None and is_sampled(pipeline)  # no residuals of held-out rows
    if problem.task != "regression" or is_short:
        return
    if score is None:  # without cross-validation
        score = _leave_out_scores(pipeline, problem)
    checks = check_residuals(pipeline, problem.table, problem.target, score)
    advice = None if checks is None else advise_on_noise(checks, pipeline)
    if advice is not None:
        option = f"--{advice.option.replace('_', '-')} {advice.value}".rstrip()
        how = ", without --sample" if is_sampled(pipeline) else ""
        console.note(f"{advice.finding} {option} models this{how}.")


def _leave_out_scores(pipeline: Pipeline, problem: Problem) -> np.ndarray:
    """Return standardised residuals of the training rows, each from a fit to the other rows.

    The residuals of a transformed target are those of the training rows themselves.
    """
    model, features = pipeline[-1], pipeline[:-1].transform(problem.table)
    values = None if problem.row_values is None else problem.row_values.values
    if find_transform(model) is not None or model.outputs_[0].noise is not None:
        distribution = predict_distribution(model, features, values)
        return compute_quantile_residuals(distribution, problem.target)
    options = {} if values is None else {"noise_variance": values}
    mean, std = model.leave_one_out(features, problem.target, **options)
    return np.asarray((problem.target - mean) / std)


def _note_miscalibration(ours: dict[str, Any], console: CommandConsole) -> None:
    """Note intervals that are too narrow and probabilities that are overconfident."""
    if "coverage" in ours and ours["coverage"]["mean"] < 0.88:
        console.note(
            f"The 95 % intervals cover only {ours['coverage']['mean']:.0%} of the held-out rows: "
            "they are too narrow."
        )
    if "confidence" in ours and ours["confidence"]["mean"] > ours["accuracy"]["mean"] + 0.08:
        console.note(
            f"The model is overconfident on held-out rows: mean confidence "
            f"{ours['confidence']['mean']:.0%}, accuracy {ours['accuracy']['mean']:.0%}."
        )
