"""The rows that scales are learnt from, and how far each input varies over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from relvec._linalg import EPS
from relvec._typing import IndexArray, Matrix, Vector

__all__ = [
    "choose_rows",
    "compute_feature_moments",
    "median_nearest_squared_distance",
    "select_learning_rows",
]


def select_learning_rows(
    X: Matrix,
    targets: Matrix,
    sample_weight: Vector | None,
    most: int,
    random_state: Any,
    *,
    are_labels: bool,
) -> tuple[IndexArray, Vector]:
    """Return rows that differ, no more than `most`, and how often each counts.

    They are in the order of what is in them: rows that were seen twice and rows that count twice
    are then the same to the last digit.
    """
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0.0)
    both = np.ascontiguousarray(np.hstack([X[rows], targets[rows]])) + 0.0  # no -0.0
    contents = both.view(np.dtype((np.void, both.itemsize * both.shape[1]))).ravel()
    _, first, group = np.unique(contents, return_index=True, return_inverse=True)
    counts = np.bincount(group, weights=None if sample_weight is None else sample_weight[rows])
    # a random choice goes by the order of the targets and, of equal ones, of first appearance
    seen = np.lexsort([first, *targets[rows[first]].T[::-1]])
    chosen = np.sort(
        seen[choose_rows(targets[rows[first[seen]]], most, random_state, are_labels=are_labels)]
    )
    return rows[first[chosen]], counts[chosen].astype(np.float64)


def choose_rows(
    targets: Matrix, most: int, random_state: Any, *, are_labels: bool = False
) -> IndexArray:
    """Choose rows at random if there are more than `most`, of every class its share."""
    n_rows = len(targets)
    if n_rows <= most:
        return np.arange(n_rows)
    random_state = check_random_state(random_state)
    if not are_labels:
        return np.sort(random_state.choice(n_rows, most, replace=False))
    chosen = []
    _, strata = np.unique(targets, axis=0, return_inverse=True)
    # one number a row, so that it does not matter which class is called what
    order = np.argsort(random_state.random_sample(n_rows), kind="stable")
    for stratum in np.unique(strata):
        mine = order[strata[order] == stratum]
        chosen.append(mine[: max(1, round(most * len(mine) / n_rows))])
    return np.sort(np.concatenate(chosen))


def compute_feature_moments(X: Matrix, weight: Vector) -> tuple[Vector, Vector]:
    """Mean and standard deviation of every input; zero where it is constant but for rounding."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    centre = np.average(X / unit, axis=0, weights=weight)
    spread = np.sqrt(np.average((X / unit - centre) ** 2, axis=0, weights=weight))
    spread = np.where(spread > 8.0 * EPS, spread * unit, 0.0)
    # squares of larger numbers, or of their inverses, leave the range of floating point
    if (spread > 1e140).any() or (spread[spread > 0.0] < 1e-140).any():
        raise ValueError(
            "scales need the variances of the inputs, which are too large for that, or too small: "
            f"standard deviations from {spread[spread > 0.0].min():.1e} to {spread.max():.1e}. "
            "Scale the columns, for example by StandardScaler."
        )
    return centre * unit, spread


def median_nearest_squared_distance(X: Matrix) -> float:
    """Median squared distance of a row to the nearest one that differs; 0.0 if none does.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.learning.rows import median_nearest_squared_distance
    >>> median_nearest_squared_distance(np.array([[0.0], [0.0], [2.0], [5.0]]))
    4.0
    """
    rows = np.unique(X, axis=0)
    if len(rows) < 2:
        return 0.0
    norms = np.einsum("ij,ij->i", rows, rows)
    squared = np.add.outer(norms, norms) - 2.0 * (rows @ rows.T)
    squared.flat[:: len(squared) + 1] = np.inf
    return max(float(np.median(squared.min(axis=1))), 0.0)
