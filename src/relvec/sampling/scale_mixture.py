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
from scipy.special import gammaincc, gammaincinv

from relvec._linalg import (
    EPS,
    cholesky,
    inverse_diagonal_from_cholesky,
    log_det_cholesky,
    lower_gram_of_rows,
    project_rows,
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
LARGE_VARIANCE = 0.25
"""Least ``d^2`` of the atoms that `ScaleMixture.approximate_slope` treats exactly."""
LARGEST_ROUGH_VARIANCE = 1e4
"""Largest ``d^2`` for single precision, whose errors of ``1 - gamma`` are ``1e-7 d^2``."""
SMALLEST_ROUGH = 32
"""Number of atoms from which on the approximation is cheaper than the slope."""
LEAST_PROBABILITY = 1e-250
"""Bound on quantiles of the noise variance that are reflected."""
WORTHWHILE_SHARE = 0.85
"""Share of such atoms, of the rank, up to which the approximation is cheaper than the slope."""
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
        self.rank = 0
        self.rows, self.target = self._find_rows()
        target = self.target
        self._target_inside = self.target_ss if self.rows is None else float(target @ target)
        # Single precision has a small range: the target is divided by its norm.
        norm = math.sqrt(self.target_ss)
        self._unit_correlation = self.correlation / norm if norm > 0.0 else self.correlation
        self._rough_gram = self.gram.astype(np.float32)
        self._rough_correlation = self._unit_correlation.astype(np.float32)

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
        self.rank = int(rank)
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
            inner = lower_gram_of_rows(self.rows * scale)
            inner.T.ravel()[:: len(inner) + 1] += 1.0
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

    def approximate_slope(self, variance: Vector) -> Vector:
        """Return an approximation of `slope` from the squares of all prior scales.

        Atoms of large scale are treated exactly, in single precision; what the others add to the
        covariance of the data, ``B_R D_R^2 B_R'``, is replaced by a multiple of the identity with
        the same trace. With K = s I + B_A D_A^2 B_A', the Cholesky factor of P = G_AA + s D_A^-2
        gives::

            b_i' K^-1 b_j = (G_ij - G_iA P^-1 G_Aj) / s

        It costs ``O(M |A|^2)`` operations. It is a function of the scales and nothing else, as
        Hamiltonian Monte Carlo needs; trajectories that follow it are reversible and preserve
        volume.
        """
        if self.n_atoms < SMALLEST_ROUGH:
            return self.slope(self.condition(0.5 * np.log(variance)))
        large = np.flatnonzero(variance > LARGE_VARIANCE)
        count = len(large)
        kept = variance[large]
        largest = float(np.maximum.reduce(kept)) if count else 0.0
        if count > WORTHWHILE_SHARE * self.rank or largest > LARGEST_ROUGH_VARIANCE:
            return self.slope(self.condition(0.5 * np.log(variance)))
        total = float(np.add.reduce(variance)) - float(np.add.reduce(kept))
        inflation = 1.0 + total / max(self.rank, 1)
        cross = self._rough_gram[large]
        inner = cross.take(large, axis=1)
        inner.ravel()[:: count + 1] += inflation / kept
        solved = project_rows(inner, cross, self._rough_correlation[large])
        if solved is None:
            return self.slope(self.condition(0.5 * np.log(variance)))
        fit, taken, explained = solved
        inverse = 1.0 / inflation
        # Only the part of t't within the span of the atoms is changed by the inflation.
        inside = self._target_inside
        left = max(inside - self.target_ss * explained, 0.0)
        rate = self.offset + 0.5 * (self.target_ss - inside + inverse * left)
        slope = self._unit_correlation - fit
        slope *= slope
        slope *= self.shape * (self.target_ss / rate) * inverse**2
        slope -= inverse
        taken *= inverse
        slope += taken
        slope *= variance
        return slope

    def mean(self, known: Conditional) -> Vector:
        """Return the mean of the weights given the prior scales."""
        if known.uses_rows and self.rows is not None:
            solved = solve_lower(known.factor, known.white, transposed=True)
            return known.scale**2 * (solved @ self.rows)
        a = known.scale / np.hypot(1.0, known.scale)
        return a * solve_lower(known.factor, known.white, transposed=True)

    def reflect(self, known: Conditional, weights: Vector, variance: float) -> tuple[Vector, float]:
        """Return weights and noise variance on the other side of their distribution.

        The quantile ``u`` of the noise variance becomes ``1 - u``, and the deviation of the weights
        from their mean, in units of the noise, changes its sign. The map is its own inverse and
        leaves the distribution given the prior scales as it is.
        """
        # shape and rate of the precision: sigma^-2 E has a standard Gamma distribution
        upper = float(gammaincc(self.shape, known.rate / variance))
        quantile = min(max(upper, LEAST_PROBABILITY), 1.0 - EPS)
        reflected = known.rate / float(gammaincinv(self.shape, quantile))
        mean = self.mean(known)
        return mean - math.sqrt(reflected / variance) * (weights - mean), reflected

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
