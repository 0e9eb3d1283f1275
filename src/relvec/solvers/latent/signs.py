"""Weights of given signs: which are wrong, and an ascent that keeps clear of them.

A half-normal prior allows a weight one sign. Where the mode of the Gaussian prior has it, the
two have the same mode, and the atom may stay; where not, the mode under the half-normal prior
is at zero, and the atom is not in the model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relvec._linalg import shifted_cholesky, solve_cholesky
from relvec._typing import BoolArray, IndexArray, Vector
from relvec.moments.gram import subset_moments
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import Schedule, ascend
from relvec.solvers.gaussian.state import State

__all__ = ["ascend_signed", "check_signs", "has_wrong_sign"]


def check_signs(signs: Vector, n_atoms: int, n_latent: int) -> Vector | None:
    """Return signs as floats, None if all weights are free; raise if they are no signs."""
    result: Vector = np.array(signs, dtype=np.float64)
    if n_latent > 1:
        raise ValueError("signs of weights need a likelihood of one latent function.")
    if result.shape != (n_atoms,) or not np.isin(result, (-1.0, 0.0, 1.0)).all():
        raise ValueError(
            f"signs must be an array of shape ({n_atoms},), one for each atom, of -1 (weight not "
            f"positive), 1 (not negative) and 0 (free); got shape {result.shape} with values "
            f"{np.unique(result)[:5].tolist()}."
        )
    return result if result.any() else None


def has_wrong_sign(signs: Vector, weights: Vector) -> BoolArray:
    """Tell which weights are zero or of the other sign; those of sign 0 are free."""
    result: BoolArray = (signs != 0.0) & (signs * weights <= 0.0)
    return result


def ascend_signed(
    problem: Problem, start: State, schedule: Schedule, signs: Vector, repeats: int = 4
) -> State:
    """Ascend the evidence of a regression with unit noise to a model of the given signs.

    An ascent that knows of no signs is repeated without the atoms whose mean came out wrong,
    from what is left; after some repeats those that are wrong just go. Of the state returned,
    only the atoms, ascending, and their log precisions are filled in.
    """
    moments = problem.moments
    allowed = np.arange(moments.n_atoms)
    active, theta = start.active, start.theta
    for _ in range(repeats):
        inside = problem
        if len(allowed) < moments.n_atoms:
            inside = replace(
                problem,
                moments=subset_moments(moments, allowed),
                min_gain=problem.min_gain[allowed],
                prior=problem.prior.subset(allowed),
            )
        end = ascend(
            inside, State(np.searchsorted(allowed, active), theta), schedule, noise_variance=1.0
        )
        active, theta = allowed[end.active], end.theta
        wrong = _is_wrong(problem, active, theta, signs)
        if not wrong.any():
            return State(active, theta)
        allowed = np.setdiff1d(allowed, active[wrong], assume_unique=True)
        active, theta = active[~wrong], theta[~wrong]
    while (wrong := _is_wrong(problem, active, theta, signs)).any():
        active, theta = active[~wrong], theta[~wrong]
    return State(active, theta)


def _is_wrong(problem: Problem, active: IndexArray, theta: Vector, signs: Vector) -> BoolArray:
    """Tell which active atoms have a posterior mean of the wrong sign."""
    if not len(active):
        return np.zeros(0, dtype=bool)
    moments = problem.moments
    factor = shifted_cholesky(moments.gram(active), np.exp(theta))
    if factor is None:  # beyond rounding: the mode will tell
        return np.zeros(len(active), dtype=bool)
    mean = solve_cholesky(factor, moments.correlation[active])
    return has_wrong_sign(signs[active], mean)
