"""The original algorithm of the relevance vector machine (Tipping 2001): MacKay and EM updates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec._linalg import EPS
from relvec._typing import BoolArray, Vector
from relvec.evidence import mackay_update
from relvec.priors import Statistics
from relvec.published._solver import PublishedSolver, Run
from relvec.solvers.base import Problem, WarmStart
from relvec.solvers.gaussian import reference
from relvec.solvers.gaussian.initialisation import fit_ridge
from relvec.solvers.gaussian.reference import Fit, State


@dataclass(kw_only=True, eq=False, repr=False)
class FixedPointSolver(PublishedSolver):
    """Fixed-point iteration of all precisions from the full model (Tipping 2001).

    It starts from all usable atoms with one shared precision (the best ridge regression), and
    deletes atoms whose precision diverges. It is slow, O(k^3) per sweep, but simple. Since it
    starts from the full model and not from the empty one, it is an independent reference for the
    default solver and, for long length-scales, sometimes finds a better local optimum. It is the
    only solver for Gamma priors with a positive rate.

    Parameters
    ----------
    update : {"mackay", "em"}, default="mackay"
        "mackay" uses eqs. 44 and 46: much faster, but without a guarantee of ascent. "em" uses
        eqs. 43 and 50, and never lowers the objective.
    max_iter : int, default=5000
        Maximum number of sweeps.
    tol : float, default=1e-3
        The iteration has converged when neither the log noise nor the log precision of any
        remaining atom changes by more than this. Atoms whose best precision is infinite, which
        EM approaches only linearly, are not included.
    prune_threshold : float, default=1e9
        An atom is deleted when its ``lam`` exceeds this, or its well-determinedness
        ``gamma`` falls below machine precision. Not used under a Gamma prior with a
        positive rate, where an infinite precision has zero density.
    check_deleted : bool, default=True
        At convergence, check whether re-admitting a deleted atom would gain more than `tol`
        (Tipping 2001, appendix B.1). If so, re-admit it, exempt it from the threshold, and
        continue.

    Notes
    -----
    At convergence, atoms whose removal raises the objective are deleted one by one: those whose
    best precision is infinite, and those whose gain is below their ``min_gain``. An algorithm
    that starts from the full model can apply ``min_gain`` only then. If more atoms than
    ``max_active`` remain, the least useful are deleted in the same way, and the solution has
    ``reached_max_active`` set. By default the cap is half the sample size if the noise is
    estimated, and none if it is held. Nothing is deleted under a Gamma prior with a positive rate.

    With a smoothness prior, sweeps alternate with the closed-form noise estimate at fixed
    ``lam = alpha sigma^2``, since the penalty ``c tr(I - K^-1)`` does not depend on the noise
    then. MacKay's rule becomes ``alpha = (gamma + 2 c lam P_ii) / mu^2`` with ``P = S G S``. For
    EM, ``c tr(K^-1)`` is convex in the prior variances ``v = 1 / lam``, so its tangent
    ``-c sum(lam_i^2 P_ii v_i)`` bounds it from below and adds one term to the expected
    log likelihood; the maximum stays closed form (the positive root of a quadratic), and
    the guarantee of EM holds. A Laplace prior is treated in the same way: its rate takes the
    place of the penalty in the quadratic, and no bound is needed.

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

    update: Literal["mackay", "em"] = field(default="mackay", kw_only=False)
    max_iter: int = 5000
    tol: float = 1e-3
    prune_threshold: float = 1e9
    check_deleted: bool = True

    uses_min_gain = False  # the paper has no entry penalty

    def _run(self, problem: Problem) -> Run:
        check_choice("update", self.update, ("mackay", "em"))
        check_positive("prune_threshold", self.prune_threshold)
        return _Sweeps(problem, self)


class _Sweeps(Run):
    """Sweeps of updates, and the revision of the active set whenever they have converged."""

    max_rounds = 50
    """Maximum number of times that a converged run is revised and resumed."""

    def __init__(self, problem: Problem, solver: FixedPointSolver) -> None:
        super().__init__(problem)
        self.solver, self.stage = solver, solver.update
        self.deletable = problem.prior.is_removable
        self.rounds = 0
        self.readmitted = np.zeros(problem.moments.n_atoms, dtype=bool)

    def start(self, warm_start: WarmStart | None) -> State:
        """Return all usable atoms at the precision of the best ridge model, or the warm start."""
        if warm_start is not None and self.deletable:
            return self.settle(warm_start.active, np.exp(warm_start.log_lam))
        moments = self.problem.moments
        # One precision for all atoms, which maximises the evidence of ridge regression.
        shared = fit_ridge(self.problem).log_lam if moments.target_ss > 0 else 0.0
        log_lam = np.full(moments.n_atoms, shared)
        if warm_start is not None:
            log_lam[warm_start.active] = warm_start.log_lam
        return self.settle(np.flatnonzero(moments.usable), np.exp(log_lam[moments.usable]))

    def step(self, state: State) -> tuple[State, float]:
        """Sweep once; at convergence, revise the active set."""
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
        if problem.prior.is_penalised or (problem.prior.has_density and self.deletable):
            # At fixed lam = alpha sigma^2 the penalty does not depend on the noise, whose maximum
            # is then in closed form; at fixed alpha a positive estimate need not exist.
            noise = reference.best_noise(problem, fit)
            alpha, _ = self.estimate(fit, noise)
        else:
            alpha, noise = self.estimate(fit, state.noise)
        lam = np.clip(alpha * noise, reference.LAM_MIN, reference.LAM_MAX)
        keep = remaining = np.ones(len(lam), dtype=bool)
        if self.deletable:
            # gamma at rounding level: alpha would be determined by rounding errors.
            keep = (lam <= self.solver.prune_threshold) & (fit.gamma > EPS)
            keep |= self.readmitted[fit.active]
            # Precisions that diverge change in every sweep: they must not delay convergence.
            remaining = keep & ~_has_infinite_best(problem, fit, noise)
        noise_change = float(np.log(noise / state.noise))
        # Change of log alpha = log lam - log sigma^2.
        moved = np.abs(np.log(lam / fit.lam) - noise_change)[remaining].max(initial=0.0)
        change = max(float(moved), abs(noise_change))
        fit = reference.condition(problem, fit.active[keep], lam[keep])
        return reference.evaluate(problem, fit, noise), change

    def estimate(self, fit: Fit, noise: float) -> tuple[Vector, float]:
        """Return precisions (Tipping 2001, eq. 44 or 43) and noise (eq. 46 or 50), with priors."""
        problem, prior = self.problem, self.problem.prior.subset(fit.active)
        density = prior.fixed_point_terms(np.log(fit.lam), noise)
        lam, is_em = fit.lam, self.solver.update == "em"
        if not is_em:
            shrunk = fit.shrunk if prior.is_penalised else None
            lam = mackay_update(fit.lam, fit.gamma, fit.mean, noise, shrunk, density)
            if (lam > 0.0).all():
                return lam / noise, self.mackay_noise_estimate(fit)
        # A density with a negative exponent may exceed gamma; EM's update is always positive.
        # EM: expected squared weight E[w_i^2] = mu_i^2 + Sigma_ii in the denominator (Tipping 2001,
        # eq. 43), in units of the noise.
        second = fit.mean**2 / noise + fit.covariance.diagonal() + density.scale
        second = np.maximum(second + 2.0 * np.maximum(-fit.shrunk, 0.0), 1e-300)
        # The penalty's term 2 lam Q_ii of the stationarity condition, written as inverse / x so
        # that a fixed point is a stationary point and the quadratic has one positive root.
        penalty = 2.0 * fit.lam**2 * np.maximum(fit.shrunk, 0.0) + density.inverse
        first = 1.0 + density.constant
        expected = 0.5 * (first + np.sqrt(first * first + 4.0 * second * penalty)) / second
        if is_em:
            # M-step: E|t - Phi w|^2 = |t - Phi mu|^2 + sigma^2 sum(gamma), with the sample size
            # undiminished as denominator.
            ss = fit.residual_ss + noise * float(fit.gamma.sum()) + 2.0 * prior.noise.rate
            count = problem.moments.n_effective + 2.0 * prior.noise.shape
            return expected / noise, reference.bounded_noise(problem, ss / count)
        return np.where(lam > 0.0, lam, expected) / noise, self.mackay_noise_estimate(fit)

    def revise(self, state: State) -> State:
        """Delete atoms whose removal raises the objective, then re-admit atoms that gain.

        One atom at a time, so that every move raises the objective, except those that reduce the
        model to its cap.
        """
        problem, cap = self.problem, self.problem.active_cap
        while len(state.fit.active):
            active = state.fit.active
            known = reference.compute_statistics(problem, state.fit)
            no_gain = ~(reference.compute_best_gains(problem, known)[0][active] > 0.0)
            value = reference.compute_contributions(problem, state.fit, known)
            if no_gain.any():
                # Atoms without gain go first; only if there are none, the least useful atom above
                # the cap.
                value[~no_gain] = np.inf
            elif len(active) > cap:
                self.reached_max_active = True
            else:
                break
            keep = np.arange(len(active)) != np.argmin(value)
            state = self.settle(active[keep], state.fit.lam[keep])
        while self.solver.check_deleted:
            gain, lam = reference.compute_entry_gains(problem, state.fit)
            best = int(np.argmax(gain))
            if not gain[best] > self.solver.tol:
                break
            if len(state.fit.active) >= cap:
                self.reached_max_active = True
                break
            self.readmitted[best] = True
            state = self.settle(
                np.append(state.fit.active, best), np.append(state.fit.lam, lam[best])
            )
        self.reached_max_active &= len(state.fit.active) >= cap
        return state


def _has_infinite_best(problem: Problem, fit: Fit, noise: float) -> BoolArray:
    """Return which atoms have an infinite best precision, all else fixed."""
    # s and q with the atom left out, from the posterior with it: S_ii = 1 / (lam + s) and mu = q
    # S_ii, hence s = (1 - lam S_ii) / S_ii = gamma / S_ii.
    variance = fit.covariance.diagonal()
    w = fit.shrunk / variance**2 if problem.prior.is_penalised else None
    prior = problem.prior.subset(fit.active)
    known = Statistics(fit.gamma / variance, fit.mean / variance, w)
    return prior.has_no_gain(known, problem.moments.n_effective, noise)
