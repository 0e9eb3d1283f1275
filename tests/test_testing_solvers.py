"""The check of solvers must pass what is shipped and catch what it promises to catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from relvec.priors import BoundFlat, BoundSmoothness
from relvec.priors.separable import BoundSeparable
from relvec.published import FixedPointSolver, TextbookSolver
from relvec.solvers import (
    Certificate,
    Monitor,
    Problem,
    Progress,
    SequentialSolver,
    Solution,
    Solver,
    WarmStart,
)
from relvec.testing import check_solver
from relvec.testing.solvers import CHECKS


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
def test_default_solver(effort: str, check: Callable[[Solver, str], None]) -> None:
    check(SequentialSolver(effort), effort)


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", [FixedPointSolver("mackay"), FixedPointSolver("em"), TextbookSolver()], ids=repr
)
def test_reference_solvers_pass(solver: Solver) -> None:
    check_solver(solver)


class Wrapped:
    """A good solver that a subclass spoils."""

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        return TextbookSolver().solve(problem, warm_start=warm_start, monitor=monitor)

    def __repr__(self) -> str:
        return type(self).__name__


class Spoils(Wrapped):
    """Changes the solution on its way out."""

    def solve(self, problem, **options):
        return self.spoil(problem, super().solve(problem, **options))


class WrongObjective(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, objective=solution.objective + 1e-4)


class IgnoresEntryPenalty(Wrapped):
    def solve(self, problem, **options):
        return super().solve(replace(problem, min_gain=0.0 * problem.min_gain), **options)


class IgnoresSmoothness(Wrapped):
    def solve(self, problem, **options):
        return super().solve(
            replace(problem, prior=BoundFlat() if problem.prior.is_penalised else problem.prior),
            **options,
        )


class IgnoresDensity(Wrapped):
    def solve(self, problem, **options):
        prior = problem.prior
        is_own = isinstance(prior, BoundSeparable)
        return super().solve(replace(problem, prior=BoundFlat() if is_own else prior), **options)


class IgnoresNoisePriorWithPenalty(Wrapped):
    def solve(self, problem, **options):
        prior = problem.prior
        if prior.is_penalised:
            prior = BoundSmoothness(prior.penalty)
        return super().solve(replace(problem, prior=prior), **options)


class IgnoresHeldNoise(Wrapped):
    def solve(self, problem, **options):
        return super().solve(replace(problem, noise_variance=None), **options)


class IgnoresCap(Wrapped):
    def solve(self, problem, **options):
        return super().solve(replace(problem, max_active=None), **options)


class RefusesWithoutWords(Wrapped):
    def solve(self, problem, **options):
        if problem.prior.is_penalised:
            raise ValueError("no")
        return super().solve(problem, **options)


class Reversed(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, active=solution.active[::-1], log_lam=solution.log_lam[::-1])


class FloatIndex(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, active=solution.active.astype(float))


class KeepsConstantColumn(Spoils):
    def spoil(self, problem, solution):
        active = np.append(solution.active, problem.moments.n_atoms - 1)
        return replace(solution, active=active, log_lam=np.append(solution.log_lam, 0.0))


class OnePrecisionTooMany(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, log_lam=np.append(solution.log_lam, 0.0))


class StopsEarly(Spoils):
    """Consistent in everything, but far from the maximum."""

    def solve(self, problem, **options):
        return self.spoil(problem, TextbookSolver(max_iter=1).solve(problem, **options))

    def spoil(self, problem, solution):
        return replace(solution, converged=True, certificate=Certificate(0.0, 0.0))


class ForgetsAtoms(StopsEarly):
    def spoil(self, problem, solution):
        return replace(solution, certificate=Certificate(1e9, 0.0))


class AdmitsItIsBad(StopsEarly):
    def spoil(self, problem, solution):
        return replace(solution, converged=True, certificate=Certificate(1e9, 1e9))


class NeverConverges(StopsEarly):
    def spoil(self, problem, solution):
        return solution


class FallingTrace(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, trace=(1.0, 0.0))


class TraceAboveTheEnd(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, trace=(solution.objective + 1.0,))


class AtomForConstantTarget(Spoils):
    def spoil(self, problem, solution):
        if problem.moments.target_ss > 0:
            return solution
        return replace(solution, active=np.array([0]), log_lam=np.zeros(1))


class NotANumberForConstantTarget(Spoils):
    def spoil(self, problem, solution):
        return solution if problem.moments.target_ss > 0 else replace(solution, objective=np.nan)


class NotReproducible(Wrapped):
    """Every second run ends early."""

    is_careful = True

    def solve(self, problem, **options):
        self.is_careful = not self.is_careful
        return TextbookSolver(tol=1e-6 if self.is_careful else 1e-2).solve(problem, **options)


class ModifiesTheProblem(Spoils):
    def spoil(self, problem, solution):
        problem.moments.correlation[~problem.moments.usable] += 1e-12
        return solution


class IgnoresStart(Wrapped):
    def solve(self, problem, *, warm_start=None, monitor=None):
        if warm_start is not None and len(warm_start.active) > 1:
            problem = replace(problem, max_active=1)
        return super().solve(problem, monitor=monitor)


class ModifiesTheWarmStart(Wrapped):
    def solve(self, problem, *, warm_start=None, monitor=None):
        solution = super().solve(problem, warm_start=warm_start, monitor=monitor)
        if warm_start is not None:
            warm_start.log_lam[:] = 0.5
        return solution


class Silent(Wrapped):
    def solve(self, problem, *, warm_start=None, monitor=None):
        return super().solve(problem, warm_start=warm_start)


class NeverStops(Wrapped):
    def solve(self, problem, *, warm_start=None, monitor=None):
        deaf = None if monitor is None else lambda progress: monitor(progress) and False
        return super().solve(problem, warm_start=warm_start, monitor=deaf)


class StoppedIsConverged(Spoils):
    def spoil(self, problem, solution):
        return replace(solution, converged=True)


class ReportsNaN(Wrapped):
    def solve(self, problem, *, warm_start=None, monitor=None):
        if monitor is not None:
            monitor(Progress("start", 0, -np.inf, 0))
        return super().solve(problem, warm_start=warm_start, monitor=monitor)


class MayFall(Spoils):
    """Declares that its trace may fall, so a falling trace is no fault."""

    is_monotone = False

    def spoil(self, problem, solution):
        return replace(solution, trace=(1.0, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (WrongObjective, "WrongObjective reports the objective .*the dense formula gives"),
        (
            IgnoresEntryPenalty,
            "on columns with a min_gain, IgnoresEntryPenalty reports the objective",
        ),
        (IgnoresSmoothness, "smoothness penalty, IgnoresSmoothness reports the objective"),
        (IgnoresDensity, "half-Cauchy prior, IgnoresDensity reports the objective"),
        (IgnoresNoisePriorWithPenalty, "a penalty and a Gamma prior on the noise, Ignores"),
        (IgnoresHeldNoise, "must keep the held noise variance 0.2"),
        (IgnoresCap, "max_active=1, IgnoresCap returned 3 atoms; the cap is 1"),
        (
            RefusesWithoutWords,
            "refuses columns with a smoothness penalty without a reason in the message",
        ),
        (Reversed, "in ascending order, without duplicates"),
        (FloatIndex, "`active` as an array of integers"),
        (KeepsConstantColumn, "unusable atoms"),
        (OnePrecisionTooMany, "one finite log_lam per active atom"),
        (StopsEarly, "reports a gradient of at most 0; finite differences give|no atom gains more"),
        (ForgetsAtoms, r"no atom gains more than 0; atom \d gains"),
        (AdmitsItIsBad, "reports convergence with a certificate of 1e\\+09"),
        (NeverConverges, "did not converge"),
        (FallingTrace, "the trace falls by 1 .*is_monotone = False"),
        (TraceAboveTheEnd, "ends its trace at"),
        (AtomForConstantTarget, "returns 1 atoms for a constant target"),
        (NotANumberForConstantTarget, "objective of nan"),
        (NotReproducible, "a different solution when run again"),
        (ModifiesTheProblem, "modifies the problem"),
        (IgnoresStart, "started from its own solution, IgnoresStart"),
        (ModifiesTheWarmStart, "modifies the warm start"),
        (Silent, "never calls its monitor"),
        (NeverStops, r"NeverStops continued for \d+ more"),
        (StoppedIsConverged, "reports convergence of an unfinished run"),
        (ReportsNaN, "a Progress whose objective is finite"),
    ],
    ids=lambda value: getattr(value, "__name__", "says"),
)
def test_broken_solver_is_caught(kind: type[Wrapped], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_solver(kind())


def test_a_declared_fall_is_no_fault() -> None:
    check_solver(MayFall())
