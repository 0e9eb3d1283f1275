"""Backward elimination under penalties, starting from the solution without penalties.

`relvec.solvers.latent.backward` does the same for other likelihoods and explains why.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relvec._typing import Vector
from relvec.evidence import compute_leave_one_out, penalised_shrinkage, removal_loss
from relvec.priors import BoundFlat
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import maximise_precisions
from relvec.solvers.gaussian.newton import Point
from relvec.solvers.gaussian.state import State, build_objective, empty_state, evaluate_state
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

__all__ = ["eliminate_backward", "remove_penalties"]


def remove_penalties(problem: Problem, tolerance: float) -> Problem:
    """Return the problem under the flat prior, in which atoms need a gain of `tolerance` only."""
    # An infinite minimum gain excludes an atom altogether; it is not a penalty to be removed.
    free = np.where(np.isinf(problem.min_gain), np.inf, np.minimum(problem.min_gain, tolerance))
    return replace(problem, prior=BoundFlat(problem.prior.noise), min_gain=free)


def eliminate_backward(problem: Problem, start: State, tuning: SearchTuning = DEFAULT) -> State:
    """Remove the atoms of a model until none is left; return the best model on this path.

    Atoms are removed one by one, or several at once if there are many. Precisions are maximised
    again after every removal.
    """
    state = best = maximise_precisions(problem, start)
    while len(state.active):
        point = evaluate_state(problem, state)
        # Without penalties a smaller model has less evidence. So the objective of this model plus
        # all its penalties bounds that of smaller models, up to the difference between the maxima
        # of the evidence and of the objective.
        if point is None or state.objective + _penalties(problem, state, point) < best.objective:
            break
        order = np.argsort(_losses(problem, state, point), kind="stable")
        # The losses hold all other precisions, so only a small fraction of the atoms is removed
        # before they are computed again.
        rest = np.sort(order[max(1, len(order) // tuning.bulk_removal_size) :])
        state = maximise_precisions(problem, State(state.active[rest], state.theta[rest]))
        if state.objective > best.objective:
            best = state
    empty = empty_state(problem, problem.noise_variance)
    return best if best.objective > empty.objective else empty


def _penalties(problem: Problem, state: State, point: Point) -> float:
    """Sum of all penalties of a model: per atom, per degree of freedom, and log prior density."""
    # point.prior contains -sum c_i gamma_i and the log density: minus it is what they cost.
    return float(problem.min_gain[state.active].sum()) - point.prior


def _losses(problem: Problem, state: State, point: Point) -> Vector:
    """Objective lost with each atom, other precisions held, less the penalty of the atom."""
    active, covariance = state.active, point.covariance
    n, _, prior, noise = build_objective(problem, problem.noise_variance).subset(active)
    mean = covariance @ problem.moments.correlation[active]
    shrunk = None
    if prior.is_penalised:
        shrunk = penalised_shrinkage(prior.penalty, covariance, point.lam)
    stats = compute_leave_one_out(point.lam, covariance.diagonal(), mean, point.quadratic, shrunk)
    density = prior.log_density(state.theta, noise) if prior.has_density else None
    loss = removal_loss(stats, point.lam, point.quadratic, n, noise, density)
    # Negative if the model without the atom has the higher objective.
    return loss - problem.min_gain[active]
