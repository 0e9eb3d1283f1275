"""Default basis of a log rate whose precisions are tied: kernels of several widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.bases import KernelBasis, UnionBasis
from relvec.bases.base import Basis, BoundBasis

__all__ = ["WidthTuning", "find_groups", "make_width_union"]


@dataclass(frozen=True)
class WidthTuning:
    """Constants of the default bases of tied precisions."""

    fewest: int = 4
    """Widths begin at this fraction of the range of the feature, and are halved."""
    most: int = 32
    """Smallest fraction with few rows."""
    rows_per_width: int = 16
    """With many rows, widths are halved as long as so many rows are within one, on average."""
    limit: int = 256
    """Smallest fraction with any number of rows."""
    max_centers: int = 300
    """Largest number of kernels of several features. All of them stay in the model, so the cost of
    a fit grows with the third power of their number."""


_TUNING = WidthTuning()


def make_width_union(X: Any, weight: Vector | None, tuning: WidthTuning = _TUNING) -> Basis | None:
    """Return RBF kernels of several widths on grids over the range of one feature.

    The distance of the centres is the width, and there is one centre beyond either end. None if
    the feature is constant.
    """
    inputs = np.asarray(X[:, 0] if weight is None else X[weight > 0.0, 0], dtype=np.float64)
    low, span = float(inputs.min()), float(np.ptp(inputs))
    if not span > 0.0:
        return None
    bases: list[Basis] = []
    count, enough = tuning.fewest, max(tuning.most, len(inputs) // tuning.rows_per_width)
    while count <= min(enough, tuning.limit):
        width = span / count
        centers = low + width * np.arange(-1, count + 2)
        bases.append(KernelBasis("rbf", gamma=0.5 / width**2, centers=centers[:, None]))
        count *= 2
    return UnionBasis(bases)


def find_groups(bound: BoundBasis) -> IndexArray:
    """Return the groups of atoms that share a precision: bases of a union, or wavelet levels."""
    n_atoms = bound.dictionary.shape[1]
    if bound.parts:
        return bound.groups("part")
    levels = bound.dictionary.levels
    if levels is not None and len(levels) == n_atoms:
        return bound.groups("level")
    return np.zeros(n_atoms, dtype=np.intp)
