"""Moments whose Gram rows are computed when a solver asks for them."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.moments.base import Moments, resolved_target_ss
from relvec.moments.columns import PreparedColumns


class LazyMoments(Moments):
    """One target seen through prepared atoms; several targets may share the atoms.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import LazyMoments, PreparedColumns
    >>> columns = PreparedColumns(DenseDictionary([[3.0], [4.0]]), None, centre=False, store=True)
    >>> LazyMoments(columns, np.array([1.0, 2.0])).correlation  # (3 + 8) / 5
    array([2.2])
    """

    def __init__(self, columns: PreparedColumns, target: Vector) -> None:
        self.columns = columns
        prepared, self.target_mean = columns.prepare_target(target)
        self.n_effective = columns.total_weight - float(columns.centre)
        self.target_ss = resolved_target_ss(
            float(prepared @ prepared), self.target_mean, columns.total_weight
        )
        self.correlation = np.ravel(columns.correlate(prepared[None, :]))
        scales = columns.scales
        self.column_mean, self.column_norm = scales.mean, scales.norm
        self.usable, self.resolution = scales.usable, scales.resolution
        self.is_orthonormal = columns.is_orthonormal
        self.parts = columns.parts

    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of `index` in one product."""
        self.columns.fetch(index)

    def rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows, fetching those not seen before."""
        return self.columns.rows(index)

    def gram(self, index: IndexArray) -> Matrix:
        """Return a small Gram block."""
        return self.columns.gram(index)
