"""Ascent of the Laplace evidence with exact derivatives, and its certificate.

The curvature of a likelihood moves with the mode, and the mode with the precisions. Updates at
fixed curvature neglect that, so where they stop the evidence may still have a slope. Here
derivatives are complete, for active atoms and for those that might enter.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate
from relvec.solvers.latent.entries import promising_units
from relvec.solvers.latent.precisions import climb_precisions
from relvec.solvers.latent.problem import LatentState
from relvec.solvers.latent.walk import Stopped, Walk

__all__ = ["ascend_exactly"]


def ascend_exactly(walk: Walk, max_iter: int) -> tuple[bool, Certificate]:
    """Move a walk until derivatives vanish and no unit would gain; say whether they did.

    At most `max_iter` rounds of joint ascent, removal and entry.
    """
    tuning, best, converged = walk.tuning, np.inf, False
    walk.stage, walk.least_rise = "exact", 0.0
    walk.hold(walk.state.active)
    with suppress(Stopped):
        for _ in range(max_iter):
            before = walk.state.objective
            _climb(walk)
            if walk.remove_one(most=tuning.candidates):
                continue
            units, log_precision, gain = promising_units(walk, exact=True)
            best = float(gain.max(initial=0.0))
            most = min(tuning.candidates, np.count_nonzero(gain > walk.tol))
            if _enter(walk, units[:most], log_precision[:most]):
                continue
            if walk.state.objective - before < walk.tol:
                converged = walk.steepest(exact=True) < tuning.steep
                break
    return converged, Certificate(walk.steepest(exact=True), best)


def _climb(walk: Walk) -> None:
    """Quasi-Newton steps on the precisions of the active units."""
    problem, active = walk.problem, walk.state.active
    if not len(active):
        return
    there, weights = climb_precisions(problem, walk.state, walk.columns(active))
    if walk.accept(active, there, weights):
        return
    if problem.signs is not None:
        _go_to_edge(walk, there)
    elif problem.n_blocks > 1:  # where the evidence is believed no more
        walk.step_towards(active, there)


def _go_to_edge(walk: Walk, log_precision: Vector) -> None:
    """Go towards other precisions to where the first weight is zero, and leave out its atom.

    There the model without it has the same mode, and more evidence.
    """
    problem, state, active = walk.problem, walk.state, walk.state.active
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


def _enter(walk: Walk, units: IndexArray, log_precision: Vector) -> bool:
    """Take in the first unit with which the objective rises."""
    walk.hold(walk.problem.expanded(units))
    for place, wanted in enumerate(log_precision):
        unit = units[place : place + 1]
        least, _ = walk.problem.bounds(walk.columns(unit))
        for weaker in range(walk.tuning.weaker_exactly):
            value = np.maximum(wanted, least) + weaker * np.log(4.0)
            if walk.accept(*walk.enter(unit, value)):
                return True
    return False
