"""Which of several proposals of scales a sparse model is given.

The evidence of the sparse models decides, less the price of the scales. Where inputs were chosen
from many, each proposal has seen the targets before: then cross-validation decides, in which
everything is learnt anew without the rows that are predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from relvec._typing import IndexArray
from relvec.estimators._scales import ScaledBasis
from relvec.learning import ScaleTuning

__all__ = ["Trials", "decide"]

COMPARED = 1000
"""Rows that decide between proposals."""
FOLDS = 5


class _Fit(Protocol):
    @property
    def objective(self) -> float: ...


AnyFit = TypeVar("AnyFit", bound=_Fit)


class Trials(NamedTuple, Generic[AnyFit]):
    """What can be tried; rows are None for all of them."""

    learn: Callable[[IndexArray | None], list[ScaledBasis]]
    """Proposals of scales, from some rows."""
    fit: Callable[[ScaledBasis, IndexArray | None], AnyFit]
    """Sparse model of a proposal, fitted to some rows."""
    score: Callable[[AnyFit, IndexArray], float]
    """Log probability that a model gives to the targets of some rows."""


def decide(trials: Trials[AnyFit], groups: IndexArray) -> tuple[ScaledBasis, AnyFit] | None:
    """Learn scales, fit, and return the best proposal with its model; None if there is none.

    Parameters
    ----------
    trials : Trials
        How to learn, fit and score.
    groups : ndarray of shape (n_samples,)
        Class of each row, all equal in regression: choices of rows respect its shares.
    """
    proposals = trials.learn(None)
    if not proposals:
        return None
    if len(proposals) == 1:
        return proposals[0], trials.fit(proposals[0], None)
    order = np.random.RandomState(0).permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    several = len({proposal.scales.group for proposal in proposals}) > 1
    if several and proposals[0].scales.n_varying > ScaleTuning.many_inputs:
        best = _by_prediction(proposals, trials, order)
        return best, trials.fit(best, None)
    rows = None
    if len(order) > COMPARED:
        rows = np.sort(order[np.linspace(0, len(order) - 1, COMPARED).astype(np.intp)])
    fits = [trials.fit(proposal, rows) for proposal in proposals]
    worth = [_worth(*pair) for pair in zip(proposals, fits, strict=True)]
    place = int(np.argmax(worth))
    best = proposals[place]
    return best, fits[place] if rows is None else trials.fit(best, None)


def _worth(proposal: ScaledBasis, fit: _Fit) -> float:
    """Evidence less a nat for each scale, or what an input costs if that is more."""
    scales = proposal.scales
    each = 1.0 if scales.is_shared else max(1.0, scales.price)
    return fit.objective - each * scales.n_scales


def _by_prediction(
    proposals: list[ScaledBasis], trials: Trials[AnyFit], order: IndexArray
) -> ScaledBasis:
    """Return the proposal whose like predicts best in cross-validation.

    A kind of proposal that is not made in a fold is taken to predict as badly as the worst there.
    """
    if len(order) > COMPARED:
        order = order[np.linspace(0, len(order) - 1, COMPARED).astype(np.intp)]
    total = {_label(proposal): 0.0 for proposal in proposals}
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        train = np.sort(np.setdiff1d(order, test))
        scores = {
            _label(proposal): trials.score(trials.fit(proposal, train), test)
            for proposal in trials.learn(train)
        }
        worst = min(scores.values())
        for label in total:
            total[label] += scores.get(label, worst)
    return max(proposals, key=lambda proposal: total[_label(proposal)])


def _label(proposal: ScaledBasis) -> tuple[str, float]:
    return proposal.scales.group, proposal.scales.width
