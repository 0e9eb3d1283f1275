"""Weights of prescribed signs: a check, and an ascent that respects them.

A half-normal prior allows a weight one sign only. If the mode under the Gaussian prior has this
sign, it is also the mode under the half-normal prior, and the atom may stay. Otherwise the mode
under the half-normal prior is at zero, and the atom is not in the model.
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
    """Return signs as floats, None if all weights are free; raise if they are invalid."""
    result: Vector = np.array(signs, dtype=np.float64)
    if n_latent > 1:
        raise ValueError(
            f"signs of weights need a likelihood with one latent function; got {n_latent}."
        )
    if result.shape != (n_atoms,) or not np.isin(result, (-1.0, 0.0, 1.0)).all():
        raise ValueError(
            f"signs must be an array of shape ({n_atoms},), one for each atom, of -1 (weight not "
            f"positive), 1 (not negative) and 0 (free); got shape {result.shape} with values "
            f"{np.unique(result)[:5].tolist()}."
        )
    return result if result.any() else None


def has_wrong_sign(signs: Vector, weights: Vector) -> BoolArray:
    """Return which weights are zero or of the wrong sign; those of sign 0 are free."""
    # <= and not <: an atom whose weight is zero has no influence on the mode.
    result: BoolArray = (signs != 0.0) & (signs * weights <= 0.0)
    return result


def ascend_signed(
    problem: Problem, start: State, schedule: Schedule, signs: Vector, repeats: int = 4
) -> State:
    """Maximise the evidence of a regression with unit noise, with weights of prescribed signs.

    An ascent without sign constraints is repeated without the atoms whose posterior mean had the
    wrong sign, starting from the remaining ones. After `repeats` ascents, atoms of wrong sign are
    removed without another ascent. The returned state has only the atoms, ascending, and their log
    precisions.
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
        # Not admitted again in this regression: otherwise two active sets could alternate.
        allowed = np.setdiff1d(allowed, active[wrong], assume_unique=True)
        active, theta = active[~wrong], theta[~wrong]
    while (wrong := _is_wrong(problem, active, theta, signs)).any():
        active, theta = active[~wrong], theta[~wrong]
    return State(active, theta)


def _is_wrong(problem: Problem, active: IndexArray, theta: Vector, signs: Vector) -> BoolArray:
    """Return which active atoms have a posterior mean of the wrong sign."""
    if not len(active):
        return np.zeros(0, dtype=bool)
    moments = problem.moments
    # Posterior mean mu = (G + Lam)^-1 Phi't of unit columns; norms are positive, so the sign is
    # that of the raw weight.
    factor = shifted_cholesky(moments.gram(active), np.exp(theta))
    if factor is None:  # not defined to working precision: the mode decides later
        return np.zeros(len(active), dtype=bool)
    mean = solve_cholesky(factor, moments.correlation[active])
    return has_wrong_sign(signs[active], mean)
