"""Base classes of the published algorithms for Gaussian problems: checks, loop, certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.evidence import mackay_noise
from relvec.solvers.base import Monitor, Problem, Progress, Solution, WarmStart
from relvec.solvers.gaussian import reference
from relvec.solvers.gaussian.reference import Fit, State


class Run(ABC):
    """One run of an algorithm on a problem."""

    stage: str
    """Name of the algorithm, for the monitor."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reached_max_active = False

    @abstractmethod
    def start(self, warm_start: WarmStart | None) -> State:
        """Return the initial state: from the warm start, or as in the paper."""

    @abstractmethod
    def step(self, state: State) -> tuple[State, float]:
        """Return the next state, and the size of the change."""

    def settle(self, active: IndexArray, lam: Vector) -> State:
        """Return the state at these precisions, with the noise variance that is best for them."""
        fit = reference.condition(self.problem, active, lam)
        return reference.evaluate(self.problem, fit, reference.best_noise(self.problem, fit))

    def mackay_noise_estimate(self, fit: Fit) -> float:
        """Return MacKay's re-estimate of the noise variance, including its prior."""
        prior = self.problem.prior.noise
        # Tipping (2001), appendix A: 2 c more observations and 2 d more residual, with c and d the
        # shape and rate of the noise precision.
        count = self.problem.moments.n_effective + 2.0 * prior.shape
        noise = mackay_noise(fit.residual_ss + 2.0 * prior.rate, fit.gamma, count)
        return reference.bounded_noise(self.problem, noise)


@dataclass(kw_only=True, eq=False, repr=False)
class PublishedSolver(BaseEstimator):
    """Base class of algorithms that refactorise at every step: slow and simple."""

    max_iter: int
    tol: float

    is_monotone = False  # MacKay's updates of precisions and noise may lower the objective

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : Problem
            The problem. Only `FixedPointSolver` supports Gamma priors on weight precisions.
        warm_start : WarmStart, optional
            Atoms and precisions of the initial state; default, that of the paper.
        monitor : callable, optional
            Called after every step; the run stops if it returns True.

        Returns
        -------
        solution : Solution
            Its trace holds the objective after each step.
        """
        check_integer("max_iter", self.max_iter, minimum=1)
        check_positive("tol", self.tol)
        run = self._run(problem)
        answer = reference.solve_trivial(problem)
        if answer is not None:
            return answer
        if warm_start is not None:
            known = problem.moments.usable[warm_start.active]
            warm_start = WarmStart(warm_start.active[known], warm_start.log_lam[known])
        state, trace, converged = run.start(warm_start), list[float](), False
        while len(trace) < self.max_iter and not converged:
            state, change = run.step(state)
            trace.append(state.objective)
            progress = Progress(run.stage, len(trace), state.objective, len(state.fit.active))
            if monitor is not None and monitor(progress):
                break
            converged = change < self.tol
        return reference.build_solution(
            problem,
            state.fit,
            trace,
            converged=converged,
            reached_max_active=run.reached_max_active,
        )

    def _run(self, problem: Problem) -> Run:
        """Check the parameters of the algorithm, and return a run."""
        raise NotImplementedError
