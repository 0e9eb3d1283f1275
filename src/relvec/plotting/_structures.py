"""What displays of kernel searches share: checks, and inputs as numbers or dates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Vector
from relvec.describing import is_kernel_search
from relvec.plotting._axes import adapt_colour
from relvec.plotting._style import FAINT

__all__ = ["check_search", "mark_end", "read_positions", "to_positions"]


def check_search(estimator: Any, display: str) -> Any:
    """Return a fitted kernel search; raise for other models."""
    check_is_fitted(estimator)
    if not is_kernel_search(estimator):
        raise TypeError(
            f"{display} needs a fitted KernelSearchRegressor; got {type(estimator).__name__}."
        )
    return estimator


def to_positions(x: Vector, is_date: bool) -> np.ndarray:
    """Return positions on an axis: numbers, or dates of days since 1970."""
    if not is_date:
        return x
    return np.rint(x * 86_400.0).astype(np.int64).astype("datetime64[s]")


def read_positions(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """Return positions as a one-dimensional array of numbers or dates."""
    array = np.asarray(values)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.kind not in "biufM":
        raise ValueError(
            f"{name} must be a one-dimensional array of numbers or dates; got an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have {length} positions; got {len(array)}.")
    return array if array.dtype.kind == "M" else array.astype(np.float64)


def mark_end(axes: Any, position: Any) -> Any:
    """Draw a vertical line at the end of the record."""
    return axes.axvline(position, color=adapt_colour(axes, FAINT), lw=0.9, ls=(0, (4, 3)), zorder=1)
