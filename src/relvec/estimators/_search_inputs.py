"""Inputs of a kernel search: numbers, or dates as days since 1970."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["from_days", "merge_equal_rows", "read_dates"]

DAY = np.timedelta64(1, "D")


def read_dates(X: Any) -> Matrix | None:
    """Return dates as days since 1970-01-01, one column; None if `X` has no dates.

    Dates are given as an array of dtype datetime64 of one or two axes, as objects of
    `datetime.date` or `datetime.datetime`, as an index or a series of dates, or as a data frame
    with one column of dates. Times with a time zone are converted to UTC.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.estimators._search_inputs import read_dates
    >>> read_dates(np.array(["1970-01-02", "1970-01-03"], dtype="datetime64[D]")).ravel()
    array([1., 2.])
    """
    _refuse_mixed_columns(X)
    values = _convert_dates(X)
    if values is None:
        return None
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(
            f"Dates must be the only column of X; got {values.shape[1]} columns of dates."
        )
    if np.isnat(values).any():
        raise ValueError("X contains missing dates (NaT). Remove these rows.")
    days: Matrix = (values - np.datetime64(0, "D")) / DAY
    return days.astype(np.float64).reshape(-1, 1)


def _convert_dates(X: Any) -> np.ndarray | None:
    """Return dates as an array of dtype datetime64; None if `X` has no dates."""
    is_array = hasattr(X, "__array__") or isinstance(X, list | tuple)
    if not is_array or getattr(X, "ndim", 1) not in (1, 2):
        return None
    try:
        values = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn describes
        return None
    if values.dtype.kind == "m":
        raise ValueError(
            "X holds durations (timedelta64). Divide them by their unit, for example "
            'numpy.timedelta64(1, "D"), or give dates.'
        )
    if values.dtype.kind == "M":
        return values
    is_column = values.size and values.size == len(values)
    if values.dtype.kind not in "OUS" or not is_column:
        return None
    if values.dtype.kind == "O" and all(isinstance(each, date) for each in values.flat):
        moments = [_to_utc(each) for each in values.flat]
        return np.array(moments, dtype="datetime64[us]").reshape(values.shape)
    _refuse_objects(values)
    return None


def _to_utc(moment: date) -> date:
    """Return a date or time without zone."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def _refuse_mixed_columns(X: Any) -> None:
    """Raise for a data frame with a column of dates among others."""
    names = getattr(X, "columns", ())
    if len(names) < 2:
        return
    kinds = [str(kind).lower() for kind in X.dtypes]
    found = [name for name, kind in zip(names, kinds, strict=True) if kind.startswith("date")]
    if found:
        raise ValueError(
            f"Dates must be the only column of X; got dates in column {str(found[0])!r} among "
            f"{len(names)} columns. Encode them as numbers, such as days since the first one."
        )


def _refuse_objects(values: np.ndarray) -> None:
    """Raise for one column of texts or objects that are neither numbers nor dates."""
    for value in values.astype(object).flat:
        try:
            float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"X must hold numbers or dates; got {value!r}. Give dates as datetime64, for "
                'example numpy.asarray(X, dtype="datetime64[s]") or pandas.to_datetime(X).'
            ) from None


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
    if kept.sum() < 2 and weight.sum() < 2.0:
        raise ValueError(
            "sample_weight is positive for n_samples = 1 row alone; at least two are needed."
        )
    table = np.column_stack([X, y])[kept]
    distinct, places = np.unique(table, axis=0, return_inverse=True)
    total = np.bincount(places.ravel(), weights=weight[kept]).astype(np.float64)
    return distinct[:, :-1], distinct[:, -1], None if (total == 1.0).all() else total
