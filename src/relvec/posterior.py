"""The posterior over weights given precisions and noise: one factorisation, many views.

Conditioning a Gaussian linear model is one computation, and this is its home. Everything
a user may ask (means, variances, samples, evidence, leverage) reads one Cholesky factor
of the active atoms; nothing of the training data is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relvec._linalg import (
    inverse_from_cholesky,
    log_det_cholesky,
    shifted_cholesky,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import Matrix, Vector
from relvec.evidence import gaussian_objective


@dataclass(frozen=True)
class Posterior:
    """Gaussian posterior of the weights of the active atoms and of the intercept.

    Internally atoms are centred and scaled to unit norm; `coef`, `intercept`,
    `weight_precision` and `covariance` are in the units of the raw atoms.
    """

    unit_mean: Vector
    factor: Matrix
    """Lower Cholesky factor of ``G + Lam``: the unit posterior precision over beta."""
    lam: Vector
    column_mean: Vector
    column_norm: Vector
    target_mean: float
    noise_variance: float
    n_effective: float
    total_weight: float
    has_intercept: bool
    log_evidence: float
    quadratic: float
    """``R = t' K^-1 t = |t - Phi mu|^2 + mu' Lam mu``."""

    @property
    def coef(self) -> Vector:
        """Posterior mean of the raw weights."""
        return self.unit_mean / self.column_norm

    @property
    def intercept(self) -> float:
        """Posterior mean of the intercept of the raw atoms."""
        return self.target_mean - float(self.coef @ self.column_mean)

    @property
    def weight_precision(self) -> Vector:
        """Prior precision ``alpha`` of each raw weight."""
        return self.lam * self.column_norm**2 / self.noise_variance

    @property
    def covariance(self) -> Matrix:
        """Posterior covariance of the raw weights."""
        inverse = inverse_from_cholesky(self.factor)
        scale = 1.0 / self.column_norm
        return self.noise_variance * inverse * np.multiply.outer(scale, scale)

    @property
    def well_determined(self) -> Vector:
        """How far the data, not the prior, fix each weight: ``gamma`` in [0, 1]."""
        inverse = inverse_from_cholesky(self.factor)
        return np.clip(1.0 - self.lam * inverse.diagonal(), 0.0, 1.0)

    @property
    def effective_dof(self) -> float:
        """Trace of the smoother, the intercept included."""
        return float(self.well_determined.sum()) + float(self.has_intercept)

    def _unit(self, atoms: Matrix) -> Matrix:
        return (atoms - self.column_mean) / self.column_norm

    def _whiten(self, atoms: Matrix) -> Matrix:
        if not len(self.lam):
            return np.empty((0, len(atoms)))
        return solve_lower(self.factor, np.asfortranarray(self._unit(atoms).T))

    @property
    def _offset_variance(self) -> float:
        return 1.0 / self.total_weight if self.has_intercept else 0.0

    def predict(self, atoms: Matrix) -> Vector:
        """Posterior mean of the function at raw atoms of shape (n, k)."""
        return self._unit(atoms) @ self.unit_mean + self.target_mean

    def variance(self, atoms: Matrix) -> Vector:
        """Posterior variance of the function, without noise."""
        white = self._whiten(atoms)
        spread = np.einsum("ij,ij->j", white, white) + self._offset_variance
        return self.noise_variance * spread

    def joint_covariance(self, atoms: Matrix) -> Matrix:
        """Posterior covariance of the function between all rows, without noise."""
        white = self._whiten(atoms)
        return self.noise_variance * (white.T @ white + self._offset_variance)

    def sample(self, atoms: Matrix, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions: shape (n, n_draws)."""
        scale = math.sqrt(self.noise_variance)
        noise = rng.standard_normal((len(self.lam), n_draws))
        weights = np.repeat(self.unit_mean[:, None], n_draws, axis=1)
        if len(self.lam):
            weights += scale * solve_lower(self.factor, np.asfortranarray(noise), transposed=True)
        offset = rng.standard_normal(n_draws) * math.sqrt(self._offset_variance) * scale
        return self._unit(atoms) @ weights + (self.target_mean + offset)

    def leave_one_out(self, atoms: Matrix, target: Vector) -> tuple[Vector, Vector]:
        """Predict each training row from the others, precisions and noise held fixed.

        Exact for a Gaussian model: ``residual / (1 - h)`` with leverage ``h``. A row of
        weight two counts as two rows of which one is left out.

        Returns
        -------
        mean, variance : ndarray of shape (n,)
            Of the left-out target, noise included.
        """
        leverage = self.variance(atoms) / self.noise_variance
        share = np.maximum(1.0 - leverage, 1e-12)
        return target - (target - self.predict(atoms)) / share, self.noise_variance / share


def condition(
    atoms: Matrix,
    target: Vector,
    log_lam: Vector,
    *,
    sample_weight: Vector | None,
    has_intercept: bool,
    noise_variance: float | None,
    noise_shape: float = 0.0,
    noise_rate: float = 0.0,
) -> Posterior:
    """Condition on the data, given scaled precisions ``lam = alpha sigma^2 / norm^2``.

    Parameters
    ----------
    atoms : ndarray of shape (n_samples, k)
        Raw active atoms at the training inputs.
    target : ndarray of shape (n_samples,)
    log_lam : ndarray of shape (k,)
    sample_weight : ndarray of shape (n_samples,) or None
        Frequency weights.
    has_intercept : bool
        Integrate an intercept with flat prior out.
    noise_variance : float or None
        Held noise; None takes the maximiser of the evidence given `log_lam`, computed from
        the residuals themselves and so free of the cancellation in ``t't - z'z``.
    noise_shape, noise_rate : float
        Gamma prior of the noise precision.
    """
    root = None if sample_weight is None else np.sqrt(sample_weight)
    total = float(len(target)) if sample_weight is None else float(np.sum(sample_weight))
    column_mean, target_mean = np.zeros(atoms.shape[1]), 0.0
    if has_intercept:
        share = (
            np.full(len(target), 1.0 / total) if sample_weight is None else sample_weight / total
        )
        column_mean, target_mean = share @ atoms, float(share @ target)
    unit, centred = atoms - column_mean, target - target_mean
    if root is not None:
        unit, centred = unit * root[:, None], centred * root
    norm = np.sqrt(np.einsum("ij,ij->j", unit, unit))
    unit /= norm
    lam = np.exp(log_lam)
    factor = np.empty((0, 0))
    mean = np.empty(0)
    if len(lam):
        gram = unit.T @ unit
        factor_or_none = shifted_cholesky(gram, lam)
        while factor_or_none is None:  # lam below the rounding of the Gram matrix
            lam = np.maximum(2.0 * lam, 1e-14)
            factor_or_none = shifted_cholesky(gram, lam)
        factor = factor_or_none
        mean = solve_cholesky(factor, unit.T @ centred)
        # One step of refinement: the weights of near-collinear atoms are large.
        mean = mean + solve_cholesky(factor, unit.T @ (centred - unit @ mean) - lam * mean)
    residual = centred - unit @ mean
    quadratic = float(residual @ residual + mean @ (lam * mean))
    n_effective = total - float(has_intercept)
    log_det = log_det_cholesky(factor) - float(np.log(lam).sum())
    if noise_variance is None:
        noise_variance = (quadratic + 2.0 * noise_rate) / max(n_effective + 2.0 * noise_shape, 1.0)
        noise_variance = max(noise_variance, noise_floor(centred, target_mean, n_effective))
    log_evidence = gaussian_objective(n_effective, quadratic, log_det, noise_variance)
    return Posterior(
        unit_mean=mean,
        factor=factor,
        lam=lam,
        column_mean=column_mean,
        column_norm=norm,
        target_mean=target_mean,
        noise_variance=noise_variance,
        n_effective=n_effective,
        total_weight=total,
        has_intercept=has_intercept,
        log_evidence=log_evidence,
        quadratic=quadratic,
    )


def noise_floor(centred: Vector, target_mean: float, n_effective: float) -> float:
    """Smallest noise variance that floating-point targets can express.

    A share of 1e-10 of the target's variance, and the rounding of the target itself; so a
    constant target has a tiny noise level and a finite evidence instead of zero and infinity.
    """
    spread = float(centred @ centred) / max(n_effective, 1.0)
    rounding = float(np.finfo(np.float64).eps) * abs(target_mean)
    return max(1e-10 * spread, rounding**2, float(np.finfo(np.float64).tiny))
