"""Weights of predictive models from their held-out predictions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from relvec._typing import IndexArray, Matrix, Vector

__all__ = ["stack_densities", "stack_means"]


def stack_densities(log_density: Matrix, weight: Vector, n_steps: int = 300) -> Vector:
    """Return the weights of the mixture of largest log density (Yao et al. 2018), by EM.

    Parameters
    ----------
    log_density : ndarray of shape (n_models, n_rows)
        Log predictive densities of held-out rows.
    weight : ndarray of shape (n_rows,)
        Frequency weights of the rows.
    n_steps : int, default=300
        Number of steps. Fewer than to convergence leave weight on similar models.
    """
    n_models = len(log_density)
    best = log_density.max(axis=0)
    # No member gives a density to some rows: they say nothing about the weights.
    usable = np.isfinite(best)
    density = np.exp(log_density[:, usable] - best[usable])
    share = weight[usable] / max(float(weight[usable].sum()), 1e-300)
    weights = np.full(n_models, 1.0 / n_models)
    for _ in range(n_steps if usable.any() else 0):
        responsibility = weights[:, np.newaxis] * density
        weights = (responsibility / responsibility.sum(axis=0)) @ share
    return weights / weights.sum()


def stack_means(
    predicted: Matrix, target: Vector, fold: IndexArray, weight: Vector, ridge: float = 0.02
) -> Vector:
    """Return the convex combination of predictions of least squared error (Breiman 1996).

    The errors of each fold are divided by those of its best model, so that no fold dominates.

    Parameters
    ----------
    predicted : ndarray of shape (n_models, n_rows)
        Held-out predictions.
    target : ndarray of shape (n_rows,)
        Targets.
    fold : ndarray of shape (n_rows,)
        Fold of each row.
    weight : ndarray of shape (n_rows,)
        Frequency weights of the rows.
    ridge : float, default=0.02
        Penalty on the sum of squared weights, times the number of models.
    """
    n_models, errors = len(predicted), predicted - target
    scale = np.ones(len(target))
    for each in np.unique(fold):
        inside = fold == each
        squares = errors[:, inside] ** 2 @ weight[inside]
        scale[inside] = 1.0 / np.sqrt(max(float(squares.min()), 1e-300))
    rows = (errors * scale * np.sqrt(weight)).T
    # A huge last row makes the weights sum to one.
    equations = np.vstack(
        [rows, np.sqrt(ridge * n_models) * np.eye(n_models), np.full((1, n_models), 1e3)]
    )
    right = np.concatenate([np.zeros(len(target) + n_models), [1e3]])
    weights: Vector = nnls(equations, right)[0]
    return weights / weights.sum()
