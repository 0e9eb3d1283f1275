"""Variational Gaussian approximation of the posterior of several latent functions.

The Laplace approximation is too wide if classes are separable: the posterior then falls off steeply
on one side of the mode only. This module computes the Gaussian ``q`` of smallest Kullback-Leibler
divergence ``KL(q || posterior)``, with precisions held (Opper and Archambeau, 2009). It satisfies
two fixed-point equations: its precision is the negative Hessian of the log posterior averaged over
``q``, and the gradient averaged over ``q`` vanishes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from relvec._linalg import solve_lower
from relvec._typing import Matrix, Vector
from relvec.laplace.hessian import Hessian
from relvec.laplace.mode import Mode
from relvec.laplace.pairs import PairDesign, logit_covariance

__all__ = ["VariationalTuning", "find_nearest_gaussian"]


@dataclass(frozen=True)
class VariationalTuning:
    """Constants of the fixed-point iteration, chosen on ten data sets."""

    n_points: int = 32
    """Points per row for averages over the logits; doubling them changes probabilities by about
    0.02."""
    max_steps: int = 25
    """Largest number of iterations."""
    tol: float = 0.03
    """Change at which to stop: of the mean, in standard deviations, plus of the mean log
    determinant."""
    first_step: float = 0.5
    """Initial damping, as a fraction of the fixed-point step; a full first step may diverge."""
    least_step: float = 0.25
    """Smallest fraction of the fixed-point step."""
    block_entries: int = 2_000_000
    """Largest number of array entries for the rows that are processed at a time."""


_TUNING = VariationalTuning()


class Averaging(Protocol):
    """Likelihood of several latent functions with derivatives averaged over Gaussians."""

    @property
    def offset_or_zero(self) -> Matrix | float:
        """Offset of the latent functions."""
        ...

    def averaged_derivatives(
        self, mean: Matrix, covariance: np.ndarray, rows: slice, n_points: int
    ) -> tuple[Matrix, np.ndarray]:
        """Average slope and curvature of the weighted log density of rows over Gaussians."""
        ...


class _Average(NamedTuple):
    """Slope and curvature of the log likelihood in the weights, averaged over a Gaussian."""

    slope: Vector
    curvature: Matrix


def find_nearest_gaussian(
    mode: Mode, likelihood: Averaging, tuning: VariationalTuning = _TUNING
) -> tuple[Vector, Hessian]:
    """Find mean and factorised precision of the Gaussian nearest to the posterior.

    Parameters
    ----------
    mode : Mode
        Mode of the posterior, the initial value.
    likelihood : Averaging
        The likelihood of this mode.
    """
    design, hessian, weights = mode.design, mode.hessian, mode.weights
    assert isinstance(design, PairDesign)
    prior, n_weights = hessian.precision, len(weights)
    if not n_weights:
        return weights, hessian
    # H = D^-1 L L' D^-1 without the scaling, prior precisions included.
    lower = hessian.factor / hessian.scale[:, None]
    matrix = lower @ lower.T
    step, before = tuning.first_step, math.inf
    for _ in range(tuning.max_steps):
        average = _average(design, likelihood, weights, hessian, tuning)
        # Damped fixed point of the precision: q has the averaged negative Hessian E_q[X'BX] + A
        # (Opper & Archambeau 2009).
        matrix = (1.0 - step) * matrix + step * (average.curvature + np.diag(prior))
        # The matrix already contains A, so the precisions added here are zero.
        moved = Hessian(design, None, matrix.copy(), np.zeros(n_weights))
        white = solve_lower(moved.factor, moved.scale * (average.slope - prior * weights))
        length = float(np.linalg.norm(white))  # length of a full step, in standard deviations
        # Newton step H^-1 (E_q[slope] - A w) for the mean; its length in the metric of H is
        # |white|.
        full = moved.scale * solve_lower(moved.factor, white, transposed=True)
        # At most one posterior standard deviation: the averages were taken at the previous mean.
        weights = weights + step * min(1.0, 1.0 / max(length, 1e-300)) * full
        # This measure depends neither on the order of the classes nor on units.
        change = length + abs(moved.log_det - hessian.log_det) / n_weights
        hessian = moved
        if change < tuning.tol:
            break
        # Longer steps while the iteration contracts, shorter ones otherwise.
        falls = change < 0.9 * before
        step = min(1.0, 1.3 * step) if falls else max(tuning.least_step, 0.6 * step)
        before = change
    return weights, hessian


def _average(
    design: PairDesign,
    likelihood: Averaging,
    weights: Vector,
    hessian: Hessian,
    tuning: VariationalTuning,
) -> _Average:
    """Average slope and curvature of the log likelihood over a Gaussian of the weights.

    With the effects ``E`` of the weights on the latent functions of a row, and averages ``r`` and
    ``B`` of the slope and the curvature of its log density, these are the sums of ``E'r`` and
    ``E'BE``.
    """
    n_rows, n_classes, n_weights = len(design.columns), design.n_latent, len(weights)
    size = n_classes * max(n_weights, tuning.n_points)
    # Rows in blocks: effects of all classes and quadrature points of all rows need not fit in
    # memory.
    rows = max(1, tuning.block_entries // size)
    slope, curvature = np.zeros(n_weights), np.zeros((n_weights, n_weights))
    mean = design.latent(weights) + likelihood.offset_or_zero
    for start in range(0, n_rows, rows):
        part = slice(start, start + rows)
        effects = design.subset(part).all_effects()
        covariance = logit_covariance(effects, hessian.factor, hessian.scale)
        residual, spread = likelihood.averaged_derivatives(
            mean[part], covariance, part, tuning.n_points
        )
        # E'BE summed over the rows of the block, with B the full K x K curvature of each row.
        curved = np.einsum("nkl,lnp->knp", spread, effects, optimize=True)
        flat = effects.reshape(-1, n_weights)
        curvature += flat.T @ curved.reshape(-1, n_weights)
        slope += residual.T.ravel() @ flat
    # Symmetric up to rounding only; Cholesky reads one triangle.
    return _Average(slope, 0.5 * (curvature + curvature.T))
