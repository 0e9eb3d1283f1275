"""A kernel or design matrix computed elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.bases.linear import ColumnAtoms, matrix_dictionary

__all__ = ["PrecomputedBasis"]


class PrecomputedBasis(Basis):
    """The input is the dictionary itself: one atom per column.

    In fit, `X` is the (n_samples, n_atoms) kernel or design matrix. To predict, `X` has one
    row per new sample and the same columns; only those of the active atoms are read.

    Parameters
    ----------
    localised : bool, default=True
        Whether the columns are overlapping kernel functions (True) or explicit regressors
        (False); solvers charge more for the entry of the latter. With True and a square
        matrix, column `i` is taken to be centred on training row `i`.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import PrecomputedBasis
    >>> bound = PrecomputedBasis().bind(np.eye(3))
    >>> bound.source_row
    array([0, 1, 2])
    """

    def __init__(self, localised: bool = True) -> None:
        self.localised = localised

    @property
    def accepts_sparse(self) -> bool:
        """Whether `bind` takes scipy sparse inputs: it does."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Offer every column of `X` as an atom; nothing depends on the weights or on chance."""
        n_samples, n_atoms = X.shape
        is_kernel_matrix = self.localised and n_samples == n_atoms
        return BoundBasis(
            dictionary=matrix_dictionary(X),
            atoms=ColumnAtoms(np.arange(n_atoms), n_atoms),
            is_localised=np.full(n_atoms, bool(self.localised)),
            source_row=np.arange(n_atoms) if is_kernel_matrix else np.full(n_atoms, -1),
        )
