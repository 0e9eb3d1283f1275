"""Gradients with respect to input scales and kernel hyper-parameters (chain rule).

The log evidence depends on a kernel through the matrix ``K(X, Z)`` only. With ``E = dL/dK``, the
derivative with respect to a parameter ``p`` is ``sum_nm E_nm dK_nm/dp`` (Tipping 2001, eqs. 53-57;
Rasmussen & Williams 2006, eq. 5.9). No tensor of the size of ``K`` times the number of parameters
is formed: matrix products serve kernels whose form is known, blocks all others.

The *scale* of a feature is ``eta`` of Tipping (2001), eq. 52: the kernel is evaluated at
``sqrt(eta) * x``. For ``exp(-|x - z|^2 / 2)``, the length-scale is ``1 / sqrt(eta)``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

import relvec.kernels.scikit  # noqa: F401  (registers scikit-learn's kernels)
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import KernelLike, get_kernel_property
from relvec.kernels.evaluate import kernel_block

__all__ = [
    "center_gradient",
    "log_scale_gradient",
    "parameter_gradient",
    "raw_scale_gradient",
    "scale_jacobian",
    "squared_difference_sums",
]


def log_scale_gradient(
    kernel: KernelLike, scale: Vector, X: Matrix, Z: Matrix, E: Matrix
) -> Vector:
    """Gradient of ``sum(E * K)`` with respect to the logarithms of the feature scales.

    ``K`` has the entries ``k(sqrt(scale) x, sqrt(scale) z)`` for the rows of `X` and `Z`. The
    gradient is zero where a scale is zero; `raw_scale_gradient` is informative there.

    Parameters
    ----------
    kernel : Kernel or callable
        The kernel, evaluated at scaled inputs.
    scale : ndarray of shape (n_features,)
        Non-negative scales ``eta``.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs and centres before scaling.
    E : ndarray of shape (n_samples, n_centers)
        Derivative of the objective with respect to the entries of ``K``.

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
    >>> -0.5 * 2.0 * round(float(np.exp(-0.5 * 2.0)), 3)  # by hand, for the first feature
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
    """Gradient of ``sum(E * K)`` with respect to the scales themselves, also where they are zero.

    The arguments are those of `log_scale_gradient`; `values` is ``K``, if it is known already.
    Kernels without `measure` are differentiated numerically, one feature after the other.

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
    # Chain rule: dK/d eta_k = k'(t) dt/d eta_k, with t the measure and slopes = E k'(t).
    measure, slopes = _slopes(kernel, X * root, Z * root, E, values)
    if slopes is None:
        return _numerical(kernel, scale, X, Z, E)
    if measure == "product":  # t = sum_k eta_k x_k z_k
        result: Vector = np.einsum("ik,ik->k", X, slopes @ Z)
        return result
    if measure == "absolute":  # t = sum_k sqrt(eta_k) |x_k - z_k|
        # dt / d eta = |x - z| / (2 sqrt(eta)), infinite at zero: the limit keeps it finite.
        return _city_block_sums(slopes, X, Z) * 0.5 / np.maximum(root, 1e-150)
    # t = sum_k eta_k (x_k - z_k)^2
    return squared_difference_sums(slopes, X, Z)


def center_gradient(
    kernel: KernelLike, scale: Vector, X: Matrix, Z: Matrix, E: Matrix, step: float = 1e-5
) -> Matrix:
    """Gradient of ``sum(E * K)`` with respect to the centres `Z`.

    The arguments are those of `log_scale_gradient`. Kernels without `measure` are differentiated
    numerically, with steps of `step` in units of the scaled features.

    Returns
    -------
    gradient : ndarray of shape (n_centers, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import center_gradient
    >>> X, Z = np.array([[1.0]]), np.array([[0.0]])
    >>> center_gradient(RBF(1.0), np.array([1.0]), X, Z, np.ones((1, 1))).round(3)
    array([[0.607]])
    """
    root = np.sqrt(scale)
    measure, slopes = _slopes(kernel, X * root, Z * root, E)
    if slopes is None:
        return _numerical_center_gradient(kernel, scale, X, Z, E, step)
    if measure == "product":  # t = sum_k eta_k x_k z_k
        product: Matrix = scale * (slopes.T @ X)
        return product
    if measure == "absolute":  # t = sum_k sqrt(eta_k) |x_k - z_k|
        signs = [
            np.einsum("nm,nm->m", slopes, np.sign(np.subtract.outer(x, z)))
            for x, z in zip(X.T, Z.T, strict=True)
        ]
        return -root * np.column_stack(signs)
    # t = sum_k eta_k (x_k - z_k)^2; centred, so that the two terms do not cancel.
    middle = X.mean(axis=0)
    X, Z = X - middle, Z - middle
    result: Matrix = -2.0 * scale * (slopes.T @ X - slopes.sum(axis=0)[:, None] * Z)
    return result


def _numerical_center_gradient(
    kernel: Any, scale: Vector, X: Matrix, Z: Matrix, E: Matrix, step: float
) -> Matrix:
    """Central differences in each scaled feature of the centres."""
    root, gradient = np.sqrt(scale), np.zeros_like(Z)
    for k in np.flatnonzero(root):
        shift = np.zeros(len(root))
        shift[k] = step
        ends = [kernel_block(kernel, X * root, Z * root + each) for each in (shift, -shift)]
        gradient[:, k] = np.einsum("nm,nm->m", E, ends[0] - ends[1]) * root[k] / (2.0 * step)
    return gradient


def parameter_gradient(
    kernel: Kernel, X: Matrix, Z: Matrix, E: Matrix, block_values: int = 1 << 22
) -> Vector:
    """Gradient of ``sum(E * k(X, Z))`` with respect to `theta`, the log hyper-parameters.

    scikit-learn differentiates square matrices ``k(X, X)`` only. So inputs and centres are stacked,
    block by block, and the off-diagonal block is read off.

    Parameters
    ----------
    kernel : Kernel
        Any kernel of `sklearn.gaussian_process.kernels` or of this library.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs and centres.
    E : ndarray of shape (n_samples, n_centers)
        Derivative of the objective with respect to the entries of the kernel matrix.
    block_values : int, default=4194304
        Largest number of derivatives held at once.

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
        # Derivatives of the square matrix of both; rows against centres are its upper right block.
        _, slopes = kernel(np.vstack([rows, Z]), eval_gradient=True)
        corner = slopes[: len(rows), len(rows) :]
        gradient += np.einsum("nm,nmp->p", E[start : start + size], corner)
    return gradient


# ------------------------------------------------------------------ kernels with a known measure


def _slopes(
    kernel: KernelLike, X: Matrix, Z: Matrix, E: Matrix, values: Matrix | None = None
) -> tuple[str, Matrix | None]:
    """Return the measure ``t`` of a kernel, and ``E * dk/dt``; None if the kernel gives neither."""
    measure = get_kernel_property(kernel, "measure")
    if measure is None:
        return "", None
    rate = get_kernel_property(kernel, "rate")
    # dk/dt = -rate k for k = exp(-rate t): no second evaluation if K is known.
    if rate is not None:
        slopes = E * (kernel_block(kernel, X, Z) if values is None else values)
        slopes *= -rate
        return measure, slopes
    slope = get_kernel_property(kernel, "slope")
    return measure, None if slope is None else slope(X, Z, E)


def squared_difference_sums(slopes: Matrix, X: Matrix, Z: Matrix) -> Vector:
    """Return ``sum_nm slopes_nm (x_nk - z_mk)^2`` for every feature, by three matrix products."""
    # The square is expanded; centring keeps the three terms from cancelling.
    middle = X.mean(axis=0)
    X, Z = X - middle, Z - middle
    rows, columns = slopes.sum(axis=1), slopes.sum(axis=0)
    cross = np.einsum("ik,ik->k", X, slopes @ Z)
    result: Vector = rows @ np.square(X) + columns @ np.square(Z) - 2.0 * cross
    return result


def _city_block_sums(slopes: Matrix, X: Matrix, Z: Matrix) -> Vector:
    """Return ``sum_nm slopes_nm |x_nk - z_mk|`` for every feature."""
    sums = [
        np.einsum("nm,nm->", slopes, np.abs(np.subtract.outer(x, z)))
        for x, z in zip(X.T, Z.T, strict=True)
    ]
    return np.array(sums)


def _numerical(
    kernel: Any, scale: Vector, X: Matrix, Z: Matrix, E: Matrix, step: float = 1e-4
) -> Vector:
    """Central differences in each log scale; a one-sided difference where the scale is zero."""
    gradient = np.zeros(len(scale))
    typical = float(scale[scale > 0.0].mean()) if (scale > 0.0).any() else 1.0 / len(scale)
    for k, value in enumerate(scale):
        # Steps of 1e-4 in log eta: truncation error 1e-8, rounding error eps / 1e-4 = 1e-12,
        # relative.
        ends = value * math.exp(step), value * math.exp(-step)
        if value == 0.0:
            # Scales are not negative: one-sided, with a step relative to the other scales.
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
    """Jacobian of ``K(X, Z) @ weights`` with respect to the feature scales.

    Parameters
    ----------
    kernel : Kernel or callable
        The kernel, evaluated at scaled inputs.
    scale : ndarray of shape (n_features,)
        Non-negative scales ``eta``.
    X, Z : ndarray of shape (n_samples, n_features) and (n_centers, n_features)
        Inputs and centres before scaling.
    weights : ndarray of shape (n_centers,)
        Weights of the kernels.

    Returns
    -------
    jacobian : ndarray of shape (n_samples, n_features)
        Where a scale is zero, the entries are zero for kernels without `measure`, and for the
        Laplacian, whose derivative is infinite there.

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
    # E_nm = w_m: summing over m only gives the derivative of each row of K w.
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
    # (x - z)^2 = x^2 - 2 x z + z^2 by matrix products; centred, so that the terms do not cancel.
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
        # Central difference in log eta, divided by eta: df / d eta.
        jacobian[:, k] = (values[0] - values[1]) / (2.0 * step * scale[k])
    return jacobian
