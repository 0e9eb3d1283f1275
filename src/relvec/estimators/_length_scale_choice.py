"""Choice between several candidate length-scales for a sparse model.

The evidence of the sparse models decides, less a penalty for each length-scale. If features were
selected from many, all candidates have used the targets before. Then cross-validation decides, in
which length-scales are learnt again without the held-out rows. Models that are averaged are
weighted by the same criterion.
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
    """Return the best candidate with its model, and its held-out predictions or None.

    Parameters
    ----------
    plan : Plan
        Plan of the fit: learns length-scales, fits and scores models.
    candidates : list of ScaledBasis
        Candidates learnt from all rows; at least one.
    data : Data
        All rows. Subsets are stratified by class.
    """
    differ = candidates[0].learnt.group != candidates[-1].learnt.group
    is_wide = np.count_nonzero(candidates[0].learnt.spread) > LengthScaleTuning.many_features
    all_data = data
    if differ and is_wide:
        data = plan.merge_equal_rows(data)
    order = plan.order_rows(data)
    is_part = len(candidates) > 1 and len(order) > plan.tuning.n_comparison_rows
    if is_part:
        subset = np.linspace(0, len(order) - 1, plan.tuning.n_comparison_rows).astype(np.intp)
        order = order[subset]
    if differ and is_wide:
        candidates, held_out = _cross_validate(plan.make_fold_plan(), candidates, data, order)
        scores = np.array(list(map(plan.score, held_out)))
        n_rows = len(order) if data.weight is None else data.weight[order].sum()
        # The best of several candidates without effect has an expected advantage: per row, like
        # scores.
        scores[0] += plan.null_advantage(len(candidates) - 1) / n_rows
        weights = plan.stacking_weights(held_out, scores)
        kept = _rank_models(scores, weights)
        # Attributes describe the best model with features, if any is averaged with the null model.
        kept = np.append(kept[kept > 0], kept[kept == 0])
        fits = [plan.fit_candidate(candidates[each], all_data) for each in kept]
        return candidates[kept[0]], plan.combine_fits(fits, weights[kept]), held_out[kept[0]]
    compared, fits, net = data.subset(np.sort(order)) if is_part else data, [], []
    for candidate in candidates:
        fit, scales = plan.fit(candidate.basis, compared), candidate.learnt
        # penalty of each length-scale: one nat, or the penalty of a feature if that is larger
        each = 1.0 if scales.is_shared else max(1.0, scales.penalty)
        fits.append(fit)
        net.append(fit.objective - each * scales.n_scales)
    penalised = np.array(net)
    weights = plan.evidence_weights(penalised)
    kept = _rank_models(penalised, weights)
    best = candidates[kept[0]]
    if is_part:
        return best, plan.fit(best.basis, data), None
    return best, plan.combine_fits([fits[each] for each in kept], weights[kept]), None


def _rank_models(scores: Vector, weights: Vector) -> IndexArray:
    """Return the indices of models with positive weight, best first."""
    order = np.argsort(-scores, kind="stable")
    return order[weights[order] > 0.0]


def _cross_validate(
    plan: Any, candidates: list[ScaledBasis], data: Any, order: IndexArray
) -> tuple[list[ScaledBasis], list[list[Any]]]:
    """Return all candidates, baselines included, and their predictions in cross-validation.

    The null model is the first. A kind of candidate that is missing in a fold gets the predictions
    of the worst candidate there.
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
            # Error bars use the kernel as it is (scaled=None): the search for a better process
            # takes longer than the fits.
            fit = plan.add_error_bars(replace(fit, scaled=None), train)
            found[_candidate_key(candidate)] = plan.predict_held_out(fit, data.subset(test))
        # A candidate that was not found in a fold must not gain by its absence.
        worst = min(found.values(), key=lambda each: plan.score([each]))
        for candidate, predictions in zip(candidates, held_out, strict=True):
            predictions.append(found.get(_candidate_key(candidate), worst))
    return candidates, held_out


def _candidate_key(candidate: ScaledBasis) -> tuple[str, float]:
    """Return the kind and the length-scale factor, by which candidates of folds are matched."""
    return candidate.learnt.group, candidate.learnt.scale_factor
