"""What the reference estimators do alike before and after the algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._checks import check_finite_input, check_positive
from relvec._typing import BoolArray, Matrix, Vector

__all__ = ["at_least_one", "per_feature", "positive_or_inf", "read_inputs", "read_regression"]


def per_feature(name: str, value: Any, n_features: int, *, positive: bool = False) -> Vector:
    """Return `value` for every feature, given as one number or as an array.

    Examples
    --------
    >>> per_feature("initial_theta", 0.5, 3)
    array([0.5, 0.5, 0.5])
    """
    needed = f"{'positive' if positive else 'non-negative'}: one number, or one for each feature"
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be {needed}; got {value!r}.") from error
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_features):
        raise ValueError(
            f"{name} must be {needed}; got shape {array.shape} for {n_features} features."
        )
    low = array <= 0.0 if positive else array < 0.0
    if not np.isfinite(array).all() or low.any():
        raise ValueError(f"{name} must be {needed}; got {value!r}.")
    return np.broadcast_to(array, (n_features,)).copy()


def positive_or_inf(name: str, value: Any) -> float:
    """Return a positive threshold; infinity switches it off."""
    if isinstance(value, (float, np.floating)) and np.isposinf(value):
        return float("inf")
    return check_positive(name, value, also="(or numpy.inf)")


def at_least_one(keep: BoolArray, precision: Vector) -> BoolArray:
    """Keep the coordinate of smallest precision when a threshold would remove all.

    Nothing could bring an emptied model back, and its kernel would be a constant.

    Examples
    --------
    >>> import numpy as np
    >>> at_least_one(np.array([False, False]), np.array([9.0, 8.0]))
    array([False,  True])
    """
    if keep.any() or not len(keep):
        return keep
    keep = keep.copy()
    keep[np.argmin(precision)] = True
    return keep


def read_regression(estimator: Any, X: Any, y: Any) -> tuple[Matrix, Vector]:
    """Check and convert what `fit` of a regressor was given."""
    check_finite_input(X, "X")
    check_finite_input(y, "y")
    X, y = validate_data(estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    return X, np.asarray(y, dtype=np.float64)


def read_inputs(estimator: Any, X: Any) -> Matrix:
    """Check and convert what a prediction was asked for."""
    check_is_fitted(estimator)
    check_finite_input(X, "X")
    read: Matrix = validate_data(estimator, X, dtype=np.float64, reset=False)
    return read
