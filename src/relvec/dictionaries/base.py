"""Base class of dictionaries.

A dictionary is the design matrix ``Phi`` of shape ``(n_samples, n_atoms)``. Its columns are the
basis functions at the samples, called atoms. The matrix need not exist in memory. A subclass must
implement `shape` and `columns`; all other methods have a default that works on blocks of columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector

BLOCK_BYTES = 1 << 22
"""Bytes of a temporary block of columns: large enough for BLAS, small enough for the cache."""


class Dictionary(ABC):
    """A linear map from weights to samples whose columns (atoms) are computed on demand.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import Dictionary
    >>> class Steps(Dictionary):
    ...     shape = (4, 4)
    ...
    ...     def columns(self, index):
    ...         return np.asfortranarray(np.arange(4)[:, np.newaxis] >= index, dtype=float)
    >>> Steps().matvec(np.array([1.0, 0.0, 2.0, 0.0]))
    array([1., 1., 3., 3.])
    """

    is_orthonormal: bool = False
    """Whether the columns are orthonormal by construction; closed-form solvers need that."""

    @property
    def levels(self) -> IndexArray | None:
        """Wavelet level of every atom, or None if the dictionary has no levels."""
        return None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""

    @abstractmethod
    def columns(self, index: IndexArray) -> Matrix:
        """Return the atoms `index` as a new dense array of shape (n_samples, len(index)).

        Fortran order (each atom contiguous) is preferred, because solvers read atom by atom.
        """

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the samples ``start:stop`` of every atom, shape (stop - start, n_atoms)."""
        block = np.empty((stop - start, self.shape[1]))
        for index, columns in self.column_blocks():
            block[:, index] = columns[start:stop]
        return block

    def column_blocks(self, size: int | None = None) -> Iterator[tuple[IndexArray, Matrix]]:
        """Yield all atoms in consecutive blocks, as (index, columns)."""
        n_samples, n_atoms = self.shape
        if size is None:
            size = max(1, BLOCK_BYTES // (8 * max(n_samples, 1)))
        for start in range(0, n_atoms, size):
            index = np.arange(start, min(start + size, n_atoms))
            yield index, self.columns(index)

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights``, shape (n_samples,)."""
        result = np.zeros(self.shape[0])
        for index, columns in self.column_blocks():
            result += columns @ weights[index]
        return result

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual``, shape (n_atoms,)."""
        result = np.empty(self.shape[1])
        for index, columns in self.column_blocks():
            result[index] = columns.T @ residual
        return result

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals`` for several columns at once, shape (n_atoms, k)."""
        result = np.empty((self.shape[1], residuals.shape[1]))
        for index, columns in self.column_blocks():
            result[index] = columns.T @ residuals
        return result

    def sq_norms(self, weights: Vector | None = None) -> Vector:
        """Return the (weighted) squared norm of each atom, shape (n_atoms,)."""
        result = np.empty(self.shape[1])
        for index, columns in self.column_blocks():
            if weights is None:
                result[index] = np.einsum("ij,ij->j", columns, columns)
            else:
                result[index] = weights @ (columns * columns)
        return result
