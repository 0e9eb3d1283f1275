"""Ascent of the Laplace evidence with exact derivatives, and its optimality conditions.

The curvature of the likelihood changes with the mode, and the mode with the precisions (Rasmussen &
Williams 2006, section 5.5.1). Updates at fixed curvature neglect this, so the gradient need not
vanish where they stop. Here derivatives are exact, for active atoms and for those that may enter.
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
    """Continue a search until all derivatives vanish and no unit would gain.

    Makes at most `max_iter` rounds of ascent in the precisions, removal and addition. Returns
    whether it converged, and the optimality conditions at the last state.
    """
    tuning, best, converged = search.tuning, np.inf, False
    search.stage, search.min_rise = "exact", 0.0
    search.load_columns(search.state.active)
    with suppress(SearchStopped):
        for _ in range(max_iter):
            before = search.state.objective
            _maximise_precisions(search)
            if search.remove_weakest(most=tuning.n_exact_trials):
                continue
            # The sign of theta - s is exact here; the gain and the precision are still estimates at
            # fixed curvature.
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
    """Maximise over the precisions of the active units by quasi-Newton steps."""
    problem, active = search.problem, search.state.active
    if not len(active):
        return
    new_precision, weights = maximise_precisions(problem, search.state, search.columns(active))
    if search.move_if_better(active, new_precision, weights):
        return
    if problem.signs is not None:
        _step_to_sign_boundary(search, new_precision)
    elif problem.n_blocks > 1:  # the Laplace approximation fails there: take a shorter step
        search.step_towards(active, new_precision)


def _step_to_sign_boundary(search: MonotoneSearch, log_precision: Vector) -> None:
    """Step towards other precisions until the first weight is zero, and remove its atom.

    At that point the model without the atom has the same mode and more evidence.
    """
    problem, state, active = search.problem, search.state, search.state.active
    columns = search.columns(active)

    def evaluate_between(share: float) -> LatentState:
        between = (1.0 - share) * state.log_precision + share * log_precision
        return problem.evaluate(active, between, columns, state.mode.weights)

    inside, outside, beyond = 0.0, 1.0, evaluate_between(1.0)
    if not problem.find_wrong_signs(active, beyond.mode).any():
        return
    for _ in range(search.tuning.n_bisections):
        middle = 0.5 * (inside + outside)
        trial = evaluate_between(middle)
        if problem.find_wrong_signs(active, trial.mode).any():
            outside, beyond = middle, trial
        else:
            inside = middle
    # The end just beyond the boundary: move_if_better removes the atom whose weight has the wrong
    # sign there.
    search.move_if_better(active, beyond.log_precision, beyond.mode.weights)


def _enter(search: MonotoneSearch, units: IndexArray, log_precision: Vector) -> bool:
    """Add the first unit that raises the objective."""
    search.load_columns(search.problem.expand_units(units))
    for place, wanted in enumerate(log_precision):
        unit = units[place : place + 1]
        least, _ = search.problem.bounds(search.columns(unit))
        for weaker in range(search.tuning.n_weaker_exact):
            # The derivative at zero variance is exact, so the objective rises for some variance
            # small enough if it is positive: down to 4^-11 of the estimate.
            value = np.maximum(wanted, least) + weaker * np.log(4.0)
            if search.move_if_better(*search.insert_units(unit, value)):
                return True
    return False
