"""Kernels with one weight per feature, their derivatives, and the evidence of a linear model.

No array is larger than (n_samples, n_centres + n_features): squared differences are summed by
matrix products, never stored for all pairs and features.
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
    """Return squared distances ``sum_k weight_k (x_k - z_k)^2`` for non-negative weights."""
    root = np.sqrt(weight)
    a, b = X * root, Z * root
    # |a|^2 + |b|^2 - 2 a'b: rounding may make small distances negative, hence the maximum below.
    squared = np.einsum("ik,ik->i", a, a)[:, None] + np.einsum("jk,jk->j", b, b)
    squared -= 2.0 * (a @ b.T)
    return np.maximum(squared, 0.0, out=squared)


def scaled_kernel(X: Matrix, Z: Matrix, theta: Vector) -> Matrix:
    """Return ``exp(-sum_k theta_k (x_k - z_k)^2)``, for weights of either sign.

    The smoothed indicator prior does not exclude negative weights. The kernel then grows with
    distance and would overflow far from the data, so it is bounded by ``exp(300)``.

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
    centre = Z.mean(axis=0) if len(Z) else 0.0  # centring reduces cancellation
    X, Z = X - centre, Z - centre
    # Parts of positive and of negative feature weights separately, since the factorisation of the
    # distances uses square roots of the weights.
    exponent = -_distances(X, Z, np.maximum(theta, 0.0))
    negative = theta < 0.0
    if negative.any():
        exponent += _distances(X[:, negative], Z[:, negative], -theta[negative])
        np.minimum(exponent, 300.0, out=exponent)  # squares can still be summed
    return np.exp(exponent, out=exponent)


def kernel_jacobian(X: Matrix, Z: Matrix, kernel: Matrix, weight: Vector) -> Matrix:
    """Return the Jacobian of ``kernel @ weight`` with respect to the feature weights.

    The matrix D of Heimsæter (2021, eq. 3.12), ``D_ik = -sum_j w_j K_ij (x_ik - x_jk)^2``, by three
    matrix products.
    """
    centre = X.mean(axis=0)
    X, Z = X - centre, Z - centre
    weighted = weight[:, None] * Z
    # (x - z)^2 = x^2 - 2 x z + z^2 expanded, with the sign of D: no array over all pairs and
    # features.
    result: Matrix = 2.0 * X * (kernel @ weighted)
    result -= X * X * (kernel @ weight)[:, None]
    result -= kernel @ (weighted * Z)
    return result


def kernel_curvature(X: Matrix, Z: Matrix, kernel: Matrix, weight: Vector, score: Vector) -> Matrix:
    """Return the Hessian of ``score @ kernel @ weight`` in the feature weights.

    The matrix E of Heimsæter (2021, eq. 3.15), by one pass over all pairs of rows per feature.
    """
    # E_kl = sum_ij r_i K_ij w_j (x_ik - z_jk)^2 (x_il - z_jl)^2: differentiating exp(-sum theta
    # d^2) twice gives a positive sign.
    base = score[:, None] * kernel * weight
    rows = [
        squared_difference_sums(base * (X[:, [k]] - Z[:, k]) ** 2, X, Z) for k in range(X.shape[1])
    ]
    full = np.array(rows).reshape(X.shape[1], X.shape[1])
    symmetric: Matrix = 0.5 * (full + full.T)
    return symmetric


class WeightPosterior(NamedTuple):
    """Gaussian posterior of the weights at given precisions and noise, and the log evidence."""

    log_evidence: float
    mean: Vector
    covariance: Matrix
    residual: Vector
    well_determined: Vector
    """Well-determinedness ``gamma_i = 1 - alpha_i Sigma_ii`` (Tipping 2001, eq. 17)."""


def condition(design: Matrix, precision: Vector, noise: float, target: Vector) -> WeightPosterior:
    """Return the posterior of the weights and the log evidence (Tipping 2001, eqs. 12, 13, 36).

    The system is ``I + A^-1/2 Phi' Phi A^-1/2 / noise``, whose eigenvalues are at least one, scaled
    to unit diagonal. Its Cholesky factor exists, if necessary after adding jitter of the size of
    rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> found = condition(np.ones((2, 1)), np.array([2.0]), 1.0, np.array([1.0, 3.0]))
    >>> found.mean, found.covariance
    (array([1.]), array([[0.25]]))
    """
    # Scaled by the prior standard deviations the system is bounded below by the identity whatever
    # the precisions, which differ by many orders of magnitude near pruning.
    root = 1.0 / np.sqrt(precision)
    scaled = design * (root / np.sqrt(noise))
    system = scaled.T @ scaled
    system.flat[:: len(root) + 1] += 1.0
    unit = 1.0 / np.sqrt(system.diagonal())
    factor = robust_cholesky(system * np.outer(unit, unit))
    inverse = inverse_from_cholesky(factor) * np.outer(unit, unit)
    covariance = inverse * np.outer(root, root)
    # Solved, not multiplied by the inverse, which loses all digits if the noise is tiny.
    right = unit * (scaled.T @ target) / np.sqrt(noise)
    mean = root * unit * solve_cholesky(factor, right)
    residual = target - design @ mean
    # log|C| = N log(noise) + log|system| and t' C^-1 t = |residual|^2 / noise + mu' A mu
    log_det = log_det_cholesky(factor) - 2.0 * np.log(unit).sum()
    misfit = residual @ residual / noise + precision @ mean**2
    log_evidence = -0.5 * (len(target) * np.log(2.0 * np.pi * noise) + log_det + misfit)
    # 1 - alpha_i Sigma_ii with Sigma = A^-1/2 inverse A^-1/2: the precisions cancel.
    gamma = np.clip(1.0 - inverse.diagonal(), 0.0, 1.0)
    return WeightPosterior(float(log_evidence), mean, covariance, residual, gamma)


def mackay_precision(gamma: Vector, mean: Vector) -> Vector:
    """Return ``gamma_i / mu_i^2`` (Tipping 2001, eq. 16); infinite where the mean is zero."""
    # Rounding may give a well-determinedness, and hence a precision, of zero or less.
    gamma = np.clip(gamma, 1e-16, 1.0)
    # Only gamma, mean and a unit noise matter without penalty and density; the first argument is
    # not used.
    updated = mackay_update(gamma, gamma, mean, 1.0, None, FixedPointTerms())
    return np.where(mean**2 > 1e-300, updated, np.inf)


def mackay_noise_variance(found: WeightPosterior, floor: float) -> float:
    """Return ``|t - Phi mu|^2 / (N - sum gamma)`` (Tipping 2001, eq. 18), at least `floor`."""
    residual, gamma = found.residual, found.well_determined
    return max(mackay_noise(float(residual @ residual), gamma, len(residual), 1e-8), floor)


def function_variance(design: Matrix, covariance: Matrix) -> Vector:
    """Return the posterior variance of the function at the rows of `design`."""
    return np.einsum("ij,ij->i", design @ covariance, design)


def prepend_constant(columns: Matrix, has_intercept: bool) -> Matrix:
    """Return the columns of a design, after a constant column if `has_intercept`."""
    return np.column_stack([np.ones((len(columns), int(has_intercept))), columns])
