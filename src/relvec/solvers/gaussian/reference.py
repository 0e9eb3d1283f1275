"""What the two published algorithms kept for reference have in common.

`relvec.published.fixed_point` and `relvec.published.textbook` refactorise the active set at
every step and keep the noise as a variable of its own, as the papers do. Here are the
posterior of a given set of atoms, the objective and its derivatives.
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
"""Beyond these an atom is unpenalised, or absent, to working precision."""


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
    """Well-determinedness ``1 - lam S_ii`` of each weight."""
    shrunk: Vector
    """Diagonal of ``Q``, see `relvec.evidence.penalised_shrinkage`; zero without a penalty."""
    quadratic: float
    """``R = t' K^-1 t``."""
    log_det: float
    """``log|K|``."""

    @property
    def residual_ss(self) -> float:
        """``|t - Phi mu|^2``."""
        return max(self.quadratic - float(self.lam @ self.mean**2), 0.0)


class State(NamedTuple):
    """Where an algorithm stands."""

    fit: Fit
    noise: float
    objective: float


def condition(problem: Problem, active: IndexArray, lam: Vector) -> Fit:
    """Factorise the posterior; precisions that are too small to do so are raised."""
    moments = problem.moments
    gram, correlation = moments.gram(active), moments.correlation[active]
    lam, factor, log_det = factorise(gram, np.clip(lam, LAM_MIN, LAM_MAX))
    covariance = inverse_from_cholesky(factor)
    share = lam * covariance.diagonal()
    # Each form of gamma is accurate where the other one cancels.
    gamma = np.where(share < 0.5, 1.0 - share, np.einsum("ij,ij->i", covariance, gram))
    gamma = np.clip(gamma, 0.0, 1.0)
    shrunk = np.zeros(len(lam))
    prior = problem.prior.subset(active)
    if prior.is_penalised:
        others = covariance**2 @ (prior.penalty * lam)
        others -= prior.penalty * share * covariance.diagonal()
        shrunk = prior.penalty * covariance.diagonal() * gamma - others
        if isinstance(prior.penalty, float):
            shrunk = np.maximum(shrunk, 0.0)  # only several penalties can make it negative
    whitened = solve_lower(factor, correlation)
    quadratic = max(moments.target_ss - float(whitened @ whitened), 0.0)
    mean = solve_cholesky(factor, correlation)
    return Fit(active, lam, factor, whitened, covariance, mean, gamma, shrunk, quadratic, log_det)


def bounded_noise(problem: Problem, noise: float) -> float:
    """Hold the noise where the problem says so, and above rounding elsewhere."""
    if problem.noise_variance is not None:
        return problem.noise_variance
    moments = problem.moments
    return max(noise, NOISE_FLOOR * moments.target_ss / moments.n_effective)


def best_noise(problem: Problem, fit: Fit) -> float:
    """Noise variance that maximises the objective for fixed ``lam``, in closed form."""
    count, ss = problem.prior.subset(fit.active).noise_counts(fit.lam)
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
    """Differentiate the objective in the log precisions; zero where a bound holds them."""
    determined = fit.gamma + 2.0 * fit.lam * fit.shrunk
    slope = 0.5 * (determined - fit.lam * fit.mean**2 / noise)
    slope += problem.prior.subset(fit.active).slopes(np.log(fit.lam), noise)[0]
    outward = ((fit.lam <= LAM_MIN) & (slope < 0)) | ((fit.lam >= LAM_MAX) & (slope > 0))
    return np.where(outward, 0.0, slope)


def compute_statistics(problem: Problem, fit: Fit) -> Statistics:
    """Compute the statistics of all atoms, in the model or not."""
    active, penalty = fit.active, problem.prior.penalty
    s, q, w, _ = screen(problem, active, fit).known
    quadratic = np.full(len(s), fit.quadratic)
    if len(active):
        # In the model: (s, q, w) = (a S/(a-S), a Q/(a-S), (a/(a-S))^2 P), free of cancellation.
        variance = fit.covariance.diagonal()
        s[active], q[active] = fit.gamma / variance, fit.mean / variance
        quadratic[active] += fit.mean**2 / variance
        if w is not None:
            w[active] = fit.shrunk / variance**2
    if w is not None and isinstance(penalty, float):
        w = np.maximum(w, 0.0)
    return Statistics(np.maximum(s, 1e-300), q, w, quadratic)


def compute_contributions(
    problem: Problem, fit: Fit, known: Statistics, noise_variance: float | None = None
) -> Vector:
    """Compute what each active atom brings to the objective, the noise free to follow.

    Or held, as the problem says or at `noise_variance`.
    """
    held = problem.noise_variance if noise_variance is None else noise_variance
    active, prior = fit.active, problem.prior.subset(fit.active)
    without = np.maximum(np.asarray(known.quadratic)[active] + 2 * prior.noise.rate, 1e-300)
    value = removal_loss(
        known.subset(active)._replace(quadratic=without),
        fit.lam,
        max(fit.quadratic + 2 * prior.noise.rate, 1e-300),
        problem.moments.n_effective + 2 * prior.noise.shape,
        held,
        prior.log_density(np.log(fit.lam), held) if prior.has_density else None,
    )
    return value - problem.min_gain[active]


def compute_best_gains(problem: Problem, known: Statistics) -> tuple[Vector, Vector]:
    """Most that each atom can bring, the others fixed, and the ``lam`` at which it does.

    Minus infinity where the best ``lam`` is infinite or the atom is unusable.
    """
    prior, moments = problem.prior, problem.moments
    if not prior.is_removable:  # every atom is in the model
        return np.full(moments.n_atoms, -np.inf), np.ones(moments.n_atoms)
    known = known._replace(quadratic=np.maximum(known.quadratic + 2 * prior.noise.rate, 1e-300))
    n_effective = moments.n_effective + 2 * prior.noise.shape
    gain, lam = prior.best(known, n_effective, problem.noise_variance)
    return np.where(moments.usable, gain - problem.min_gain, -np.inf), lam


def compute_entry_gains(problem: Problem, fit: Fit) -> tuple[Vector, Vector]:
    """Return the potential of the atoms outside the model; minus infinity for the others."""
    known = compute_statistics(problem, fit)
    gain, lam = compute_best_gains(problem, known)
    gain[known.s <= problem.moments.resolution] = -np.inf
    gain[fit.active] = -np.inf
    return gain, lam


def solve_trivial(problem: Problem) -> Solution | None:
    """Answer problems without atoms or without anything to explain; None for all others.

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
    """Put the noise at its best and certify the end state.

    A model cut at its cap is not a maximum, so it does not count as converged.
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
