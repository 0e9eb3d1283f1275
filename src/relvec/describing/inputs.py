"""Inputs to ask a model about: along a line through the data, or over a grid of two of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.describing.names import check_names

__all__ = [
    "InputGrid",
    "InputSlice",
    "column_of",
    "grid_over",
    "like_table",
    "numbers_of",
    "slice_along",
    "span_of",
    "table_names",
]


class InputSlice(NamedTuple):
    """Where to ask a model, to draw it over one input."""

    name: str
    values: Vector
    """Of the input that varies."""
    X: Any
    """All inputs, in the container that was given."""


class InputGrid(NamedTuple):
    """Where to ask a model, to draw it over one input or two."""

    axes: list[Vector]
    """Values of each input."""
    points: Matrix
    """All combinations, of shape (n_points, n_features)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values there are of the last input, ..., of the first."""
        return tuple(len(axis) for axis in reversed(self.axes))


def grid_over(inputs: Matrix, count: int, margin: float = 0.1) -> InputGrid:
    """Return a grid over the range of each input, and a little more.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_features)
        Best one or two.
    count : int
        Values along each.
    margin : float, default=0.1
        As in `span_of`.

    Examples
    --------
    >>> grid = grid_over(np.array([[0.0, 5.0], [1.0, 7.0]]), 3, margin=0.5)
    >>> [axis.tolist() for axis in grid.axes]
    [[-0.5, 0.5, 1.5], [4.0, 6.0, 8.0]]
    >>> grid.points[:2].tolist(), grid.shape
    ([[-0.5, 4.0], [0.5, 4.0]], (3, 3))
    """
    axes = [np.linspace(*span_of(column, margin), count) for column in inputs.T]
    return InputGrid(axes, np.column_stack([axis.ravel() for axis in np.meshgrid(*axes)]))


def numbers_of(X: Any, what: str = "X") -> Matrix:
    """Inputs as a matrix of numbers."""
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} must hold numbers only to be drawn along one input; {error}."
        ) from error
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or not len(array):
        raise ValueError(
            f"{what} must have shape (n_samples, n_features) and rows; got shape {array.shape}."
        )
    return array


def table_names(X: Any, feature_names: Any = None) -> list[str]:
    """Names of inputs: those given, those of a data frame, or x0, x1 and so on."""
    n_features = numbers_of(X).shape[1]
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    return check_names(None if feature_names is None else list(feature_names), n_features)


def column_of(feature: Any, names: list[str]) -> int:
    """Position of an input that is given by its name or its number.

    Examples
    --------
    >>> column_of("bmi", ["age", "bmi"]), column_of(0, ["age", "bmi"])
    (1, 0)
    """
    if feature is None:
        if len(names) == 1:
            return 0
        raise ValueError(
            f"feature must say along which of {len(names)} inputs to draw, by name or number; the "
            "others stay at their medians. For all inputs at once use PredictedObservedDisplay."
        )
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be one of {names}; got {feature!r}.")
        return names.index(feature)
    place = int(feature)
    if not 0 <= place < len(names):
        raise ValueError(f"feature must be below {len(names)}, the number of inputs; got {place}.")
    return place


def like_table(rows: Matrix, X: Any) -> Any:
    """Rows in the container of `X`: a data frame with its columns if it is one."""
    if not hasattr(X, "columns"):
        return rows
    return type(X)(dict(zip(list(X.columns), rows.T, strict=True)))


def span_of(values: Vector, margin: float = 0.1) -> tuple[float, float]:
    """Ends of what is drawn of an input: its range and a little more; gaps do not count.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Of the input.
    margin : float, default=0.1
        Share of the range that is drawn beyond each end.

    Examples
    --------
    >>> span_of(np.array([0.0, np.nan, 10.0]))
    (-1.0, 11.0)
    """
    known = _known(values)
    low, high = float(known.min()), float(known.max())
    room = margin * (high - low) or 0.5
    return low - room, high + room


def _known(values: Vector) -> Vector:
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("X has a column without a single finite value; there is nothing to draw.")
    return known


def slice_along(X: Any, feature: Any, n_points: int, feature_names: Any = None) -> InputSlice:
    """Return inputs along one of them, a little beyond its range."""
    inputs, names = numbers_of(X), table_names(X, feature_names)
    place = column_of(feature, names)
    values = np.linspace(*span_of(inputs[:, place]), n_points)
    # what is missing is left to a pipeline that knows what to do about it
    middle = [np.median(_known(column)) for column in inputs.T]
    rows = np.tile(middle, (n_points, 1))
    rows[:, place] = values
    return InputSlice(names[place], values, like_table(rows, X))
