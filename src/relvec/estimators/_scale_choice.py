"""Which of several proposals of scales a sparse model is given.

The evidence of the sparse models decides, less the penalty of the scales. Where inputs were chosen
from many, each proposal has seen the targets before: then cross-validation decides, in which
everything is learnt anew without the rows that are predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import IndexArray
from relvec.estimators._scales import ScaledBasis
from relvec.learning import ScaleTuning

__all__ = ["choose_scales"]


def choose_scales(plan: Any, proposals: list[ScaledBasis], data: Any) -> tuple[ScaledBasis, Any]:
    """Return the best proposal with its model.

    Parameters
    ----------
    plan : Plan
        Learns scales from some rows, fits a basis to them, and scores a model on others.
    proposals : list of ScaledBasis
        What was learnt from all rows; at least one.
    data : Data
        All rows; choices of them respect the shares of their groups.
    """
    order = np.random.RandomState(0).permutation(len(data.groups))
    order = order[np.argsort(data.groups[order], kind="stable")]
    is_part = len(proposals) > 1 and len(order) > plan.tuning.compared_rows
    if is_part:
        shown = np.linspace(0, len(order) - 1, plan.tuning.compared_rows).astype(np.intp)
        order = order[shown]
    several = proposals[0].learnt.group != proposals[-1].learnt.group
    if several and np.count_nonzero(proposals[0].learnt.spread) > ScaleTuning.many_inputs:
        best = _best_predicting(plan, proposals, data, order)
        return best, plan.fit(best.basis, data)
    best, model, highest = proposals[0], None, -np.inf
    compared = data.at(np.sort(order)) if is_part else data
    for proposal in proposals:
        fit, scales = plan.fit(proposal.basis, compared), proposal.learnt
        # a nat for each scale, or the penalty of an input if that is more
        each = 1.0 if scales.is_shared else max(1.0, scales.price)
        net = fit.objective - each * scales.n_scales
        if model is None or net > highest:
            best, model, highest = proposal, fit, net
    return best, plan.fit(best.basis, data) if is_part else model


def _best_predicting(
    plan: Any, proposals: list[ScaledBasis], data: Any, order: IndexArray
) -> ScaledBasis:
    """Return the proposal whose like predicts best in cross-validation.

    A kind of proposal that is not made in a fold is taken to predict as badly as the worst there.
    """
    total = {_label(proposal): 0.0 for proposal in proposals}
    for fold in range(plan.tuning.folds):
        test = order[fold :: plan.tuning.folds]
        train = data.at(np.sort(np.setdiff1d(order, test)))
        scores = {}
        for proposal in plan.learn(train):
            fit = plan.finish(plan.fit(proposal.basis, train), train)
            scores[_label(proposal)] = plan.score(fit, data.at(test))
        worst = min(scores.values())
        for label in total:
            total[label] += scores.get(label, worst)
    return max(proposals, key=lambda proposal: total[_label(proposal)])


def _label(proposal: ScaledBasis) -> tuple[str, float]:
    return proposal.learnt.group, proposal.learnt.width
