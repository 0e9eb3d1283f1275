"""Ascent of the Laplace evidence with exact derivatives, and its certificate.

The curvature of a logistic likelihood moves with the mode, and the mode with the precisions.
Updates at fixed curvature neglect that, so where they stop the evidence may still have a slope.
Here derivatives are complete, for active atoms and for those that might enter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate, Monitor, Progress
from relvec.solvers.latent.labels import LOG_RANGE, LabelProblem, LabelState, Stopped
from relvec.solvers.latent.signs import has_wrong_sign

__all__ = ["ExactAscent"]

CANDIDATES = 10
"""Atoms tried for entry, or for removal, in one round."""
STEEP = 1e-2
"""Slope in the logarithm of a precision, in nats, with which a maximum is not one."""
WEAKER = 12
"""How often an entering atom's variance is quartered before it is given up."""
HALVINGS = 12
"""Of the way to a model with wrong signs, to find where the first weight is zero."""


class ExactAscent:
    """Climb from a state until its derivatives vanish and no atom would gain.

    Parameters
    ----------
    problem : LabelProblem
        What to maximise.
    state : LabelState
        Where to start.
    tol : float
        Rise of the objective, in nats, that counts.
    max_iter : int
        Rounds of joint ascent, removal and entry.
    monitor : callable or None
        Told of every step; returning True ends the ascent where it is.
    n_steps : int
        Steps that were taken before.
    """

    def __init__(
        self,
        problem: LabelProblem,
        state: LabelState,
        tol: float,
        max_iter: int,
        monitor: Monitor | None,
        n_steps: int,
    ) -> None:
        self.problem = problem
        self.state = state
        self.tol = tol
        self.max_iter = max_iter
        self.monitor = monitor
        self.n_steps = n_steps
        self.trace: list[float] = []
        self._best_entry = np.inf

    def run(self) -> bool:
        """Alternate joint steps, removals and entries until nothing moves."""
        try:
            for _ in range(self.max_iter):
                before = self.state.objective
                self._climb()
                if self._remove() or self._enter():
                    continue
                if self.state.objective - before < self.tol:
                    return self.certificate().gradient < STEEP
        except Stopped:
            pass
        return False

    def certificate(self) -> Certificate:
        """Exact derivatives at the end: zero at a local maximum."""
        least, most = self._bounds(self.state.active)
        inner = (self.state.log_precision > least + 1e-6) & (self.state.log_precision < most - 1e-6)
        gradient = self.problem.gradient(self.state.mode, exact=True)[inner]
        return Certificate(float(np.abs(gradient).max(initial=0.0)), self._best_entry)

    # ------------------------------------------------------------------ moves

    def _climb(self) -> None:
        """Quasi-Newton steps on the precisions of the active atoms."""
        state = self.state
        active = state.active
        if not len(active):
            return
        columns = self.problem.dictionary.columns(active)
        weights = state.mode.weights
        # as if weights were free: an infinite cost says nothing of where to turn
        problem = replace(self.problem, signs=None)

        def cost(log_precision: Vector) -> tuple[float, Vector]:
            nonlocal weights
            trial = problem.evaluate(active, log_precision, columns, weights)
            weights = trial.mode.weights
            return -trial.objective, -problem.gradient(trial.mode, exact=True)

        least, most = self._bounds(active)
        found = minimize(
            cost,
            np.clip(state.log_precision, least, most),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(least, most, strict=True)),
            options={"maxiter": 200, "gtol": 1e-6, "ftol": 1e-14},
        )
        if not self._accept(active, found.x, weights):
            self._go_to_edge(found.x)

    def _go_to_edge(self, log_precision: Vector) -> bool:
        """Go towards other precisions to where the first weight is zero, and leave out its atom.

        There the model without it has the same mode, and more evidence.
        """
        state, problem = self.state, self.problem
        active = state.active
        columns = problem.dictionary.columns(active)

        def at(share: float) -> LabelState:
            between = (1.0 - share) * state.log_precision + share * log_precision
            return problem.evaluate(active, between, columns, state.mode.weights)

        inside, outside, beyond = 0.0, 1.0, at(1.0)
        if not problem.is_wrong(active, beyond.mode).any():
            return False
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            trial = at(middle)
            if problem.is_wrong(active, trial.mode).any():
                outside, beyond = middle, trial
            else:
                inside = middle
        return self._accept(active, beyond.log_precision, beyond.mode.weights)

    def _accept(self, active: IndexArray, log_precision: Vector, start: Vector) -> bool:
        columns = self.problem.dictionary.columns(active)
        trial = self.problem.evaluate_allowed(active, log_precision, columns, start)
        if not trial.objective > self.state.objective:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        self.n_steps += 1
        if self.monitor is not None and self.monitor(
            Progress("exact", self.n_steps, trial.objective, len(trial.active))
        ):
            raise Stopped
        return True

    def _remove(self) -> bool:
        """Drop an atom if the objective rises by that."""
        state, k = self.state, len(self.state.active)
        if not k:
            return False
        for place in np.argsort(state.removal_loss())[:CANDIDATES]:
            rest = np.delete(np.arange(k), place)
            active = state.active[rest]
            if self._accept(active, state.log_precision[rest], state.start_for(active)):
                return True
        return False

    def _enter(self) -> bool:
        """Take in the first atom, by promise, with which the objective rises."""
        atoms, log_precision, gain = self._entrants()
        self._best_entry = float(gain.max(initial=0.0))
        for place in np.argsort(-gain)[:CANDIDATES]:
            if not gain[place] > self.tol:
                return False
            active = np.union1d(self.state.active, atoms[place : place + 1])
            where = np.searchsorted(active, atoms[place])
            start = self.state.start_for(active)
            least = self._bounds(atoms[place : place + 1])[0][0]
            for weaker in range(WEAKER):
                entering = max(log_precision[place], least) + weaker * np.log(4.0)
                if self._accept(
                    active, np.insert(self.state.log_precision, where, entering), start
                ):
                    return True
        return False

    def _entrants(self) -> tuple[IndexArray, Vector, Vector]:
        """Atoms that raise the evidence from zero variance, where to put them, and their gain.

        The derivative in the variance of an absent atom is ``(theta - s) / 2``, and exact.
        """
        problem, mode, dictionary = self.problem, self.state.mode, self.problem.dictionary
        c = problem.smoothness if not problem.is_prior else 0.0
        drift = mode.drift(c)
        covariance = mode.covariance
        bent = drift - mode.curvature * (mode.atoms @ (covariance @ (mode.atoms.T @ drift)))
        score = problem.residuals(mode)[0]
        sides = np.column_stack([score, bent, mode.curvature[:, None] * mode.atoms])
        products = dictionary.rmatmat(sides)
        q, u, cross = products[:, 0], products[:, 1], products[:, 2:]
        raw = dictionary.sq_norms(mode.curvature)
        s = raw - np.einsum("ij,jk,ik->i", cross, covariance, cross)
        theta = q * q - q * u
        if c:
            theta -= 2.0 * c * np.maximum(s - np.square(cross @ covariance) @ mode.precision, 0.0)
        price = np.array(problem.min_gain)
        if problem.smoothness and problem.is_prior:
            theta -= 2.0 * problem.smoothness * problem.bound_entry(mode)[0][1]
        allowed = (s > 1e-9 * raw) & (theta > s)
        allowed[self.state.active] = False
        if problem.required_signs is not None:
            allowed &= ~has_wrong_sign(problem.required_signs, q)
        atoms = np.flatnonzero(allowed)
        s, theta = s[atoms], theta[atoms]
        ratio = theta / s
        gain = 0.5 * (ratio - 1.0 - np.log(ratio)) - price[atoms]
        return atoms, 2.0 * np.log(s) - np.log(theta - s), gain

    def _bounds(self, active: IndexArray) -> tuple[Vector, Vector]:
        least = self.problem.least_log_precision(self.problem.dictionary.columns(active))
        return least, least + LOG_RANGE
