"""Kernel values between two sets of inputs, whole or block by block.

Evaluating a kernel dictionary is most of the cost of a fit, so the work that does not
depend on the block is done once, when the evaluator is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, Kernel

from relvec._checks import check_finite_block
from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels.scaled import ScaledInputs

__all__ = ["KernelEvaluator", "KernelLike", "kernel_block"]

KernelLike: TypeAlias = Kernel | Callable[[Matrix, Matrix], Matrix]
"""A scikit-learn kernel object, or a function ``k(X, Z)`` of whole arrays."""

ENTRY_ERROR = 1e-9
"""Largest error of an entry that the product route for Gaussian kernels may make."""


class KernelEvaluator:
    """The matrix ``k(X, Z)``, of which any columns or rows can be asked for.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or callable
        A kernel object, or a function ``k(X, Z)`` that returns an array of shape
        (len(X), len(Z)).
    X : ndarray of shape (n_samples, n_features)
        Inputs, one per row of the result.
    Z : ndarray of shape (n_centers, n_features)
        Centres, one per column of the result.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import KernelEvaluator
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> KernelEvaluator(RBF(1.0), X, X).columns(np.array([0]))
    array([[1.        ],
           [0.60653066],
           [0.13533528]])
    """

    def __init__(self, kernel: KernelLike, X: Matrix, Z: Matrix) -> None:
        self.kernel = kernel
        self.X = np.asarray(X, dtype=np.float64)
        self.Z = np.asarray(Z, dtype=np.float64)
        if self.X.ndim != 2 or self.Z.ndim != 2 or self.X.shape[1] != self.Z.shape[1]:
            raise ValueError(
                "A kernel needs two 2-D arrays with the same number of columns; "
                f"got inputs of shape {self.X.shape} and centres of shape {self.Z.shape}."
            )
        self.shape = (len(self.X), len(self.Z))
        while isinstance(self.kernel, ScaledInputs):  # inputs that do not count cost nothing
            self.X, self.Z = self.kernel.scaled(self.X), self.kernel.scaled(self.Z)
            self.kernel = self.kernel.kernel
        # A subclass may have changed what the kernel computes: only the class itself is known.
        self._gaussian = _GaussianProduct.prepare(self.kernel, self.X, self.Z)

    def columns(self, index: IndexArray) -> Matrix:
        """Return ``k(X, Z[index])`` in Fortran order, shape (n_samples, len(index))."""
        if self._gaussian is not None:
            return self._gaussian.columns(index)
        return np.asfortranarray(_evaluate(self.kernel, self.X, self.Z[index]))

    def rows(self, start: int, stop: int) -> Matrix:
        """Return ``k(X[start:stop], Z)``, shape (stop - start, n_centers)."""
        if self._gaussian is not None:
            return self._gaussian.rows(start, stop)
        return _evaluate(self.kernel, self.X[start:stop], self.Z)


def kernel_block(kernel: KernelLike, X: Matrix, Z: Matrix) -> Matrix:
    """Evaluate a kernel between all rows of `X` and all rows of `Z`.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel or callable
        As in `KernelEvaluator`.
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
    return KernelEvaluator(kernel, X, Z).columns(np.arange(len(Z)))


class _GaussianProduct:
    """Gaussian kernel values as one matrix product and one exponential.

    With inputs in units of the length scale and relative to the mean of the centres,
    ``-|x - z|^2 / 2`` is the inner product of ``[x, 1, -|x|^2/2]`` and
    ``[z, -|z|^2/2, 1]``.
    """

    def __init__(self, X: Matrix, Z: Matrix, x_half: Vector, z_half: Vector) -> None:
        ones = np.ones((len(X), 1))
        self._left = np.hstack([X, ones, -x_half[:, np.newaxis]])
        self._right = np.hstack([Z, -z_half[:, np.newaxis], np.ones((len(Z), 1))])
        self._left_transposed = np.ascontiguousarray(self._left.T)
        self._right_transposed = np.ascontiguousarray(self._right.T)

    @staticmethod
    def prepare(
        kernel: KernelLike, X: Matrix, Z: Matrix
    ) -> _GaussianProduct | _GaussianExact | None:
        """Return the faster route that is exact enough, or None for another kernel."""
        if type(kernel) is not RBF:
            return None
        scale = _length_scale(kernel, X.shape[1])
        with np.errstate(over="ignore"):
            centre = Z.mean(axis=0) if len(Z) else 0.0
            near_X = (X - centre) / scale
            near_Z = (Z - centre) / scale
            x_half = 0.5 * np.einsum("ij,ij->i", near_X, near_X)
            z_half = 0.5 * np.einsum("ij,ij->i", near_Z, near_Z)
        # The exponent is a sum of d + 2 terms that cancel; its rounding error is at most
        # about (d + 3) eps |z|^2 wherever the kernel is not zero anyway, since |x| and |z|
        # then differ by a few units. So only the centres need to be near the origin.
        limit = ENTRY_ERROR / ((X.shape[1] + 3) * np.finfo(np.float64).eps)
        if 2.0 * z_half.max(initial=0.0) <= limit and np.isfinite(x_half).all():
            return _GaussianProduct(near_X, near_Z, x_half, z_half)
        # Not centred: one far centre would move the mean, and the shift would cost digits.
        return _GaussianExact(X / scale, Z / scale)

    # Rounding may leave an exponent of +1e-16 at zero distance. Clipping it would cost half
    # as much as the exponential, for values that are within ENTRY_ERROR of one anyway.

    def columns(self, index: IndexArray) -> Matrix:
        # Computed as (atoms, samples), whose transpose is in Fortran order for free.
        exponent: Matrix = self._right[index] @ self._left_transposed
        return np.exp(exponent, out=exponent).T

    def rows(self, start: int, stop: int) -> Matrix:
        exponent: Matrix = self._left[start:stop] @ self._right_transposed
        return np.exp(exponent, out=exponent)


class _GaussianExact:
    """Gaussian kernel values from differences, for inputs spread over many length scales."""

    def __init__(self, X: Matrix, Z: Matrix) -> None:
        self._X = X
        self._Z = Z

    def columns(self, index: IndexArray) -> Matrix:
        squared: Matrix = cdist(self._Z[index], self._X, "sqeuclidean")
        return np.exp(-0.5 * squared).T

    def rows(self, start: int, stop: int) -> Matrix:
        squared: Matrix = cdist(self._X[start:stop], self._Z, "sqeuclidean")
        return np.exp(-0.5 * squared)


def _length_scale(kernel: RBF, n_features: int) -> Vector:
    scale = np.atleast_1d(np.asarray(kernel.length_scale, dtype=np.float64))
    if scale.ndim != 1 or len(scale) not in (1, n_features):
        raise ValueError(
            f"{kernel} has {scale.size} length scales, but the inputs have {n_features} "
            "features. Give one length scale, or one per feature."
        )
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError(f"The length scale of an RBF kernel must be positive; got {kernel}.")
    return scale


def _evaluate(kernel: KernelLike, X: Matrix, Z: Matrix) -> Matrix:
    """Call a kernel that is not ours, and make sure of what it returns."""
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
