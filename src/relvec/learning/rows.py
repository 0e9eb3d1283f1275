"""Selection of the rows for learning length-scales, and moments of the features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from relvec._linalg import EPS
from relvec._typing import IndexArray, Matrix, Vector

__all__ = [
    "choose_rows",
    "compute_feature_moments",
    "measure_spacing",
    "median_nearest_squared_distance",
    "row_key",
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
    """Select at most `most` distinct rows, and return their frequency weights.

    Rows are sorted by content, so that a repeated row and a row of weight two give results that are
    identical to the last digit.
    """
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0.0)
    both = np.ascontiguousarray(np.hstack([X[rows], targets[rows]])) + 0.0  # no -0.0
    contents = both.view(np.dtype((np.void, both.itemsize * both.shape[1]))).ravel()
    _, first, group = np.unique(contents, return_index=True, return_inverse=True)
    counts = np.bincount(group, weights=None if sample_weight is None else sample_weight[rows])
    seen = np.arange(len(first))
    if len(first) > most:  # the random selection depends on the content of rows, not on their order
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
        # In units of the largest value first: squares cannot overflow then.
        Z = Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300)
        Z = Z - share @ Z
        spread = np.sqrt(share @ Z**2)
        Z = np.where(spread > 8.0 * EPS, Z / np.maximum(spread, EPS), 0.0)
        correlation = (share[:, None] * T).T @ Z
        # Fourth moment, squared third moment and squared correlations do not change with the sign,
        # the unit or the position of a feature; irrational factors make coincidences unlikely.
        own = share @ Z**4 + 2.0**0.5 * (share @ Z**3) ** 2 + 3.0**0.5 * (correlation**2).sum(0)
        key += Z @ np.cos(10.0 * own)
    # rows that differ by rounding only are equal
    return np.round(key / max(float(np.abs(key).max(initial=0.0)), 1e-300), 9)


def choose_rows(
    targets: Matrix, most: int, random_state: Any, *, are_labels: bool = False
) -> IndexArray:
    """Select rows at random if there are more than `most`, stratified by class for labels."""
    n_rows = len(targets)
    if n_rows <= most:
        return np.arange(n_rows)
    random_state = check_random_state(random_state)
    if not are_labels:
        return np.sort(random_state.choice(n_rows, most, replace=False))
    chosen = []
    _, strata = np.unique(targets, axis=0, return_inverse=True)
    # The same random numbers for every class: the result does not depend on their names.
    numbers = random_state.random_sample(n_rows)
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        order = np.argsort(numbers[: len(mine)], kind="stable")
        chosen.append(mine[order[: max(1, round(most * len(mine) / n_rows))]])
    return np.sort(np.concatenate(chosen))


def compute_feature_moments(X: Matrix, weight: Vector) -> tuple[Vector, Vector]:
    """Compute mean and standard deviation of every feature; zero if constant up to rounding."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    # Moments in units of the largest value: squares neither overflow nor underflow.
    unit = np.where(largest > 0.0, largest, 1.0)
    centre = np.average(X / unit, axis=0, weights=weight)
    spread = np.sqrt(np.average((X / unit - centre) ** 2, axis=0, weights=weight))
    # A constant feature has the rounding error of its mean as spread, a few eps in these units.
    spread = np.where(spread > 8.0 * EPS, spread * unit, 0.0)
    # Squares of larger numbers, or of their inverses, would overflow.
    if (spread > 1e140).any() or (spread[spread > 0.0] < 1e-140).any():
        raise ValueError(
            "length-scales need features of moderate variance; got standard deviations from "
            f"{spread[spread > 0.0].min():.1e} to {spread.max():.1e}. Rescale the columns, for "
            "example by StandardScaler."
        )
    return centre * unit, spread


def median_nearest_squared_distance(X: Matrix) -> float:
    """Compute the median squared distance of a distinct row to its nearest neighbour, or 0.0.

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
    # |x|^2 + |z|^2 - 2 x'z cancels for close rows; a negative median counts as zero.
    squared = np.add.outer(norms, norms) - 2.0 * (rows @ rows.T)
    squared.flat[:: len(squared) + 1] = np.inf
    return max(float(np.median(squared.min(axis=1))), 0.0)


def measure_spacing(X: Matrix) -> float:
    """Measure the distance between neighbouring inputs, or 0.0.

    It is the median gap between the values of a single feature, and the median distance of a row to
    its nearest neighbour of several.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.learning.rows import measure_spacing
    >>> measure_spacing(np.array([[0.0], [3.0], [2.0], [2.0], [7.0]]))
    2.0
    """
    if X.shape[1] > 1:
        return math.sqrt(median_nearest_squared_distance(X))
    gaps = np.diff(np.unique(X))
    return float(np.median(gaps)) if len(gaps) else 0.0
