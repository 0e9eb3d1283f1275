"""Stacking: weights of averaged models, and mixing with the class prior, by held-out log loss.

A sparse linear classifier of features with little relation to the labels may predict worse than
the class prior. Fits to four fifths of the rows show this by their log loss on the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.estimators._held_out import find_distinct_rows
from relvec.laplace import find_mode
from relvec.learning.rows import row_key

if TYPE_CHECKING:
    from relvec.bases.base import Basis
    from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
    from relvec.estimators._plan import Data

__all__ = ["compute_stacking_weights", "mix_with_class_prior"]

SHRINKAGES = np.linspace(0.0, 1.0, 21)
STACKING_STEPS = 1000
"""Largest number of EM steps; most runs converge far earlier."""


def compute_stacking_weights(
    log_probabilities: Matrix, counts: Vector, n_pseudo_rows: float
) -> Vector:
    """Return the weights of models that minimise the log loss of their average (EM algorithm).

    Parameters
    ----------
    log_probabilities : ndarray of shape (n_models, n_rows)
        Log probabilities of the classes of held-out rows.
    counts : ndarray of shape (n_rows,)
        Frequency weights of the rows.
    n_pseudo_rows : float
        Pseudo-rows that support all models equally, so that a few rows cannot exclude a model.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.estimators._stacking import compute_stacking_weights
    >>> log_probabilities = np.log([[0.9, 0.9, 0.2], [0.5, 0.5, 0.5]])
    >>> compute_stacking_weights(log_probabilities, np.full(3, 20.0), 2.0).round(2)
    array([0.65, 0.35])
    """
    # scaled by the largest of each row, which does not change responsibilities
    probability = np.exp(log_probabilities - log_probabilities.max(axis=0))
    weights = np.full(len(probability), 1.0 / len(probability))
    for _ in range(STACKING_STEPS):
        # E step: responsibilities of the models for each row; M step: their mean, with
        # pseudo-counts of a symmetric Dirichlet prior. The log likelihood is concave in the
        # weights: one maximum.
        joint = weights[:, None] * probability
        before = weights
        weights = (joint / joint.sum(axis=0)) @ counts + n_pseudo_rows / len(probability)
        weights /= weights.sum()
        if np.abs(weights - before).max() < 1e-6:
            break
    return weights


def mix_with_class_prior(
    plan: ClassificationPlan, fit: ClassificationFit, data: Data, basis: Basis
) -> ClassificationFit:
    """Mix the probabilities ``p`` of a fit with the class prior: ``(1 - e) p + e class_prior``.

    ``e`` minimises the log loss of held-out rows, so that it is at most that of the class prior. It
    is zero, and no row is held out, if the gain in evidence is decisive. The result does not depend
    on the order of rows and classes, nor on whether a weight is two or the row is given twice.

    Parameters
    ----------
    plan : ClassificationPlan
        Plan of the fit.
    fit : ClassificationFit
        The fit.
    data : Data
        Training data.
    basis : Basis
        Basis of the fit.
    """
    if _compute_evidence_gain(fit, data) > plan.class_tuning.decisive_gain:
        return fit
    rows, weight = _find_distinct_labelled_rows(data)
    if not plan.tuning.min_held_out_rows <= len(rows) <= plan.tuning.max_held_out_rows:
        return fit
    data = data.subset(rows)
    fold_plan, loss = replace(plan, monitor=None), np.zeros(len(SHRINKAGES))
    for held in _folds(data.groups, weight, plan.tuning.folds):
        # Relative tolerance: a weight of which nothing remains but rounding error is held out.
        kept, test = np.flatnonzero(weight - held > 1e-9 * weight), np.flatnonzero(held > 0.0)
        if not (len(kept) and len(test)):  # classes of one row each, or very small weights
            continue
        train = data.subset(kept)._replace(weight=(weight - held)[kept])
        class_model, groups = fold_plan.fit(basis, train).class_model, data.groups[test]
        assert class_model.class_prior is not None
        probability = np.exp(class_model.log_probability(data.X[test], marginalise=True))
        own, prior = probability[np.arange(len(test)), groups], class_model.class_prior[groups]
        is_known = prior > 0.0  # a class of one row is not in the training fold
        # The loss is convex in e, and the grid contains e = 1, the class prior itself.
        mixed = own[is_known, None] * (1.0 - SHRINKAGES) + prior[is_known, None] * SHRINKAGES
        loss -= held[test][is_known] @ np.log(np.maximum(mixed, np.finfo(float).tiny))
    return replace(
        fit, class_model=fit.class_model.with_shrinkage(float(SHRINKAGES[np.argmin(loss)]))
    )


def _compute_evidence_gain(fit: ClassificationFit, data: Data) -> float:
    """Gain in objective of a fit over the class-prior baseline, in nats."""
    gain, n_rows = fit.class_model.objective, len(data.groups)
    for number, model in enumerate(fit.class_model.models):
        if model.fixed_intercept is not None or not fit.class_model.intercept_is_fitted:
            return -math.inf  # only a fitted intercept makes the baseline a special case
        n_latent = model.likelihood.n_latent
        target = data.groups if n_latent > 1 else data.targets[:, number]
        labels = model.likelihood.bind(target, data.weight)
        sizes = (0,) * n_latent if n_latent > 1 else None
        gain -= find_mode(np.empty((n_rows, 0)), np.empty(0), labels, sizes=sizes).log_evidence
    return gain


def _find_distinct_labelled_rows(data: Data) -> tuple[IndexArray, Vector]:
    """Return the distinct rows of inputs and class, and how often each occurs.

    They are sorted by class and contents, so that the result does not depend on the order of rows
    and features, nor on stored zeros of sparse matrices.
    """
    rows, counts = find_distinct_rows(data)
    X = np.empty((len(rows), 0)) if data.X.dtype == object else data.X[rows]
    order = np.lexsort([row_key(X, data.targets[rows], counts), data.groups[rows]])
    return rows[order], counts[order]


def _folds(groups: IndexArray, weight: Vector, n_folds: int) -> Iterator[Vector]:
    """Yield the held-out weight of each row, for each fold; stratified by class.

    The unit weights of each class are assigned to folds in turn. A row of weight two is in two
    folds, as two copies of it would be.
    """
    end = np.cumsum(weight)
    is_first = np.append(True, groups[1:] != groups[:-1])
    # Cumulated weight less that at the beginning of the row's class, carried forward.
    end -= np.maximum.accumulate(np.where(is_first, end - weight, 0.0))  # within each class
    for fold in range(n_folds):
        before, after = (
            # Measure of the units up to `units` that fall into this fold, if unit u belongs to fold
            # u mod n_folds; differences of it are exact for fractional weights as well.
            units // n_folds + np.clip(units % n_folds - fold, 0.0, 1.0)
            for units in (end - weight, end)
        )
        yield np.where(after - before > 1e-9, after - before, 0.0)
