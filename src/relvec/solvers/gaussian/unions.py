"""Unions of dictionaries: solve each part by itself, and refit parts to residuals of the others.

If two parts can both explain the data, a search among all atoms gets stuck: it starts with the
atoms that gain most one by one, and signal explained by one part never moves to the other. The
solutions of single parts are good initialisations, and their average is a better one. Refitting one
part, as a whole, to the residual of the others moves signal between parts.
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
    """Return which active atoms belong to a part."""
    return (state.active >= part.atoms.start) & (state.active < part.atoms.stop)


def build_residual_problem(problem: Problem, part: Part, state: State) -> Problem | None:
    """Build the problem of fitting one part to the residual of the other parts.

    With the posterior mean ``mu`` of the atoms ``o`` of the other parts, the residual ``r = t -
    Phi_o mu`` has ``Phi'r = Phi't - G_o' mu`` and ``r'r = t't + mu' G_oo mu - 2 mu' Phi_o't``.
    Returns None if the others have no active atom, or fit the target to rounding.
    """
    moments = problem.moments
    others = ~is_in_part(part, state)
    point = evaluate_state(problem, state)
    if point is None or not others.any():
        return None
    # mu of the joint model, so the residual still contains what the part itself explains.
    mean = solve_cholesky(point.factor, moments.correlation[state.active])[others]
    active = state.active[others]
    rest = RestrictedMoments(moments, part)
    rest.correlation = moments.correlation - mean @ moments.gram_rows(active)
    rest.target_ss = moments.target_ss + float(
        # |t - Phi_o mu|^2 expanded. mu is the mean of the joint model, not the least-squares
        # solution of the others, so the mixed term does not simplify.
        mean @ (moments.gram(active) @ mean - 2.0 * moments.correlation[active])
    )
    return replace(problem, moments=rest) if rest.target_ss > 0.0 else None


def replace_part(state: State, part: Part, fresh: State) -> State:
    """Replace the active atoms of a part by those of `fresh`."""
    kept = ~is_in_part(part, state)
    active = np.concatenate([state.active[kept], fresh.active])
    order = np.argsort(active)
    return State(active[order], np.concatenate([state.theta[kept], fresh.theta])[order])
