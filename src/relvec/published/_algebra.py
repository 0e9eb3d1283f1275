"""Kernels with one weight per feature, their derivatives, and the evidence of given columns.

Nothing here is larger than (n_samples, n_centres + n_features): squared differences are summed
by matrix products, never stored for all pairs and features at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import inverse_from_cholesky, log_det_cholesky, robust_cholesky, solve_cholesky
from relvec._typing import Matrix, Vector
from relvec.evidence import mackay_noise, mackay_update
from relvec.kernels.gradients import squared_difference_sums
from relvec.priors.base import FixedPointTerms


def _distances(X: Matrix, Z: Matrix, weight: Vector) -> Matrix:
    """Sums of squared differences under weights that are not negative."""
    root = np.sqrt(weight)
    a, b = X * root, Z * root
    squared = np.einsum("ik,ik->i", a, a)[:, None] + np.einsum("jk,jk->j", b, b)
    squared -= 2.0 * (a @ b.T)
    return np.maximum(squared, 0.0, out=squared)


def scaled_kernel(X: Matrix, Z: Matrix, theta: Vector) -> Matrix:
    """Return ``exp(-sum_k theta_k (x_k - z_k)^2)``, for weights of either sign.

    A smoothed indicator does not exclude negative weights. The kernel then grows with distance
    and would overflow far from the data; it is held at ``exp(300)``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Z : ndarray of shape (n_centres, n_features)
    theta : ndarray of shape (n_features,)

    Returns
    -------
    kernel : ndarray of shape (n_samples, n_centres)

    Examples
    --------
    >>> import numpy as np
    >>> scaled_kernel(np.array([[0.0, 1.0]]), np.array([[1.0, 3.0]]), np.array([0.5, 0.0]))
    array([[0.60653066]])
    """
    centre = Z.mean(axis=0) if len(Z) else 0.0  # small numbers: less is lost in the differences
    X, Z = X - centre, Z - centre
    exponent = -_distances(X, Z, np.maximum(theta, 0.0))
    negative = theta < 0.0
    if negative.any():
        exponent += _distances(X[:, negative], Z[:, negative], -theta[negative])
        np.minimum(exponent, 300.0, out=exponent)  # whose squares can still be summed
    return np.exp(exponent, out=exponent)


def kernel_slopes(X: Matrix, Z: Matrix, kernel: Matrix, weight: Vector) -> Matrix:
    """Derivatives of ``kernel @ weight`` with respect to the weights of the features.

    The matrix D of Heimsæter (2021, eq. 3.12), ``-sum_j w_j K_ij (x_ik - x_jk)^2``, by three
    matrix products.
    """
    centre = X.mean(axis=0)
    X, Z = X - centre, Z - centre
    weighted = weight[:, None] * Z
    result: Matrix = 2.0 * X * (kernel @ weighted)
    result -= X * X * (kernel @ weight)[:, None]
    result -= kernel @ (weighted * Z)
    return result


def kernel_curvature(X: Matrix, Z: Matrix, kernel: Matrix, weight: Vector, score: Vector) -> Matrix:
    """Second derivatives of ``score @ kernel @ weight``: the matrix E of eq. 3.15.

    One pass over the pairs of rows for each feature, of shape (n_samples, n_centres).
    """
    base = score[:, None] * kernel * weight
    rows = [
        squared_difference_sums(base * (X[:, [k]] - Z[:, k]) ** 2, X, Z) for k in range(X.shape[1])
    ]
    full = np.array(rows).reshape(X.shape[1], X.shape[1])
    symmetric: Matrix = 0.5 * (full + full.T)
    return symmetric


class Conditioned(NamedTuple):
    """Weights given precisions and noise, and how probable the target is without them."""

    log_evidence: float
    mean: Vector
    covariance: Matrix
    residual: Vector
    well_determined: Vector
    """``1 - precision * variance`` of each weight, between zero and one."""


def condition(design: Matrix, precision: Vector, noise: float, target: Vector) -> Conditioned:
    """Posterior of the weights and log evidence of Gaussian targets (Tipping, eqs. 12, 13, 36).

    Solved in the system ``I + A^-1/2 Phi' Phi A^-1/2 / noise``, whose eigenvalues are at least
    one. Divided by its diagonal it has a Cholesky factor, if need be after a shift by rounding.

    Examples
    --------
    >>> import numpy as np
    >>> found = condition(np.ones((2, 1)), np.array([2.0]), 1.0, np.array([1.0, 3.0]))
    >>> found.mean, found.covariance
    (array([1.]), array([[0.25]]))
    """
    root = 1.0 / np.sqrt(precision)
    scaled = design * (root / np.sqrt(noise))
    system = scaled.T @ scaled
    system.flat[:: len(root) + 1] += 1.0
    unit = 1.0 / np.sqrt(system.diagonal())
    factor = robust_cholesky(system * np.outer(unit, unit))
    inverse = inverse_from_cholesky(factor) * np.outer(unit, unit)
    covariance = inverse * np.outer(root, root)
    # Solved rather than multiplied by the inverse, which loses everything when noise is tiny.
    right = unit * (scaled.T @ target) / np.sqrt(noise)
    mean = root * unit * solve_cholesky(factor, right)
    residual = target - design @ mean
    log_det = log_det_cholesky(factor) - 2.0 * np.log(unit).sum()
    misfit = residual @ residual / noise + precision @ mean**2
    log_evidence = -0.5 * (len(target) * np.log(2.0 * np.pi * noise) + log_det + misfit)
    gamma = np.clip(1.0 - inverse.diagonal(), 0.0, 1.0)
    return Conditioned(float(log_evidence), mean, covariance, residual, gamma)


def updated_precision(gamma: Vector, mean: Vector) -> Vector:
    """MacKay's re-estimate of precisions; infinite where the mean is zero."""
    # rounding may leave a well-determinedness at or below zero, and the precision with it
    gamma = np.clip(gamma, 1e-16, 1.0)
    updated = mackay_update(gamma, gamma, mean, 1.0, None, FixedPointTerms())
    return np.where(mean**2 > 1e-300, updated, np.inf)


def updated_noise(found: Conditioned, floor: float) -> float:
    """MacKay's re-estimate of the noise variance."""
    residual, gamma = found.residual, found.well_determined
    return max(mackay_noise(float(residual @ residual), gamma, len(residual), 1e-8), floor)


def variance_at(design: Matrix, covariance: Matrix) -> Vector:
    """Variance of the output where the columns have these values."""
    return np.einsum("ij,ij->i", design @ covariance, design)


def with_constant(columns: Matrix, has_intercept: bool) -> Matrix:
    """Columns of a design, behind a constant one if it is in the model."""
    return np.column_stack([np.ones((len(columns), int(has_intercept))), columns])
