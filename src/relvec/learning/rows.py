"""The rows that scales are learnt from, and how far each input varies over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from relvec._linalg import EPS
from relvec._typing import IndexArray, Matrix, Vector

__all__ = ["choose_rows", "input_moments", "learning_rows", "nearest_squared", "row_key"]


def learning_rows(
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
    seen = np.arange(len(first))
    if len(first) > most:  # a random choice goes by what is in the rows, not by their order
        mine = rows[first]
        key = row_key(X[mine], targets[mine], counts.astype(np.float64))
        seen = np.lexsort([key, *targets[mine].T[::-1]])
    chosen = np.sort(
        seen[choose_rows(targets[rows[first[seen]]], most, random_state, are_labels=are_labels)]
    )
    return rows[first[chosen]], counts[chosen].astype(np.float64)


def row_key(X: Any, targets: Matrix, weight: Vector, block: int = 256) -> Vector:
    """Return a number for each row by which rows can be put in an order of their own.

    It is where the row is along an axis of the standardised inputs. The axis is haphazard, but
    each of its coordinates depends on the values of an input and on how it correlates with the
    targets, so that neither the order of rows, inputs and classes matters nor their units.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_targets)
        Targets, or indicators of classes.
    weight : ndarray of shape (n_samples,)
        How often each row counts.
    block : int, default=256
        Inputs that are looked at together.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.learning.rows import row_key
    >>> rng = np.random.default_rng(0)
    >>> X, y, ones = rng.normal(size=(9, 3)), rng.normal(size=(9, 1)), np.ones(9)
    >>> key, swapped = row_key(X, y, ones), row_key(7.0 * X[:, ::-1] + 2.0, y, ones)
    >>> np.array_equal(np.argsort(key), np.argsort(swapped))
    True
    """
    key, share = np.zeros(X.shape[0]), weight / weight.sum()
    T = targets - share @ targets
    T = T / np.sqrt(np.maximum(share @ T**2, 1e-300))
    for start in range(0, X.shape[1], block):
        part = X[:, start : start + block]
        Z = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        Z = Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300)
        Z = Z - share @ Z
        spread = np.sqrt(share @ Z**2)
        Z = np.where(spread > 8.0 * EPS, Z / np.maximum(spread, EPS), 0.0)
        correlation = (share[:, None] * T).T @ Z
        own = share @ Z**4 + 2.0**0.5 * (share @ Z**3) ** 2 + 3.0**0.5 * (correlation**2).sum(0)
        key += Z @ np.cos(10.0 * own)
    # rows that differ by rounding only are equal
    return np.round(key / max(float(np.abs(key).max(initial=0.0)), 1e-300), 9)


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
    # the same numbers for every class, so that it does not matter which is called what
    numbers = random_state.random_sample(n_rows)
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        order = np.argsort(numbers[: len(mine)], kind="stable")
        chosen.append(mine[order[: max(1, round(most * len(mine) / n_rows))]])
    return np.sort(np.concatenate(chosen))


def input_moments(X: Matrix, weight: Vector) -> tuple[Vector, Vector]:
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


def nearest_squared(X: Matrix) -> float:
    """Median squared distance of a row to the nearest one that differs; 0.0 if none does.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.learning.rows import nearest_squared
    >>> nearest_squared(np.array([[0.0], [0.0], [2.0], [5.0]]))
    4.0
    """
    rows = np.unique(X, axis=0)
    if len(rows) < 2:
        return 0.0
    norms = np.einsum("ij,ij->i", rows, rows)
    squared = np.add.outer(norms, norms) - 2.0 * (rows @ rows.T)
    squared.flat[:: len(squared) + 1] = np.inf
    return max(float(np.median(squared.min(axis=1))), 0.0)
