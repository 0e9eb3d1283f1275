"""Orthonormal transforms as dictionaries, without storing their matrix.

For an orthonormal dictionary the sparse Bayesian model has a closed-form solution
(`relvec.solvers.gaussian.orthonormal`), so a fit costs little more than the transform.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy import fft

from relvec._checks import check_integer
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.filter_bank import Subband, filter_bank

__all__ = ["CosineDictionary", "ReorderedDictionary", "TransformDictionary", "WaveletDictionary"]


class TransformDictionary(Dictionary):
    """A square orthonormal matrix applied by a fast algorithm.

    Samples lie on a regular grid, in the order of ``values.ravel()``. A subclass implements
    `_forward` and `_backward`.

    Parameters
    ----------
    grid_shape : int or sequence of int
        Number of samples along each axis of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import CosineDictionary
    >>> dictionary = CosineDictionary((2, 3))
    >>> image = np.arange(6.0).reshape(2, 3)
    >>> coefficients = dictionary.analyse(image)
    >>> bool(np.allclose(dictionary.synthesise(coefficients), image))
    True
    """

    is_orthonormal = True

    def __init__(self, grid_shape: int | Sequence[int]) -> None:
        lengths = [grid_shape] if isinstance(grid_shape, (int, np.integer)) else list(grid_shape)
        if not lengths:
            raise ValueError("grid_shape needs at least one axis; got ().")
        self.grid_shape = tuple(
            check_integer(f"grid_shape[{axis}]", length, minimum=1)
            for axis, length in enumerate(lengths)
        )
        self._size = int(np.prod(self.grid_shape))

    @abstractmethod
    def _forward(self, values: np.ndarray) -> Matrix:
        """Return the coefficients, flat along the last axis; leading axes are a batch."""

    @abstractmethod
    def _backward(self, coefficients: Matrix) -> np.ndarray:
        """Return values on the grid from coefficients that are flat along the last axis."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms: they are equal."""
        return self._size, self._size

    def analyse(self, values: ArrayLike) -> Vector:
        """Return the flat coefficients of an array of shape `grid_shape`."""
        array = np.ascontiguousarray(values, dtype=np.float64)
        if array.shape != self.grid_shape:
            raise ValueError(
                f"{type(self).__name__} analyses arrays of shape {self.grid_shape}; "
                f"got {array.shape}."
            )
        return self._forward(array)

    def synthesise(self, coefficients: ArrayLike) -> np.ndarray:
        """Return the array of shape `grid_shape` that has these flat coefficients."""
        array = np.ascontiguousarray(coefficients, dtype=np.float64)
        if array.shape != (self._size,):
            raise ValueError(
                f"{type(self).__name__} needs {self._size} coefficients in a flat array; "
                f"got shape {array.shape}."
            )
        return self._backward(array)

    def columns(self, index: IndexArray) -> Matrix:
        """Synthesise the atoms `index`: one transform for each."""
        return self._backward(self._units(index)).reshape(-1, self._size).T

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the samples ``start:stop`` of every atom: one transform for each sample."""
        units = self._units(np.arange(self._size)[start:stop])
        return self._forward(units.reshape(-1, *self.grid_shape))

    def _units(self, index: IndexArray) -> Matrix:
        units = np.zeros((len(index), self._size))
        units[np.arange(len(index)), index] = 1.0
        return units

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights`` by one synthesis."""
        return np.ravel(self.synthesise(weights))

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual`` by one analysis."""
        return self.analyse(np.reshape(residual, self.grid_shape))

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals`` by one analysis for each column."""
        batch = np.ascontiguousarray(residuals.T, dtype=np.float64)
        return self._forward(batch.reshape(-1, *self.grid_shape)).T

    def sq_norms(self, weights: Vector | None = None) -> Vector:
        """Return the (weighted) squared norm of each atom: one if there are no weights."""
        if weights is None:
            return np.ones(self._size)
        if (weights == weights[0]).all():
            return np.full(self._size, float(weights[0]))
        return super().sq_norms(weights)


class CosineDictionary(TransformDictionary):
    """The orthonormal discrete cosine transform (DCT-II) along every axis.

    It extends the signal evenly at both ends, which suits smooth signals that are not periodic.

    Parameters
    ----------
    grid_shape : int or sequence of int
        Number of samples along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import CosineDictionary
    >>> CosineDictionary(4).analyse(np.full(4, 0.5))  # a constant is one atom
    array([1., 0., 0., 0.])
    """

    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-len(self.grid_shape), 0))

    def _forward(self, values: np.ndarray) -> Matrix:
        batch = values.shape[: values.ndim - len(self.grid_shape)]
        coefficients: Matrix = fft.dctn(values, type=2, norm="ortho", axes=self._axes())
        return coefficients.reshape(*batch, self._size)

    def _backward(self, coefficients: Matrix) -> np.ndarray:
        on_grid = coefficients.reshape(*coefficients.shape[:-1], *self.grid_shape)
        values: np.ndarray = fft.idctn(on_grid, type=2, norm="ortho", axes=self._axes())
        return values


class WaveletDictionary(TransformDictionary):
    """Periodised orthogonal wavelets, orthonormal for every length.

    Coefficients are ordered from the approximation to the finest details, as in `pywt.wavedec`. If
    an axis has odd length, its last sample is copied to the approximation, so no length needs
    padding. The signal is treated as periodic, because any other boundary extension would not be
    orthonormal. Pad the signal first if its two ends differ.

    Parameters
    ----------
    grid_shape : int or sequence of int
        Number of samples along each axis.
    wavelet : str, default="sym8"
        "haar", "db1" to "db38", "sym2" to "sym20" or "coif1" to "coif17".
    level : int or None, default=None
        Number of levels. None keeps at least 16 approximation coefficients along every axis of 31
        samples or more, and uses one level for shorter axes. With a number, axes are halved until
        they have one coefficient; the largest is ``ceil(log2(max(grid_shape)))``.

    Attributes
    ----------
    level : int
        Number of levels of the longest axis.
    subbands : list of Subband
        Level, orientation, slice and shape of each block of coefficients.
    levels : ndarray of shape (n_atoms,)
        Level of each coefficient: 0 for the approximation, 1 for the finest details.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import WaveletDictionary
    >>> haar = WaveletDictionary(6, "haar", level=2)
    >>> haar.levels
    array([0, 0, 2, 1, 1, 1])
    >>> coefficients = haar.analyse([3, 3, 3, 3, 3, 5])
    >>> coefficients[-1]  # the step within the last pair
    np.float64(-1.414)
    >>> haar.synthesise(coefficients)
    array([3., 3., 3., 3., 3., 5.])
    """

    def __init__(
        self, grid_shape: int | Sequence[int], wavelet: str = "sym8", level: int | None = None
    ) -> None:
        super().__init__(grid_shape)
        self._bank = filter_bank(self.grid_shape, wavelet, level)
        self.wavelet: str = self._bank.wavelet.name
        self.level = self._bank.level
        self.subbands: list[Subband] = self._bank.subbands

    @property
    def levels(self) -> IndexArray:
        """Level of each coefficient: 0 for the approximation, 1 for the finest details."""
        return self._bank.levels

    def _forward(self, values: np.ndarray) -> Matrix:
        return self._bank.decompose(values)

    def _backward(self, coefficients: Matrix) -> np.ndarray:
        return self._bank.reconstruct(coefficients)


class ReorderedDictionary(Dictionary):
    """A dictionary whose samples (rows) are permuted.

    Parameters
    ----------
    dictionary : Dictionary
        The dictionary to permute.
    order : ndarray of shape (n_samples,)
        Permutation: row `i` is row ``order[i]`` of `dictionary`.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary, ReorderedDictionary
    >>> dictionary = DenseDictionary([[1.0], [2.0], [3.0]])
    >>> ReorderedDictionary(dictionary, np.array([2, 0, 1])).matvec(np.ones(1))
    array([3., 1., 2.])
    """

    def __init__(self, dictionary: Dictionary, order: IndexArray) -> None:
        self.dictionary = dictionary
        self.order = order
        self.is_orthonormal = dictionary.is_orthonormal
        self._inverse = np.empty_like(order)
        self._inverse[order] = np.arange(len(order))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""
        return self.dictionary.shape

    @property
    def levels(self) -> IndexArray | None:
        """Wavelet level of every atom of the permuted dictionary, or None."""
        return self.dictionary.levels

    def columns(self, index: IndexArray) -> Matrix:
        """Return the atoms `index`."""
        return np.take(self.dictionary.columns(index).T, self.order, axis=1).T

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the samples ``start:stop`` of every atom."""
        wanted = self.order[start:stop]
        if len(wanted) and (np.diff(wanted) == 1).all():
            return self.dictionary.rows(int(wanted[0]), int(wanted[-1]) + 1)
        return super().rows(start, stop)

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights``."""
        return self.dictionary.matvec(weights)[self.order]

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual``."""
        return self.dictionary.rmatvec(residual[self._inverse])

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals``."""
        return self.dictionary.rmatmat(residuals[self._inverse])

    def sq_norms(self, weights: Vector | None = None) -> Vector:
        """Return the (weighted) squared norm of each atom."""
        return self.dictionary.sq_norms(None if weights is None else weights[self._inverse])
