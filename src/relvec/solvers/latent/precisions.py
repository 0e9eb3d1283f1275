"""Maximisation of the Laplace evidence over the precisions of a fixed set of atoms."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from relvec._typing import Matrix, Vector
from relvec.solvers.latent.problem import LatentProblem, LatentState

__all__ = ["maximise_precisions"]


def maximise_precisions(
    problem: LatentProblem,
    state: LatentState,
    columns: Matrix,
    *,
    max_iter: int = 200,
    ftol: float = 1e-14,
) -> tuple[Vector, Vector]:
    """Take quasi-Newton (L-BFGS) steps with exact derivatives in the log precisions.

    `columns` are those of the active atoms.

    Returns
    -------
    log_precision, weights : ndarray
        Log precisions at the end, and weights close to the mode there. The caller has to evaluate
        this model: it may have wrong signs or an invalid approximation.
    """
    active, weights = state.active, state.mode.weights
    n_units = len(active) // problem.n_tied

    def cost(log_precision: Vector) -> tuple[float, Vector]:
        nonlocal weights
        # Without the checks of a model: an infinite cost would have no gradient.
        each = np.tile(log_precision, problem.n_tied)
        trial = problem.evaluate(active, each, columns, weights, is_checked=False)
        # The mode of the last trial starts Newton's method for the next, which is near.
        weights = trial.mode.weights
        # Chain rule for shared precisions: sum over the weights of a unit. Signs are reversed for a
        # minimiser.
        slope = problem.gradient(trial, exact=True).reshape(problem.n_tied, -1).sum(axis=0)
        return -trial.objective, -slope

    # Log precisions: positivity needs no constraint, and steps are relative changes of the
    # precisions.
    least, most = (bound[:n_units] for bound in problem.bounds(columns))
    found = minimize(
        cost,
        np.clip(state.log_precision[:n_units], least, most),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(least, most, strict=True)),
        options={"maxiter": max_iter, "gtol": 1e-6, "ftol": ftol},
    )
    return np.tile(found.x, problem.n_tied), weights
