"""Validation of the points, the support and the widths of a density."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relvec._checks import check_positive
from relvec._typing import Matrix, Vector

__all__ = ["check_bins", "check_dimensions", "check_points", "check_widths", "read_support"]

MAX_BINS = (10_000, 64)
"""Most bins along each of one or two variables: a fit then takes less than a minute."""
MAX_DIMENSIONS = 2


def read_support(support: Any, n_features: int) -> list[tuple[float, float]]:
    """Return the ends of the support along each dimension, infinite where there are none.

    Parameters
    ----------
    support : None, pair or sequence of pairs
        As in `SparseBayesDensity`.
    n_features : int
        Number of dimensions.
    """
    if support is None:
        return [(-math.inf, math.inf)] * n_features
    if isinstance(support, str) or not hasattr(support, "__len__"):
        raise TypeError(_describe(support, n_features))
    is_nested = len(support) > 0 and all(
        each is None or hasattr(each, "__len__") for each in support
    )
    if n_features == 1 and not (is_nested and len(support) == 1):
        return [_read_pair(support, support, n_features)]
    if not is_nested or len(support) != n_features:
        raise ValueError(_describe(support, n_features))
    return [
        (-math.inf, math.inf) if pair is None else _read_pair(pair, support, n_features)
        for pair in support
    ]


def _read_pair(pair: Any, support: Any, n_features: int) -> tuple[float, float]:
    if len(pair) != 2:
        raise ValueError(_describe(support, n_features))
    ends = []
    for end, missing in zip(pair, (-math.inf, math.inf), strict=True):
        try:
            ends.append(missing if end is None else float(end))
        except (TypeError, ValueError):
            raise TypeError(_describe(support, n_features)) from None
    lower, upper = ends
    if math.isnan(lower) or math.isnan(upper) or not lower < upper:
        raise ValueError(f"The lower end of the support must be below the upper one; got {pair!r}.")
    return lower, upper


def _describe(support: Any, n_features: int) -> str:
    needed = "None or a pair (lower, upper), with None where there is no end"
    if n_features > 1:
        needed = (
            f"None or a list of {n_features} entries, one for each column of X: None, or a pair "
            "(lower, upper) with None where there is no end"
        )
    return f"support must be {needed}; got {support!r}."


def check_bins(name: str, value: Any) -> None:
    """Raise unless `value` is "auto" or a whole number of at least 8."""
    if isinstance(value, str) and value == "auto":
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f'{name} must be "auto" or a whole number of at least 8; got {value!r}.')
    if value < 8:
        raise ValueError(f'{name} must be "auto" or a whole number of at least 8; got {value!r}.')


def check_number_of_bins(bins: int | str, n_features: int) -> None:
    """Raise if there are so many bins that a fit takes minutes and gigabytes."""
    limit = MAX_BINS[n_features - 1]
    if not isinstance(bins, str) and bins > limit:
        raise ValueError(
            f"bins must be at most {limit} for {n_features} variable(s); got {bins}. "
            'More of them do not improve the estimate: use bins="auto".'
        )


def check_widths(name: str, value: Any) -> None:
    """Raise unless `value` is "auto" or a sequence of fractions between 0.002 and 1."""
    if isinstance(value, str):
        if value == "auto":
            return
        raise ValueError(f'{name} must be "auto" or a list of numbers; got {value!r}.')
    if not hasattr(value, "__len__") or len(value) == 0:
        raise TypeError(
            f'{name} must be "auto" or a list of fractions of the range, such as [0.25, 0.125]; '
            f"got {value!r}."
        )
    for width in value:
        if not 0.002 <= check_positive(f"each of {name}", width) <= 1.0:
            raise ValueError(
                f"{name} are fractions of the range of the bins, from 0.002 to 1; got {width!r}."
            )
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must differ from each other; got {value!r}.")


def check_dimensions(n_features: int) -> None:
    """Raise if there are more than two dimensions."""
    if n_features > MAX_DIMENSIONS:
        raise ValueError(
            f"SparseBayesDensity estimates densities of one or two variables; X has {n_features} "
            "columns. Pass one or two of them, or reduce X first, for example by scikit-learn's "
            "PCA(n_components=2). For more variables use sklearn.mixture.BayesianGaussianMixture "
            "or sklearn.neighbors.KernelDensity."
        )


def check_points(X: Matrix, weight: Vector, supports: list[tuple[float, float]]) -> None:
    """Raise if points lie outside the support, on a line, or all at one place."""
    for column, (x, (lower, upper)) in enumerate(zip(X.T, supports, strict=True)):
        outside = np.flatnonzero((x < lower) | (x > upper))
        if len(outside):
            raise ValueError(
                f"All points must lie in the support; {len(outside)} of {len(x)} are outside "
                f"({lower:g}, {upper:g}), such as {x[outside[0]]:g} in row {outside[0]}, column "
                f"{column}. Extend the support or remove these points."
            )
        # Differences that are rounding errors of the values are none.
        if np.ptp(x) <= 1e-13 * np.abs(x).max(initial=0.0):
            given = f"are {x[0]:g}. Such data have no density."
            if np.ptp(x) > 0.0:
                given = (
                    f"are within {np.ptp(x):.2g} of {x[0]:g}, too close for floating-point numbers "
                    "of this size. Subtract a constant before their last digits are lost."
                )
            raise ValueError(
                f"A density needs at least two different points (n_samples = {len(x)}); all "
                f"values of column {column} {given}"
            )
    if X.shape[1] < MAX_DIMENSIONS:
        return
    # Determinant of the correlation matrix.
    centred = (X - weight @ X / weight.sum()) / X.std(axis=0)
    moments = (centred * weight[:, None]).T @ centred
    if np.linalg.det(moments) <= 1e-9 * moments[0, 0] * moments[1, 1]:
        raise ValueError(
            "The points lie on a straight line, along which they have a density of one variable "
            "only. Pass one of the two columns."
        )
