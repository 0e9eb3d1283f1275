"""Uncertainty of the input scales of a fitted model, and of its function because of it.

With ``D`` the derivative of the function in the scales and ``C`` the covariance of the targets, the
information matrix of the scales is ``D' C^-1 D``, weights integrated out: a change of the function
that other weights could produce as well carries no information. At its mode a latent function is a
regression with the curvature of the likelihood as inverse noise variances, so the same formula
applies to every likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._linalg import inverse_from_cholesky, robust_cholesky
from relvec._typing import Matrix, Vector
from relvec.kernels import scale_jacobian
from relvec.learning.learnt import LearntLengthScales
from relvec.posterior import Posterior

__all__ = ["ScaleUncertainty", "integrated_information", "measure_scale_uncertainty"]


@dataclass(frozen=True, eq=False)
class ScaleUncertainty:
    """Change of a function with its input scales, with the weights adapting.

    To first order in the scales, the joint posterior of weights and scales is Gaussian. Given the
    scales, the weights have their usual posterior. The remaining change is the derivative of the
    function in the scales, less what a change of the weights and the intercept compensates.
    """

    atoms: Any
    posterior: Posterior
    changes: Matrix
    """Directions of change of the non-zero scales, one in each column."""
    middle: Vector
    """Mean over the training rows of the derivative of the function in each direction."""
    response: Matrix
    """Change of the weights of unit atoms that compensates each direction."""

    def directions(self, X: Matrix) -> Matrix:
        """Compute the change of the function in each direction, the weights adapting."""
        # Same centring and normalisation as in the fit, for which `response` is computed.
        unit = (self.atoms.evaluate(X) - self.posterior.column_mean) / self.posterior.column_norm
        slopes = _slopes(self.atoms, self.posterior, X, self.changes)
        return slopes - self.middle - unit @ self.response


def measure_scale_uncertainty(
    learnt: LearntLengthScales, X: Matrix, fits: Sequence[Any], weights: Sequence[Vector | None]
) -> tuple[Vector, list[ScaleUncertainty | None]]:
    """Compute the standard deviations of relevances, and the uncertainty of each function.

    Parameters
    ----------
    learnt : LearntLengthScales
        The learnt length-scales; if all features share one, it is the uncertain parameter.
    X : ndarray of shape (n_samples, n_features)
        Training inputs.
    fits : sequence
        Fitted functions with kernels of these scales: each has `atoms` and a `posterior`. One
        without atoms carries no information about the scales.
    weights : sequence of ndarray of shape (n_samples,) or None
        For each function, frequency weights of the rows, or the curvature of its likelihood.
    """
    relevance = learnt.relevance
    kept = relevance > 0.0
    if learnt.kind in ("none", "null", "linear"):  # no kernels whose scales were learnt
        # A linear model has no length-scales; a null model has, but the data say nothing about
        # them.
        unknown = math.nan if learnt.kind == "linear" else math.inf
        return np.where(kept, unknown, 0.0), [None] * len(fits)
    is_shared = learnt.is_shared and bool(kept.any())
    # Directions in units in which a deviation is read off: a relative change of the common scale,
    # or a change of each relevance eta spread^2.
    changes = learnt.scale[kept, None] if is_shared else np.diag(1.0 / learnt.spread[kept] ** 2)
    curvature = np.zeros((changes.shape[1], changes.shape[1]))
    follows: list[ScaleUncertainty | None] = []
    for fit, weight in zip(fits, weights, strict=True):
        follows.append(None)
        if len(fit.posterior.lam):
            follows[-1], information = _follow(fit.atoms, fit.posterior, X, weight, changes)
            # Outputs are conditionally independent given the scales: information adds up.
            curvature += information
    value = np.ones(1) if is_shared else relevance[kept]
    deviation, covariance = compute_scale_deviations(curvature, value)
    # With a standard deviation of a hundred times the scale, the scale is not identifiable.
    deviation = np.where(deviation > 100.0 * value, np.inf, deviation)
    std = np.zeros(len(relevance))
    std[kept] = relevance[kept] * deviation if is_shared else deviation
    # Directions times a root of the covariance have independent unit deviations, so that variances
    # of the function are plain sums of squares.
    root = robust_cholesky(covariance)
    for number, follow in enumerate(follows):
        if follow is not None:
            follows[number] = replace(
                follow,
                changes=follow.changes @ root,
                middle=follow.middle @ root,
                response=follow.response @ root,
            )
    return std, follows


def _follow(
    atoms: Any, posterior: Posterior, X: Matrix, weight: Vector | None, changes: Matrix
) -> tuple[ScaleUncertainty, Matrix]:
    """Compute how a function changes with its scales, and their information matrix."""
    weight = np.ones(len(X)) if weight is None else weight
    slopes = _slopes(atoms, posterior, X, changes)
    middle = np.zeros(slopes.shape[1])
    if posterior.has_intercept:
        # The intercept, flat a priori, absorbs the weighted mean of every change.
        middle = (weight / weight.sum()) @ slopes
    root = np.sqrt(weight)[:, None]
    unit = (atoms.evaluate(X) - posterior.column_mean) / posterior.column_norm * root
    covariance = inverse_from_cholesky(posterior.factor)
    information, response = integrated_information((slopes - middle) * root, unit, covariance)
    follow = ScaleUncertainty(atoms, posterior, changes, middle, response)
    # `integrated_information` is in units of the noise variance.
    return follow, information / posterior.noise_variance


def _slopes(atoms: Any, posterior: Posterior, X: Matrix, changes: Matrix) -> Matrix:
    """Compute the derivative of the function along changes of its scales, weights held."""
    kernel = atoms.kernel
    kept = np.flatnonzero(kernel.scale)
    centers, weights = atoms.centers[:, kept], posterior.coef
    jacobian = scale_jacobian(kernel.kernel, kernel.scale[kept], X[:, kept], centers, weights)
    return jacobian @ changes


def integrated_information(D: Matrix, unit: Matrix, covariance: Matrix) -> tuple[Matrix, Matrix]:
    """Compute ``D' C^-1 D`` in units of the noise, and the response of the weights to ``D``.

    By the Woodbury identity, ``C^-1 = (I - Phi S Phi') / sigma^2``.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_changes)
        Changes of the function, centred like the atoms, times square roots of row weights.
    unit : ndarray of shape (n_samples, n_atoms)
        Atoms of unit norm.
    covariance : ndarray of shape (n_atoms, n_atoms)
        Posterior covariance of their weights, in units of the noise.
    """
    # D'D - D' Phi S Phi' D, with S = (Phi'Phi + Lam)^-1.
    along = unit.T @ D
    response = covariance @ along
    return D.T @ D - along.T @ response, response


def compute_scale_deviations(curvature: Matrix, scale: Vector) -> tuple[Vector, Matrix]:
    """Compute standard deviations and covariance of the scales.

    The covariance is ``Sigma = (curvature + diag(b))^-1``. The prior precision ``b`` of each scale
    is MacKay's fixed point ``b = (1 - b Sigma_ii) / scale^2`` at the learnt scale.

    Parameters
    ----------
    curvature : ndarray of shape (n_kept, n_kept)
        Information matrix of the scales that are not zero.
    scale : ndarray of shape (n_kept,)
        Those scales.
    """
    if not len(scale):
        return np.empty(0), np.empty((0, 0))
    unit = curvature * np.multiply.outer(scale, scale)  # for scales relative to their values
    # D'D - D' Phi S Phi' D cancels where weights can imitate a change of scale.
    values, vectors = np.linalg.eigh(unit)
    # Negative eigenvalues are rounding errors.
    unit = (vectors * np.maximum(values, 0.0)) @ vectors.T
    precision = np.ones(len(scale))
    covariance = np.linalg.inv(unit + np.diag(precision))
    for _ in range(200):
        # gamma = 1 - b Sigma_ii (MacKay 1992): how well the data determine a scale. For a scale
        # without information both tend to zero; the limit keeps the matrix invertible.
        aim = np.clip(1.0 - precision * covariance.diagonal(), 1e-8, 1.0)
        updated = np.sqrt(precision * aim)  # geometric mean: damps oscillation
        covariance = np.linalg.inv(unit + np.diag(updated))
        settled = (np.abs(updated - precision) < 1e-8 * updated).all()
        precision = updated
        if settled:
            break
    # Back from relative to absolute scales.
    result = np.asarray(covariance * np.multiply.outer(scale, scale), dtype=np.float64)
    return np.sqrt(result.diagonal()), result
