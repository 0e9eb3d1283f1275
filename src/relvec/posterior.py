"""Posterior of the weights given precisions and noise (Tipping 2001, eqs. 12 and 13).

With unit-norm centred atoms ``Phi`` and ``lam = alpha sigma^2``, the posterior of the weights is
``N(mu, sigma^2 S)`` with ``S = (G + Lam)^-1`` and ``mu = S Phi't``. Means, variances, samples,
evidence and leverages are all computed from one Cholesky factor ``L L' = G + Lam`` of the active
atoms; no training data are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._linalg import EPS, inverse_from_cholesky, solve_cholesky, solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import NOISE_FLOOR, factorise, gaussian_objective
from relvec.moments.base import Moments


@dataclass(frozen=True)
class Posterior:
    """Gaussian posterior of the weights of the active atoms and of the intercept.

    Internally atoms are centred and scaled to unit norm; `coef`, `intercept`,
    `weight_precision` and `covariance` are in the units of the raw atoms.
    """

    unit_mean: Vector
    """Posterior mean ``mu`` of the weights of unit-norm atoms."""
    factor: Matrix
    """Lower Cholesky factor of ``G + Lam``, the posterior precision of these weights times
    ``sigma^2``."""
    lam: Vector
    column_mean: Vector
    column_norm: Vector
    target_mean: float
    target_variance: float
    noise_variance: float
    n_effective: float
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
        # alpha = lam norm^2 / sigma^2 may overflow to infinity when the noise is at its floor.
        with np.errstate(over="ignore"):
            return self.lam * self.column_norm**2 / self.noise_variance

    @property
    def covariance(self) -> Matrix:
        """Posterior covariance of the raw weights."""
        inverse = inverse_from_cholesky(self.factor)
        scale = 1.0 / self.column_norm
        return self.noise_variance * inverse * np.multiply.outer(scale, scale)

    @property
    def well_determined(self) -> Vector:
        """Well-determinedness ``gamma_i = 1 - lam_i S_ii`` of each weight (Tipping 2001, eq. 17).

        One if the data determine the weight, zero if the prior does.
        """
        inverse = inverse_from_cholesky(self.factor)
        # In exact arithmetic 0 <= lam_i S_ii <= 1, because G is positive semi-definite.
        return np.clip(1.0 - self.lam * inverse.diagonal(), 0.0, 1.0)

    @property
    def effective_dof(self) -> float:
        """Effective degrees of freedom: trace of the smoother matrix, intercept included."""
        return float(self.well_determined.sum()) + float(self.has_intercept)

    @property
    def divergence(self) -> float:
        """Kullback-Leibler divergence of the posterior of weights and intercept from their prior.

        For the weights it is ``(tr(Lam S) + mu'Lam mu / sigma^2 - k + log|L L'| - log|Lam|) / 2``.
        The flat prior of the intercept has density one: minus the entropy of its posterior.
        """
        inverse, lam = inverse_from_cholesky(self.factor), self.lam
        squares = float(lam @ inverse.diagonal()) + float(lam @ self.unit_mean**2) / (
            self.noise_variance
        )
        volume = 2.0 * float(np.log(self.factor.diagonal()).sum()) - float(np.log(lam).sum())
        result = 0.5 * (squares - len(lam) + volume)
        if self.has_intercept:
            variance = self.noise_variance * self._offset_variance
            result -= 0.5 * (math.log(2.0 * math.pi * variance) + 1.0)
        return result

    def unit(self, atoms: Matrix) -> Matrix:
        """Centre raw atoms and scale them to unit norm."""
        return (atoms - self.column_mean) / self.column_norm

    def whiten(self, atoms: Matrix) -> Matrix:
        """Compute ``L^-1 u`` for the unit atoms ``u`` of each row, one column per row."""
        return solve_lower(self.factor, np.asfortranarray(self.unit(atoms).T))

    @property
    def _offset_variance(self) -> float:
        """Posterior variance of the intercept of centred atoms, ``1 / N``, in units of the noise.

        The effective sample size is ``N - 1`` with an intercept.
        """
        return 1.0 / (self.n_effective + 1.0) if self.has_intercept else 0.0

    def predict(self, atoms: Matrix) -> Vector:
        """Compute the posterior mean of the function at raw atoms of shape (n, k)."""
        return self.unit(atoms) @ self.unit_mean + self.target_mean

    def variance(self, atoms: Matrix) -> Vector:
        """Compute the posterior variance ``sigma^2 u'S u`` of the function, without noise.

        Tipping (2001, eq. 22) adds the noise. The variance of the intercept is included.
        """
        white = self.whiten(atoms)
        # u' S u = |L^-1 u|^2 is never negative. Atoms are centred, so the posterior of the
        # intercept is independent of that of the weights and the variances add.
        spread = np.einsum("ij,ij->j", white, white) + self._offset_variance
        return self.noise_variance * spread

    def joint_covariance(self, atoms: Matrix) -> Matrix:
        """Compute the posterior covariance of the function between all rows, without noise."""
        white = self.whiten(atoms)
        return self.noise_variance * (white.T @ white + self._offset_variance)

    def component(
        self, atoms: Matrix, index: IndexArray, *, centred: bool
    ) -> tuple[Vector, Vector]:
        """Compute mean and variance of the contribution of some of the active atoms.

        Parameters
        ----------
        atoms : ndarray of shape (n, len(index))
            Raw values of these atoms.
        index : ndarray of int
            Their positions among the active atoms.
        centred : bool
            Subtract the mean of the contribution over the training rows, which belongs to the
            intercept. Without an intercept this has no effect.
        """
        unit = (atoms - self.column_mean[index] if centred else atoms) / self.column_norm[index]
        # Marginal covariance of these weights: a block of S, not the inverse of a block of G + Lam.
        block = inverse_from_cholesky(self.factor)[np.ix_(index, index)]
        spread = np.einsum("ij,jk,ik->i", unit, block, unit, optimize=True)
        return unit @ self.unit_mean[index], self.noise_variance * spread

    def component_variance(self, index: IndexArray) -> float:
        """Compute the variance of a component over the training rows, without the data.

        It is ``mu' G mu / N`` for the weights of the component. The Gram matrix of the active atoms
        follows from the factor: ``G = L L' - Lam``.
        """
        mean, lam = self.unit_mean[index], self.lam[index]
        # mu' (L L')_ii mu = |L_i' mu|^2 with the rows i of L. The difference below can be slightly
        # negative if the prior dominates.
        white = self.factor[index].T @ mean
        squares = float(white @ white) - float(mean @ (lam * mean))
        return max(squares, 0.0) / max(self.n_effective, 1.0)

    def sample(self, atoms: Matrix, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions from the posterior, shape (n, n_draws).

        Weights are ``mu + sigma L^-T z`` with standard normal ``z``, whose covariance is ``sigma^2
        S``.
        """
        scale = math.sqrt(self.noise_variance)
        noise = rng.standard_normal((len(self.lam), n_draws))
        weights = np.repeat(self.unit_mean[:, None], n_draws, axis=1)
        # Cov(L^-T z) = L^-T L^-1 = (L L')^-1 = S.
        weights += scale * solve_lower(self.factor, np.asfortranarray(noise), transposed=True)
        offset = rng.standard_normal(n_draws) * math.sqrt(self._offset_variance) * scale
        return self.unit(atoms) @ weights + (self.target_mean + offset)

    def leave_one_out(
        self,
        atoms: Matrix,
        target: Vector,
        weight: Vector | float = 1.0,
        relative_variance: Vector | float = 1.0,
    ) -> tuple[Vector, Vector]:
        """Predict each training row from the others, with precisions and noise held.

        Exact for a Gaussian model (Rasmussen & Williams 2006, section 5.4.2). With the leverage ``h
        = u'S u``, the relative noise variance ``v`` and ``d = 1 - weight * h / v``, the
        leave-one-out residual is ``residual / d``, and the variance is ``sigma^2 (v + h / d)``.

        Parameters
        ----------
        atoms, target
            The training rows.
        weight
            Frequency weight that is left out of each row; at most its weight in the fit.
        relative_variance
            Noise variance of each row in units of `noise_variance`.

        Returns
        -------
        mean, variance : ndarray of shape (n,)
            Predictive mean and variance of the left-out target, noise included.
        """
        leverage = self.variance(atoms) / self.noise_variance
        # Sherman-Morrison for the removal of (weight / v) u u' from G + Lam: u' S_without u = h /
        # (1 - weight h / v). A row that alone determines a weight has leverage one: the bound
        # avoids division by zero.
        left = np.maximum(1.0 - weight * leverage / relative_variance, 1e-12)
        mean = target - (target - self.predict(atoms)) / left
        return mean, self.noise_variance * (relative_variance + leverage / left)


class TrainingBlock(NamedTuple):
    """Some rows of the training data, raw."""

    atoms: Matrix
    """Active atoms at these rows, shape (n, k)."""
    target: Vector
    weight: Vector | None


def condition(
    moments: Moments,
    active: IndexArray,
    log_lam: Vector,
    blocks: Iterable[TrainingBlock] | None = None,
    *,
    has_intercept: bool,
    noise_variance: float | None = None,
    noise_shape: float = 0.0,
    noise_rate: float = 0.0,
) -> Posterior:
    """Compute the posterior given scaled precisions ``lam = alpha sigma^2 / norm^2``.

    Parameters
    ----------
    moments : Moments
        Moments of all atoms and the target.
    active : ndarray of shape (k,)
        The atoms in the model.
    log_lam : ndarray of shape (k,)
        Their scaled precisions.
    blocks : iterable of TrainingBlock, optional
        The training rows, read once. Residuals and noise are then computed from the data. From
        the moments alone, ``R = t't - z'z`` suffers from cancellation and cannot resolve noise
        below about 1e-13 of the variance of the target.
    has_intercept : bool
        Whether the moments are centred: an intercept with flat prior is integrated out.
    noise_variance : float or None
        Held noise; None takes the maximiser of the evidence given `log_lam`.
    noise_shape, noise_rate : float
        Gamma prior of the noise precision.
    """
    column_mean, norm = moments.column_mean[active], moments.column_norm[active]
    lam, factor, log_det = factorise(moments.gram(active), np.exp(log_lam))
    mean = solve_cholesky(factor, moments.correlation[active])
    if blocks is None:
        quadratic = moments.target_ss - float(moments.correlation[active] @ mean)
    else:
        residual_ss, slope = _residuals(blocks, mean / norm, column_mean, moments.target_mean)
        # R = min_w |t - Phi w|^2 + w' Lam w: a sum of positive terms, without cancellation.
        quadratic = residual_ss + float(mean @ (lam * mean))
        # One step of iterative refinement: weights of nearly collinear atoms are large and
        # inaccurate. R is a quadratic function of the weights, so its change by the step is known.
        slope = slope / norm - lam * mean
        step = solve_cholesky(factor, slope)
        mean = mean + step
        quadratic -= float(step @ slope)
    n_effective = moments.n_effective
    target_variance = moments.target_ss / max(n_effective, 1.0)
    if noise_variance is None:
        # Maximiser of the evidence in sigma^2; a Gamma prior acts like further observations.
        noise_variance = (quadratic + 2.0 * noise_rate) / max(n_effective + 2.0 * noise_shape, 1.0)
        noise_variance = max(noise_variance, noise_floor(target_variance, moments.target_mean))
    return Posterior(
        unit_mean=mean,
        factor=factor,
        lam=lam,
        column_mean=column_mean,
        column_norm=norm,
        target_mean=moments.target_mean,
        target_variance=target_variance,
        noise_variance=noise_variance,
        n_effective=n_effective,
        has_intercept=has_intercept,
        log_evidence=gaussian_objective(n_effective, quadratic, log_det, noise_variance),
        quadratic=quadratic,
    )


def _residuals(
    blocks: Iterable[TrainingBlock], coef: Vector, column_mean: Vector, target_mean: float
) -> tuple[float, Vector]:
    """Compute the weighted residual sum of squares, and ``Phi'r`` with the centred atoms."""
    residual_ss, slope = 0.0, np.zeros(len(coef))
    for atoms, target, weight in blocks:
        # Atoms and target are centred before the product, so that large means do not cancel.
        centred = atoms - column_mean
        residual = target - target_mean - centred @ coef
        weighted = residual if weight is None else weight * residual
        residual_ss += float(weighted @ residual)
        slope += weighted @ centred
    return residual_ss, slope


def noise_floor(target_variance: float, target_mean: float) -> float:
    """Compute the smallest noise variance that is allowed, given the rounding of the target.

    It is a fraction of 1e-10 of the variance of the target, and at least the rounding error of the
    target itself. So a constant target has a tiny noise variance and a finite evidence.
    """
    rounding = EPS * abs(target_mean)
    return max(NOISE_FLOOR * target_variance, rounding**2, float(np.finfo(np.float64).tiny))
