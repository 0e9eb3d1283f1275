"""Which rows lie outside the range of the others, to be held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._checks import check_choice
from relvec._typing import BoolArray, Matrix, Vector
from relvec.describing import convert_to_matrix, get_column_names

__all__ = ["RANGES", "select_outside"]

RANGES = ("auto", "ends", "last", "first", "outermost")


def select_outside(X: Any, where: Any, feature: Any, share: float) -> tuple[BoolArray, str]:
    """Return which rows are held out, and their description.

    Examples
    --------
    >>> select_outside(np.arange(10.0)[:, np.newaxis], "ends", None, 0.2)[0].nonzero()[0]
    array([0, 9])
    """
    if not isinstance(where, str):
        mask = np.asarray(where)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if mask.shape != (n_rows,) or mask.dtype != bool:
            raise ValueError(
                f"where must be one of {RANGES}, or a mask with True or False for each of the "
                f"{n_rows} rows; got an array of shape {mask.shape} and type {mask.dtype}."
            )
        return mask, "given rows"
    check_choice("where", where, RANGES, also="or a mask of the rows")
    matrix, names = convert_to_matrix(X), get_column_names(X)
    if where == "auto":
        where = "ends" if len(names) == 1 or feature is not None else "outermost"
    if where == "outermost":
        if feature is not None:
            raise ValueError(
                'where="outermost" takes all features into account. Omit feature, or give '
                'where="ends".'
            )
        distance = _compute_distance(matrix)
        limit = _find_limit(distance, share)
        return distance > limit, "rows farthest from the mean of the inputs"
    column = _find_feature(feature, names)
    values, name = matrix[:, column], names[column]
    if where == "last":
        return values > _find_limit(values, share), f"largest values of {name}"
    if where == "first":
        return -values > _find_limit(-values, share), f"smallest values of {name}"
    low, high = -_find_limit(-values, 0.5 * share), _find_limit(values, 0.5 * share)
    return (values < low) | (values > high), f"smallest and largest values of {name}"


def _find_feature(feature: Any, names: list[str]) -> int:
    if feature is None and len(names) > 1:
        raise ValueError(
            f"there are {len(names)} features: give feature, the name or index of the one whose "
            'ends are held out, or where="outermost".'
        )
    if isinstance(feature, str) and feature not in names:
        raise ValueError(f"feature must be one of {names}; got {feature!r}.")
    index = names.index(feature) if isinstance(feature, str) else int(feature or 0)
    if not 0 <= index < len(names):
        raise ValueError(f"feature must be below {len(names)}; got {index}.")
    return index


def _find_limit(values: Vector, share: float) -> float:
    """Return the value above which lies at most this share of the rows; ties stay together."""
    n_outside = max(round(share * len(values)), 1)
    return float(np.sort(values)[-n_outside - 1])


def _compute_distance(X: Matrix) -> Vector:
    """Compute the Mahalanobis distance of each row from the mean."""
    centred = X - X.mean(axis=0)
    # The left singular vectors are the whitened inputs, also of collinear features.
    left, values, _ = np.linalg.svd(
        centred / np.maximum(X.std(axis=0), 1e-300), full_matrices=False
    )
    kept = left[:, values > len(X) * np.finfo(np.float64).eps * values.max(initial=0.0)]
    distance: Vector = np.sqrt(len(X) * (kept**2).sum(axis=1))
    return distance
