"""How far a classifier is believed: its probabilities are mixed with the shares of the classes.

A sparse linear model of labels that inputs say little of may predict worse than the shares of the
classes do. Fits to four fifths of the rows tell by the log loss on the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.estimators._held_out import distinct_rows
from relvec.laplace import find_mode
from relvec.learning.rows import row_key

if TYPE_CHECKING:
    from relvec.bases.base import Basis
    from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
    from relvec.estimators._plan import Data

__all__ = ["stacked_weights", "stacked_with_shares"]

SHRINKAGES = np.linspace(0.0, 1.0, 21)
STACKING_STEPS = 1000
"""Of the EM algorithm, most of which end far earlier."""


def stacked_weights(chances: Matrix, counts: Vector, pseudo_rows: float) -> Vector:
    """Return the weights of models that make the average of their probabilities best.

    Parameters
    ----------
    chances : ndarray of shape (n_models, n_rows)
        Log probabilities of the classes of held-out rows.
    counts : ndarray of shape (n_rows,)
        How often each row counts.
    pseudo_rows : float
        Rows that speak for all models alike: none is refuted by a few rows.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.estimators._stacking import stacked_weights
    >>> chances = np.log([[0.9, 0.9, 0.2], [0.5, 0.5, 0.5]])
    >>> stacked_weights(chances, np.full(3, 20.0), 2.0).round(2)
    array([0.65, 0.35])
    """
    chance = np.exp(chances - chances.max(axis=0))
    weights = np.full(len(chance), 1.0 / len(chance))
    for _ in range(STACKING_STEPS):
        shares = weights[:, None] * chance
        before = weights
        weights = (shares / shares.sum(axis=0)) @ counts + pseudo_rows / len(chance)
        weights /= weights.sum()
        if np.abs(weights - before).max() < 1e-6:
            break
    return weights


def stacked_with_shares(
    plan: ClassificationPlan, fit: ClassificationFit, data: Data, basis: Basis
) -> ClassificationFit:
    """Return a fit whose probabilities ``p`` are ``(1 - e) p + e share``.

    The ``e`` of least log loss on held-out rows is at least as good there as the shares alone. It
    is zero, and no row is held out, where the evidence leaves no doubt about the model.
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
    if _gain(fit, data) > plan.class_tuning.certain_gain:
        return fit
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


def _gain(fit: ClassificationFit, data: Data) -> float:
    """Objective of a fit less that of the class shares alone."""
    gain, n_rows = fit.class_model.objective, len(data.groups)
    for number, machine in enumerate(fit.class_model.models):
        if machine.given is not None or not fit.class_model.intercept_is_fitted:
            return -math.inf  # not in doubt are models that have the null model in them
        n_latent = machine.likelihood.n_latent
        target = data.groups if n_latent > 1 else data.targets[:, number]
        labels = machine.likelihood.bind(target, data.weight)
        sizes = (0,) * n_latent if n_latent > 1 else None
        gain -= find_mode(np.empty((n_rows, 0)), np.empty(0), labels, sizes=sizes).log_evidence
    return gain


def _different_rows(data: Data) -> tuple[IndexArray, Vector]:
    """Return rows that differ in inputs or class, and how often each counts.

    They are in the order of their class and of what is in them, so that neither their own order
    matters, nor that of inputs, nor whether zeros are stored.
    """
    rows, counts = distinct_rows(data)
    X = np.empty((len(rows), 0)) if data.X.dtype == object else data.X[rows]
    order = np.lexsort([row_key(X, data.targets[rows], counts), data.groups[rows]])
    return rows[order], counts[order]


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
