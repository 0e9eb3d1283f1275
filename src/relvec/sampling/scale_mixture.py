"""The Gaussian model given prior scales: marginal likelihood, and exact draws of weights and noise.

Unit-norm atoms have weights ``w_i | sigma^2 ~ N(0, sigma^2 d_i^2)``; scale mixtures of normals such
as the horseshoe differ in the prior of ``d`` only. With ``D = diag(d)``, ``K = I + Phi D^2 Phi'``
and ``R = t' K^-1 t``, and weights and noise integrated out (shape and rate of the noise prior
``g`` and ``h``)::

    log p(t | d) = -1/2 log|K| - nu log E,      nu = g + N / 2,      E = h + R / 2
    sigma^2 | t, d ~ InverseGamma(nu, E)        w | sigma^2, t, d ~ N(mu, sigma^2 (G + D^-2)^-1)

`d` is bounded, and no scale, however small or large, makes a factorisation fail.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpstrf

from relvec._linalg import (
    EPS,
    cholesky,
    gram_of_rows,
    inverse_diagonal_from_cholesky,
    log_det_cholesky,
    robust_cholesky,
    solve_cholesky,
    solve_lower,
    solve_lower_rows,
)
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import NOISE_FLOOR
from relvec.moments.base import Moments
from relvec.posterior import noise_floor
from relvec.priors import InverseGamma

__all__ = ["Conditional", "ScaleMixture"]

LOG_SCALE_LIMIT = 100.0
"""Bound on ``|log d|``; at ``d = e^100`` a prior scale has long ceased to matter."""
LARGEST_ROW_SCALE = 1e4
"""Largest ``d`` for which rows are used: ``I + B D^2 B'`` has rounding errors of ``1e-16 d^2``."""
WORTHWHILE_RANK = 0.8
"""Rank of the Gram matrix, as a share of the number of atoms, up to which rows are used."""


class Conditional(NamedTuple):
    """The posterior of weights and noise given prior scales."""

    log_marginal: float
    """``log p(t | d)`` up to a constant, weights and noise integrated out."""
    rate: float
    """``E``, the rate of the inverse Gamma distribution of the noise variance."""
    scale: Vector
    """``d``."""
    factor: Matrix
    """Lower Cholesky factor: of ``I + B D^2 B'`` with rows, or of the scaled ``G + D^-2``."""
    white: Vector
    """``L^-1`` times the (scaled) target or correlations."""
    uses_rows: bool


class ScaleMixture:
    """Moments with an inverse Gamma prior of the noise, as a function of the prior scales.

    The cost of `condition` does not depend on the number of rows of the data: one Cholesky
    factorisation of ``min(M, rank)`` rows, where the rank of the Gram matrix is at most ``N``.

    Parameters
    ----------
    moments : Moments
        Moments of all atoms and the target; unusable atoms are left out.
    noise : InverseGamma
        Prior of the noise variance.
    """

    active: IndexArray
    """The usable atoms."""

    def __init__(self, moments: Moments, noise: InverseGamma) -> None:
        self.active = np.flatnonzero(moments.usable)
        self.gram = moments.gram(self.active)
        self.correlation = moments.correlation[self.active]
        self.shape = noise.shape + 0.5 * moments.n_effective
        if self.shape <= 0.0:
            raise ValueError(
                "the noise variance has no posterior without observations; give more rows than the "
                "intercept needs, for which one sample is not enough, or a noise prior of positive "
                "shape."
            )
        # As in the search, t't grows by a share of 1e-10, so that the posterior is proper when the
        # target is constant or the atoms interpolate it (see `relvec.evidence.NOISE_FLOOR`).
        count = max(moments.n_effective, 1.0)
        floor = count * noise_floor(moments.target_ss / count, moments.target_mean)
        self.offset = noise.rate + 0.5 * max(floor, NOISE_FLOOR * moments.target_ss)
        self.target_ss = moments.target_ss
        self.rows, self.target = self._find_rows()

    @property
    def n_atoms(self) -> int:
        """Number of usable atoms."""
        return len(self.active)

    def _find_rows(self) -> tuple[Matrix | None, Vector]:
        """Return ``B`` (rank, M) with ``B'B = G`` and its target, if the rank is small.

        They replace the data: ``B't = Phi't``, and what of the target is left is orthogonal to all
        atoms. The rank is found by Cholesky with pivots.
        """
        if not self.n_atoms:
            return None, np.empty(0)
        factor, pivots, rank, _ = dpstrf(self.gram, lower=1, tol=self.n_atoms * EPS)
        if rank > WORTHWHILE_RANK * self.n_atoms:
            return None, np.empty(0)
        order = pivots - 1
        lower = np.tril(factor[:, :rank])
        rows = np.zeros((rank, self.n_atoms))
        rows[:, order] = lower.T
        target = solve_lower(np.asfortranarray(lower[:rank]), self.correlation[order[:rank]])
        return rows, target

    def condition(self, log_scale: Vector) -> Conditional:
        """Return the posterior of weights and noise given the logarithms of the prior scales."""
        log_scale = np.clip(log_scale, -LOG_SCALE_LIMIT, LOG_SCALE_LIMIT)
        scale = np.exp(log_scale)
        if self.rows is not None and scale.max() <= LARGEST_ROW_SCALE:
            inner = gram_of_rows(self.rows * scale)
            inner.flat[:: len(inner) + 1] += 1.0
            factor = cholesky(inner, overwrite=True)
            if factor is not None:
                white = solve_lower(factor, self.target)
                # t' K^-1 t: of the part within the span of the atoms, and of the rest, which is
                # never negative in exact arithmetic.
                rest = max(self.target_ss - float(self.target @ self.target), 0.0)
                quadratic = rest + float(white @ white)
                return self._finish(log_det_cholesky(factor), quadratic, scale, factor, white, True)
        # G + D^-2 with a unit diagonal: a_i a_j G_ij with a^2 = d^2 / (1 + d^2) off the diagonal.
        # Errors are then relative to each atom, however different the scales are.
        a = 1.0 / np.sqrt(1.0 + np.exp(-2.0 * log_scale))
        scaled = self.gram * a
        scaled *= a[:, np.newaxis]
        scaled.flat[:: len(scaled) + 1] = 1.0
        factor = robust_cholesky(scaled)
        white = solve_lower(factor, a * self.correlation)
        # |K| = |I + D G D| = |scaled| prod_i (1 + d_i^2)
        log_det = log_det_cholesky(factor) + float(np.logaddexp(0.0, 2.0 * log_scale).sum())
        quadratic = max(self.target_ss - float(white @ white), 0.0)
        return self._finish(log_det, quadratic, scale, factor, white, False)

    def _finish(
        self,
        log_det: float,
        quadratic: float,
        scale: Vector,
        factor: Matrix,
        white: Vector,
        uses_rows: bool,
    ) -> Conditional:
        rate = self.offset + 0.5 * quadratic
        log_marginal = -0.5 * log_det - self.shape * math.log(rate)
        return Conditional(log_marginal, rate, scale, factor, white, uses_rows)

    def slope(self, known: Conditional) -> Vector:
        """Return the derivatives of ``log p(t | d)`` in each ``log d_i``.

        They are ``nu z_i^2 / E - gamma_i``, with the posterior mean ``mu_i = d_i z_i`` and the
        well-determinedness ``gamma_i = 1 - S_ii / d_i^2`` of MacKay (1992).
        """
        if not self.n_atoms:
            return np.empty(0)
        if known.uses_rows and self.rows is not None:
            # z_i = d_i b_i' P^-1 t and gamma_i = d_i^2 b_i' P^-1 b_i with P = I + B D^2 B'
            solved = solve_lower_rows(known.factor, self.rows)
            z = known.scale * (known.white @ solved)
            gamma = known.scale**2 * np.einsum("ij,ij->j", solved, solved)
        else:
            # S = a A^-1 a with the scaled matrix A = L L' and a^2 / d^2 = 1 / (1 + d^2)
            ratio = 1.0 / np.hypot(1.0, known.scale)
            z = ratio * solve_lower(known.factor, known.white, transposed=True)
            gamma = 1.0 - ratio**2 * inverse_diagonal_from_cholesky(known.factor)
        return (self.shape / known.rate) * z**2 - gamma

    def draw(self, known: Conditional, rng: np.random.Generator) -> tuple[Vector, float]:
        """Draw weights of the usable atoms and the noise variance."""
        noise_variance = known.rate / rng.standard_gamma(self.shape)
        noise, scale = math.sqrt(noise_variance), known.scale
        if known.uses_rows and self.rows is not None:
            # Bhattacharya, Chakraborty and Mallick (2016): a draw from the prior, moved by what the
            # data say about its residuals.
            prior = noise * scale * rng.standard_normal(self.n_atoms)
            error = noise * rng.standard_normal(len(self.target))
            residual = self.target - self.rows @ prior - error
            solved = solve_cholesky(known.factor, residual)
            return prior + scale**2 * (solved @ self.rows), noise_variance
        # L^-T (L^-1 a b + sigma z), rescaled: mean and noise by one triangular solve
        a = scale / np.hypot(1.0, scale)
        white = known.white + noise * rng.standard_normal(self.n_atoms)
        return a * solve_lower(known.factor, white, transposed=True), noise_variance
