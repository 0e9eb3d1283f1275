"""The sequential algorithm of Tipping and Faul (2003), as printed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._checks import check_integer
from relvec._typing import Vector
from relvec.published._solver import PublishedSolver, Run
from relvec.solvers.base import Problem, WarmStart
from relvec.solvers.gaussian import reference
from relvec.solvers.gaussian.reference import Fit, State


@dataclass(kw_only=True, eq=False, repr=False)
class TextbookSolver(PublishedSolver):
    """Add, re-estimate or delete one atom at a time (Tipping and Faul, 2003).

    Every step updates the atom whose update raises the objective most. It is a reference for
    comparisons with the paper and with other software: statistics are recomputed from a new
    factorisation at every step. The default solver takes far fewer steps, and its result does not
    depend on the initial noise.

    Parameters
    ----------
    max_iter : int, default=10000
        Maximum number of steps.
    tol : float, default=1e-3
        The run has converged when no atom would enter or leave, and neither a log precision nor
        the log noise would change by more than this.
    noise_every : int, default=1
        Number of steps between re-estimates of the noise; it is also re-estimated at convergence.

    Notes
    -----
    The initial noise is a tenth of the variance of the target. The first step, from the
    empty model, adds the atom with the largest normalised projection on the target, as in the
    paper.

    A smoothness prior replaces ``q^2`` by ``q^2 - 2 c sigma^2 p`` with ``p = phi' C^-2 phi`` in all
    formulas. The noise is then re-estimated at fixed ``alpha sigma^2``, for which the penalty does
    not depend on it; at fixed ``alpha`` a positive estimate need not exist.

    A Laplace prior of rate ``r`` turns the condition ``q^2 > s`` into ``q^2 - s > r / sigma^2``
    and the best precision into the root of a quadratic; the noise is re-estimated as above.

    ``min_gain`` is subtracted from the gain of an atom: an atom enters if its gain is larger, and
    is deleted if its gain at the best precision is smaller.

    References
    ----------
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian
    models, AISTATS.

    Examples
    --------
    >>> from relvec.published.textbook import TextbookSolver
    >>> TextbookSolver(noise_every=10)
    TextbookSolver(noise_every=10)
    """

    max_iter: int = 10000
    tol: float = 1e-3
    noise_every: int = 1

    uses_min_gain = False  # the paper has no entry penalty

    def _run(self, problem: Problem) -> Run:
        return SingleSteps(problem, self)


class SingleSteps(Run):
    """One run of the algorithm; step numbers are those of section 4 of the paper."""

    stage = "textbook"

    def __init__(self, problem: Problem, solver: TextbookSolver) -> None:
        super().__init__(problem)
        self.noise_every = check_integer("noise_every", solver.noise_every, minimum=1)
        self.tol = solver.tol
        self.n_steps = 0
        if not problem.prior.is_removable:
            raise ValueError(
                f"the {self.stage} solver cannot use a Gamma prior on the weight precisions: with "
                "a positive rate an infinite precision has zero density, so that no atom could "
                'be absent. Use solver="mackay" or solver="em", or a prior with '
                "shape=0 and rate=0."
            )

    def start(self, warm_start: WarmStart | None) -> State:
        """Return the warm start, or the empty model with a tenth of the target variance."""
        if warm_start is not None:
            return self.settle(warm_start.active, np.exp(warm_start.log_lam))
        problem, moments = self.problem, self.problem.moments
        empty = reference.condition(problem, np.empty(0, dtype=np.intp), np.empty(0))
        noise = reference.bounded_noise(problem, 0.1 * moments.target_ss / moments.n_effective)
        return reference.evaluate(problem, empty, noise)

    def step(self, state: State) -> tuple[State, float]:
        """Update one atom, re-estimate the noise if due, and return the largest pending change."""
        problem, n_atoms = self.problem, self.problem.moments.n_atoms
        # Absent atoms have infinite precision (Tipping & Faul 2003, section 4).
        alpha = np.full(n_atoms, np.inf)
        alpha[state.fit.active] = state.fit.lam / state.noise
        wanted, gain = self.moves(state, alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.abs(np.log(wanted / alpha))  # infinite where an atom enters or leaves
        change[np.isnan(change)] = 0.0  # atoms that stay outside
        remaining = float(change.max(initial=0.0))
        chosen = self.choose(wanted, gain, change)
        alpha[chosen] = wanted[chosen]
        active = np.flatnonzero(np.isfinite(alpha))
        # The algorithm holds alpha, the library's algebra lam = alpha sigma^2.
        fit = reference.condition(problem, active, alpha[active] * state.noise)
        noise = state.noise
        self.n_steps += 1
        if self.n_steps % self.noise_every == 0 or remaining < self.tol:
            fit, noise = self.with_noise(fit, alpha[active])
        remaining = max(remaining, abs(float(np.log(noise / state.noise))))
        return reference.evaluate(problem, fit, noise), remaining

    def choose(self, wanted: Vector, gain: Vector, change: Vector) -> int:
        """Return the atom to update: the one with the largest gain."""
        # If all gains are of the order of rounding, take the atom whose precision changes most.
        return int(np.argmax(gain if gain.max() > 1e-10 else change))

    def moves(self, state: State, alpha: Vector) -> tuple[Vector, Vector]:
        """Return the best precision of every atom at the present noise, and the gain (steps 4-8).

        The precision is infinite for atoms that should be outside the model.
        """
        problem, noise = self.problem, state.noise
        known = reference.compute_statistics(problem, state.fit)
        n_effective, inside = problem.moments.n_effective, np.isfinite(alpha)
        gain, lam = problem.prior.best_precision(known, n_effective, noise)
        at_best = gain - problem.min_gain
        # l(alpha_i) of the paper: the contribution of an atom with its present precision.
        at_present = np.zeros(len(alpha))
        at_present[state.fit.active] = reference.compute_contributions(
            problem, state.fit, known, noise
        )
        # An absent atom with s below the resolution is a linear combination of the active ones to
        # rounding; one inside the model stays admissible, so that it can be re-estimated.
        admissible = problem.moments.usable & (inside | (known.s > problem.moments.resolution))
        should_be_in = (at_best > 0.0) & admissible
        full = np.count_nonzero(inside) >= problem.active_cap
        self.reached_max_active = bool(full and (should_be_in & ~inside).any())
        if full:
            should_be_in &= inside
        # Change of the objective by each update: added atoms gain at_best, deleted ones lose
        # at_present.
        gain = np.where(should_be_in, at_best, 0.0) - at_present
        return np.where(should_be_in, lam / noise, np.inf), gain

    def with_noise(self, fit: Fit, alpha: Vector) -> tuple[Fit, float]:
        """Re-estimate the noise from the residual (step 9); return the posterior and the noise."""
        prior = self.problem.prior
        if prior.is_penalised or prior.has_density:
            return fit, reference.best_noise(self.problem, fit)
        # Re-estimated at fixed alpha as in the paper, hence lam = alpha sigma^2 changes with it.
        noise = self.mackay_noise_estimate(fit)
        return reference.condition(self.problem, fit.active, alpha * noise), noise
