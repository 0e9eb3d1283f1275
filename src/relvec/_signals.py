"""Reading of signals: lists, arrays, series and images, with channels and missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from relvec._checks import check_choice
from relvec._typing import BoolArray

__all__ = ["as_mask", "as_numbers", "make_wrapper", "resolve_channel_axis"]


def as_numbers(signal: Any) -> NDArray[Any]:
    """Return a signal as an array of numbers, without reading memory-mapped data."""
    if issparse(signal):
        raise TypeError(
            "signal must be dense; got a sparse matrix, most of whose samples are zero, without "
            "noise. If that is intended, pass signal.toarray()."
        )
    values = np.asarray(np.ma.getdata(signal))
    if values.dtype.kind == "O":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "signal must hold numbers; got an array of objects that are not. Missing values "
                "should be NaN."
            ) from error
    if values.dtype.kind not in "biufc":
        raise ValueError(f"signal must hold numbers; got an array of type {values.dtype}.")
    if values.ndim == 0:
        raise ValueError(f"signal must have at least one axis; got the single value {values!r}.")
    if np.ma.getmask(signal) is not np.ma.nomask:
        values = np.array(values, dtype=np.result_type(values.dtype, np.float16))
        values[np.ma.getmaskarray(signal)] = np.nan
    return values


def as_mask(mask: Any, shape: tuple[int, ...]) -> BoolArray:
    """Check a mask: True where a sample is observed."""
    observed = np.asarray(mask)
    if observed.dtype.kind != "b":
        raise ValueError(
            f"mask must hold True (observed) or False (missing); got an array of type "
            f"{observed.dtype}. Use for instance mask=~np.isnan(signal)."
        )
    if observed.shape != shape:
        raise ValueError(
            f"mask must have the shape of the signal without channels, {shape}; "
            f"got {observed.shape}."
        )
    return observed


def resolve_channel_axis(signal: Any, shape: tuple[int, ...], channel_axis: Any) -> int | None:
    """Return the axis of the channels as a non-negative number, or None.

    "auto" finds the colours of an image (the last of three axes, of length 3 or 4), the columns of
    a data frame, and the columns of an array of shape (n, 2) to (n, 4) with ``n >= 32``.

    Examples
    --------
    >>> [resolve_channel_axis(None, shape, "auto") for shape in [(64, 64, 3), (64, 64), (64, 2)]]
    [2, None, 1]
    """
    n_axes = len(shape)
    if channel_axis is None:
        return None
    if isinstance(channel_axis, str):
        check_choice("channel_axis", channel_axis, ("auto",))
        return _likely_channels(signal, shape)
    is_integer = isinstance(channel_axis, (int, np.integer)) and not isinstance(channel_axis, bool)
    if not is_integer or not -n_axes <= channel_axis < n_axes:
        raise ValueError(
            f'channel_axis must be "auto", None or an axis of the signal, which has {n_axes}; '
            f"got {channel_axis!r}."
        )
    if n_axes == 1:
        raise ValueError(
            "channel_axis leaves no axis of samples: the signal has only one axis. "
            "Use channel_axis=None."
        )
    return int(channel_axis) % n_axes


def _likely_channels(signal: Any, shape: tuple[int, ...]) -> int | None:
    if len(shape) == 3:
        return 2 if shape[2] in (3, 4) else None
    if len(shape) != 2:
        return None
    kind = type(signal)
    is_table = kind.__name__ == "DataFrame" and kind.__module__.startswith(("pandas", "polars"))
    is_long = shape[1] in (2, 3, 4) and shape[0] >= 32  # shorter ones may be small images
    return 1 if is_table or is_long else None


def make_wrapper(signal: Any) -> Callable[[NDArray[Any]], Any]:
    """Return a function that converts an array to the container type of `signal`.

    A pandas Series keeps its index and name, a pandas data frame its index and columns, a polars
    Series its name, a polars data frame its columns. Everything else stays an array. Neither
    library is imported.
    """
    kind = type(signal)
    library = kind.__module__.partition(".")[0]
    if library == "pandas" and kind.__name__ == "Series":
        return lambda values: kind(values, index=signal.index, name=signal.name)
    if library == "pandas" and kind.__name__ == "DataFrame":
        return lambda values: kind(values, index=signal.index, columns=signal.columns)
    if library == "polars" and kind.__name__ == "Series":
        return lambda values: kind(signal.name, values)
    if library == "polars" and kind.__name__ == "DataFrame":
        return lambda values: kind(values, schema=signal.columns)
    return lambda values: values
