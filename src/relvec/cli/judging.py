"""Paired differences, evidences and verdict of `relvec compare`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from relvec.cli import models, peers
from relvec.cli.console import escape_controls
from relvec.cli.metrics import Prediction
from relvec.cli.problem import Problem
from relvec.cli.summaries.parts import format_mean, format_number, legend, table
from relvec.cli.validation import FoldResults, Folds
from relvec.comparing import ComparedModel, Evidences, ModelComparison
from relvec.comparing.assemble import build_comparison
from relvec.comparing.evidences import measure_evidences
from relvec.comparing.inputs import read_prior
from relvec.comparing.row_scores import compute_class_log_probability, compute_normal_log_density
from relvec.comparing.splits import describe_rows
from relvec.comparing.statistics import FoldScores

__all__ = [
    "criteria_parts",
    "describe_model",
    "describe_verdict",
    "judge_models",
    "model_name",
    "verdict_lines",
]

EVIDENCES = ("log_evidence", "penalised_evidence", "tied_evidence", "effective_dof")


def judge_models(
    candidates: Mapping[str, Any],
    results: Mapping[str, FoldResults],
    problem: Problem,
    folds: Folds,
    *,
    rolling: bool,
) -> ModelComparison:
    """Compare the models by their predictions of held-out rows, and by evidence.

    Models of relvec are fitted to all rows for their evidence.
    """
    scores = {
        name: [
            _score_rows(problem.target[test], prediction)
            for (_, test), prediction in zip(folds, found.predictions, strict=True)
        ]
        for name, found in results.items()
    }
    evidences = dict.fromkeys(candidates, Evidences())
    for name in candidates:
        if name in models.MODELS:
            fitted = clone(candidates[name]).fit(problem.table, problem.target)
            evidences[name] = measure_evidences(fitted, problem.table, problem.target)
    return build_comparison(
        problem.task,
        scores,
        describe_rows(folds),
        evidences,
        prior=read_prior(None, list(candidates)),
        n_rows=problem.n_rows,
        folds=f"{len(folds)} {'rolling origins' if rolling else 'shuffled folds'}",
        titles={name: model_name(name, problem.task) for name in candidates},
    )


def _score_rows(target: np.ndarray, prediction: Prediction) -> FoldScores:
    if prediction.proba is not None:
        log_probability = compute_class_log_probability(
            target, prediction.proba, prediction.classes
        )
        return FoldScores(log_probability, (prediction.labels != target).astype(np.float64))
    assert prediction.mean is not None
    density = prediction.log_density
    if density is None and prediction.std is not None:
        density = compute_normal_log_density(target, prediction.mean, prediction.std)
    return FoldScores(density, (target - prediction.mean) ** 2)


def describe_model(model: ComparedModel) -> dict[str, Any]:
    """Return the paired difference and the evidences of a model for the JSON output."""
    difference = model.difference
    return {
        "difference": None if difference is None else {"mean": difference[0], "se": difference[1]},
        **{name: getattr(model.evidences, name) for name in EVIDENCES},
        "n_hyperparameters": model.evidences.n_hyperparameters,
        "posterior_probability": model.probability,
    }


def describe_verdict(comparison: ModelComparison) -> dict[str, Any]:
    """Return the verdict for the JSON output."""
    found = comparison.to_dict()
    return found["verdict"] | {"notes": found["notes"]}


def model_name(name: str, task: str) -> str:
    """Return the title of a model of relvec, of scikit-learn, or of the baseline."""
    return peers.TITLES[task].get(name) or models.model_title(name)


def criteria_parts(facts: Mapping[str, Any]) -> list[Any]:
    """Return the table of paired differences and evidences."""
    score = "MLPD" if facts["task"] == "regression" else "log loss"
    rows = [
        [
            model_name(name, facts["task"]),
            format_mean(found["difference"], "decimals"),
            _format_nats(found["log_evidence"]),
            _format_nats(found["tied_evidence"]),
            format_number(found["posterior_probability"]),
        ]
        for name, found in facts["models"].items()
    ]
    return [
        table(["model", "difference", "evidence", "tied", "probability"], rows),
        legend(
            f"difference: by how much the {score} of the best predictor is better, in nats a row, "
            "and the standard error of the paired difference. evidence: maximised log evidence of "
            "all rows. tied: that with one precision for each basis, less 0.5 log N for every "
            "hyper-parameter that was fitted; posterior probabilities are computed from it."
        ),
    ]


def _format_nats(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def verdict_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the verdict, and where criteria disagree."""
    verdict = facts["verdict"]
    texts = (verdict["text"], *verdict["disagreements"], *verdict["notes"])
    # without spaces, so that lines do not break between a number and its standard error
    return [escape_controls(each.replace(" ± ", "±")) for each in texts]
