"""Inputs of a kernel search: numbers, or dates as days since 1970."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["from_days", "merge_equal_rows", "read_dates"]

DAY = np.timedelta64(1, "D")


def read_dates(X: Any) -> Matrix | None:
    """Return dates as days since 1970-01-01, one column; None if `X` has no dates.

    Dates are given as an array of dtype datetime64 of one or two axes, as an index or a series of
    dates, or as a data frame with one column of dates.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.estimators._search_inputs import read_dates
    >>> read_dates(np.array(["1970-01-02", "1970-01-03"], dtype="datetime64[D]")).ravel()
    array([1., 2.])
    """
    values = np.asarray(X) if hasattr(X, "__array__") else X
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "M"):
        return None
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(
            f"Dates must be the only column of X; got {values.shape[1]} columns of dates."
        )
    if np.isnat(values).any():
        raise ValueError("X contains missing dates (NaT). Remove these rows.")
    days: Matrix = (values - np.datetime64(0, "D")) / DAY
    return days.astype(np.float64).reshape(-1, 1)


def from_days(days: Vector) -> np.ndarray:
    """Return dates of days since 1970-01-01, to the second."""
    seconds = np.rint(np.asarray(days, dtype=np.float64) * 86_400.0).astype(np.int64)
    return seconds.astype("datetime64[s]")


def merge_equal_rows(
    X: Matrix, y: Vector, weight: Vector | None
) -> tuple[Matrix, Vector, Vector | None]:
    """Sort rows by inputs and targets, and merge equal ones into one of the sum of their weights.

    So the result does not depend on the order of rows, nor on whether a weight is two or a row is
    given twice.
    """
    weight = np.ones(len(y)) if weight is None else weight
    kept = weight > 0.0
    table = np.column_stack([X, y])[kept]
    distinct, places = np.unique(table, axis=0, return_inverse=True)
    total = np.bincount(places.ravel(), weights=weight[kept]).astype(np.float64)
    return distinct[:, :-1], distinct[:, -1], None if (total == 1.0).all() else total
