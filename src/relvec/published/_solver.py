"""What the published algorithms for Gaussian problems have in common: checks, loop, certificate."""

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
    """What a monitor is told."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reached_max_active = False

    @abstractmethod
    def start(self, warm_start: WarmStart | None) -> State:
        """Begin with these atoms, all of them usable, or as the paper does."""

    @abstractmethod
    def step(self, state: State) -> tuple[State, float]:
        """Go one step, and say how much it changed."""

    def settle(self, active: IndexArray, lam: Vector) -> State:
        """Condition on precisions, the noise at its best for them."""
        fit = reference.condition(self.problem, active, lam)
        return reference.evaluate(self.problem, fit, reference.best_noise(self.problem, fit))

    def noise_of(self, fit: Fit) -> float:
        """MacKay's re-estimate of the noise, with its prior."""
        prior = self.problem.prior.noise
        count = self.problem.moments.n_effective + 2.0 * prior.shape
        noise = mackay_noise(fit.residual_ss + 2.0 * prior.rate, fit.gamma, count)
        return reference.bounded_noise(self.problem, noise)


@dataclass(kw_only=True, eq=False, repr=False)
class PublishedSolver(BaseEstimator):
    """An algorithm that refactorises at every step, slow and simple."""

    max_iter: int
    tol: float

    is_monotone = False  # re-estimates of the noise, and MacKay's of precisions, may step down

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
            What to maximise. Only `FixedPointSolver` knows a Gamma prior on precisions of weights.
        warm_start : WarmStart, optional
            Atoms and precisions to start from instead of what the algorithm starts from.
        monitor : callable, optional
            Called after every step; returning True stops the run where it is.

        Returns
        -------
        solution : Solution
            With the objective after each step as its trace.
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
        """Check what is particular to the algorithm, and make a run."""
        raise NotImplementedError
