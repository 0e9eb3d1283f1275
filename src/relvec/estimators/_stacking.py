"""How far a classifier is believed: its probabilities are mixed with the shares of the classes.

A sparse linear model of labels that inputs say little of may predict worse than the shares of the
classes do. Fits to four fifths of the rows tell by the log loss on the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import IndexArray

if TYPE_CHECKING:
    from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
    from relvec.estimators._plan import Data

__all__ = ["stacked_with_shares"]

SHRINKAGES = np.linspace(0.0, 1.0, 21)


def stacked_with_shares(
    plan: ClassificationPlan, fit: ClassificationFit, data: Data
) -> ClassificationFit:
    """Return a fit whose probabilities ``p`` are ``(1 - e) p + e share``.

    The ``e`` of least log loss on held-out rows is at least as good there as the shares alone.
    Rows that are alike are held out together, and their order makes no difference.

    Parameters
    ----------
    plan : ClassificationPlan
        What was done.
    fit : ClassificationFit
        The result.
    data : Data
        What it was fitted to.
    """
    weight = np.ones(len(data.groups)) if data.weight is None else data.weight
    data = data.at(np.flatnonzero(weight > 0.0))
    if not plan.tuning.fewest_rows <= len(data.groups) <= plan.tuning.most_rows:
        return fit
    place = _folds(data, plan.tuning.folds)
    quick, loss = replace(plan, monitor=None), np.zeros(len(SHRINKAGES))
    for fold in range(plan.tuning.folds):
        train, held = (data.at(np.flatnonzero(part)) for part in (place != fold, place == fold))
        panel = quick.fit(plan.basis, train).panel
        chance = np.exp(panel.log_probability(held.X, moderated=True))
        assert panel.shares is not None
        own, share = chance[np.arange(len(chance)), held.groups], panel.shares[held.groups]
        is_known = share > 0.0  # a class of one row is not in both parts
        mixed = own[is_known, None] * (1.0 - SHRINKAGES) + share[is_known, None] * SHRINKAGES
        each = np.log(np.maximum(mixed, np.finfo(float).tiny))
        loss -= each.sum(axis=0) if held.weight is None else held.weight[is_known] @ each
    return replace(fit, panel=fit.panel.shrunk(float(SHRINKAGES[np.argmin(loss)])))


def _folds(data: Data, n_folds: int) -> IndexArray:
    """Fold of each row: in each class every fifth of the rows that differ, along a random axis.

    So neither the order of rows and classes matters, nor whether a row that counts twice is given
    twice, nor whether zeros are stored.
    """
    axis = np.random.RandomState(0).normal(size=data.X.shape[1])
    along = np.asarray(data.X @ axis).ravel()
    along = np.round(along / max(np.abs(along).max(), 1e-300), 9)  # but for rounding
    fold = np.empty(len(along), dtype=np.intp)
    for group in np.unique(data.groups):
        mine = data.groups == group
        fold[mine] = np.unique(along[mine], return_inverse=True)[1] % n_folds
    return fold
