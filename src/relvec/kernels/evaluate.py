"""Evaluation of kernel matrices ``k(X, Z)``, as a whole or block by block.

Evaluating the kernel dominates the cost of a fit, so everything that does not depend on the block
is computed once, when the dictionary is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF

from relvec._checks import as_object_array, check_finite_block
from relvec._typing import IndexArray, Matrix
from relvec.dictionaries.base import Dictionary
from relvec.kernels.definition import (
    KERNEL_DEFINITIONS,
    KernelLike,
    kernel_accepts_objects,
    squeeze_object_column,
)
from relvec.kernels.scaled import ScaledInputs

__all__ = ["GaussianDictionary", "KernelDictionary", "kernel_block", "kernel_dictionary"]


def kernel_dictionary(kernel: KernelLike, X: Any, Z: Any) -> Dictionary:
    """Return the kernel matrix ``k(X, Z)`` as a dictionary with columns and rows on demand.

    The matrix is not stored: memory is that of the requested block.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or callable
        A kernel object, or a function ``k(X, Z)`` that returns an array of shape
        (len(X), len(Z)).
    X : ndarray of shape (n_samples, n_features)
        Inputs, one per row of the matrix: numbers, or objects if the kernel accepts them.
    Z : ndarray of shape (n_centers, n_features)
        Centres, one per column of the matrix.

    Returns
    -------
    dictionary : Dictionary

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import kernel_dictionary
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> kernel_dictionary(RBF(1.0), X, X).columns(np.array([0]))
    array([[1.        ],
           [0.60653066],
           [0.13533528]])
    """
    if not type(X) is type(Z) is np.ndarray or not X.dtype == Z.dtype == np.float64:
        X, Z = _as_arrays(kernel, X, Z)
    if X.ndim != 2 or Z.ndim != 2 or X.shape[1] != Z.shape[1]:
        raise ValueError(
            "A kernel needs two 2-D arrays with the same number of columns; "
            f"got inputs of shape {X.shape} and centres of shape {Z.shape}."
        )
    # Scale once, and drop features of scale zero, which cost nothing then.
    while isinstance(kernel, ScaledInputs):
        X, Z = kernel.scaled(X), kernel.scaled(Z)
        kernel = kernel.kernel
    # Looked up by the exact class: a subclass may compute something else.
    definition = KERNEL_DEFINITIONS.get(type(kernel))
    if definition is None or definition.dictionary is None:
        return KernelDictionary(kernel, X, Z)
    return definition.dictionary(kernel, X, Z)


def kernel_block(kernel: KernelLike, X: Any, Z: Any) -> Matrix:
    """Evaluate a kernel between all rows of `X` and all rows of `Z`.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or callable
        As in `kernel_dictionary`.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    Z : ndarray of shape (n_centers, n_features)
        Centres.

    Returns
    -------
    K : ndarray of shape (n_samples, n_centers)
        In Fortran order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import kernel_block
    >>> kernel_block(RBF(1.0), np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.607]])
    """
    return kernel_dictionary(kernel, X, Z).columns(np.arange(len(Z)))


class KernelDictionary(Dictionary):
    """Kernel matrix as a dictionary, one atom per centre; each block is one call of the kernel.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or callable
        As in `kernel_dictionary`, which uses faster dictionaries for some kernels.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    Z : ndarray of shape (n_centers, n_features)
        Centres.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.kernels import KernelDictionary, Laplacian
    >>> X = np.linspace(0, 1, 5)[:, np.newaxis]
    >>> KernelDictionary(Laplacian(), X, X[:2]).shape
    (5, 2)
    """

    shape: tuple[int, int] = (0, 0)

    def __init__(self, kernel: KernelLike, X: Any, Z: Any) -> None:
        self.kernel = kernel
        self.X, self.Z = squeeze_object_column(X), squeeze_object_column(Z)
        self.shape = (len(X), len(Z))

    def columns(self, index: IndexArray) -> Matrix:
        """Return ``k(X, Z[index])`` in Fortran order, shape (n_samples, len(index))."""
        return np.asfortranarray(_evaluate(self.kernel, self.X, self.Z[index]))

    def rows(self, start: int, stop: int) -> Matrix:
        """Return ``k(X[start:stop], Z)``, shape (stop - start, n_centers)."""
        return _evaluate(self.kernel, self.X[start:stop], self.Z)


class GaussianDictionary(Dictionary):
    """Gaussian (RBF) kernel matrix, as one matrix product and one exponential.

    With inputs in units of the length-scale and relative to the mean of the centres,
    ``-|x - z|^2 / 2`` is the inner product of ``[x, 1, -|x|^2/2]`` and ``[z, -|z|^2/2, 1]``. If the
    centres extend over so many length-scales that cancellation would exceed `entry_error`, squared
    distances are computed from differences instead.

    Parameters
    ----------
    kernel : RBF
        With one length-scale, or one per feature.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    Z : ndarray of shape (n_centers, n_features)
        Centres.
    entry_error : float, default=1e-9
        Largest rounding error of an entry for which the matrix product is used.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import GaussianDictionary
    >>> X = np.array([[0.0], [2.0]])
    >>> GaussianDictionary(RBF(1.0), X, X).rows(0, 1).round(3)
    array([[1.   , 0.135]])
    """

    shape: tuple[int, int] = (0, 0)

    def __init__(self, kernel: RBF, X: Matrix, Z: Matrix, entry_error: float = 1e-9) -> None:
        self.shape = (len(X), len(Z))
        n_features = X.shape[1]
        length_scale = np.atleast_1d(np.asarray(kernel.length_scale, dtype=np.float64))
        if length_scale.ndim != 1 or len(length_scale) not in (1, n_features):
            raise ValueError(
                f"{kernel} has {length_scale.size} length-scales, but the inputs have {n_features} "
                "features. Give one length-scale, or one per feature."
            )
        if not (np.isfinite(length_scale).all() and (length_scale > 0).all()):
            raise ValueError(f"The length-scale of an RBF kernel must be positive; got {kernel}.")
        with np.errstate(over="ignore"):
            # Overflow gives infinite squares, for which the product form is not used.
            centre = Z.mean(axis=0) if len(Z) else 0.0
            scaled_X = (X - centre) / length_scale
            scaled_Z = (Z - centre) / length_scale
            x_half = 0.5 * np.einsum("ij,ij->i", scaled_X, scaled_X)
            z_half = 0.5 * np.einsum("ij,ij->i", scaled_Z, scaled_Z)
        # The exponent is a sum of d + 2 terms that cancel; its rounding error is at most
        # about (d + 3) eps |z|^2 wherever the kernel is not zero anyway, since |x| and |z|
        # then differ by a few units. So only the centres need to be near the origin.
        limit = entry_error / ((n_features + 3) * np.finfo(np.float64).eps)
        self._is_product = bool(
            2.0 * z_half.max(initial=0.0) <= limit and np.isfinite(x_half).all()
        )
        if not self._is_product:
            # Not centred: one distant centre would move the mean, and the shift would lose digits.
            self._left, self._right = X / length_scale, Z / length_scale
            return
        ones = np.ones((len(X), 1))
        self._left = np.hstack([scaled_X, ones, -x_half[:, np.newaxis]])
        self._right = np.hstack([scaled_Z, -z_half[:, np.newaxis], np.ones((len(Z), 1))])
        self._left_transposed = np.ascontiguousarray(self._left.T)
        self._right_transposed = np.ascontiguousarray(self._right.T)

    # Rounding may leave an exponent of +1e-16 at zero distance. Clipping it would cost half
    # as much as the exponential, for values that are close enough to one anyway.

    def columns(self, index: IndexArray) -> Matrix:
        """Return ``k(X, Z[index])`` in Fortran order, shape (n_samples, len(index))."""
        # Computed as (atoms, samples), whose transpose is in Fortran order for free.
        if self._is_product:
            exponent: Matrix = self._right[index] @ self._left_transposed
            return np.exp(exponent, out=exponent).T
        squared: Matrix = cdist(self._right[index], self._left, "sqeuclidean")
        # Distances from differences: |x - z|^2 does not cancel.
        return np.exp(-0.5 * squared).T

    def rows(self, start: int, stop: int) -> Matrix:
        """Return ``k(X[start:stop], Z)``, shape (stop - start, n_centers)."""
        if self._is_product:
            exponent: Matrix = self._left[start:stop] @ self._right_transposed
            return np.exp(exponent, out=exponent)
        squared: Matrix = cdist(self._left[start:stop], self._right, "sqeuclidean")
        return np.exp(-0.5 * squared)


def _as_arrays(kernel: KernelLike, X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and centres as arrays of numbers, or of objects if the kernel accepts them."""
    left, right = (
        (as_object_array(X), as_object_array(Z)) if kernel_accepts_objects(kernel) else (None, None)
    )
    if left is None and right is None:
        return np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    if left is None or (right is None and len(Z)):
        raise TypeError(
            f"kernel {kernel!r} got objects and numbers to compare; inputs must be of the kind "
            "that the model was fitted to."
        )
    return left, np.empty((0, left.shape[1]), dtype=object) if right is None else right


def _evaluate(kernel: KernelLike, X: Any, Z: Any) -> Matrix:
    """Call a kernel and check shape, dtype and finiteness of the result."""
    needed = (len(X), len(Z))
    try:
        returned: Any = kernel(X, Z)
    except Exception as error:
        error.add_note(
            f"relvec: kernel {kernel!r} was called with arrays of shapes {X.shape} and {Z.shape}; "
            f"it must accept whole arrays and return one of shape {needed}."
        )
        raise
    if not isinstance(returned, np.ndarray):
        raise ValueError(
            f"kernel {kernel!r} returned {type(returned).__name__}; it must return an ndarray "
            f"of shape {needed} for inputs of shapes {X.shape} and {Z.shape}."
        )
    if returned.shape != needed:
        raise ValueError(
            f"kernel {kernel!r} returned an array of shape {returned.shape}; it must return "
            f"shape {needed} for inputs of shapes {X.shape} and {Z.shape}: one row per row of "
            "the first input, one column per row of the second."
        )
    if returned.dtype.kind not in "fiub":
        raise ValueError(
            f"kernel {kernel!r} returned values of dtype {returned.dtype}; "
            "it must return real numbers."
        )
    block = returned.astype(np.float64, copy=False)
    check_finite_block(block, f"the values of kernel {kernel!r}")
    return block
