"""Shape of the negative binomial likelihood, by maximisation of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from relvec.likelihoods import Likelihood, NegativeBinomial
from relvec.solvers import LaplaceSolver, LatentProblem, LatentSolution, LatentSolver, Monitor
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
    second_start: float = 10.0
    """Factor of the shape of the second initialisation. The first is estimated without basis
    functions, so it takes variation of the rate for overdispersion and is too small."""


def search_twice(
    solver: LatentSolver, problem: LatentProblem, monitor: Monitor | None
) -> LatentSolution:
    """Solve a problem; the default solver from two initialisations, of which the better is kept."""
    solution = solver.solve(problem, monitor=monitor)
    if not isinstance(solver, LaplaceSolver):
        return solution
    other = solver.solve(problem, warm_start=find_working_start(problem), monitor=monitor)
    return max(solution, other, key=lambda found: found.state.objective)


def estimate_shape(problem: LatentProblem, tuning: ShapeTuning = ShapeTuning()) -> float:
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
    monitor: Monitor | None,
    tuning: ShapeTuning = ShapeTuning(),
) -> CountSolution:
    """Maximise the objective over the shape and the precisions of the weights.

    From two initialisations, of which the better end is returned.
    """
    first = estimate_shape(make_problem(NegativeBinomial(1.0)), tuning)
    ends = []
    for factor in (1.0, tuning.second_start):
        shape = min(first * factor, tuning.largest)
        ends.append(_alternate(solver, make_problem, shape, monitor, tuning))
        if first == tuning.largest:
            break
    return max(ends, key=lambda end: end.objective)


def _alternate(
    solver: LatentSolver,
    make_problem: Callable[[Likelihood], LatentProblem],
    shape: float,
    monitor: Monitor | None,
    tuning: ShapeTuning,
) -> CountSolution:
    """Maximise over the shape and over the precisions in turn: the objective never decreases."""
    problem = make_problem(NegativeBinomial(shape))
    solution = search_twice(solver, problem, monitor)
    trace, n_iter = list(solution.trace), solution.n_iter
    bounds = math.log(tuning.smallest), math.log(tuning.largest)
    has_settled = False
    for _ in range(tuning.max_rounds):
        state = solution.state
        columns = problem.dictionary.columns(state.active)

        def loss(log_shape: float) -> float:
            # The precisions are held: one mode for each shape.
            trial = make_problem(NegativeBinomial(math.exp(log_shape)))
            found = trial.evaluate(state.active, state.log_precision, columns, state.mode.weights)
            return -found.objective

        best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3})
        has_settled = -best.fun < state.objective + tuning.tolerance
        if has_settled:
            break
        problem = make_problem(NegativeBinomial(math.exp(best.x)))
        warm_start = state.active, state.log_precision
        solution = solver.solve(problem, warm_start=warm_start, monitor=monitor)
        trace, n_iter = trace + list(solution.trace), n_iter + solution.n_iter
    is_converged = solution.converged and has_settled
    solution = replace(solution, n_iter=n_iter, converged=is_converged, trace=tuple(trace))
    return CountSolution(problem, solution)
