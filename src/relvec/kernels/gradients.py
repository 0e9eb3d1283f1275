"""How sums over kernel values change with the scales of inputs and with kernel parameters.

Evidences depend on kernels through matrices ``K(X, Z)`` only. With ``E`` the derivative of an
evidence in the entries of that matrix, the derivative in a parameter is the sum of ``E`` times
the derivative of ``K``. It is computed without a tensor of the size of ``K`` times the number of
parameters: by matrix products where the form of the kernel is known, in blocks otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

import relvec.kernels.scikit  # noqa: F401  (says what is known of those of scikit-learn)
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import KernelLike, get_kernel_property
from relvec.kernels.evaluate import kernel_block

__all__ = [
    "log_scale_gradient",
    "parameter_gradient",
    "raw_scale_gradient",
    "scale_jacobian",
    "squared_difference_sums",
]


def log_scale_gradient(
    kernel: KernelLike, scale: Vector, X: Matrix, Z: Matrix, E: Matrix
) -> Vector:
    """Derivative of ``sum(E * K)`` in the logarithms of the scales of the inputs.

    ``K`` has the entries ``k(sqrt(scale) x, sqrt(scale) z)`` for the rows of `X` and `Z`. A scale
    of zero has derivative zero; `raw_scale_gradient` says what it gains by becoming positive.

    Parameters
    ----------
    kernel : Kernel or callable
        The kernel of scaled inputs.
    scale : ndarray of shape (n_features,)
        Scales, none of them negative.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs before scaling.
    E : ndarray of shape (n_samples, n_centers)
        Weights of the entries.

    Returns
    -------
    gradient : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import log_scale_gradient
    >>> X, Z = np.array([[0.0, 1.0]]), np.array([[2.0, 1.0]])
    >>> log_scale_gradient(RBF(1.0), np.array([0.5, 1.0]), X, Z, np.ones((1, 1))).round(3)
    array([-0.368,  0.   ])
    >>> -0.5 * 2.0 * round(float(np.exp(-0.5 * 2.0)), 3)  # by hand, for the first input
    -0.368
    """
    return scale * raw_scale_gradient(kernel, scale, X, Z, E)


def raw_scale_gradient(
    kernel: KernelLike,
    scale: Vector,
    X: Matrix,
    Z: Matrix,
    E: Matrix,
    values: Matrix | None = None,
) -> Vector:
    """Derivative of ``sum(E * K)`` in the scales themselves, also where they are zero.

    The arguments are those of `log_scale_gradient`; `values` is ``K``, if it is known already.
    Kernels whose form is not known are differentiated numerically, one input after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import raw_scale_gradient
    >>> X, Z = np.array([[0.0, 1.0]]), np.array([[0.0, 3.0]])
    >>> raw_scale_gradient(RBF(1.0), np.array([1.0, 0.0]), X, Z, np.ones((1, 1)))
    array([ 0., -2.])
    """
    root = np.sqrt(scale)
    measure, slopes = _slopes(kernel, X * root, Z * root, E, values)
    if slopes is None:
        return _numerical(kernel, scale, X, Z, E)
    if measure == "product":
        result: Vector = np.einsum("ik,ik->k", X, slopes @ Z)
        return result
    if measure == "absolute":
        return _city_block_sums(slopes, X, Z) * 0.5 / np.maximum(root, 1e-150)
    return squared_difference_sums(slopes, X, Z)


def parameter_gradient(
    kernel: Kernel, X: Matrix, Z: Matrix, E: Matrix, block_values: int = 1 << 22
) -> Vector:
    """Derivative of ``sum(E * k(X, Z))`` in `theta`, the log parameters of a scikit-learn kernel.

    scikit-learn differentiates square matrices ``k(X, X)`` only: inputs and centres are put
    together block by block, and the corner that was asked for is taken out.

    Parameters
    ----------
    kernel : Kernel
        Any kernel of `sklearn.gaussian_process.kernels` or of this library.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs and centres.
    E : ndarray of shape (n_samples, n_centers)
        Weights of the entries.
    block_values : int, default=4194304
        Most numbers in a block of derivatives.

    Returns
    -------
    gradient : ndarray of shape (n_parameters,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import parameter_gradient
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[2.0]])
    >>> parameter_gradient(RBF(1.0), X, Z, np.ones((2, 1)))
    array([1.14787179])
    """
    gradient = np.zeros(kernel.n_dims)
    if not kernel.n_dims:
        return gradient
    n_centers = len(Z)
    size = max(1, int(math.sqrt(block_values / kernel.n_dims)) - n_centers, n_centers // 4)
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        _, slopes = kernel(np.vstack([rows, Z]), eval_gradient=True)
        corner = slopes[: len(rows), len(rows) :]
        gradient += np.einsum("nm,nmp->p", E[start : start + size], corner)
    return gradient


# ------------------------------------------------------------------ kernels of a known form


def _slopes(
    kernel: KernelLike, X: Matrix, Z: Matrix, E: Matrix, values: Matrix | None = None
) -> tuple[str, Matrix | None]:
    """What a kernel is a function of, and `E` times its derivative in that; None if not known."""
    measure = get_kernel_property(kernel, "measure")
    if measure is None:
        return "", None
    rate = get_kernel_property(kernel, "rate")
    if rate is not None:
        return measure, E * (kernel_block(kernel, X, Z) if values is None else values) * -rate
    slope = get_kernel_property(kernel, "slope")
    return measure, None if slope is None else slope(X, Z, E)


def squared_difference_sums(slopes: Matrix, X: Matrix, Z: Matrix) -> Vector:
    """Return ``sum_nm slopes_nm (x_nk - z_mk)^2`` for every input, by three matrix products."""
    middle = X.mean(axis=0)  # squares of what is far from zero would cancel
    X, Z = X - middle, Z - middle
    rows, columns = slopes.sum(axis=1), slopes.sum(axis=0)
    cross = np.einsum("ik,ik->k", X, slopes @ Z)
    result: Vector = rows @ np.square(X) + columns @ np.square(Z) - 2.0 * cross
    return result


def _city_block_sums(slopes: Matrix, X: Matrix, Z: Matrix) -> Vector:
    """Return ``sum_nm slopes_nm |x_nk - z_mk|`` for every input."""
    sums = [
        np.einsum("nm,nm->", slopes, np.abs(np.subtract.outer(x, z)))
        for x, z in zip(X.T, Z.T, strict=True)
    ]
    return np.array(sums)


def _numerical(
    kernel: Any, scale: Vector, X: Matrix, Z: Matrix, E: Matrix, step: float = 1e-4
) -> Vector:
    """Differentiate in one log scale after the other; at zero, to the one side there is."""
    gradient = np.zeros(len(scale))
    typical = float(scale[scale > 0.0].mean()) if (scale > 0.0).any() else 1.0 / len(scale)
    for k, value in enumerate(scale):
        ends = value * math.exp(step), value * math.exp(-step)
        if value == 0.0:
            ends = step * typical, 0.0
        sums = []
        for end in ends:
            moved = scale.copy()
            moved[k] = end
            root = np.sqrt(moved)
            sums.append(float(np.einsum("nm,nm->", E, kernel_block(kernel, X * root, Z * root))))
        gradient[k] = (sums[0] - sums[1]) / (ends[0] - ends[1])
    return gradient


def scale_jacobian(
    kernel: KernelLike, scale: Vector, X: Matrix, Z: Matrix, weights: Vector
) -> Matrix:
    """Derivative of a sum of kernels at every input in the scales themselves.

    Parameters
    ----------
    kernel : Kernel or callable
        The kernel of scaled inputs.
    scale : ndarray of shape (n_features,)
        Scales, none of them negative.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs and centres before scaling.
    weights : ndarray of shape (n_centers,)
        Weights of the kernels.

    Returns
    -------
    jacobian : ndarray of shape (n_samples, n_features)
        Zero, for kernels whose form is not known, where the scale is; also for the Laplacian,
        whose derivative is infinite there.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import scale_jacobian
    >>> X, Z = np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]])
    >>> scale_jacobian(RBF(1.0), np.array([1.0]), X, Z, np.array([1.0, -1.0])).round(3)
    array([[0.271],
           [0.   ]])
    """
    root = np.sqrt(scale)
    each = np.broadcast_to(weights, (len(X), len(Z)))
    measure, slopes = _slopes(kernel, X * root, Z * root, each)
    if slopes is None:
        return _numerical_jacobian(kernel, scale, X, Z, weights)
    if measure == "product":
        product: Matrix = X * (slopes @ Z)
        return product
    if measure == "absolute":
        half = np.where(root > 0.0, 0.5 / np.maximum(root, 1e-150), 0.0)
        columns = [
            np.einsum("nm,nm->n", slopes, np.abs(np.subtract.outer(x, z)))
            for x, z in zip(X.T, Z.T, strict=True)
        ]
        return np.column_stack(columns) * half
    middle = X.mean(axis=0)
    X, Z = X - middle, Z - middle
    total = slopes.sum(axis=1)[:, None]
    result: Matrix = np.square(X) * total - 2.0 * X * (slopes @ Z) + slopes @ np.square(Z)
    return result


def _numerical_jacobian(
    kernel: Any, scale: Vector, X: Matrix, Z: Matrix, weights: Vector, step: float = 1e-4
) -> Matrix:
    jacobian = np.zeros((len(X), len(scale)))
    for k in np.flatnonzero(scale > 0.0):
        values = []
        for direction in (1.0, -1.0):
            moved = scale.copy()
            moved[k] *= math.exp(direction * step)
            root = np.sqrt(moved)
            values.append(kernel_block(kernel, X * root, Z * root) @ weights)
        jacobian[:, k] = (values[0] - values[1]) / (2.0 * step * scale[k])
    return jacobian
