"""Which of several candidates of scales a sparse model is given.

The evidence of the sparse models decides, less the penalty of the scales. Where inputs were chosen
from many, each candidate has seen the targets before: then cross-validation decides, in which
everything is learnt anew without the rows that are predicted. Models that are averaged have weights
by the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.estimators._length_scales import ScaledBasis
from relvec.learning import LengthScaleTuning

__all__ = ["choose_length_scales"]


def choose_length_scales(
    plan: Any, candidates: list[ScaledBasis], data: Any
) -> tuple[ScaledBasis, Any, Any]:
    """Return the best candidate with its model, and its held-out predictions if there are any.

    Parameters
    ----------
    plan : Plan
        Learns scales from some rows, fits a basis to them, and scores a model on others.
    candidates : list of ScaledBasis
        What was learnt from all rows; at least one.
    data : Data
        All rows; choices of them respect the shares of their groups.
    """
    several = candidates[0].learnt.group != candidates[-1].learnt.group
    is_wide = np.count_nonzero(candidates[0].learnt.spread) > LengthScaleTuning.many_inputs
    given = data
    if several and is_wide:
        data = plan.merge_equal_rows(data)
    order = plan.order_rows(data)
    is_part = len(candidates) > 1 and len(order) > plan.tuning.n_comparison_rows
    if is_part:
        shown = np.linspace(0, len(order) - 1, plan.tuning.n_comparison_rows).astype(np.intp)
        order = order[shown]
    if several and is_wide:
        candidates, held_out = _cross_validate(plan.make_fold_plan(), candidates, data, order)
        scores = np.array(list(map(plan.score, held_out)))
        n_rows = len(order) if data.weight is None else data.weight[order].sum()
        scores[0] += plan.null_advantage(len(candidates) - 1) / n_rows
        weights = plan.stacking_weights(held_out, scores)
        kept = _rank_models(scores, weights)
        fits = [plan.fit_candidate(candidates[each], given) for each in kept]
        return candidates[kept[0]], plan.combine_fits(fits, weights[kept]), held_out[kept[0]]
    compared, fits, net = data.subset(np.sort(order)) if is_part else data, [], []
    for candidate in candidates:
        fit, scales = plan.fit(candidate.basis, compared), candidate.learnt
        # a nat for each scale, or the penalty of an input if that is more
        each = 1.0 if scales.is_shared else max(1.0, scales.penalty)
        fits.append(fit)
        net.append(fit.objective - each * scales.n_scales)
    worth = np.array(net)
    weights = plan.evidence_weights(worth)
    kept = _rank_models(worth, weights)
    best = candidates[kept[0]]
    if is_part:
        return best, plan.fit(best.basis, data), None
    return best, plan.combine_fits([fits[each] for each in kept], weights[kept]), None


def _rank_models(worth: Vector, weights: Vector) -> IndexArray:
    """Return the models that have weight, the best first."""
    order = np.argsort(-worth, kind="stable")
    return order[weights[order] > 0.0]


def _cross_validate(
    plan: Any, candidates: list[ScaledBasis], data: Any, order: IndexArray
) -> tuple[list[ScaledBasis], list[list[Any]]]:
    """Return all candidates, simple ones too, and what their likes predict in cross-validation.

    The null model is the first. A kind of candidate that is not made in a fold is taken to predict
    as badly as the worst there.
    """
    null, *linear = plan.make_baseline_candidates(candidates)
    candidates = [null, *candidates, *linear]
    held_out: list[list[Any]] = [[] for _ in candidates]
    for fold in range(plan.tuning.folds):
        test = order[fold :: plan.tuning.folds]
        train = data.subset(np.sort(np.setdiff1d(order, test)))
        found = {}
        learnt = plan.learn_length_scales(train)
        for candidate in [*learnt, *plan.make_baseline_candidates(learnt)]:
            fit = plan.attach_length_scales(candidate, plan.fit_candidate(candidate, train), train)
            # kernels as they are tell what is far away: the search for more takes longer than fits
            fit = plan.add_error_bars(replace(fit, scaled=None), train)
            found[_candidate_key(candidate)] = plan.predict_held_out(fit, data.subset(test))
        worst = min(found.values(), key=lambda each: plan.score([each]))
        for candidate, predictions in zip(candidates, held_out, strict=True):
            predictions.append(found.get(_candidate_key(candidate), worst))
    return candidates, held_out


def _candidate_key(candidate: ScaledBasis) -> tuple[str, float]:
    return candidate.learnt.group, candidate.learnt.width
