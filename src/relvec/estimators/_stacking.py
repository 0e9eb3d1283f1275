"""How far a classifier is believed: its probabilities are mixed with the shares of the classes.

A sparse linear model of labels that inputs say little of may predict worse than the shares of the
classes do. Fits to four fifths of the rows tell by the log loss on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from relvec._typing import IndexArray, Vector

if TYPE_CHECKING:
    from relvec.bases.base import Basis
    from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
    from relvec.estimators._plan import Data

__all__ = ["stacked_with_shares"]

SHRINKAGES = np.linspace(0.0, 1.0, 21)


def stacked_with_shares(
    plan: ClassificationPlan, fit: ClassificationFit, data: Data, basis: Basis
) -> ClassificationFit:
    """Return a fit whose probabilities ``p`` are ``(1 - e) p + e share``.

    The ``e`` of least log loss on held-out rows is at least as good there as the shares alone.
    Neither the order of rows and classes matters, nor whether a row that counts twice is given
    twice.

    Parameters
    ----------
    plan : ClassificationPlan
        What was done.
    fit : ClassificationFit
        The result.
    data : Data
        What it was fitted to.
    basis : Basis
        Of the fit.
    """
    rows, weight = _different_rows(data)
    if not plan.tuning.fewest_rows <= len(rows) <= plan.tuning.most_rows:
        return fit
    data = data.subset(rows)
    quick, loss = replace(plan, monitor=None), np.zeros(len(SHRINKAGES))
    for held in _folds(data.groups, weight, plan.tuning.folds):
        kept, test = np.flatnonzero(weight - held > 1e-9 * weight), np.flatnonzero(held > 0.0)
        if not (len(kept) and len(test)):  # classes of one row each, or tiny weights
            continue
        train = data.subset(kept)._replace(weight=(weight - held)[kept])
        class_model, groups = quick.fit(basis, train).class_model, data.groups[test]
        assert class_model.shares is not None
        chance = np.exp(class_model.log_probability(data.X[test], marginalise=True))
        own, share = chance[np.arange(len(test)), groups], class_model.shares[groups]
        is_known = share > 0.0  # a class of one row is not in both parts
        mixed = own[is_known, None] * (1.0 - SHRINKAGES) + share[is_known, None] * SHRINKAGES
        loss -= held[test][is_known] @ np.log(np.maximum(mixed, np.finfo(float).tiny))
    return replace(fit, class_model=fit.class_model.shrunk(float(SHRINKAGES[np.argmin(loss)])))


def _different_rows(data: Data) -> tuple[IndexArray, Vector]:
    """Return rows that differ in inputs or class, and how often each counts.

    They are in the order of their class and along a random axis, so that their own order does not
    matter, nor whether zeros are stored.
    """
    weight = np.ones(len(data.groups)) if data.weight is None else data.weight
    rows = np.flatnonzero(weight > 0.0)
    X = data.X[rows]
    low, high = (
        np.asarray(each.toarray() if sparse.issparse(each) else each).ravel()
        for each in (X.min(axis=0), X.max(axis=0))
    )
    spread = high - low  # which copies of rows leave alone
    axis = np.random.RandomState(0).normal(size=len(spread)) / np.where(spread > 0.0, spread, 1.0)
    axis[spread == 0.0] = 0.0
    along = np.asarray(X @ axis).ravel() - low @ axis
    along = np.round(along / max(np.abs(along).max(initial=0.0), 1e-300), 7)  # but for rounding
    keys = np.column_stack([data.groups[rows], along])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    counts: Vector = np.bincount(group.ravel(), weight[rows]).astype(np.float64)
    return rows[first], counts


def _folds(groups: IndexArray, weight: Vector, n_folds: int) -> Iterator[Vector]:
    """Divide the weights of ordered rows, of each class every fifth unit; yield what is held out.

    A row that counts twice is in two folds, as two copies of it would be.
    """
    end = np.cumsum(weight)
    is_first = np.append(True, groups[1:] != groups[:-1])
    end -= np.maximum.accumulate(np.where(is_first, end - weight, 0.0))  # within each class
    for fold in range(n_folds):
        before, after = (
            units // n_folds + np.clip(units % n_folds - fold, 0.0, 1.0)
            for units in (end - weight, end)
        )
        yield np.where(after - before > 1e-9, after - before, 0.0)
