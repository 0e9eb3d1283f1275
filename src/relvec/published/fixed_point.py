"""The first algorithm for relevance vector machines: sweeps over all atoms at once."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_choice, check_integer, check_positive
from relvec._linalg import EPS
from relvec._typing import BoolArray, IndexArray, Vector
from relvec.evidence import mackay_update
from relvec.solvers.base import Monitor, Problem, Solution, WarmStart
from relvec.solvers.gaussian.reference import (
    LAM_MAX,
    LAM_MIN,
    Fit,
    State,
    assess,
    best_noise,
    bounded_noise,
    conclude,
    condition,
    entry,
    iterate,
    potential,
    statistics,
    trivial,
    worth,
)
from relvec.solvers.gaussian.starts import ridge


class FixedPointSolver(BaseEstimator):
    """Re-estimate the precisions of all atoms in turn until they settle (Tipping, 2001).

    Starts from all usable atoms with one shared precision (the best ridge model), and
    deletes atoms as their precision diverges. Slow, O(k^3) for every one of many sweeps,
    but simple, and from the other end than forward selection: an independent reference for
    the default solver and, for wide kernels, sometimes a better optimum. It is the only
    solver for Gamma priors with a positive rate.

    Parameters
    ----------
    update : {"mackay", "em"}, default="mackay"
        "mackay" uses eq. 44 and 46: much faster, without a guarantee. "em" uses eq. 43 and
        50, and never lowers the objective.
    max_iter : int, default=5000
        Number of sweeps.
    tol : float, default=1e-3
        The sweeps have settled when neither the log noise nor the log precision of any atom
        that is to stay changes by more than this. Atoms whose best precision is infinite,
        which EM approaches only linearly, are not waited for.
    prune_threshold : float, default=1e9
        An atom is deleted when its ``lam`` exceeds this, or its well-determinedness
        ``gamma`` falls below machine precision. Not used under a Gamma prior with a
        positive rate, where an infinite precision has zero density.
    check_deleted : bool, default=True
        At the end of the run, look whether bringing a deleted atom back would gain more
        than `tol` (Tipping's appendix B.1); if so re-admit it, for the threshold not to
        touch again, and go on.

    Notes
    -----
    When the sweeps have settled, atoms the model is better without are deleted one by one:
    those whose best precision is infinite, and those worth less than their ``min_gain``. A
    method that starts from everything can apply ``min_gain`` only there. More atoms than
    ``max_active`` are cut in the same way, and the solution is then flagged as saturated;
    without a given cap this is half the sample size if the noise is free, and no limit if
    it is held. Nothing is deleted under a Gamma prior with a positive rate.

    With a smoothness prior the sweeps alternate with the closed-form noise for fixed
    ``lam = alpha sigma^2``, of which the price ``c tr(I - K^-1)`` does not depend. The
    MacKay rule becomes ``alpha = (gamma + 2 c lam P_ii) / mu^2`` with ``P = S G S``. For EM,
    ``c tr(K^-1)`` is convex in the prior variances ``v = 1 / lam``, so its tangent
    ``-c sum(lam_i^2 P_ii v_i)`` bounds it from below and adds one term to the expected
    log likelihood; the maximum stays closed form (the positive root of a quadratic), and
    the guarantee of EM holds. A Laplace prior of some rate is treated in the same way: the
    rate stands in for the price in the quadratic, without any bound.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1,
    appendices A and B.

    Examples
    --------
    >>> from relvec.published.fixed_point import FixedPointSolver
    >>> FixedPointSolver("em", tol=1e-4)
    FixedPointSolver(tol=0.0001, update='em')
    """

    is_monotone = False  # MacKay's update may step down; EM never does

    def __init__(
        self,
        update: Literal["mackay", "em"] = "mackay",
        *,
        max_iter: int = 5000,
        tol: float = 1e-3,
        prune_threshold: float = 1e9,
        check_deleted: bool = True,
    ) -> None:
        self.update = update
        self.max_iter = max_iter
        self.tol = tol
        self.prune_threshold = prune_threshold
        self.check_deleted = check_deleted

    charges_min_gain = False  # the papers know no price of an atom

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : Problem
            What to maximise.
        warm_start : WarmStart, optional
            Atoms and precisions to start from instead of all atoms. Atoms that are not in
            it are looked at when the sweeps have settled.
        monitor : callable, optional
            Called after every sweep; returning True stops the run where it is.

        Returns
        -------
        solution : Solution
            With the objective after each sweep as its trace.
        """
        check_choice("update", self.update, ("mackay", "em"))
        check_integer("max_iter", self.max_iter, minimum=1)
        check_positive("tol", self.tol)
        check_positive("prune_threshold", self.prune_threshold)
        answer = trivial(problem)
        if answer is not None:
            return answer
        fit = condition(problem, *_start(problem, warm_start))
        start = assess(problem, fit, best_noise(problem, fit))
        run = _Run(problem, self)
        outcome = iterate(
            run.step,
            start,
            stage=self.update,
            max_iter=self.max_iter,
            tol=self.tol,
            monitor=monitor,
        )
        return conclude(problem, outcome, saturated=run.saturated)


def _start(problem: Problem, warm_start: WarmStart | None) -> tuple[IndexArray, Vector]:
    """All usable atoms at the shared precision of the best ridge model, or the given ones."""
    usable = problem.moments.usable
    if warm_start is not None:
        known = usable[warm_start.active]
        active, lam = warm_start.active[known], np.exp(warm_start.log_lam[known])
        if problem.prior.is_removable:
            return active, lam
    shared = ridge(problem).log_lam if problem.moments.target_ss > 0 else 0.0
    log_lam = np.full(len(usable), shared)
    if warm_start is not None:
        log_lam[active] = np.log(lam)
    return np.flatnonzero(usable), np.exp(log_lam[usable])


class _Run:
    """Sweeps, and what happens each time they settle."""

    max_rounds = 50
    """How often a converged run is revised (atoms deleted or re-admitted) and resumed."""

    def __init__(self, problem: Problem, solver: FixedPointSolver) -> None:
        self.problem = problem
        self.solver = solver
        self.deletable = problem.prior.is_removable
        self.saturated = False
        self.rounds = 0
        self.readmitted = np.zeros(problem.moments.n_atoms, dtype=bool)

    def step(self, state: State) -> tuple[State, float]:
        """Sweep once; when that no longer changes anything, revise the set of atoms."""
        state, change = self.sweep(state)
        if change < self.solver.tol and self.deletable and self.rounds < self.max_rounds:
            self.rounds += 1
            revised = self.revise(state)
            if revised is not state:
                return revised, np.inf
        return state, change

    def sweep(self, state: State) -> tuple[State, float]:
        """Re-estimate all precisions and the noise from one posterior."""
        problem, fit = self.problem, state.fit
        rule = {"mackay": _mackay, "em": _em}[self.solver.update]
        if problem.prior.is_penalised or (problem.prior.has_density and self.deletable):
            noise = best_noise(problem, fit)
            alpha, _ = rule(problem, fit, noise)
        else:
            alpha, noise = rule(problem, fit, state.noise)
            noise = bounded_noise(problem, noise)
        lam = np.clip(alpha * noise, LAM_MIN, LAM_MAX)
        keep = staying = np.ones(len(lam), dtype=bool)
        if self.deletable:
            keep = (lam <= self.solver.prune_threshold) & (fit.gamma > EPS)
            keep |= self.readmitted[fit.active]
            staying = keep & ~_diverging(problem, fit, noise)
        noise_change = float(np.log(noise / state.noise))
        moved = np.abs(np.log(lam / fit.lam) - noise_change)[staying].max(initial=0.0)
        change = max(float(moved), abs(noise_change))
        return assess(problem, condition(problem, fit.active[keep], lam[keep]), noise), change

    def revise(self, state: State) -> State:
        """Delete atoms that cannot bring what they cost, then re-admit those that would.

        One atom at a time, so that every move raises the objective, except those that
        bring the model down to its cap.
        """
        problem, cap = self.problem, self.problem.active_cap
        while len(state.fit.active):
            active = state.fit.active
            known = statistics(problem, state.fit)
            hopeless = ~(potential(problem, known)[0][active] > 0.0)
            value = worth(problem, state.fit, known)
            if hopeless.any():
                value[~hopeless] = np.inf
            elif len(active) > cap:
                self.saturated = True
            else:
                break
            keep = np.arange(len(active)) != np.argmin(value)
            state = self._settle(active[keep], state.fit.lam[keep])
        while self.solver.check_deleted:
            gain, lam = entry(problem, state.fit)
            best = int(np.argmax(gain))
            if not gain[best] > self.solver.tol:
                break
            if len(state.fit.active) >= cap:
                self.saturated = True
                break
            self.readmitted[best] = True
            state = self._settle(
                np.append(state.fit.active, best), np.append(state.fit.lam, lam[best])
            )
        self.saturated &= len(state.fit.active) >= cap
        return state

    def _settle(self, active: IndexArray, lam: Vector) -> State:
        fit = condition(self.problem, active, lam)
        return assess(self.problem, fit, best_noise(self.problem, fit))


def _diverging(problem: Problem, fit: Fit, noise: float) -> BoolArray:
    """Tell which atoms have an infinite best precision, all else fixed."""
    variance = fit.covariance.diagonal()
    w = fit.shrunk / variance**2 if problem.prior.is_penalised else None
    prior = problem.prior.take(fit.active)
    return prior.is_hopeless(
        fit.gamma / variance, fit.mean / variance, w, 0.0, problem.moments.n_effective, noise
    )


def _mackay(problem: Problem, fit: Fit, noise: float) -> tuple[Vector, float]:
    """Tipping's eq. 44 and 46, with what the prior adds."""
    density = problem.prior.take(fit.active).fixed_point(np.log(fit.lam), noise)
    lam = mackay_update(fit.lam, fit.gamma, fit.mean, noise, fit.shrunk, density)
    # A density with a negative exponent may outweigh gamma; EM's update is positive always.
    lam = np.where(lam > 0.0, lam, _em(problem, fit, noise)[0] * noise)
    return lam / noise, _residual_noise(problem, fit)


def _residual_noise(problem: Problem, fit: Fit) -> float:
    """MacKay's noise: what is left, by the degrees of freedom that are left."""
    prior = problem.prior.noise
    free = problem.moments.n_effective - float(fit.gamma.sum()) + 2.0 * prior.shape
    return (fit.residual_ss + 2.0 * prior.rate) / max(free, EPS)


def _em(problem: Problem, fit: Fit, noise: float) -> tuple[Vector, float]:
    """Tipping's eq. 43 and 50, with what the prior adds."""
    prior = problem.prior.take(fit.active)
    count, scale, inverse = prior.fixed_point(np.log(fit.lam), noise)
    second = fit.mean**2 / noise + fit.covariance.diagonal() + scale
    second = np.maximum(second + 2.0 * np.maximum(-fit.shrunk, 0.0), 1e-300)
    price = 2.0 * fit.lam**2 * np.maximum(fit.shrunk, 0.0) + inverse
    first = 1.0 + count
    lam = 0.5 * (first + np.sqrt(first * first + 4.0 * second * price)) / second
    expected = fit.residual_ss + noise * float(fit.gamma.sum()) + 2.0 * prior.noise.rate
    return lam / noise, expected / (problem.moments.n_effective + 2.0 * prior.noise.shape)
