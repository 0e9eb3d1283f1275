"""Precomputed kernel or design matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.bases.linear import ColumnAtoms, matrix_dictionary

__all__ = ["PrecomputedBasis"]


class PrecomputedBasis(Basis):
    """Precomputed basis functions: one per column of the input.

    In fit, `X` is the kernel or design matrix, of shape (n_samples, n_atoms). In predict, `X` has
    one row per new sample and the same columns; only the columns of basis functions in the model
    are read.

    Parameters
    ----------
    localised : bool, default=True
        Whether the columns are overlapping kernel functions (True) or explicit regressors
        (False), which have a larger entry penalty under ``min_gain="auto"``. With True and a
        square matrix, column `i` is taken to be centred on training row `i`.

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
        """Return True: `bind` takes scipy sparse inputs."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Return one atom per column. Sample weights and the random state have no influence."""
        n_samples, n_atoms = X.shape
        is_kernel_matrix = self.localised and n_samples == n_atoms
        return BoundBasis(
            dictionary=matrix_dictionary(X),
            atoms=ColumnAtoms(np.arange(n_atoms), n_atoms),
            is_localised=np.full(n_atoms, bool(self.localised)),
            source_row=np.arange(n_atoms) if is_kernel_matrix else np.full(n_atoms, -1),
        )
