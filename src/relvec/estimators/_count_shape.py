"""Shape of the negative binomial likelihood, by maximisation of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from relvec._typing import Matrix
from relvec.likelihoods import Likelihood, NegativeBinomial
from relvec.solvers import LaplaceSolver, LatentProblem, LatentSolution, LatentSolver, Monitor
from relvec.solvers.latent.problem import LatentState
from relvec.solvers.latent.working_start import find_working_start

__all__ = ["CountSolution", "ShapeTuning", "estimate_shape", "fit_shape"]


class CountSolution(NamedTuple):
    """A problem with one likelihood, and its solution."""

    problem: LatentProblem
    solution: LatentSolution

    @property
    def objective(self) -> float:
        """Maximised objective in nats."""
        return self.solution.state.objective


@dataclass(frozen=True)
class ShapeTuning:
    """Constants of the search for the shape."""

    smallest: float = 1e-3
    """Smallest shape: the variance is then a thousand times the squared mean."""
    largest: float = 1e6
    """Largest shape: the likelihood is then that of Poisson counts up to a mean of 1e5."""
    tolerance: float = 1e-3
    """Rise of the objective, in nats, at which to stop."""
    max_rounds: int = 30
    """Largest number of alternations of shape and precisions."""


_TUNING = ShapeTuning()


def search_twice(
    solver: LatentSolver, problem: LatentProblem, monitor: Monitor | None
) -> LatentSolution:
    """Solve a problem; the default solver from two initialisations, of which the better is kept."""
    solution = solver.solve(problem, monitor=monitor)
    if not isinstance(solver, LaplaceSolver):
        return solution
    other = solver.solve(problem, warm_start=find_working_start(problem), monitor=monitor)
    return max(solution, other, key=lambda found: found.state.objective)


def estimate_shape(problem: LatentProblem, tuning: ShapeTuning = _TUNING) -> float:
    """Estimate the shape by the moments of counts around a constant rate.

    ``var y = mu + mu^2 / shape``, so the excess of the squared residuals over ``mu`` estimates
    ``mu^2 / shape`` (Breslow 1984).
    """
    bound = problem.likelihood
    latent = bound.null_latent() + bound.offset_or_zero + np.zeros(len(bound.target))
    mu = np.exp(latent)
    excess = float(bound.apply_weights((bound.target - mu) ** 2 - mu).sum())
    square = float(bound.apply_weights(mu**2).sum())
    shape = square / excess if excess > 0.0 else tuning.largest
    return float(np.clip(shape, tuning.smallest, tuning.largest))


def fit_shape(
    solver: LatentSolver,
    make_problem: Callable[[Likelihood], LatentProblem],
    poisson: CountSolution,
    monitor: Monitor | None,
    tuning: ShapeTuning = _TUNING,
) -> CountSolution:
    """Maximise the objective over the shape and the precisions of the weights.

    There are two initialisations, of which the better end is returned. One is the shape without
    basis functions, which takes variation of the rate for overdispersion and so is too small. The
    other is the Poisson solution, the limit of large shapes, which may take overdispersion for
    variation of the rate.
    """
    problem = make_problem(NegativeBinomial(estimate_shape(poisson.problem, tuning)))
    first = CountSolution(problem, search_twice(solver, problem, monitor))
    limit = make_problem(NegativeBinomial(tuning.largest))
    state = poisson.solution.state
    state = limit.evaluate(
        state.active, state.log_precision, _get_columns(state), state.mode.weights
    )
    second = CountSolution(limit, replace(poisson.solution, state=state, trace=(state.objective,)))
    ends = [_alternate(solver, make_problem, start, monitor, tuning) for start in (first, second)]
    return max(ends, key=lambda end: end.objective)


def _alternate(
    solver: LatentSolver,
    make_problem: Callable[[Likelihood], LatentProblem],
    start: CountSolution,
    monitor: Monitor | None,
    tuning: ShapeTuning,
) -> CountSolution:
    """Maximise over the shape and over the precisions in turn: the objective never decreases."""
    problem, solution = start
    trace, n_iter = list(solution.trace), solution.n_iter
    bounds = math.log(tuning.smallest), math.log(tuning.largest)
    has_settled = False
    for _ in range(tuning.max_rounds):
        state = solution.state
        shape, objective = _maximise_over_shape(make_problem, state, bounds)
        has_settled = objective < state.objective + tuning.tolerance
        if has_settled:
            break
        problem = make_problem(NegativeBinomial(shape))
        warm_start = state.active, state.log_precision
        solution = solver.solve(problem, warm_start=warm_start, monitor=monitor)
        trace, n_iter = trace + list(solution.trace), n_iter + solution.n_iter
    is_converged = solution.converged and has_settled
    solution = replace(solution, n_iter=n_iter, converged=is_converged, trace=tuple(trace))
    return CountSolution(problem, solution)


def _maximise_over_shape(
    make_problem: Callable[[Likelihood], LatentProblem],
    state: LatentState,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Return the best shape and its objective, with the precisions held: one mode per shape."""
    columns = _get_columns(state)

    def loss(log_shape: float) -> float:
        problem = make_problem(NegativeBinomial(math.exp(log_shape)))
        found = problem.evaluate(state.active, state.log_precision, columns, state.mode.weights)
        return -found.objective

    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(best.x), -float(best.fun)


def _get_columns(state: LatentState) -> Matrix:
    """Return the active atoms at the training rows."""
    return state.mode.design.columns[:, : len(state.active)]
