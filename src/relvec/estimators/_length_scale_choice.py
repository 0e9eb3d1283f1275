"""Which of several proposals of scales a sparse model is given.

The evidence of the sparse models decides, less the penalty of the scales. Where inputs were chosen
from many, each proposal has seen the targets before: then cross-validation decides, in which
everything is learnt anew without the rows that are predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import IndexArray
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
    order = np.lexsort(data.X[:, :100].T[::-1])  # whatever the order in which rows are given
    order = order[np.random.RandomState(0).permutation(len(order))]
    order = order[np.argsort(data.groups[order], kind="stable")]
    is_part = len(proposals) > 1 and len(order) > plan.tuning.compared_rows
    if is_part:
        shown = np.linspace(0, len(order) - 1, plan.tuning.compared_rows).astype(np.intp)
        order = order[shown]
    if several and is_wide:
        best, held_out = _best_predicting(plan.quickened(), proposals, data, order)
        return best, plan.fit_scaled(best, given), held_out
    compared, fits, net = data.subset(np.sort(order)) if is_part else data, [], []
    for proposal in proposals:
        fit, scales = plan.fit(proposal.basis, compared), proposal.learnt
        # a nat for each scale, or the penalty of an input if that is more
        each = 1.0 if scales.is_shared else max(1.0, scales.penalty)
        fits.append(fit)
        net.append(fit.objective - each * scales.n_scales)
    best = proposals[int(np.argmax(net))]
    return best, plan.fit(best.basis, data) if is_part else plan.joined(fits, np.array(net)), None


def _best_predicting(
    plan: Any, proposals: list[ScaledBasis], data: Any, order: IndexArray
) -> tuple[ScaledBasis, Any]:
    """Return the proposal whose like predicts best in cross-validation, and its predictions.

    A kind of proposal that is not made in a fold is taken to predict as badly as the worst there.
    """
    proposals = [*proposals, *plan.simple_proposals(proposals[0])]
    held_out: dict[tuple[str, float], list[Any]] = {_label(each): [] for each in proposals}
    for fold in range(plan.tuning.folds):
        test = order[fold :: plan.tuning.folds]
        train = data.subset(np.sort(np.setdiff1d(order, test)))
        found = {}
        learnt = plan.learn(train)
        for proposal in [*learnt, *plan.simple_proposals(learnt[0])]:
            fit = plan.finish(plan.fit_scaled(proposal, train), train)
            found[_label(proposal)] = plan.predict_held_out(fit, data.subset(test))
        worst = min(found.values(), key=lambda each: plan.score([each]))
        for label, predictions in held_out.items():
            predictions.append(found.get(label, worst))
    best = max(proposals, key=lambda proposal: plan.score(held_out[_label(proposal)]))
    return best, held_out[_label(best)]


def _label(proposal: ScaledBasis) -> tuple[str, float]:
    return proposal.learnt.group, proposal.learnt.scale_factor
