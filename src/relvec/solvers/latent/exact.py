"""Ascent of the Laplace evidence with exact derivatives, and its certificate.

The curvature of a likelihood moves with the mode, and the mode with the precisions. Updates at
fixed curvature neglect that, so where they stop the evidence may still have a slope. Here
derivatives are complete, for active atoms and for those that might enter.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate
from relvec.solvers.latent.common_precision import best_common_precision
from relvec.solvers.latent.entries import units_first
from relvec.solvers.latent.problem import LatentState
from relvec.solvers.latent.signs import has_wrong_sign
from relvec.solvers.latent.walk import Stopped, Walk

__all__ = ["ExactAscent", "find_entrants"]


class ExactAscent:
    """Move a walk until derivatives vanish and no unit would gain.

    At most `max_iter` rounds of joint ascent, removal and entry.
    """

    def __init__(self, walk: Walk, max_iter: int) -> None:
        self.walk, self.max_iter, self.best_entry = walk, max_iter, np.inf
        walk.stage, walk.least_rise = "exact", 0.0
        walk.hold(walk.state.active)

    def run(self) -> bool:
        """Alternate joint steps, removals and entries until nothing moves."""
        walk, tuning = self.walk, self.walk.tuning
        try:
            for _ in range(self.max_iter):
                before = walk.state.objective
                self._climb()
                if walk.remove_one(most=tuning.candidates) or self._enter():
                    continue
                if walk.state.objective - before < walk.tol:
                    return walk.steepest(exact=True) < tuning.steep
        except Stopped:
            pass
        return False

    def certificate(self) -> Certificate:
        """Exact derivatives at the end: zero at a local maximum."""
        return Certificate(self.walk.steepest(exact=True), self.best_entry)

    def _climb(self) -> None:
        """Quasi-Newton steps on the precisions of the active units."""
        walk, problem, state = self.walk, self.walk.problem, self.walk.state
        active, weights = state.active, state.mode.weights
        if not len(active):
            return
        columns, n_units = walk.columns(active), len(active) // problem.tied

        def cost(log_precision: Vector) -> tuple[float, Vector]:
            nonlocal weights
            # as if all models were allowed: an infinite cost says nothing of where to turn
            each = np.tile(log_precision, problem.tied)
            trial = problem.evaluate(active, each, columns, weights, judge=False)
            weights = trial.mode.weights
            slope = problem.pooled(problem.gradient(trial, exact=True))
            return -trial.objective, -slope[:n_units]

        least, most = (bound[:n_units] for bound in walk.bounds(active))
        found = minimize(
            cost,
            np.clip(state.log_precision[:n_units], least, most),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(least, most, strict=True)),
            options={"maxiter": 200, "gtol": 1e-6, "ftol": 1e-14},
        )
        there = np.tile(found.x, problem.tied)
        if walk.accept(active, there, weights):
            return
        if problem.signs is not None:
            self._go_to_edge(there)
        elif problem.n_blocks > 1:  # where the evidence is believed no more
            walk.step_towards(active, there)

    def _go_to_edge(self, log_precision: Vector) -> None:
        """Go towards other precisions to where the first weight is zero, and leave out its atom.

        There the model without it has the same mode, and more evidence.
        """
        walk, problem, state = self.walk, self.walk.problem, self.walk.state
        active = state.active
        columns = walk.columns(active)

        def at(share: float) -> LatentState:
            between = (1.0 - share) * state.log_precision + share * log_precision
            return problem.evaluate(active, between, columns, state.mode.weights)

        inside, outside, beyond = 0.0, 1.0, at(1.0)
        if not problem.is_wrong(active, beyond.mode).any():
            return
        for _ in range(walk.tuning.halvings):
            middle = 0.5 * (inside + outside)
            trial = at(middle)
            if problem.is_wrong(active, trial.mode).any():
                outside, beyond = middle, trial
            else:
                inside = middle
        walk.accept(active, beyond.log_precision, beyond.mode.weights)

    def _enter(self) -> bool:
        """Take in the first unit, by promise, with which the objective rises."""
        walk, problem, tuning = self.walk, self.walk.problem, self.walk.tuning
        units, log_precision, gain = find_entrants(walk)
        self.best_entry = float(gain.max(initial=0.0))
        order = np.argsort(-gain)[: tuning.candidates]
        order = order[gain[order] > walk.tol]
        walk.hold(problem.expanded(units[order]))
        for place in order:
            unit = units[place : place + 1]
            entering = max(log_precision[place], walk.bounds(unit)[0][0])
            for weaker in range(tuning.weaker_exactly):
                value = np.array([entering + weaker * np.log(4.0)])
                if walk.accept(*walk.enter(unit, value)):
                    return True
        return False


def find_entrants(walk: Walk) -> tuple[IndexArray, Vector, Vector]:
    """Find units that raise the evidence from zero variance, where to put them, and their gain.

    The derivative in the variance of an absent weight is ``(theta - s) / 2``, and exact: the mode
    moves along the effect of its atom, and with it the curvature.
    """
    problem, mode, dictionary = walk.problem, walk.state.mode, walk.problem.dictionary
    n_blocks = problem.n_blocks
    own = 0.0 if problem.is_prior else problem.penalty_of(walk.state.active)
    drift = mode.design.drift(mode.hessian, problem.likelihood, mode.latent, own)
    moved = mode.design.latent(mode.hessian.covariance @ mode.design.pull(drift))
    bent = drift - mode.design.curve(mode.hessian.rows, moved)
    sides = [mode.slope.reshape(-1, n_blocks), bent.reshape(-1, n_blocks)]
    q, u = np.split(dictionary.rmatmat(np.hstack(sides)), 2, axis=1)
    admissible, s, charged = problem.entry(walk.state)
    theta = q * q - q * u
    if charged is not None:
        theta -= 2.0 * charged[1]
    allowed = admissible & (theta > s)
    if problem.signs is not None:
        allowed[:, 0] &= ~has_wrong_sign(problem.signs, q[:, 0])
    s, theta = units_first(walk, s), units_first(walk, theta)
    is_free = np.any(units_first(walk, allowed), axis=1) & (theta.sum(axis=1) > s.sum(axis=1))
    is_free[walk.state.active[: len(walk.state.active) // problem.tied]] = False
    units = np.flatnonzero(is_free)
    s, theta = s[units], theta[units]
    if problem.tied == 1:
        ratio = (theta / s)[:, 0]
        gain = 0.5 * (ratio - 1.0 - np.log(ratio))
        log_precision = (2.0 * np.log(s) - np.log(theta - s))[:, 0]
    else:
        gain, log_precision = best_common_precision(s, theta)
    return units, log_precision, gain - problem.min_gain[units % walk.n_atoms]
