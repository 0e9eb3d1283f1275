"""How far a classifier is believed: its probabilities are mixed with the shares of the classes.

A sparse linear model of labels that inputs say little of may predict worse than the shares of the
classes do. Fits to four fifths of the rows tell by the log loss on the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import IndexArray
from relvec.estimators._held_out import distinct_rows

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
    rows, counts = distinct_rows(data)
    if not plan.tuning.fewest_rows <= len(rows) <= plan.tuning.most_rows:
        return fit
    distinct = data.at(rows)._replace(weight=counts)
    quick, loss = replace(plan, monitor=None), np.zeros(len(SHRINKAGES))
    for test in _folds(distinct.groups, plan.tuning.folds):
        train = distinct.at(np.setdiff1d(np.arange(len(rows)), test))
        panel, held = quick.fit(plan.basis, train).panel, distinct.at(test)
        chance = np.exp(panel.log_probability(held.X, moderated=True))
        assert panel.shares is not None
        assert held.weight is not None
        own, share = chance[np.arange(len(test)), held.groups], panel.shares[held.groups]
        is_known = share > 0.0  # a class of one row is not in both parts
        mixed = own[is_known, None] * (1.0 - SHRINKAGES) + share[is_known, None] * SHRINKAGES
        loss -= held.weight[is_known] @ np.log(np.maximum(mixed, np.finfo(float).tiny))
    return replace(fit, panel=fit.panel.shrunk(float(SHRINKAGES[np.argmin(loss)])))


def _folds(groups: IndexArray, n_folds: int) -> list[IndexArray]:
    """Divide rows at random, each class evenly."""
    order = np.random.RandomState(0).permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    return [np.sort(order[fold::n_folds]) for fold in range(n_folds)]
