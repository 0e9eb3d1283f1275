"""Folds of training and held-out rows: shuffled, or rolling origins in the order of time."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from relvec._checks import check_integer
from relvec._typing import IndexArray, Vector
from relvec.comparing.statistics import HeldOutRows

__all__ = ["Folds", "describe_rows", "make_folds", "make_rolling_folds", "order_rows"]

Folds = list[tuple[IndexArray, IndexArray]]
"""Training rows and held-out rows of each fold."""


def make_rolling_folds(n_rows: int, n_splits: int, horizon: int | None = None) -> Folds:
    """Make folds of rows in the order of time: expanding windows, the next rows held out.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_splits : int
        Number of origins.
    horizon : int, optional
        Number of rows held out after each origin. Default, such that the first window is half of
        the rows.

    Examples
    --------
    >>> [(len(train), test.tolist()) for train, test in make_rolling_folds(8, 2)]
    [(4, [4, 5]), (6, [6, 7])]
    """
    if horizon is None:
        horizon = max(1, n_rows // (2 * n_splits))
    first = n_rows - n_splits * horizon
    if first < 2:
        raise ValueError(
            f"{n_splits} origins with a horizon of {horizon} rows need at least "
            f"{n_splits * horizon + 2} rows; there are {n_rows}. Use fewer splits or a shorter "
            "horizon."
        )
    origins = first + horizon * np.arange(n_splits)
    return [(np.arange(each), np.arange(each, each + horizon)) for each in origins]


def make_folds(
    cv: Any,
    X: Any,
    y: np.ndarray,
    *,
    is_classification: bool,
    n_splits: int,
    horizon: int | None,
    random_state: Any,
) -> Folds:
    """Make the folds that all models share.

    Parameters
    ----------
    cv : int, "rolling", splitter or list of pairs
        See `relvec.compare_models`.
    X : array-like or data frame
        Inputs; the first column is time if `cv` is "rolling".
    y : ndarray of shape (n_samples,)
        Targets or classes.
    is_classification : bool
        Whether `y` has classes; shuffled folds are then stratified.
    n_splits, horizon : int
        See `make_rolling_folds`.
    random_state : int, RandomState instance or None
        Seed of the shuffle.
    """
    n_rows = len(y)
    if isinstance(cv, str):
        if cv != "rolling":
            raise ValueError(
                f'cv must be a number of folds, "rolling" or a splitter such as TimeSeriesSplit(); '
                f"got {cv!r}."
            )
        n_splits = check_integer("n_splits", n_splits, minimum=1)
        if horizon is not None:
            horizon = check_integer("horizon", horizon, minimum=1)
        order = order_rows(X)
        rolling = make_rolling_folds(n_rows, n_splits, horizon)
        folds = [(order[train], order[test]) for train, test in rolling]
    elif isinstance(cv, numbers.Integral):
        folds = _shuffle(int(cv), y, is_classification, random_state)
    elif (hasattr(cv, "split") or isinstance(cv, list)) and not isinstance(cv, type):
        given = cv if isinstance(cv, list) else cv.split(X, y)
        folds = [_read_fold(number, pair, n_rows) for number, pair in enumerate(given)]
    else:
        raise TypeError(
            'cv must be a number of folds, "rolling", a splitter such as TimeSeriesSplit() or a '
            "list of pairs (training rows, held-out rows); got "
            f"{cv!r} of type {type(cv).__name__}."
        )
    _check_folds(folds, y, is_classification)
    return folds


def _shuffle(n_folds: int, y: np.ndarray, is_classification: bool, random_state: Any) -> Folds:
    check_integer("cv", n_folds, minimum=2)
    rows = np.zeros(len(y))
    most, what = len(y), "rows"
    if is_classification:
        most, what = int(np.unique(y, return_counts=True)[1].max()), "rows of the largest class"
    if n_folds > most:
        raise ValueError(
            f"cv={n_folds} folds need as many {what}; there are {most}. Use a smaller cv."
        )
    splitter = StratifiedKFold if is_classification else KFold
    seed = check_random_state(random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        return list(splitter(n_folds, shuffle=True, random_state=seed).split(rows, y))


def _read_fold(number: int, pair: Any, n_rows: int) -> tuple[IndexArray, IndexArray]:
    """Return training and held-out rows, given as indices or as masks."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(
            f"Fold {number} of cv must be a pair (training rows, held-out rows); got {pair!r}."
        )
    parts = []
    for name, given in zip(("training", "held-out"), pair, strict=True):
        rows = np.asarray(given)
        if rows.dtype == bool and rows.shape == (n_rows,):
            rows = np.flatnonzero(rows)
        rows = rows.astype(np.intp) if rows.size == 0 else rows
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(
                f"The {name} rows of fold {number} of cv must be a list of row numbers; got an "
                f"array of shape {rows.shape} and type {rows.dtype}."
            )
        outside = rows[(rows < 0) | (rows >= n_rows)]
        if len(outside):
            raise ValueError(
                f"The {name} rows of fold {number} of cv must be numbers from 0 to {n_rows - 1}; "
                f"got {outside[0]}."
            )
        parts.append(rows)
    return parts[0], parts[1]


def _check_folds(folds: Folds, y: np.ndarray, is_classification: bool) -> None:
    if not folds:
        raise ValueError("cv has no folds. Give a number of folds or a splitter with some.")
    for number, (train, test) in enumerate(folds):
        if not len(test) or not len(train):
            part = "held-out" if len(train) else "training"
            raise ValueError(f"Fold {number} of cv has no {part} rows. Use fewer folds.")
        if len(np.intersect1d(train, test)):
            raise ValueError(
                f"Fold {number} of cv holds out rows that it also trains on. Use a splitter whose "
                "training and held-out rows are disjoint."
            )
        if is_classification and len(np.unique(y[train])) < 2:
            raise ValueError(
                f"The training rows of fold {number} of cv contain one class only. Use fewer "
                "folds, or a splitter that keeps rows of two classes in each."
            )


def order_rows(X: Any) -> IndexArray:
    """Return the order of rows by their first column, numbers or dates.

    Examples
    --------
    >>> order_rows([[3.0, 0.0], [1.0, 5.0]])
    array([1, 0])
    """
    if hasattr(X, "iloc"):
        time = np.asarray(X.iloc[:, 0])
    elif hasattr(X, "columns"):  # other data frames
        time = np.asarray(X[X.columns[0]])
    else:
        rows = X[:, [0]].toarray() if hasattr(X, "toarray") else np.asarray(X)
        time = rows[:, 0] if rows.ndim == 2 else rows
    if time.dtype.kind not in "biufMm":
        raise ValueError(
            'cv="rolling" orders the rows by the first column of X, which must hold numbers or '
            f"dates; got {time.dtype}. Put time first, or sort the rows and use TimeSeriesSplit."
        )
    return np.argsort(time, kind="stable")


def describe_rows(folds: Folds, weight: Vector | None = None) -> HeldOutRows:
    """Describe the held-out rows of folds for `estimate_mean`."""
    ratios, weights = [], []
    for train, test in folds:
        held = np.ones(len(test)) if weight is None else weight[test]
        total = float(len(train) if weight is None else weight[train].sum())
        if not (total > 0.0 and held.sum() > 0.0):
            raise ValueError(
                "A fold has training or held-out rows of weight zero only. Leave out rows of "
                "weight zero, or use fewer folds."
            )
        ratios.append(held.sum() / total)
        weights.append(held)
    return HeldOutRows(tuple(weights), float(np.mean(ratios)))
