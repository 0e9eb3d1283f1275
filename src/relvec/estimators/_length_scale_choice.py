"""Which of several proposals of scales a sparse model is given.

The evidence of the sparse models decides, less the penalty of the scales. Where inputs were chosen
from many, each proposal has seen the targets before: then cross-validation decides, in which
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

__all__ = ["choose_scales"]


def choose_scales(
    plan: Any, proposals: list[ScaledBasis], data: Any
) -> tuple[ScaledBasis, Any, Any]:
    """Return the best proposal with its model, and its held-out predictions if there are any.

    Parameters
    ----------
    plan : Plan
        Learns scales from some rows, fits a basis to them, and scores a model on others.
    proposals : list of ScaledBasis
        What was learnt from all rows; at least one.
    data : Data
        All rows; choices of them respect the shares of their groups.
    """
    several = proposals[0].learnt.group != proposals[-1].learnt.group
    is_wide = np.count_nonzero(proposals[0].learnt.spread) > LengthScaleTuning.many_features
    given = data
    if several and is_wide:
        data = plan.grouped(data)
    order = plan.ordered_rows(data)
    is_part = len(proposals) > 1 and len(order) > plan.tuning.compared_rows
    if is_part:
        shown = np.linspace(0, len(order) - 1, plan.tuning.compared_rows).astype(np.intp)
        order = order[shown]
    if several and is_wide:
        proposals, held_out = _predicted(plan.quickened(), proposals, data, order)
        scores = np.array(list(map(plan.score, held_out)))
        n_rows = len(order) if data.weight is None else data.weight[order].sum()
        scores[0] += plan.null_advantage(len(proposals) - 1) / n_rows
        weights = plan.stacking_weights(held_out, scores)
        kept = _ranked(scores, weights)
        fits = [plan.fit_scaled(proposals[each], given) for each in kept]
        return proposals[kept[0]], plan.joined(fits, weights[kept]), held_out[kept[0]]
    compared, fits, net = data.subset(np.sort(order)) if is_part else data, [], []
    for proposal in proposals:
        fit, scales = plan.fit(proposal.basis, compared), proposal.learnt
        # a nat for each scale, or the penalty of an input if that is more
        each = 1.0 if scales.is_shared else max(1.0, scales.penalty)
        fits.append(fit)
        net.append(fit.objective - each * scales.n_scales)
    worth = np.array(net)
    weights = plan.evidence_weights(worth)
    kept = _ranked(worth, weights)
    best = proposals[kept[0]]
    if is_part:
        return best, plan.fit(best.basis, data), None
    return best, plan.joined([fits[each] for each in kept], weights[kept]), None


def _ranked(worth: Vector, weights: Vector) -> IndexArray:
    """Return the models that have weight, the best first."""
    order = np.argsort(-worth, kind="stable")
    return order[weights[order] > 0.0]


def _predicted(
    plan: Any, proposals: list[ScaledBasis], data: Any, order: IndexArray
) -> tuple[list[ScaledBasis], list[list[Any]]]:
    """Return all proposals, simple ones too, and what their likes predict in cross-validation.

    The null model is the first. A kind of proposal that is not made in a fold is taken to predict
    as badly as the worst there.
    """
    null, *linear = plan.simple_proposals(proposals)
    proposals = [null, *proposals, *linear]
    held_out: list[list[Any]] = [[] for _ in proposals]
    for fold in range(plan.tuning.folds):
        test = order[fold :: plan.tuning.folds]
        train = data.subset(np.sort(np.setdiff1d(order, test)))
        found = {}
        learnt = plan.learn(train)
        for proposal in [*learnt, *plan.simple_proposals(learnt)]:
            fit = plan.finish_scales(proposal, plan.fit_scaled(proposal, train), train)
            # kernels as they are tell what is far away: the search for more takes longer than fits
            fit = plan.finish(replace(fit, scaled=None), train)
            found[_label(proposal)] = plan.predict_held_out(fit, data.subset(test))
        worst = min(found.values(), key=lambda each: plan.score([each]))
        for proposal, predictions in zip(proposals, held_out, strict=True):
            predictions.append(found.get(_label(proposal), worst))
    return proposals, held_out


def _label(proposal: ScaledBasis) -> tuple[str, float]:
    return proposal.learnt.group, proposal.learnt.scale_factor
