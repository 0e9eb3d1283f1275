"""Both reference solvers on degenerate problems, and their manners: monitors, warm starts."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.published.fixed_point import FixedPointSolver
from relvec.published.textbook import TextbookSolver
from relvec.solvers.base import Progress, Solver, WarmStart
from tests.helpers_dense import (
    dense_log_evidence,
    dense_problem,
    posterior_mean,
    raw_precisions,
    sinc,
    sparse_design,
)

SOLVERS = [FixedPointSolver("mackay"), FixedPointSolver("em"), TextbookSolver()]


@pytest.fixture(params=SOLVERS, ids=["mackay", "em", "textbook"])
def solver(request: pytest.FixtureRequest) -> Solver:
    return request.param


def test_constant_target(solver: Solver) -> None:
    solution = solver.solve(dense_problem(sparse_design()[0], np.full(60, 5.1)))
    assert len(solution.active) == 0
    assert solution.noise_variance == 0.0
    assert solution.objective == np.inf
    assert solution.converged


def test_constant_target_with_held_noise(solver: Solver) -> None:
    problem = dense_problem(sparse_design()[0], np.full(60, 5.1), noise_variance=2.0)
    solution = solver.solve(problem)
    assert len(solution.active) == 0
    assert solution.objective == pytest.approx(-29.5 * np.log(4 * np.pi))


def test_no_usable_column(solver: Solver) -> None:
    Phi, t = np.ones((10, 3)), np.arange(10.0)
    Phi[:, 1] = 0.0
    solution = solver.solve(dense_problem(Phi, t))
    assert len(solution.active) == 0
    assert solution.noise_variance == pytest.approx(np.var(t, ddof=1))
    expected = dense_log_evidence(Phi, t, np.full(3, np.inf), solution.noise_variance)
    assert solution.objective == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_data(solver: Solver, n: int) -> None:
    rng = np.random.default_rng(n)
    problem = dense_problem(rng.standard_normal((n, 4)), rng.standard_normal(n))
    solution = solver.solve(problem)
    assert np.isfinite(solution.objective)
    assert np.isfinite(solution.log_lam).all()
    assert len(solution.active) <= 1


def test_duplicates(solver: Solver) -> None:
    Phi, t = sparse_design(n=80, m=4)
    single = solver.solve(dense_problem(Phi, t))
    triple = solver.solve(dense_problem(np.hstack([Phi, Phi, Phi]), t))
    assert triple.objective == pytest.approx(single.objective, abs=0.01)


@pytest.mark.slow
def test_more_columns_than_rows(solver: Solver) -> None:
    Phi, t = sparse_design(n=20, m=60)
    problem = dense_problem(Phi, t)
    solution = solver.solve(problem)
    assert len(solution.active) <= 9
    assert solution.converged is not solution.reached_max_active
    dense = dense_log_evidence(Phi, t, raw_precisions(problem, solution), solution.noise_variance)
    assert solution.objective == pytest.approx(dense, rel=1e-8)


def test_noise_free(solver: Solver) -> None:
    Phi, _ = sparse_design(n=40, m=6)
    t = Phi[:, 2] - 2.0 * Phi[:, 4]
    problem = dense_problem(Phi, t)
    solution = solver.solve(problem)
    assert {2, 4} <= set(solution.active)
    weights = posterior_mean(problem, solution)
    np.testing.assert_allclose(weights, [0, 0, 1, 0, -2, 0], atol=1e-4)
    assert solution.noise_variance < 1.1e-10 * np.var(t, ddof=1)


def test_monitor_stops(solver: Solver) -> None:
    seen: list[Progress] = []

    def monitor(progress: Progress) -> bool:
        seen.append(progress)
        return progress.n_iter == 3

    solution = solver.solve(dense_problem(*sinc()), monitor=monitor)
    assert [each.n_iter for each in seen] == [1, 2, 3]
    assert solution.n_iter == 3
    assert not solution.converged
    assert solution.trace == tuple(each.objective for each in seen)


def test_warm_start_continues(solver: Solver) -> None:
    problem = dense_problem(*sparse_design())
    first = solver.solve(problem)
    start = WarmStart(first.active, first.log_lam)
    again = solver.solve(problem, warm_start=start)
    assert again.n_iter < 0.5 * first.n_iter
    assert again.objective == pytest.approx(first.objective, abs=1e-3)


def test_empty_warm_start(solver: Solver) -> None:
    problem = dense_problem(*sparse_design())
    start = WarmStart(np.empty(0, dtype=np.intp), np.empty(0))
    solution = solver.solve(problem, warm_start=start)
    assert len(solution.active) > 0
    assert solution.certificate.best_gain <= 1e-3


def test_bad_parameters(solver: Solver) -> None:
    bad = type(solver)(tol=0.0)
    with pytest.raises(ValueError, match="tol must be a positive number"):
        bad.solve(dense_problem(*sinc()))


def test_collapse_is_cut_at_half_the_sample(solver: Solver) -> None:
    """With an atom per sample the noise vanishes; what is left is a fit of the largest."""
    t = np.random.default_rng(0).standard_normal(20)
    problem = dense_problem(np.eye(20), t)
    solution = solver.solve(problem)
    assert len(solution.active) == 9
    assert solution.reached_max_active
    assert not solution.converged
    empty = dense_log_evidence(np.eye(20), t, np.full(20, np.inf), np.var(t, ddof=1))
    assert solution.objective > empty + 1.0
    assert solution.noise_variance > 0.05


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_extreme_units_of_the_target(solver: Solver, scale: float) -> None:
    Phi, t = sparse_design()
    plain, scaled = solver.solve(dense_problem(Phi, t)), solver.solve(dense_problem(Phi, scale * t))
    np.testing.assert_array_equal(plain.active, scaled.active)
    assert scaled.noise_variance / scale**2 == pytest.approx(plain.noise_variance, rel=1e-4)
