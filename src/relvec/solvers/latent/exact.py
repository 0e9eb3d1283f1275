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
from relvec.solvers.latent.entries import find_candidate_units
from relvec.solvers.latent.monotone import MonotoneSearch, SearchStopped
from relvec.solvers.latent.precisions import maximise_precisions
from relvec.solvers.latent.problem import LatentState

__all__ = ["ascend_exactly"]


def ascend_exactly(search: MonotoneSearch, max_iter: int) -> tuple[bool, Certificate]:
    """Move a walk until derivatives vanish and no unit would gain; say whether they did.

    At most `max_iter` rounds of joint ascent, removal and entry.
    """
    tuning, best, converged = search.tuning, np.inf, False
    search.stage, search.least_rise = "exact", 0.0
    search.load_columns(search.state.active)
    with suppress(SearchStopped):
        for _ in range(max_iter):
            before = search.state.objective
            _maximise_precisions(search)
            if search.remove_weakest(most=tuning.n_exact_trials):
                continue
            units, log_precision, gain = find_candidate_units(search, exact=True)
            best = float(gain.max(initial=0.0))
            most = min(tuning.n_exact_trials, np.count_nonzero(gain > search.tol))
            if _enter(search, units[:most], log_precision[:most]):
                continue
            if search.state.objective - before < search.tol:
                converged = search.find_largest_derivative(exact=True) < tuning.gradient_tol
                break
    return converged, Certificate(search.find_largest_derivative(exact=True), best)


def _maximise_precisions(search: MonotoneSearch) -> None:
    """Quasi-Newton steps on the precisions of the active units."""
    problem, active = search.problem, search.state.active
    if not len(active):
        return
    there, weights = maximise_precisions(problem, search.state, search.columns(active))
    if search.move_if_better(active, there, weights):
        return
    if problem.signs is not None:
        _step_to_sign_boundary(search, there)
    elif problem.n_blocks > 1:  # where the evidence is believed no more
        search.step_towards(active, there)


def _step_to_sign_boundary(search: MonotoneSearch, log_precision: Vector) -> None:
    """Go towards other precisions to where the first weight is zero, and leave out its atom.

    There the model without it has the same mode, and more evidence.
    """
    problem, state, active = search.problem, search.state, search.state.active
    columns = search.columns(active)

    def at(share: float) -> LatentState:
        between = (1.0 - share) * state.log_precision + share * log_precision
        return problem.evaluate(active, between, columns, state.mode.weights)

    inside, outside, beyond = 0.0, 1.0, at(1.0)
    if not problem.find_wrong_signs(active, beyond.mode).any():
        return
    for _ in range(search.tuning.n_bisections):
        middle = 0.5 * (inside + outside)
        trial = at(middle)
        if problem.find_wrong_signs(active, trial.mode).any():
            outside, beyond = middle, trial
        else:
            inside = middle
    search.move_if_better(active, beyond.log_precision, beyond.mode.weights)


def _enter(search: MonotoneSearch, units: IndexArray, log_precision: Vector) -> bool:
    """Take in the first unit with which the objective rises."""
    search.load_columns(search.problem.expand_units(units))
    for place, wanted in enumerate(log_precision):
        unit = units[place : place + 1]
        least, _ = search.problem.bounds(search.columns(unit))
        for weaker in range(search.tuning.n_weaker_exact):
            value = np.maximum(wanted, least) + weaker * np.log(4.0)
            if search.move_if_better(*search.insert_units(unit, value)):
                return True
    return False
