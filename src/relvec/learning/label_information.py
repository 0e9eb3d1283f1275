"""What labels say of the scales of inputs, around a fitted classifier."""

from __future__ import annotations

import numpy as np

from relvec._linalg import inverse_from_cholesky, robust_cholesky
from relvec._typing import Matrix, Vector
from relvec.kernels import KernelLike, kernel_block, scale_jacobian, scaled_inputs

__all__ = ["label_information"]


def label_information(
    kernel: KernelLike,
    scale: Vector,
    X: Matrix,
    centers: Matrix,
    weights: Vector,
    precision: Vector,
    curvature: Vector,
    directions: Matrix,
    *,
    has_intercept: bool,
) -> Matrix:
    """Curvature of the log likelihood along changes of the scales, weights integrated out.

    At its mode a logit is a regression whose noise has the inverse variances `curvature`, so this
    is ``D' C^-1 D`` as there, with ``D`` the derivative of the logit in the scales.

    Parameters
    ----------
    kernel : Kernel or callable
        Kernel of inputs multiplied by the square roots of `scale`.
    scale : ndarray of shape (n_features,)
        Scales.
    X : ndarray of shape (n_samples, n_features)
        Training inputs.
    centers : ndarray of shape (n_relevant, n_features)
        Where the kernels of the model are.
    weights, precision : ndarray of shape (n_relevant,)
        Their weights at the mode, and the prior precisions of these.
    curvature : ndarray of shape (n_samples,)
        Negative second derivative of the log likelihood in each logit.
    directions : ndarray of shape (n_features, n_directions)
        Changes of the scales, one in each column.
    has_intercept : bool
        Whether an intercept was fitted.
    """
    inputs = scaled_inputs(kernel, scale, X)
    atoms = kernel_block(kernel, inputs, scaled_inputs(kernel, scale, centers))
    if has_intercept:
        atoms = np.column_stack([atoms, np.ones(len(X))])
        precision = np.append(precision, 0.0)
    weighted = atoms * curvature[:, None]
    hessian = atoms.T @ weighted + np.diag(precision)
    # weights of very different sizes: a unit diagonal is what Cholesky likes
    unit = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
    inverse = inverse_from_cholesky(robust_cholesky(hessian * np.multiply.outer(unit, unit)))
    inverse = inverse * np.multiply.outer(unit, unit)
    D = scale_jacobian(kernel, scale, X, centers, weights) @ directions
    along = weighted.T @ D
    result: Matrix = (D * curvature[:, None]).T @ D - along.T @ inverse @ along
    return result
