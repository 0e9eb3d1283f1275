"""Initialisations of ascents.

The evidence has many local maxima, and the initialisation matters more than the steps. From the
empty model with a free noise variance, the noise explains the data before a second atom can help.
So ascents start with the noise held below a ridge estimate, or with all atoms in the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relvec._linalg import inverse_diagonal_from_cholesky, solve_lower
from relvec._typing import IndexArray, Vector
from relvec.evidence import gaussian_objective, mackay_update
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Objective, Point, evaluate_robustly
from relvec.solvers.gaussian.state import State, build_objective
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning


class Ridge(NamedTuple):
    """Ridge regression: one precision for all atoms, or for a sample of them."""

    atoms: IndexArray
    log_lam: float
    noise_variance: float
    objective: float
    """Its log evidence; a sparse optimum below it was reached from a poor initialisation."""


def fit_ridge(problem: Problem, tuning: SearchTuning = DEFAULT) -> Ridge:
    """Find the common precision of highest evidence on a grid, the noise profiled out.

    In the eigenbasis of the Gram matrix, with eigenvalues ``g`` and squared components ``p`` of
    ``Phi't``, ``R = t't - sum p / (g + lam)`` and ``log|K| = sum log(g + lam) - n_atoms log lam``.
    Of too many atoms, evenly spaced ones are used.
    """
    moments = problem.moments
    usable = np.flatnonzero(moments.usable)
    if len(usable) > tuning.max_ridge_atoms:
        usable = usable[np.linspace(0, len(usable) - 1, tuning.max_ridge_atoms).astype(np.intp)]
    n, target_ss, _, _ = build_objective(problem, None)
    prior = problem.prior.subset(usable)
    eigenvalues, vectors = np.linalg.eigh(moments.gram(usable))
    eigenvalues = np.maximum(eigenvalues, 0.0)
    projections = (vectors.T @ moments.correlation[usable]) ** 2
    # At e^3 times the largest eigenvalue the atoms explain little; e^-30 of it is a few hundred
    # times the rounding error of the eigenvalues.
    top = np.log(max(float(eigenvalues.max(initial=1.0)), 1e-300))
    grid = np.linspace(top - 30.0, top + 3.0, 133)
    shifted = eigenvalues + np.exp(grid)[:, None]
    quadratic = np.maximum(target_ss - (projections / shifted).sum(axis=1), 1e-10 * target_ss)
    # Determinant lemma, as in the docstring. The noise is profiled out: R / N below is the estimate
    # from which ascents take the noise they hold.
    log_det = np.log(shifted).sum(axis=1) - len(usable) * grid
    cost = n * np.log(quadratic) + log_det
    density = np.zeros(len(grid))
    if prior.has_density and prior.is_removable:
        noise = problem.noise_variance
        log_lam = np.repeat(grid[:, None], len(usable), axis=1)
        density = prior.log_density(log_lam, noise).sum(axis=1)
        cost -= 2.0 * density
    best = int(np.argmin(cost))
    value = gaussian_objective(n, float(quadratic[best]), float(log_det[best]), None)
    if prior.is_penalised:
        # gamma_i = (S G)_ii = sum_k V_ik^2 g_k / (g_k + lam). The penalty is not part of the search
        # over lam, only of the value that is compared with sparse optima.
        share = eigenvalues / shifted[best]
        value -= float((prior.penalty * (vectors**2 @ share)).sum())
    value += float(density[best])
    return Ridge(usable, float(grid[best]), float(quadratic[best]) / n, value)


def build_dense_state(
    problem: Problem,
    atoms: IndexArray,
    log_lam: Vector | float,
    tuning: SearchTuning = DEFAULT,
) -> State:
    """Return the state after a few sweeps of MacKay's fixed point from all of some atoms.

    Atoms whose precision exceeds `max_dense_lam` are removed.
    """
    moments = problem.moments
    objective = build_objective(problem, problem.noise_variance)
    active, theta = atoms, np.full(len(atoms), log_lam, dtype=np.float64)
    gram, correlation = moments.gram(active), moments.correlation[active]
    for _ in range(tuning.dense_sweeps):
        present = objective.subset(active)
        update = _update_by_mackay(evaluate_robustly(gram, correlation, theta, present), present)
        # MacKay's fixed point reaches an infinite precision only in the limit, so a finite bound
        # decides that an atom is superfluous.
        kept = update < np.log(tuning.max_dense_lam)
        if not kept.any():
            kept[np.argmin(update)] = True
        # Of the atoms that stay: precisions on their way to infinity never settle.
        change = float(np.abs(update - theta)[kept].max())
        theta = np.clip(update[kept], THETA_MIN, THETA_MAX)
        if not kept.all():
            left = np.flatnonzero(kept)
            active, correlation = active[left], correlation[left]
            gram = gram[left[:, None], left]
        if change < 1e-2:
            break
    return State(active, theta)


def _update_by_mackay(point: Point, objective: Objective) -> Vector:
    """Update ``log lam`` of all active atoms once by MacKay's fixed point."""
    prior = objective.prior
    shrunk = None
    if prior.is_penalised:
        covariance = point.covariance
        variance = covariance.diagonal()
        # Diagonal of Q, see `relvec.evidence.penalised_shrinkage`.
        others = np.einsum("ij,j,ij->i", covariance, prior.penalty * point.lam, covariance)
        shrunk = prior.penalty * variance - others
    else:
        variance = inverse_diagonal_from_cholesky(point.factor)
    # At gamma = 0 the update would be lam = 0, no prior at all, instead of a large lam.
    gamma = np.minimum(np.maximum(1.0 - point.lam * variance, 1e-15), 1.0)
    noise = objective.noise_variance_at(point)
    # mu = L^-T L^-1 Phi't: without the whole covariance if there is no penalty.
    mean = solve_lower(point.factor, point.whitened, transposed=True)
    density = prior.fixed_point_terms(point.theta, noise)
    with np.errstate(divide="ignore"):
        update = mackay_update(point.lam, gamma, mean, noise, shrunk, density)
        return np.log(update)


def mix_with_ridge(state: State, start: Ridge, share: float, n_atoms: int) -> Vector:
    """Average the prior variances of a state and of the ridge regression; return log precisions."""
    variance = np.zeros(n_atoms)
    variance[state.active] = (1.0 - share) * np.exp(-state.theta)
    # K is linear in the prior variances 1 / lam, not in the precisions (see `average_states`).
    variance[start.atoms] += share * np.exp(-start.log_lam)
    return -np.log(variance[start.atoms])


def average_states(
    states: Sequence[State], n_atoms: int, shares: Sequence[float] | None = None
) -> State:
    """Average local optima in their prior variances ``1 / lam``.

    ``K`` is linear in the prior variances, so ``K`` of the result is the mean of their ``K``. The
    average contains every atom of any of them, with a larger variance the more of them have it. An
    ascent from it usually ends above all of them.
    """
    if shares is None:
        shares = [1.0 / len(states)] * len(states)
    variance = np.zeros(n_atoms)
    for state, share in zip(states, shares, strict=True):
        variance[state.active] += share * np.exp(-state.theta)
    active = np.flatnonzero(variance)
    return State(active, -np.log(variance[active]))
