"""Checks of what is to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = [
    "check_amounts",
    "check_coverage",
    "check_finite",
    "check_line",
    "check_points",
    "check_table",
]


def check_line(
    name: str, values: Any, length: int | None = None, like: str = "the denoised signal"
) -> Vector:
    """Return `values` as real numbers along a line, of a given length.

    Parameters
    ----------
    name : str
        What they are called.
    values : array-like
        What was given.
    length : int, optional
        How many there must be.
    like : str, default="the denoised signal"
        What has as many, for the error.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        hint = {
            2: " For an image use ImageDisplay; of several channels draw one at a time.",
            3: " For an image use ImageDisplay.",
        }.get(array.ndim, "")
        if array.dtype.kind == "c":
            hint = " Draw the real and the imaginary part each by itself."
        raise ValueError(
            f"{name} must be real numbers along a line; got an array of shape {array.shape} and "
            f"type {array.dtype}.{hint}"
        )
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must hold {length} values, as many as {like}; got {len(array)}.")
    return array.astype(np.float64)


def check_finite(name: str, values: Vector) -> None:
    """Raise if some of the values are NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"{name} must be finite; the value at position {bad[0]} is {values[bad[0]]} "
            f"({len(bad)} of {len(values)} are not finite). Remove these rows."
        )


def check_amounts(
    name: str, values: Any, shape: tuple[int, ...] | None = None, *, allow_nan: bool = False
) -> Vector:
    """Return values of one number per input that must not be negative."""
    array = check_line(name, values)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: there is no input to draw.")
    if shape is not None and array.shape != shape:
        raise ValueError(
            f"{name} must hold {shape[0]} values, one for each input; got {len(array)}."
        )
    known = array[~np.isnan(array)] if allow_nan else array
    if not np.isfinite(known).all() or (known < 0.0).any():
        raise ValueError(
            f"{name} must be finite and not negative; got {known.min()} to {known.max()}."
        )
    return array


def check_table(name: str, values: Any, rows: str) -> Matrix:
    """Return a table with a column for each input."""
    table = np.asarray(values)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or 0 in table.shape:
        raise ValueError(
            f"{name} must be a table of numbers with a row for each {rows} and a column for each "
            f"input; got an array of shape {table.shape} and type {table.dtype}."
        )
    table = table.astype(np.float64)
    if not np.isfinite(table).all() or (table < 0.0).any():
        raise ValueError(f"{name} must be finite and not negative; it holds other values.")
    return table


def check_coverage(coverage: float) -> float:
    """Return the probability of an interval, which must be between 0 and 1."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be between 0 and 1; got {coverage!r}.")
    return coverage


def check_points(name: str, values: Any, hint: str = "") -> Matrix:
    """Return points of two inputs."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must hold points of two inputs, of shape (n_samples, 2); got shape "
            f"{array.shape}.{hint}"
        )
    return array
