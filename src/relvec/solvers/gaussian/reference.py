"""Algebra shared by the published algorithms in `relvec.published`.

`relvec.published.fixed_point` and `relvec.published.textbook` refactorise the active set at every
step and treat the noise as a separate variable, as the papers do. This module computes the
posterior of a set of atoms (Tipping 2001, eqs. 12 and 13), the objective and its derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relvec._linalg import inverse_from_cholesky, solve_cholesky, solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import NOISE_FLOOR, factorise, removal_loss
from relvec.priors import Statistics
from relvec.solvers.base import Certificate, Problem, Solution
from relvec.solvers.gaussian.screening import screen
from relvec.solvers.gaussian.state import compute_objective

LAM_MIN, LAM_MAX = 1e-13, 1e13
"""Bounds on ``lam``. Beyond them a weight has no prior, or is zero, to working precision."""


class Fit(NamedTuple):
    """Posterior of the weights of `active` given `lam`, in units of the noise variance."""

    active: IndexArray
    lam: Vector
    factor: Matrix
    """Lower Cholesky factor of ``G + Lam``."""
    whitened: Vector
    """``L^-1 Phi't``."""
    covariance: Matrix
    """``S = (G + Lam)^-1``: the posterior covariance is ``sigma^2 S``."""
    mean: Vector
    gamma: Vector
    """Effective degrees of freedom ``1 - lam S_ii`` of each weight (Tipping 2001, eq. 17)."""
    shrunk: Vector
    """Diagonal of ``Q``, see `relvec.evidence.penalised_shrinkage`; zero without a penalty."""
    quadratic: float
    """``R = t' K^-1 t``."""
    log_det: float
    """``log|K|``."""

    @property
    def residual_ss(self) -> float:
        """``|t - Phi mu|^2``."""
        # R = |t - Phi mu|^2 + mu' Lam mu.
        return max(self.quadratic - float(self.lam @ self.mean**2), 0.0)


class State(NamedTuple):
    """Posterior, noise variance and objective of an iteration."""

    fit: Fit
    noise: float
    objective: float


def condition(problem: Problem, active: IndexArray, lam: Vector) -> Fit:
    """Compute the posterior of the weights; precisions too small to factorise are raised."""
    moments = problem.moments
    gram, correlation = moments.gram(active), moments.correlation[active]
    lam, factor, log_det = factorise(gram, np.clip(lam, LAM_MIN, LAM_MAX))
    covariance = inverse_from_cholesky(factor)
    share = lam * covariance.diagonal()
    # gamma = 1 - lam S_ii = (S G)_ii. Each form is accurate where the other one cancels.
    gamma = np.where(share < 0.5, 1.0 - share, np.einsum("ij,ij->i", covariance, gram))
    gamma = np.clip(gamma, 0.0, 1.0)
    shrunk = np.zeros(len(lam))
    prior = problem.prior.subset(active)
    if prior.is_penalised:
        # Q_ii = c_i S_ii - sum_k c_k lam_k S_ik^2. The term k = i is combined with the first one to
        # c_i S_ii gamma_i, which does not cancel for a weak atom (gamma near zero).
        others = covariance**2 @ (prior.penalty * lam)
        others -= prior.penalty * share * covariance.diagonal()
        shrunk = prior.penalty * covariance.diagonal() * gamma - others
        if isinstance(prior.penalty, float):
            shrunk = np.maximum(shrunk, 0.0)  # only unequal penalties can make it negative
    whitened = solve_lower(factor, correlation)
    # Woodbury: R = t't - |L^-1 Phi't|^2.
    quadratic = max(moments.target_ss - float(whitened @ whitened), 0.0)
    mean = solve_cholesky(factor, correlation)
    return Fit(active, lam, factor, whitened, covariance, mean, gamma, shrunk, quadratic, log_det)


def bounded_noise(problem: Problem, noise: float) -> float:
    """Return the held noise variance of the problem, or `noise` bounded above rounding errors."""
    if problem.noise_variance is not None:
        return problem.noise_variance
    moments = problem.moments
    return max(noise, NOISE_FLOOR * moments.target_ss / moments.n_effective)


def best_noise(problem: Problem, fit: Fit) -> float:
    """Compute the noise variance that maximises the objective for fixed ``lam``: ``R / N``."""
    # lam is held, not alpha = lam / sigma^2: a density of alpha then depends on the noise and acts
    # like further observations, as a Gamma prior of the noise does.
    count, ss = problem.prior.subset(fit.active).noise_pseudo_observations(fit.lam)
    return bounded_noise(problem, (fit.quadratic + ss) / (problem.moments.n_effective + count))


def evaluate(problem: Problem, fit: Fit, noise: float) -> State:
    """Evaluate the penalised log evidence."""
    prior = problem.prior.subset(fit.active)
    added = 0.0
    if prior.has_density:
        added += float(prior.log_density(np.log(fit.lam), noise).sum())
    if prior.is_penalised:
        added -= float((prior.penalty * fit.gamma).sum())
    quadratic = fit.quadratic + 2.0 * prior.noise.rate
    value = compute_objective(problem, fit.active, quadratic, fit.log_det, added, noise)
    return State(fit, noise, value)


def gradient(problem: Problem, fit: Fit, noise: float) -> Vector:
    """Compute the gradient of the objective in the log precisions; zero at active bounds."""
    # -1/2 of the gradient in `relvec.evidence.gradient_and_hessian`, with the noise held; zero at
    # MacKay's fixed point (Tipping 2001, eq. 16).
    determined = fit.gamma + 2.0 * fit.lam * fit.shrunk
    slope = 0.5 * (determined - fit.lam * fit.mean**2 / noise)
    slope += problem.prior.subset(fit.active).derivatives(np.log(fit.lam), noise)[0]
    # Karush-Kuhn-Tucker conditions: at a bound, a slope that points outwards is optimal.
    outward = ((fit.lam <= LAM_MIN) & (slope < 0)) | ((fit.lam >= LAM_MAX) & (slope > 0))
    return np.where(outward, 0.0, slope)


def compute_statistics(problem: Problem, fit: Fit) -> Statistics:
    """Compute ``s``, ``q``, ``w`` and ``R`` of all atoms, in the model without that atom."""
    active, penalty = fit.active, problem.prior.penalty
    s, q, w, _ = screen(problem, active, fit).statistics
    quadratic = np.full(len(s), fit.quadratic)
    if len(active):
        # Active atoms: s = a S / (a - S), q = a Q / (a - S) and w = (a / (a - S))^2 P (Tipping and
        # Faul, 2003), computed from the posterior of the weights, without cancellation.
        variance = fit.covariance.diagonal()
        s[active], q[active] = fit.gamma / variance, fit.mean / variance
        # R_without = R + q^2 S_ii.
        quadratic[active] += fit.mean**2 / variance
        if w is not None:
            w[active] = fit.shrunk / variance**2
    if w is not None and isinstance(penalty, float):
        # w = c phi' K^-2 phi >= 0 for one common penalty; negative by rounding only.
        w = np.maximum(w, 0.0)
    return Statistics(np.maximum(s, 1e-300), q, w, quadratic)


def compute_contributions(
    problem: Problem, fit: Fit, stats: Statistics, noise_variance: float | None = None
) -> Vector:
    """Compute the contribution of each active atom to the objective, less its penalty.

    The noise is profiled out, unless it is held by the problem or at `noise_variance`.
    """
    held = problem.noise_variance if noise_variance is None else noise_variance
    active, prior = fit.active, problem.prior.subset(fit.active)
    # A Gamma prior of the noise precision acts like 2 shape observations with sum of squares 2
    # rate, in the models with and without the atom.
    without = np.maximum(np.asarray(stats.quadratic)[active] + 2 * prior.noise.rate, 1e-300)
    value = removal_loss(
        stats.subset(active)._replace(quadratic=without),
        fit.lam,
        max(fit.quadratic + 2 * prior.noise.rate, 1e-300),
        problem.moments.n_effective + 2 * prior.noise.shape,
        held,
        prior.log_density(np.log(fit.lam), held) if prior.has_density else None,
    )
    return value - problem.min_gain[active]


def compute_best_gains(problem: Problem, stats: Statistics) -> tuple[Vector, Vector]:
    """Compute the largest gain of each atom, the others held, and the best ``lam``.

    Gains are less penalties. They are minus infinity if the best ``lam`` is infinite or the atom is
    unusable.
    """
    prior, moments = problem.prior, problem.moments
    if not prior.is_removable:  # every atom is in the model
        return np.full(moments.n_atoms, -np.inf), np.ones(moments.n_atoms)
    stats = stats._replace(quadratic=np.maximum(stats.quadratic + 2 * prior.noise.rate, 1e-300))
    n_effective = moments.n_effective + 2 * prior.noise.shape
    gain, lam = prior.best_precision(stats, n_effective, problem.noise_variance)
    return np.where(moments.usable, gain - problem.min_gain, -np.inf), lam


def compute_entry_gains(problem: Problem, fit: Fit) -> tuple[Vector, Vector]:
    """Compute the largest gain of each inactive atom; minus infinity for active ones."""
    stats = compute_statistics(problem, fit)
    gain, lam = compute_best_gains(problem, stats)
    gain[stats.s <= problem.moments.resolution] = -np.inf
    gain[fit.active] = -np.inf
    return gain, lam


def solve_trivial(problem: Problem) -> Solution | None:
    """Solve problems without usable atoms or with a constant target; None for all others.

    A constant target with a free noise has noise variance zero and unbounded evidence.
    """
    moments, prior, noise = problem.moments, problem.prior, problem.noise_variance
    if (
        moments.usable.any()
        and moments.n_effective > 0
        and (
            moments.target_ss > 0
            or (not prior.is_removable and (noise is not None or prior.noise.rate > 0))
        )
    ):
        return None
    empty = condition(problem, np.empty(0, dtype=np.intp), np.empty(0))
    objective = 0.0
    if moments.n_effective > 0:
        noise = best_noise(problem, empty)
        objective = evaluate(problem, empty, noise).objective if noise > 0 else np.inf
    return Solution(
        active=empty.active,
        log_lam=empty.lam,
        noise_variance=noise or 0.0,
        objective=objective,
        n_iter=0,
        converged=True,
        certificate=Certificate(0.0, 0.0),
        laplace_rate=problem.prior.rate,
    )


def build_solution(
    problem: Problem, fit: Fit, trace: Sequence[float], *, converged: bool, reached_max_active: bool
) -> Solution:
    """Build the solution: maximise over the noise and evaluate the optimality conditions.

    A model that reached the cap on active atoms is not a maximum, so it is not converged.
    """
    state = evaluate(problem, fit, best_noise(problem, fit))
    gain, _ = compute_entry_gains(problem, fit)
    order = np.argsort(fit.active)
    return Solution(
        active=fit.active[order],
        log_lam=np.log(fit.lam[order]),
        noise_variance=state.noise,
        objective=state.objective,
        n_iter=len(trace),
        converged=converged and not reached_max_active,
        certificate=Certificate(
            gradient=float(np.abs(gradient(problem, fit, state.noise)).max(initial=0.0)),
            best_gain=float(gain.max(initial=0.0)),
        ),
        reached_max_active=reached_max_active,
        trace=tuple(trace),
        laplace_rate=problem.prior.rate,
    )
