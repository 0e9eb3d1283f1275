"""Inputs at which a model is evaluated for plots: along one feature, or on a grid over two."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.describing.names import check_feature_names

__all__ = [
    "InputGrid",
    "InputSlice",
    "compute_range",
    "convert_to_matrix",
    "find_column",
    "get_column_names",
    "make_grid",
    "make_slice",
    "match_container",
]


class InputSlice(NamedTuple):
    """Inputs along one feature, all others at their medians."""

    name: str
    values: Vector
    """Values of the feature that varies."""
    X: Any
    """Inputs with all features, in the container that was given."""


class InputGrid(NamedTuple):
    """Regular grid over one feature or two."""

    axes: list[Vector]
    """Grid values of each feature."""
    points: Matrix
    """All combinations, of shape (n_points, n_features)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of grid values, the last feature first: the shape of an image of the grid."""
        return tuple(len(axis) for axis in reversed(self.axes))


def make_grid(inputs: Matrix, count: int, margin: float = 0.1) -> InputGrid:
    """Make a grid over the range of each feature, extended by a margin.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_features)
        Inputs of one or two features.
    count : int
        Number of grid values of each feature.
    margin : float, default=0.1
        Extension beyond each end, as a fraction of the range.

    Examples
    --------
    >>> grid = make_grid(np.array([[0.0, 5.0], [1.0, 7.0]]), 3, margin=0.5)
    >>> [axis.tolist() for axis in grid.axes]
    [[-0.5, 0.5, 1.5], [4.0, 6.0, 8.0]]
    >>> grid.points[:2].tolist(), grid.shape
    ([[-0.5, 4.0], [0.5, 4.0]], (3, 3))
    """
    axes = [np.linspace(*compute_range(column, margin), count) for column in inputs.T]
    return InputGrid(axes, np.column_stack([axis.ravel() for axis in np.meshgrid(*axes)]))


def convert_to_matrix(X: Any, what: str = "X") -> Matrix:
    """Convert inputs to a matrix of floats; a vector becomes one column.

    Parameters
    ----------
    X : array-like or data frame
        Inputs.
    what : str, default="X"
        Name of the argument, for errors.
    """
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{what} must contain only numbers to be plotted along a feature; {error}."
        ) from error
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or not len(array):
        raise ValueError(
            f"{what} must have shape (n_samples, n_features) and rows; got shape {array.shape}."
        )
    return array


def get_column_names(X: Any, feature_names: Any = None) -> list[str]:
    """Return feature names: those given, those of a data frame, or x0, x1 and so on."""
    n_features = convert_to_matrix(X).shape[1]
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    return check_feature_names(None if feature_names is None else list(feature_names), n_features)


def find_column(feature: Any, names: list[str]) -> int:
    """Return the index of a feature given by name or by index.

    Examples
    --------
    >>> find_column("bmi", ["age", "bmi"]), find_column(0, ["age", "bmi"])
    (1, 0)
    """
    if feature is None:
        if len(names) == 1:
            return 0
        raise ValueError(
            f"feature must be the name or index of one of the {len(names)} features; the others "
            "are held at their medians. For all features at once use PredictedObservedDisplay."
        )
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be one of {names}; got {feature!r}.")
        return names.index(feature)
    index = int(feature)
    if not 0 <= index < len(names):
        raise ValueError(
            f"feature must be below {len(names)}, the number of features; got {index}."
        )
    return index


def match_container(rows: Matrix, X: Any) -> Any:
    """Return rows in the container of `X`: as a data frame with the same columns if `X` is one."""
    if not hasattr(X, "columns"):
        return rows
    return type(X)(dict(zip(list(X.columns), rows.T, strict=True)))


def compute_range(values: Vector, margin: float = 0.1) -> tuple[float, float]:
    """Compute the range of a feature, extended by a margin; missing values are ignored.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Values of the feature.
    margin : float, default=0.1
        Extension beyond each end, as a fraction of the range.

    Examples
    --------
    >>> compute_range(np.array([0.0, np.nan, 10.0]))
    (-1.0, 11.0)
    """
    known = _drop_missing(values)
    low, high = float(known.min()), float(known.max())
    extension = margin * (high - low) or 0.5
    return low - extension, high + extension


def _drop_missing(values: Vector) -> Vector:
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError("X has a column without any finite value; there is nothing to plot.")
    return known


def make_slice(X: Any, feature: Any, n_points: int, feature_names: Any = None) -> InputSlice:
    """Make inputs along one feature, all others at their medians.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs, from which range and medians are computed.
    feature : int, str or None
        Index or name of the feature that varies; None if there is only one.
    n_points : int
        Number of inputs.
    feature_names : sequence of str, optional
        Names of the features.
    """
    inputs, names = convert_to_matrix(X), get_column_names(X, feature_names)
    index = find_column(feature, names)
    values = np.linspace(*compute_range(inputs[:, index]), n_points)
    # Medians are over the finite values: X may have gaps that a pipeline imputes.
    medians = [np.median(_drop_missing(column)) for column in inputs.T]
    rows = np.tile(medians, (n_points, 1))
    rows[:, index] = values
    return InputSlice(names[index], values, match_container(rows, X))
