"""What the reference estimators do alike before and after the algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._checks import (
    check_bool,
    check_choice,
    check_finite_input,
    check_integer,
    check_positive,
)
from relvec._linalg import EPS
from relvec._typing import BoolArray, Matrix, Vector

__all__ = [
    "at_least_one",
    "check_constants",
    "initial_noise",
    "initial_precision",
    "per_feature",
    "read_inputs",
    "read_regression",
]


def check_constants(
    estimator: Any,
    *,
    positive: Iterable[str],
    non_negative: Iterable[str],
    thresholds: Iterable[str],
    counts: Mapping[str, int],
    choices: Mapping[str, tuple[str, ...]],
    flags: Iterable[str],
) -> None:
    """Find constants that are not what they have to be, by their kind.

    Thresholds may be infinite, which switches them off; `counts` has the least value of each.
    """
    for name in positive:
        check_positive(name, getattr(estimator, name))
    for name in non_negative:
        check_positive(name, getattr(estimator, name), allow_zero=True)
    for name in thresholds:
        value = getattr(estimator, name)
        if not (isinstance(value, float) and np.isposinf(value)):
            check_positive(name, value, also="(or numpy.inf)")
    for name, least in counts.items():
        check_integer(name, getattr(estimator, name), minimum=least)
    for name, options in choices.items():
        check_choice(name, getattr(estimator, name), options)
    for name in flags:
        check_bool(name, getattr(estimator, name))


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


def initial_noise(estimator: Any, y: Vector) -> tuple[float, float]:
    """Return the noise variance to start from, and the smallest."""
    # Constant targets have no scale of their own; rounding of their size takes its place.
    spread = max(float(np.var(y)), EPS * max(1.0, float(np.mean(y) ** 2)))
    floor = max(estimator.noise_floor * spread, float(np.finfo(np.float64).tiny))
    given = estimator.initial_noise_variance
    if given is None:
        return 0.1 * spread, floor
    return check_positive("initial_noise_variance", given), floor


def initial_precision(estimator: Any, n_samples: int) -> float:
    """Return the precision of all weights to start from."""
    given = estimator.initial_alpha
    return n_samples**-2.0 if given is None else check_positive("initial_alpha", given)


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
