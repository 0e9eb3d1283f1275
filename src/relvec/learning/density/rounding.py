"""Values that were rounded to a common unit: each stands for an interval.

Bins narrower than the unit would be empty between the values, and the density a comb. The weight of
each value is therefore spread over the values that are rounded to it.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from relvec._typing import Matrix, Vector

__all__ = ["find_unit", "spread_rounded", "tabulate_rounded"]

SHARE_OF_TIES = 0.25
"""Values count as rounded if at least this share of them repeats others."""


def find_unit(x: Vector, total: float) -> float:
    """Return the unit to which `total` values were rounded, or zero if they were not.

    Examples
    --------
    >>> import numpy as np
    >>> round(find_unit(np.array([0.2, 0.5, 0.2, 0.9, 0.5, 0.2]), 6.0), 9)
    0.1
    >>> find_unit(np.array([0.2, 0.51, 0.33, 0.9]), 4.0)
    0.0
    """
    distinct = np.unique(x)
    if len(distinct) > (1.0 - SHARE_OF_TIES) * total or len(distinct) < 2:
        return 0.0
    # Largest common divisor of the differences, up to rounding errors (Euclid's algorithm).
    noise = 1e-9 * float(np.abs(distinct).max())
    unit = 0.0
    for gap in np.unique(np.diff(distinct)):
        unit, rest = float(gap), unit
        while rest > noise:
            unit, rest = rest, abs(unit - rest * round(unit / rest))
        if unit <= 10.0 * noise:
            return 0.0
    return unit


def tabulate_rounded(
    x: Vector, weight: Vector, support: tuple[float, float]
) -> PchipInterpolator | None:
    """Return the weight below each place as a function, or None if values were not rounded.

    The sum of weights is known at the ends of the intervals. Between them it is a monotone cubic
    polynomial with continuous slope (Fritsch and Carlson, 1980): a constant density in each
    interval would be a staircase, whose steps are significant if there are many points.

    Examples
    --------
    >>> import numpy as np
    >>> below = tabulate_rounded(np.array([0.0, 1.0, 2.0]), np.array([2.0, 4.0, 2.0]), (0.0, 9.0))
    >>> below([0.0, 0.5, 1.5, 2.5]).round(9)
    array([0., 2., 6., 8.])
    """
    unit = find_unit(x, float(weight.sum()))
    if not unit:
        return None
    x, inverse = np.unique(x, return_inverse=True)
    weight = np.bincount(inverse, weight)
    # Values on the grid of the unit, so that neighbours share an end; gaps are empty intervals.
    number = np.rint((x - x[0]) / unit)
    ends = np.unique(np.concatenate([number, number + 1.0]))
    counts = np.zeros(len(ends))
    # Rounding errors of the values may give two of them the same number.
    np.add.at(counts, np.searchsorted(ends, number) + 1, weight)
    place = np.clip(x[0] + (ends - 0.5) * unit, *support)
    return PchipInterpolator(place, np.cumsum(counts), extrapolate=False)


def spread_rounded(
    X: Matrix, weight: Vector, supports: list[tuple[float, float]]
) -> tuple[Matrix, Vector]:
    """Spread rounded values over their intervals, inside the support.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_dimensions)
        Points.
    weight : ndarray of shape (n_points,)
        Their weights.
    supports : list of tuple
        Ends of the support along each dimension.

    Returns
    -------
    X : ndarray
        The same points, or more of them if values were rounded.
    weight : ndarray
        Their weights, of the same sum.
    """
    units = [find_unit(x, float(weight.sum())) for x in X.T]
    if not any(units):
        return X, weight
    X, inverse = np.unique(X, axis=0, return_inverse=True)
    weight = np.bincount(inverse.ravel(), weight).astype(np.float64)
    n_parts = 16 if len(units) == 1 else 4
    steps = (np.arange(n_parts) + 0.5) / n_parts
    for column, (unit, (lower, upper)) in enumerate(zip(units, supports, strict=True)):
        if not unit:
            continue
        x = X[:, column]
        below, above = np.maximum(x - 0.5 * unit, lower), np.minimum(x + 0.5 * unit, upper)
        X = np.repeat(X, n_parts, axis=0)
        X[:, column] = (below[:, None] + (above - below)[:, None] * steps).ravel()
        weight = np.repeat(weight / n_parts, n_parts)
    return X, weight
