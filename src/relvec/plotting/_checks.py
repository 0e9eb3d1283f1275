"""Checks of the data of displays."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = [
    "check_coverage",
    "check_finite",
    "check_matrix",
    "check_nonnegative",
    "check_points",
    "check_vector",
    "ignore_missing_names",
]


def check_vector(
    name: str, values: Any, length: int | None = None, like: str = "the denoised signal"
) -> Vector:
    """Return `values` as a vector of floats, of a given length.

    Parameters
    ----------
    name : str
        Name of the argument.
    values : array-like
        Value of the argument.
    length : int, optional
        Required length.
    like : str, default="the denoised signal"
        Argument that determines the length, for the error.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        hint = {
            2: " For an image use ImageDisplay; plot several channels one at a time.",
            3: " For an image use ImageDisplay.",
        }.get(array.ndim, "")
        if array.dtype.kind == "c":
            hint = " Plot the real and the imaginary part separately."
        raise ValueError(
            f"{name} must be a one-dimensional array of real numbers; got an array of shape "
            f"{array.shape} and type {array.dtype}.{hint}"
        )
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have {length} values, as many as {like}; got {len(array)}.")
    return array.astype(np.float64)


def check_finite(name: str, values: Vector) -> None:
    """Raise if some of the values are NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"{name} must be finite; the value at position {bad[0]} is {values[bad[0]]} "
            f"({len(bad)} of {len(values)} are not finite). Remove these rows."
        )


def check_nonnegative(
    name: str, values: Any, shape: tuple[int, ...] | None = None, *, allow_nan: bool = False
) -> Vector:
    """Return a vector of non-negative values, one per feature."""
    array = check_vector(name, values)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: there is no feature to plot.")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have {shape[0]} values, one per feature; got {len(array)}.")
    known = array[~np.isnan(array)] if allow_nan else array
    if not np.isfinite(known).all() or (known < 0.0).any():
        raise ValueError(
            f"{name} must be finite and non-negative; got {known.min()} to {known.max()}."
        )
    return array


def check_matrix(name: str, values: Any, rows: str) -> Matrix:
    """Return a non-negative matrix with one column per feature."""
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or 0 in matrix.shape:
        raise ValueError(
            f"{name} must be a matrix of numbers with one row per {rows} and one column per "
            f"feature; got an array of shape {matrix.shape} and type {matrix.dtype}."
        )
    matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all() or (matrix < 0.0).any():
        raise ValueError(f"{name} must be finite and non-negative; it contains other values.")
    return matrix


def check_coverage(coverage: float) -> float:
    """Return the coverage of an interval, which must be between 0 and 1."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be between 0 and 1; got {coverage!r}.")
    return coverage


def check_points(name: str, values: Any, hint: str = "") -> Matrix:
    """Return a matrix with two columns."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must have two features, shape (n_samples, 2); got shape {array.shape}.{hint}"
        )
    return array


@contextmanager
def ignore_missing_names() -> Iterator[None]:
    """Silence scikit-learn's warning that points of a grid have no feature names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield
