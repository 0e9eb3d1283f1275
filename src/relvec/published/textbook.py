"""The sequential algorithm of Tipping and Faul, as printed."""

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

    At every step the atom is chosen whose move raises the objective most. A reference to
    compare with the paper and with other software: statistics are recomputed from a fresh
    factorisation at every step. The default solver takes far fewer steps, and does not
    depend on the initial noise as this one does.

    Parameters
    ----------
    max_iter : int, default=10000
        Number of steps.
    tol : float, default=1e-3
        The run ends when no atom should enter or leave and no log precision, nor the log
        noise, would change by more than this.
    noise_every : int, default=1
        The noise is re-estimated after every so many steps, and before the run may end.

    Notes
    -----
    The initial noise is a tenth of the variance of the target. The first step, from the
    empty model, adds the atom with the largest normalised projection on the target, which
    is how the paper initialises.

    A smoothness prior replaces ``q^2`` by ``q^2 - 2 c sigma^2 p`` with ``p = phi' C^-2 phi``
    in all formulas. The noise is then re-estimated with ``alpha sigma^2`` fixed, where the
    penalty does not depend on it: with ``alpha`` fixed it may have no positive estimate.

    A Laplace prior of rate ``r`` turns the condition ``q^2 > s`` into ``q^2 - s > r / sigma^2``
    and the best precision into the root of a quadratic; the noise is re-estimated as above.

    ``min_gain`` is subtracted from what an atom brings: an atom enters if it gains more and
    leaves if at its best it would gain less.

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

    uses_min_gain = False  # the papers know no penalty of an atom

    def _run(self, problem: Problem) -> Run:
        return SingleSteps(problem, self)


class SingleSteps(Run):
    """One run of the algorithm; steps are numbered as in section 4 of the paper."""

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
                'ever be left out. Use solver="mackay" or solver="em", or a prior with '
                "shape=0 and rate=0."
            )

    def start(self, warm_start: WarmStart | None) -> State:
        """Begin with a tenth of the target's variance for noise and no atom, or where told."""
        if warm_start is not None:
            return self.settle(warm_start.active, np.exp(warm_start.log_lam))
        problem, moments = self.problem, self.problem.moments
        empty = reference.condition(problem, np.empty(0, dtype=np.intp), np.empty(0))
        noise = reference.bounded_noise(problem, 0.1 * moments.target_ss / moments.n_effective)
        return reference.evaluate(problem, empty, noise)

    def step(self, state: State) -> tuple[State, float]:
        """Move one atom, re-estimate the noise when it is due, and report what is left to do."""
        problem, n_atoms = self.problem, self.problem.moments.n_atoms
        alpha = np.full(n_atoms, np.inf)
        alpha[state.fit.active] = state.fit.lam / state.noise
        wanted, gain = self.moves(state, alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.abs(np.log(wanted / alpha))  # infinite where an atom comes or goes
        change[np.isnan(change)] = 0.0  # of those that stay outside
        remaining = float(change.max(initial=0.0))
        chosen = self.choose(wanted, gain, change)
        alpha[chosen] = wanted[chosen]
        active = np.flatnonzero(np.isfinite(alpha))
        fit = reference.condition(problem, active, alpha[active] * state.noise)
        noise = state.noise
        self.n_steps += 1
        if self.n_steps % self.noise_every == 0 or remaining < self.tol:
            fit, noise = self.with_noise(fit, alpha[active])
        remaining = max(remaining, abs(float(np.log(noise / state.noise))))
        return reference.evaluate(problem, fit, noise), remaining

    def choose(self, wanted: Vector, gain: Vector, change: Vector) -> int:
        """Return the atom whose move is the most useful one."""
        # gains of the order of rounding are not compared: the atom that moves furthest goes first
        return int(np.argmax(gain if gain.max() > 1e-10 else change))

    def moves(self, state: State, alpha: Vector) -> tuple[Vector, Vector]:
        """Evaluate every atom's best move at the present noise (steps 4 to 8).

        Returns the precision of each, infinite where it should be outside, and what that gains.
        """
        problem, noise = self.problem, state.noise
        known = reference.compute_statistics(problem, state.fit)
        n_effective, inside = problem.moments.n_effective, np.isfinite(alpha)
        gain, lam = problem.prior.best(known, n_effective, noise)
        at_best = gain - problem.min_gain
        # l(alpha) of the paper's eq. 11: what an atom with this precision brings.
        at_present = np.zeros(len(alpha))
        at_present[state.fit.active] = reference.compute_contributions(
            problem, state.fit, known, noise
        )
        admissible = problem.moments.usable & (inside | (known.s > problem.moments.resolution))
        should_be_in = (at_best > 0.0) & admissible
        full = np.count_nonzero(inside) >= problem.active_cap
        self.reached_max_active = bool(full and (should_be_in & ~inside).any())
        if full:
            should_be_in &= inside
        gain = np.where(should_be_in, at_best, 0.0) - at_present
        return np.where(should_be_in, lam / noise, np.inf), gain

    def with_noise(self, fit: Fit, alpha: Vector) -> tuple[Fit, float]:
        """Re-estimate the noise from the residual (step 9), and condition on it."""
        prior = self.problem.prior
        if prior.is_penalised or prior.has_density:
            return fit, reference.best_noise(self.problem, fit)
        noise = self.noise_of(fit)
        return reference.condition(self.problem, fit.active, alpha * noise), noise
