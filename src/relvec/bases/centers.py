"""Choice of the centres of kernel basis functions."""

from __future__ import annotations

import itertools
import numbers
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import kmeans_plusplus

from relvec._checks import as_object_array, check_choice, check_finite_block, check_integer
from relvec._typing import IndexArray, Matrix, Vector

__all__ = ["Centers", "choose_centers"]

CENTER_METHODS = ("kmeans++", "random", "grid")


class Centers(NamedTuple):
    """Centres of kernels, and the training rows they are."""

    points: Matrix
    """The centres, shape (n_centers, n_features); no two are equal."""
    source_row: IndexArray
    """One entry per centre: the training row it equals, or -1 if it is no training input."""


class _DistinctRows(NamedTuple):
    """The distinct inputs of positive weight, in order of first appearance."""

    points: Matrix
    first_row: IndexArray
    weight: Vector


def choose_centers(
    X: Matrix,
    centers: Any = "all",
    method: str = "kmeans++",
    *,
    sample_weight: Vector | None = None,
    random_state: np.random.RandomState | None = None,
) -> Centers:
    """Choose distinct kernel centres.

    Weights are frequencies: a row of zero weight has no influence, and a row of weight two counts
    as two equal rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        "all" takes every distinct input; an int is the number of centres to choose (for a grid,
        per feature); an array gives the centres themselves.
    method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen: inputs spread out by k-means++ seeding, inputs drawn at
        random, or a regular grid over the range of the inputs.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights of the inputs.
    random_state : RandomState, default=None
        Random numbers for "kmeans++" and "random"; None means a fixed seed, so that equal calls
        give equal centres.

    Returns
    -------
    centers : Centers
    """
    check_choice("center_method", method, CENTER_METHODS)
    if isinstance(centers, str) and centers != "all":
        raise ValueError(f'centers must be "all", a number or an array; got {centers!r}.')
    if isinstance(centers, str):
        distinct = _distinct_rows(X, sample_weight)
        return Centers(distinct.points, distinct.first_row)
    if not isinstance(centers, numbers.Number):
        return _use_given_centers(centers, X.shape[1], are_objects=X.dtype == object)
    n_centers = check_integer("centers", centers, minimum=1)
    if method == "grid" and X.dtype != object:
        return _grid_centers(X, n_centers, sample_weight)
    distinct = _distinct_rows(X, sample_weight)
    n_centers = min(n_centers, len(distinct.points))
    random_state = np.random.RandomState(0) if random_state is None else random_state
    if method == "random":
        probability = distinct.weight / distinct.weight.sum()
        chosen = random_state.choice(
            len(distinct.points), size=n_centers, replace=False, p=probability
        )
    elif X.dtype == object:
        raise ValueError(
            f"center_method={method!r} needs numeric inputs, to compute distances; got strings or "
            'other objects. Use center_method="random" or centers="all".'
        )
    else:
        chosen = _spread_centers(distinct, n_centers, random_state)
    chosen = np.unique(chosen)
    return Centers(distinct.points[chosen], distinct.first_row[chosen])


def _spread_centers(
    distinct: _DistinctRows, n_centers: int, random_state: np.random.RandomState
) -> IndexArray:
    """Choose rows far from each other by k-means++ seeding."""
    # Every centre costs a pass over the candidates, so many inputs are first thinned out at random.
    sampled, enough = np.arange(len(distinct.points)), max(10_000, 10 * n_centers)
    if len(sampled) > enough:
        probability = distinct.weight / distinct.weight.sum()
        sampled = np.sort(random_state.choice(sampled, size=enough, replace=False, p=probability))
    _, among = kmeans_plusplus(
        distinct.points[sampled],
        n_centers,
        sample_weight=distinct.weight[sampled],
        random_state=random_state,
    )
    chosen: IndexArray = sampled[among]
    return chosen


def _use_given_centers(centers: Any, n_features: int, *, are_objects: bool = False) -> Centers:
    objects = as_object_array(centers) if are_objects else None
    try:
        points = np.array(centers, dtype=np.float64) if objects is None else objects
    except (TypeError, ValueError) as error:
        raise TypeError(
            f'centers must be "all", a number, or an array of numbers; got {centers!r}.'
        ) from error
    if points.ndim != 2 or points.shape[1] != n_features or len(points) == 0:
        raise ValueError(
            f'centers must be "all", a number, or an array of shape (n_centers, {n_features}) '
            f"like the inputs; got an array of shape {points.shape}."
        )
    if objects is None:
        check_finite_block(points, "centers")
    distinct = _distinct_rows(points, None)
    return Centers(distinct.points, np.full(len(distinct.points), -1, dtype=np.intp))


def _grid_centers(
    X: Matrix, n_per_feature: int, sample_weight: Vector | None, max_points: int = 100_000
) -> Centers:
    n_features = X.shape[1]
    # Larger grids are taken for a mistake. Integer arithmetic: the power may overflow a float.
    if n_per_feature**n_features > max_points:
        raise ValueError(
            f"a grid of {n_per_feature} points per feature over {n_features} features has "
            f"{n_per_feature}**{n_features} centres; at most {max_points} are allowed. "
            'Use fewer points or center_method="kmeans++".'
        )
    counted = _distinct_rows(X, sample_weight).points
    axes = [
        np.linspace(low, high, n_per_feature)
        for low, high in zip(counted.min(axis=0), counted.max(axis=0), strict=True)
    ]
    return _use_given_centers(list(itertools.product(*axes)), n_features)


def _distinct_rows(X: Matrix, sample_weight: Vector | None) -> _DistinctRows:
    rows = np.arange(len(X)) if sample_weight is None else np.flatnonzero(sample_weight > 0)
    if len(rows) == 0:
        raise ValueError(
            "no input has a positive sample_weight; at least one is needed to place kernel centres."
        )
    if X.dtype == object:
        return _distinct_objects(X, rows, sample_weight)
    # Adding zero turns -0.0 into 0.0, the one pair of equal numbers with different bits.
    points = np.ascontiguousarray(X[rows]) + 0.0
    # Rows compared as strings of bytes: one sort instead of one per feature.
    as_bytes = points.view(np.dtype((np.void, points.itemsize * points.shape[1]))).ravel()
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    weight = np.bincount(group, weights=None if sample_weight is None else sample_weight[rows])
    order = np.argsort(first)
    first = first[order]
    return _DistinctRows(points[first], rows[first], weight[order].astype(np.float64))


def _distinct_objects(X: Any, rows: IndexArray, sample_weight: Vector | None) -> _DistinctRows:
    """Find distinct objects; objects that cannot be hashed count as distinct."""
    place: dict[Any, int] = {}
    first: list[int] = []
    weight: list[float] = []
    for row in rows:
        key = tuple(map(_hashable_key, X[row]))
        if key not in place:
            place[key] = len(first)
            first.append(row)
            weight.append(0.0)
        weight[place[key]] += 1.0 if sample_weight is None else float(sample_weight[row])
    index = np.array(first, dtype=np.intp)
    return _DistinctRows(X[index], index, np.array(weight))


def _hashable_key(item: Any) -> Any:
    try:
        hash(item)
    except TypeError:
        return id(item)
    return item
