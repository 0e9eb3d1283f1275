"""Comparison of models from their scores of held-out rows and their evidences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.comparing.evidences import Evidences
from relvec.comparing.result import ComparedModel, ModelComparison
from relvec.comparing.statistics import Estimate, FoldScores, HeldOutRows, estimate_mean
from relvec.comparing.verdict import Criteria
from relvec.comparing.wording import reach_verdict

__all__ = ["build_comparison", "compute_probabilities"]


def build_comparison(
    task: str,
    scores: Mapping[str, Sequence[FoldScores]],
    rows: HeldOutRows,
    evidences: Mapping[str, Evidences],
    *,
    prior: Mapping[str, float],
    n_rows: int,
    folds: str,
    estimators: Mapping[str, Any] | None = None,
    titles: Mapping[str, str] | None = None,
) -> ModelComparison:
    """Compare models by their scores of held-out rows and their evidences.

    Parameters
    ----------
    task : {"regression", "classification"}
        What the models predict.
    scores : mapping of str to sequence of FoldScores
        Scores of the same held-out rows by each model.
    rows : HeldOutRows
        Weights of these rows.
    evidences : mapping of str to Evidences
        Evidences of the models fitted to all rows.
    prior : mapping of str to float
        Prior probabilities of the models.
    n_rows : int
        Number of rows.
    folds : str
        Which rows were held out.
    estimators : mapping of str to estimator, optional
        The models, fitted to all rows.
    titles : mapping of str to str, optional
        Names in the text of the verdict, where they differ.
    """
    densities = {name: _collect_densities(each) for name, each in scores.items()}
    mlpd = {
        name: None if each is None else estimate_mean(each, rows)
        for name, each in densities.items()
    }
    error = {
        name: _estimate_error([fold.error for fold in each], rows, task)
        for name, each in scores.items()
    }
    ranked = sorted(
        (name for name in scores if mlpd[name] is not None), key=lambda name: -_mean(mlpd[name])
    )
    others = sorted((name for name in scores if mlpd[name] is None), key=lambda n: error[n].mean)
    leader = ranked[0] if ranked else None
    probabilities, notes = compute_probabilities(evidences, prior)
    models = tuple(
        ComparedModel(
            name,
            mlpd[name],
            _subtract(densities, leader, name, rows),
            error[name],
            evidences[name],
            prior[name],
            probabilities[name],
        )
        for name in ranked + others
    )
    exceeds = {
        name: None if leader is None else _exceed(scores, leader, name, rows) for name in others
    }
    criteria = {each.name: _collect_criteria(each, exceeds.get(each.name)) for each in models}
    score = "MLPD" if task == "regression" else "log loss"
    verdict = reach_verdict(criteria, score, titles)
    return ModelComparison(task, models, verdict, n_rows, folds, notes, dict(estimators or {}))


def _collect_criteria(model: ComparedModel, error_behind: Estimate | None) -> Criteria:
    return Criteria(
        None if model.mlpd is None else model.mlpd.mean,
        model.difference,
        model.probability,
        model.evidences.log_evidence,
        error_behind,
    )


def compute_probabilities(
    evidences: Mapping[str, Evidences], prior: Mapping[str, float]
) -> tuple[dict[str, float | None], tuple[str, ...]]:
    """Compute posterior probabilities of models from their penalised tied evidences.

    A maximised evidence is no marginal likelihood: it contains no cost for the hyper-parameters
    that were fitted. With ``0.5 log N`` for each of a number that does not grow with `N` it is the
    approximation of Schwarz (1978), which needs few hyper-parameters: one precision for each basis.

    Returns
    -------
    probabilities : dict of str to float or None
        None for models without a tied evidence.
    notes : tuple of str
        Why there are none.
    """
    known = {
        name: each.tied_evidence
        for name, each in evidences.items()
        if each.tied_evidence is not None
    }
    missing: dict[str, float | None] = dict.fromkeys(evidences)
    if len({evidences[name].has_intercept for name in known}) > 1:
        return missing, (
            "There are no posterior probabilities, because some models have an intercept and "
            "others have none: their evidences are densities of different data. Use the same "
            "fit_intercept for all.",
        )
    if len(known) < 2:
        return missing, ()
    log_odds = np.array([value + np.log(prior[name]) for name, value in known.items()])
    odds = np.exp(log_odds - log_odds.max())
    found = zip(known, (odds / odds.sum()).tolist(), strict=True)
    return missing | dict(found), ()


def _collect_densities(folds: Sequence[FoldScores]) -> list[Vector] | None:
    found = [fold.log_density for fold in folds if fold.log_density is not None]
    return found if len(found) == len(folds) else None


def _subtract(
    densities: Mapping[str, list[Vector] | None], leader: str | None, name: str, rows: HeldOutRows
) -> Estimate | None:
    """Estimate by how much the log density of the leader is higher, row by row."""
    first, second = None if leader is None else densities[leader], densities[name]
    if first is None or second is None:
        return None
    return estimate_mean([a - b for a, b in zip(first, second, strict=True)], rows)


def _exceed(
    scores: Mapping[str, Sequence[FoldScores]], leader: str, name: str, rows: HeldOutRows
) -> Estimate:
    """Estimate by how much the error of a model exceeds that of the leader, row by row."""
    pairs = zip(scores[name], scores[leader], strict=True)
    return estimate_mean([one.error - other.error for one, other in pairs], rows)


def _estimate_error(errors: Sequence[Vector], rows: HeldOutRows, task: str) -> Estimate:
    found = estimate_mean(errors, rows)
    if task == "classification":
        return found
    root = float(np.sqrt(found.mean))
    # d sqrt(m) = dm / (2 sqrt(m))
    return Estimate(root, found.se / (2.0 * root) if root > 0.0 else 0.0)


def _mean(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.mean
