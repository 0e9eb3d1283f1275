"""Conformance check for solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.priors import BoundFlat, BoundSmoothness, InverseGamma, SeparablePrior
from relvec.priors.gamma import BoundGamma
from relvec.priors.laplace import BoundLaplace
from relvec.solvers import Problem, Progress, Solution, Solver, WarmStart
from relvec.testing._claims import require
from relvec.testing._dense import (
    DenseProblem,
    columns_and_target,
    kernels_and_target,
    make_problem,
)


@dataclass(frozen=True)
class _Allowed:
    """Tolerances of the checks."""

    objective: float = 1e-8
    """Difference between reported and dense objective, relative to the larger of its absolute value
    and the number of samples."""
    gradient: float = 1e-5
    """Amount by which finite differences may exceed the reported gradient."""
    gain: float = 2e-3
    """Gain in nats that a solver may ignore and report as zero."""
    certificate: float = 0.05
    """Largest certificate of a converged run."""


_ALLOWED = _Allowed()


class _HalfCauchy(SeparablePrior):
    """A user-defined prior."""

    def log_density(self, log_lam: Vector) -> Vector:
        return -np.log1p(np.exp(-log_lam))

    def slope(self, log_lam: Vector) -> Vector:
        return 1.0 / (1.0 + np.exp(log_lam))

    def curvature(self, log_lam: Vector) -> Vector:
        slope = self.slope(log_lam)
        return -slope * (1.0 - slope)


def check_solver(solver: Solver) -> None:
    """Check that a solver maximises the objective, and that its reports are correct.

    On small problems (explicit columns and kernels, estimated and held noise, penalties) the
    solution is compared with dense matrices: the objective with the dense formula, the certificate
    with finite differences and with a search over every atom outside the model. Further
    requirements: the trace never falls, unless the solver has the attribute ``is_monotone =
    False``; a held noise, the cap on the active set and the monitor are respected; constant targets
    and warm starts are accepted; two runs agree; arguments are not modified.

    A solver may refuse a smoothness prior, a ``min_gain``, or a Laplace, Gamma or other prior by
    raising `ValueError`; ignoring them silently is an error.

    Parameters
    ----------
    solver : Solver
        The solver to check, with settings under which it converges on forty samples.

    Raises
    ------
    AssertionError
        If a requirement is violated; the message names the solver, the problem and the
        requirement.

    Examples
    --------
    >>> from relvec.published import TextbookSolver
    >>> from relvec.testing import check_solver
    >>> check_solver(TextbookSolver())
    """
    for check in CHECKS:
        check(solver, repr(solver))


def _check_evidence(solver: Solver, name: str) -> None:
    columns, kernels = columns_and_target(), kernels_and_target()
    for dense in (
        make_problem("explicit columns", *columns),
        make_problem("kernels", *kernels),
        make_problem("explicit columns with the noise held", *columns, noise_variance=0.2),
        make_problem("kernels with the noise held", *kernels, noise_variance=0.02),
    ):
        _check_solution(solver, dense, solver.solve(dense.problem), name)


def _check_penalties(solver: Solver, name: str) -> None:
    columns, kernels = columns_and_target(), kernels_and_target()
    several = np.array([0.5, 3.0, 1.0, 0.0, 2.0, 1.0, 1.0, 1.0])
    for dense in (
        make_problem("columns with a min_gain", *columns, min_gain=np.linspace(0.0, 3.0, 8)),
        make_problem("columns with a smoothness penalty", *columns, prior=BoundSmoothness(1.5)),
        make_problem(
            "kernels with a penalty, noise held",
            *kernels,
            prior=BoundSmoothness(1.0),
            noise_variance=0.01,
        ),
        make_problem("columns with several penalties", *columns, prior=BoundSmoothness(several)),
        make_problem(
            "columns with a penalty and a Gamma prior on the noise",
            *columns,
            prior=BoundSmoothness(1.5, InverseGamma(5.0, 4.0)),
        ),
        make_problem("columns with a half-Cauchy prior", *columns, prior=_HalfCauchy().bind(40.0)),
        make_problem("columns with a Laplace prior", *columns, prior=BoundLaplace(2.0)),
        make_problem("kernels with a Laplace prior", *kernels, prior=BoundLaplace(0.2)),
        make_problem(
            "kernels, Laplace prior, noise held",
            *kernels,
            prior=BoundLaplace(0.5),
            noise_variance=0.01,
        ),
    ):
        _check_unless_refused(solver, dense, name)


def _check_gamma_priors(solver: Solver, name: str) -> None:
    columns = columns_and_target()
    noise = InverseGamma(1.0, 0.5)
    dense = make_problem(
        "columns with a Gamma prior on the noise", *columns, prior=BoundFlat(noise)
    )
    _check_unless_refused(solver, dense, name)
    norm = dense.problem.moments.column_norm
    for exponent in (0.3, -0.2):
        prior = BoundGamma(exponent, 0.2, norm)
        what = f"columns with a Gamma prior on the precisions, exponent {exponent}"
        _check_unless_refused(solver, make_problem(what, *columns, prior=prior), name)


def _check_unless_refused(solver: Solver, dense: DenseProblem, name: str) -> None:
    try:
        solution = solver.solve(dense.problem)
    except ValueError as refusal:
        require(
            len(str(refusal).split()) > 3,
            f"{name} refuses {dense.name} without a reason in the message: {refusal!r}",
        )
        return
    _check_solution(solver, dense, solution, name)


def _check_solution(solver: Solver, dense: DenseProblem, solution: Solution, name: str) -> None:
    on = f"on {dense.name}, {name}"
    _check_form(dense.problem, solution, on)
    _check_objective(dense, solution, on)
    _check_certificate(dense, solution, on)
    require(
        solution.converged, f"{on} did not converge (certificate {solution.certificate}): use "
        "more iterations"
    )  # fmt: skip
    worst = max(solution.certificate)
    require(
        worst <= _ALLOWED.certificate,
        f"{on} reports convergence with a certificate of {worst:.3g}; at most "
        f"{_ALLOWED.certificate} is allowed",
    )
    _check_trace(solver, solution, on)


def _check_form(problem: Problem, solution: Solution, on: str) -> None:
    active: Any = solution.active
    require(
        isinstance(active, np.ndarray) and active.ndim == 1 and active.dtype.kind == "i",
        f"{on} must return `active` as an array of integers; got {active!r}",
    )
    require(
        bool((np.diff(active) > 0).all()),
        f"{on} must return `active` in ascending order, without duplicates",
    )
    require(
        not len(active) or bool(active[0] >= 0 and active[-1] < problem.moments.n_atoms),
        f"{on} returned atoms that do not exist",
    )
    require(
        bool(problem.moments.usable[active].all()),
        f"{on} returned unusable atoms (constant or zero columns)",
    )
    require(
        np.shape(solution.log_lam) == active.shape and bool(np.isfinite(solution.log_lam).all()),
        f"{on} must return one finite log_lam per active atom",
    )
    if problem.noise_variance is not None:
        require(
            solution.noise_variance == problem.noise_variance,
            f"{on} must keep the held noise variance {problem.noise_variance}; "
            f"it returned {solution.noise_variance}",
        )


def _check_objective(dense: DenseProblem, solution: Solution, on: str) -> None:
    exact = dense.objective(dense.log_alpha(solution), solution.noise_variance)
    allowed = _ALLOWED.objective * max(abs(exact), len(dense.target))
    require(
        abs(solution.objective - exact) <= allowed,
        f"{on} reports the objective {solution.objective:.10g}; the dense formula gives "
        f"{exact:.10g} at its solution",
    )


def _check_certificate(dense: DenseProblem, solution: Solution, on: str) -> None:
    slopes, noise_slope = dense.gradient(solution)
    steepest = float(np.abs(slopes).max(initial=0.0))
    reported = solution.certificate
    require(
        steepest <= 1.01 * reported.gradient + _ALLOWED.gradient,
        f"{on} reports a gradient of at most {reported.gradient:.3g}; finite differences give "
        f"{steepest:.3g}",
    )
    if dense.problem.noise_variance is None:
        require(
            abs(noise_slope) <= 1.01 * reported.gradient + _ALLOWED.gradient,
            f"{on} returned a noise variance at which the objective has slope {noise_slope:.3g}; "
            "at fixed lam the maximum has a closed form",
        )
    if dense.problem.prior.is_removable:
        atom, gain = dense.best_entry(solution)
        require(
            gain <= reported.best_gain + _ALLOWED.gain,
            f"{on} reports that no atom gains more than {reported.best_gain:.3g}; atom {atom} "
            f"gains {gain:.3g}",
        )


def _check_trace(solver: Solver, solution: Solution, on: str) -> None:
    if not getattr(solver, "is_monotone", True) or not solution.trace:
        return
    trace = np.array(solution.trace)
    allowed = _ALLOWED.objective * max(1.0, float(np.abs(trace).max()))
    fall = float(-np.diff(trace).min(initial=0.0))
    require(
        fall <= allowed,
        f"the trace falls by {fall:.3g} {on}; set is_monotone = False if that may happen",
    )
    require(
        bool(trace[-1] <= solution.objective + allowed),
        f"{on} ends its trace at {trace[-1]:.8g} but returns the objective "
        f"{solution.objective:.8g}",
    )


def _check_cap(solver: Solver, name: str) -> None:
    columns, (kernels, target) = columns_and_target(), kernels_and_target()
    for dense, cap in (
        (make_problem("explicit columns with max_active=1", *columns, max_active=1), 1),
        (make_problem("kernels with max_active=3", kernels, target, max_active=3), 3),
        # Powers of Gaussian kernels are narrower Gaussians, which can fit any target.
        (make_problem("narrow kernels, at most half the samples", kernels**30, target), 19),
    ):
        solution = solver.solve(dense.problem)
        on = f"on {dense.name}, {name}"
        require(
            len(solution.active) <= cap,
            f"{on} returned {len(solution.active)} atoms; the cap is {cap}",
        )
        _check_objective(dense, solution, on)


def _check_constant_target(solver: Solver, name: str) -> None:
    atoms, target = columns_and_target()
    for held in (None, 0.5):
        constant = make_problem("constant", atoms, np.full_like(target, 7.0), noise_variance=held)
        solution = solver.solve(constant.problem)
        require(
            len(solution.active) == 0,
            f"{name} returns {len(solution.active)} atoms for a constant target; expected none",
        )
        require(
            not math.isnan(solution.objective) and solution.noise_variance >= 0.0,
            f"{name} returns an objective of {solution.objective} and a noise of "
            f"{solution.noise_variance} for a constant target",
        )


def _check_repeatable(solver: Solver, name: str) -> None:
    dense = make_problem("explicit columns", *columns_and_target())
    moments = dense.problem.moments
    given = [moments.correlation.copy(), moments.usable.copy(), dense.problem.min_gain.copy()]
    first, second = solver.solve(dense.problem), solver.solve(dense.problem)
    require(
        np.array_equal(first.active, second.active)
        and np.array_equal(first.log_lam, second.log_lam)
        and first.noise_variance == second.noise_variance,
        f"{name} returns a different solution when run again",
    )
    now = [moments.correlation, moments.usable, dense.problem.min_gain]
    require(
        all(np.array_equal(old, new) for old, new in zip(given, now, strict=True)),
        f"{name} modifies the problem",
    )


def _check_warm_start(solver: Solver, name: str) -> None:
    dense = make_problem("explicit columns", *columns_and_target())
    cold = solver.solve(dense.problem)
    starts = {
        "its own solution": WarmStart(cold.active, cold.log_lam),
        "all usable atoms": _everything(dense.problem),
        "one useless atom": WarmStart(np.array([1]), np.zeros(1)),
    }
    for what, start in starts.items():
        given = [part.copy() for part in start]
        solution = solver.solve(dense.problem, warm_start=start)
        on = f"started from {what}, {name}"
        require(
            all(np.array_equal(old, new) for old, new in zip(given, start, strict=True)),
            f"{on} modifies the warm start",
        )
        _check_form(dense.problem, solution, on)
        _check_objective(dense, solution, on)
        _check_certificate(dense, solution, on)
        require(
            what != "its own solution" or solution.objective >= cold.objective - _ALLOWED.gain,
            f"{on} lowers the objective from {cold.objective:.8g} to {solution.objective:.8g}",
        )


def _everything(problem: Problem) -> WarmStart:
    usable = np.flatnonzero(problem.moments.usable)
    return WarmStart(usable, np.zeros(len(usable)))


def _check_monitor(solver: Solver, name: str) -> None:
    dense = make_problem("explicit columns", *columns_and_target())
    seen: list[Any] = []

    def record(progress: Progress) -> bool:
        seen.append(progress)
        return False

    plain = solver.solve(dense.problem)
    monitored = solver.solve(dense.problem, monitor=record)
    require(len(seen) > 0, f"{name} never calls its monitor")
    require(
        all(isinstance(item, Progress) and math.isfinite(item.objective) for item in seen),
        f"{name} must call its monitor with a Progress whose objective is finite",
    )
    require(
        np.array_equal(plain.active, monitored.active) and plain.objective == monitored.objective,
        f"{name} returns a different solution with a monitor",
    )
    for limit in sorted({1, 2, len(seen) // 2, len(seen) - 1} - {0}):
        calls: list[Progress] = []

        def stop(progress: Progress, calls: list[Progress] = calls, limit: int = limit) -> bool:
            calls.append(progress)
            return len(calls) >= limit

        solution = solver.solve(dense.problem, monitor=stop)
        on = f"stopped by its monitor at call {limit} of {len(seen)}, {name}"
        require(len(calls) == limit, f"{on} continued for {len(calls) - limit} more calls")
        require(
            limit >= len(seen) or not solution.converged,
            f"{on} reports convergence of an unfinished run",
        )
        _check_form(dense.problem, solution, on)
        _check_objective(dense, solution, on)
        _check_certificate(dense, solution, on)


CHECKS = (
    _check_evidence,
    _check_penalties,
    _check_gamma_priors,
    _check_cap,
    _check_constant_target,
    _check_repeatable,
    _check_warm_start,
    _check_monitor,
)
"""The checks of `check_solver`, in order; each takes the solver and its name."""
