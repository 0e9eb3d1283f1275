"""Unions of dictionaries: each part by itself, and each part on what the others leave.

Two parts that can both explain the data trap a search among all atoms: it begins with
those that gain most one by one, and what was built from one part is never handed over to
the other. The parts alone make good starts, their average a better one; and a part is
handed what it explains best by refitting it, all at once, to what the others leave.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relvec._linalg import solve_cholesky
from relvec.moments.base import Part
from relvec.moments.parts import RestrictedMoments
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.state import State, evaluate_state


def restrict_to_part(problem: Problem, part: Part) -> Problem:
    """Return the problem with the atoms of one part only."""
    return replace(problem, moments=RestrictedMoments(problem.moments, part))


def is_in_part(part: Part, state: State) -> np.ndarray:
    """Tell which active atoms belong to a part."""
    return (state.active >= part.atoms.start) & (state.active < part.atoms.stop)


def build_residual_problem(problem: Problem, part: Part, state: State) -> Problem | None:
    """Return the problem of explaining by one part what the others leave of the target.

    None where the others explain nothing, or all of it to rounding.
    """
    moments = problem.moments
    others = ~is_in_part(part, state)
    point = evaluate_state(problem, state)
    if point is None or not others.any():
        return None
    mean = solve_cholesky(point.factor, moments.correlation[state.active])[others]
    active = state.active[others]
    rest = RestrictedMoments(moments, part)
    rest.correlation = moments.correlation - mean @ moments.rows(active)
    rest.target_ss = moments.target_ss + float(
        mean @ (moments.gram(active) @ mean - 2.0 * moments.correlation[active])
    )
    return replace(problem, moments=rest) if rest.target_ss > 0.0 else None


def replace_part(state: State, part: Part, fresh: State) -> State:
    """Put the atoms of `fresh` in the place of those a state has of a part."""
    kept = ~is_in_part(part, state)
    active = np.concatenate([state.active[kept], fresh.active])
    order = np.argsort(active)
    return State(active[order], np.concatenate([state.theta[kept], fresh.theta])[order])
