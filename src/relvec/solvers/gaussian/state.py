"""State of a search: active set and precisions, and the evaluation of its objective."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.evidence import NOISE_FLOOR, gaussian_objective
from relvec.solvers.base import Candidate, Certificate, Problem, Solution
from relvec.solvers.gaussian.newton import Objective, Point, evaluate


class State(NamedTuple):
    """Active set with its log precisions; objective and status of the ascent that reached it."""

    active: IndexArray
    theta: Vector
    objective: float = -np.inf
    """Penalised log evidence less the penalties of the active atoms."""
    noise_variance: float = np.nan
    n_rounds: int = 0
    converged: bool = False
    reached_max_active: bool = False
    polished: bool = False
    """Whether the ascent iterated until convergence."""
    stopped: bool = False
    """Whether a monitor ended the ascent."""
    certificate: Certificate = Certificate(np.inf, np.inf)
    trace: tuple[float, ...] = ()
    stage: str = ""
    """Name of the ascent that reached this state."""

    def solution(
        self,
        n_iter: int,
        problem: Problem,
        *,
        trace: tuple[float, ...] | None = None,
        candidates: tuple[Candidate, ...] = (),
    ) -> Solution:
        """Convert the state to the result of a solver."""
        return Solution(
            active=self.active,
            log_lam=self.theta,
            noise_variance=self.noise_variance,
            objective=self.objective,
            n_iter=n_iter,
            converged=self.converged,
            certificate=self.certificate,
            reached_max_active=self.reached_max_active,
            trace=self.trace if trace is None else trace,
            candidates=candidates,
            laplace_rate=problem.prior.rate,
        )


EMPTY = State(np.empty(0, dtype=np.intp), np.empty(0))


def empty_state(problem: Problem, noise_variance: float | None) -> State:
    """Evaluate the model without atoms."""
    n, target_ss, _, _ = build_objective(problem, noise_variance)
    noise = target_ss / max(n, 1.0) if noise_variance is None else noise_variance
    # A constant target without held noise has R = 0 and an unbounded evidence; zero stands for it.
    value = (
        compute_objective(problem, EMPTY.active, target_ss, 0.0, 0.0, noise) if noise > 0.0 else 0.0
    )
    return State(
        EMPTY.active, EMPTY.theta, value, noise, converged=True, certificate=Certificate(0.0, 0.0)
    )


def build_objective(problem: Problem, noise_variance: float | None) -> Objective:
    """Collect the constants of the objective, with the prior of the noise and the noise floor.

    A Gamma prior of the noise precision acts like ``2 shape`` further observations with sum of
    squares ``2 rate``.
    """
    noise = problem.prior.noise
    return Objective(
        problem.moments.n_effective + 2.0 * noise.shape,
        # Gamma(shape, rate) of the precision 1 / sigma^2, as a density of its logarithm: -2 log p =
        # 2 shape log sigma^2 + 2 rate / sigma^2, the form of N log sigma^2 + R / sigma^2.
        problem.moments.target_ss * (1.0 + NOISE_FLOOR) + 2.0 * noise.rate,
        problem.prior,
        noise_variance,
    )


def evaluate_state(problem: Problem, state: State) -> Point | None:
    """Evaluate the objective of a state; None if it is numerically undefined."""
    moments, active = problem.moments, state.active
    objective = build_objective(problem, problem.noise_variance).subset(active)
    return evaluate(moments.gram(active), moments.correlation[active], state.theta, objective)


def compute_objective(
    problem: Problem,
    active: IndexArray,
    quadratic: float,
    log_det: float,
    prior: float,
    noise_variance: float | None,
) -> float:
    """Compute the objective: log evidence plus prior terms, less the penalties of the atoms.

    The prior of the noise is included in ``N`` and ``R``, as in `build_objective`.
    """
    shape = problem.prior.noise.shape
    n_effective = problem.moments.n_effective + 2.0 * shape
    value = gaussian_objective(n_effective, quadratic, log_det, noise_variance)
    value += shape * math.log(2.0 * math.pi)  # these observations have no 2 pi
    return value + prior - float(problem.min_gain[active].sum())
