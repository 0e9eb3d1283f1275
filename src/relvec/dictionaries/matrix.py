"""Dictionaries stored as a matrix, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary

__all__ = ["DenseDictionary", "SparseDictionary"]


class DenseDictionary(Dictionary):
    """A dictionary stored as a dense array.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_atoms)
        The atoms as columns. A float64 array is not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> DenseDictionary([[1, 2], [3, 4]]).matvec(np.array([1.0, 1.0]))
    array([3., 7.])
    """

    def __init__(self, array: ArrayLike) -> None:
        self.array = np.asarray(array, dtype=np.float64)
        if self.array.ndim != 2:
            raise ValueError(
                f"DenseDictionary needs a 2-D array (samples, atoms); got {self.array.ndim}-D."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""
        n_samples, n_atoms = self.array.shape
        return n_samples, n_atoms

    def columns(self, index: IndexArray) -> Matrix:
        """Return a copy of the atoms `index` in Fortran order."""
        return np.asfortranarray(self.array.T[index].T)

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a copy of the samples ``start:stop``."""
        return self.array[start:stop].copy()

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights``."""
        result: Vector = self.array @ weights
        return result

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual``."""
        result: Vector = self.array.T @ residual
        return result

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals``."""
        result: Matrix = self.array.T @ residuals
        return result

    def sq_norms(self, weights: Vector | None = None, cache_bytes: int = 1 << 20) -> Vector:
        """Return the (weighted) squared norm of each atom, in blocks of `cache_bytes`."""
        n_samples, n_atoms = self.shape
        if weights is None:
            weights = np.ones(n_samples)
        # Square a few rows at a time (columns in Fortran order): the temporary array must not
        # double the memory, and should fit into the cache.
        result = np.zeros(n_atoms)
        if self.array.flags.f_contiguous:
            step = max(1, cache_bytes // (8 * max(n_samples, 1)))
            for start in range(0, n_atoms, step):
                block = self.array[:, start : start + step]
                result[start : start + step] = weights @ (block * block)
            return result
        step = max(1, cache_bytes // (8 * max(n_atoms, 1)))
        for start in range(0, n_samples, step):
            block = self.array[start : start + step]
            result += weights[start : start + step] @ (block * block)
        return result


class SparseDictionary(Dictionary):
    """A dictionary stored as a SciPy sparse array.

    Parameters
    ----------
    matrix : scipy sparse array or matrix of shape (n_samples, n_atoms)
        The atoms as columns; stored column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from relvec.dictionaries import SparseDictionary
    >>> SparseDictionary(sparse.eye_array(3)).sq_norms()
    array([1., 1., 1.])
    """

    def __init__(self, matrix: Any) -> None:
        if not sparse.issparse(matrix):
            raise TypeError(
                "SparseDictionary needs a scipy sparse array or matrix; "
                f"got {type(matrix).__name__}. Use DenseDictionary for dense arrays."
            )
        self.matrix = sparse.csc_array(matrix, dtype=np.float64)
        if not self.matrix.has_canonical_format:
            # Duplicate entries are summed, which must happen before they are squared.
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()
        self._squares = sparse.csc_array(
            (self.matrix.data**2, self.matrix.indices, self.matrix.indptr), shape=matrix.shape
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""
        n_samples, n_atoms = self.matrix.shape
        return int(n_samples), int(n_atoms)

    def columns(self, index: IndexArray) -> Matrix:
        """Return the atoms `index` as a dense array in Fortran order."""
        result: Matrix = self.matrix[:, index].toarray(order="F")
        return result

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the samples ``start:stop`` as a dense array."""
        result: Matrix = self.matrix[start:stop].toarray()
        return result

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights``."""
        result: Vector = self.matrix @ weights
        return result

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual``."""
        result: Vector = self.matrix.T @ residual
        return result

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals``."""
        result: Matrix = self.matrix.T @ residuals
        return result

    def sq_norms(self, weights: Vector | None = None) -> Vector:
        """Return the (weighted) squared norm of each atom."""
        if weights is None:
            weights = np.ones(self.shape[0])
        result: Vector = self._squares.T @ weights
        return result
