"""Shifts, swaps and merges: valued exactly, and enough to find the best model of all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from relvec.evidence import gaussian_objective
from relvec.published import RandomOrderSolver
from relvec.solvers import SequentialSolver
from relvec.solvers.gaussian.ascent import Schedule, ascend, maximise_precisions
from relvec.solvers.gaussian.moves import find_swaps, improve_by_moves
from relvec.solvers.gaussian.newton import evaluate
from relvec.solvers.gaussian.shifts import find_shifts
from relvec.solvers.gaussian.state import State, build_objective
from tests.helpers_dense import DenseMoments, dense_problem
from tests.helpers_priors import posed

CASES = [(c, held) for c in (0.0, 2.0) for held in (None, 0.01)]


def spline(x, z):
    """Linear spline kernel of Tipping (2001)."""
    low, mean = np.minimum.outer(x, z), np.add.outer(x, z) / 2
    product = np.multiply.outer(x, z)
    return 1 + product + product * low - mean * low**2 + low**3 / 3


def sinc_problem(n=64, seed=0, smoothness=None, **options):
    x = np.linspace(-10, 10, n)
    y = np.sinc(x / np.pi)
    t = y + y.std(ddof=1) / 5 * np.random.default_rng(seed).standard_normal(n)
    c = 0.5 * np.log(n) if smoothness is None else smoothness
    return posed(DenseMoments(spline(x / 3, x / 3), t), smoothness=c, **options)


def value(problem, active, theta, held=None):
    """Objective by the shortest way."""
    moments, objective = problem.moments, build_objective(problem, held)
    gram, lam = moments.gram(active), np.exp(theta)
    point = evaluate(gram, moments.correlation[active], theta, objective)
    covariance = np.linalg.inv(gram + np.diag(lam))
    degrees = np.sum(1.0 - lam * covariance.diagonal())
    evidence = gaussian_objective(objective.n_effective, point.quadratic, point.log_det, held)
    return evidence - problem.prior.penalty * degrees - problem.min_gain[active].sum()


def end_state(problem, held=None, seed=0):
    """Return some maximum, not the best one."""
    problem_held = replace(problem, noise_variance=held)
    end = RandomOrderSolver(random_state=seed).solve(problem_held)
    return State(end.active, end.log_lam, end.objective, end.noise_variance, polished=True)


@pytest.mark.parametrize(("smoothness", "held"), CASES)
def test_the_value_of_a_swap_or_merge_is_exact(smoothness, held):
    problem = sinc_problem(smoothness=smoothness, min_gain=np.linspace(0, 0.01, 64))
    problem = replace(problem, noise_variance=held)
    state = end_state(problem, held)
    moves = find_swaps(problem, state)
    for after in moves:
        assert len(set(state.active) - set(after.active)) in (1, 2)
        assert len(set(after.active) - set(state.active)) == 1
        assert (np.diff(after.active) > 0).all()
        exact = value(problem, after.active, after.theta, held)
        assert after.objective == pytest.approx(exact, abs=1e-3)
    predicted = [after.objective for after in moves]
    assert predicted == sorted(predicted, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize(("smoothness", "held"), CASES)
def test_a_swap_brings_in_the_atom_that_gains_most(smoothness, held):
    problem = sinc_problem(smoothness=smoothness)
    problem = replace(problem, noise_variance=held)
    state = end_state(problem, held)
    moves = find_swaps(problem, state)
    after = next(each for each in moves if len(each.active) == len(state.active))
    stays = np.isin(state.active, after.active)
    rest, theta = state.active[stays], state.theta[stays]
    best = -np.inf
    for atom in set(range(64)) - set(state.active):
        grid = np.linspace(-15, 12, 109)
        values = [value(problem, np.append(rest, atom), np.append(theta, g), held) for g in grid]
        best = max(best, *values)
    assert after.objective == pytest.approx(best, abs=0.02)
    assert after.objective > best - 1e-6


@pytest.mark.parametrize(("smoothness", "held"), CASES)
def test_the_value_of_a_shift_is_its_objective(smoothness, held):
    problem = sinc_problem(smoothness=smoothness)
    problem = replace(problem, noise_variance=held)
    state = end_state(problem, held)
    found = find_shifts(problem, state)
    assert (np.diff(found.value) <= 0).all()
    changed = {len(set(active) - set(state.active)) for active in found.active}
    assert changed == {1, 2}
    for active, theta, known in zip(*found, strict=True):
        assert known == pytest.approx(value(problem, active, theta, held), abs=1e-3)
        end = maximise_precisions(problem, State(active, theta))
        assert end.objective > known - 1e-3  # a lower bound of what the model can reach


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.0, None])
def test_moves_only_lead_upwards_and_end_in_a_local_maximum(smoothness):
    problem = sinc_problem(smoothness=smoothness)

    def ascend_from(start):
        return ascend(problem, start, Schedule())

    gains = []
    for seed in range(6):
        start = end_state(problem, seed=seed)
        end = improve_by_moves(problem, start, ascend_from, set())
        gains.append(end.objective - start.objective)
        assert end.polished
        if end is not start:
            assert end.certificate.gradient < 1e-3
            assert end.certificate.best_gain < 1e-9
    assert min(gains) >= 0.0
    assert max(gains) > 0.1  # they do leave maxima that single steps cannot


def test_nothing_is_looked_at_twice():
    problem = sinc_problem()
    n_ascents = 0

    def ascend_from(start):
        nonlocal n_ascents
        n_ascents += 1
        return ascend(problem, start, Schedule())

    visited = set()
    start = end_state(problem)
    improve_by_moves(problem, start, ascend_from, visited)
    n_before = n_ascents
    assert improve_by_moves(problem, start, ascend_from, visited) is start
    assert n_ascents == n_before


def test_a_model_without_atoms_or_with_one_has_nothing_to_merge():
    rng = np.random.default_rng(0)
    problem = dense_problem(rng.standard_normal((30, 4)), rng.standard_normal(30), smoothness=1.0)
    empty = State(np.empty(0, dtype=np.intp), np.empty(0), polished=True)
    assert find_swaps(problem, empty) == []
    assert improve_by_moves(problem, empty, lambda start: start, set()) is empty
    single = maximise_precisions(problem, State(np.array([2]), np.zeros(1)))
    if len(single.active):
        assert find_shifts(problem, single).active.shape[1] == 1


def test_shifts_name_every_atom_once_and_no_unusable_one():
    rng = np.random.default_rng(0)
    x = np.linspace(-5, 5, 30)
    Phi = spline(x / 2, np.linspace(-5, 5, 6) / 2)
    Phi[:, 3] = 1.0  # constant
    Phi[:, 4] = -2.0 * Phi[:, 1]  # a copy
    problem = dense_problem(Phi, np.sinc(x / 3) + 0.1 * rng.standard_normal(30))
    for active in ([0, 1, 2, 5], [0, 1], [1]):
        state = State(np.array(active), np.full(len(active), -3.0), 0.0)
        found = find_shifts(problem, state)
        assert len(found.active)
        for atoms in found.active:
            assert len(set(atoms)) == len(active)
            assert 3 not in atoms
            assert atoms.tolist() != [4]


def test_nothing_moves_where_rounding_decides():
    x = np.linspace(-5, 5, 30)
    problem = dense_problem(spline(x / 2, x / 2), np.sinc(x / 3))
    end = SequentialSolver().solve(problem)  # no noise: down to its floor
    assert end.noise_variance < 1e-6
    state = State(end.active, end.log_lam - 40.0, end.objective)
    assert np.isfinite(find_shifts(problem, state).value).all()
    assert all(np.isfinite(after.objective) for after in find_swaps(problem, state))


def best_of_all(problem):
    """Maximise numerically over the precisions of every active set there is."""
    best = -np.inf
    for size in range(1, problem.moments.n_atoms + 1):
        for active in combinations(range(problem.moments.n_atoms), size):
            cost = partial(_cost, problem, np.array(active))
            for start in (-12.0, -5.0):
                end = minimize(
                    cost,
                    np.full(size, start),
                    method="L-BFGS-B",
                    bounds=[(-25.0, 15.0)] * size,
                )
                best = max(best, -end.fun)
    return best


def _cost(problem, active, theta):
    return -value(problem, active, theta)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.0, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_search_finds_the_best_of_all_active_sets(smoothness, seed):
    rng = np.random.default_rng(seed)
    x = np.linspace(-5, 5, 30)
    Phi = spline(x / 2, np.linspace(-5, 5, 6) / 2)
    t = np.sinc(x / 3) + 0.1 * rng.standard_normal(30)
    problem = dense_problem(Phi, t, smoothness=smoothness)
    solution = SequentialSolver().solve(problem)
    assert solution.objective == pytest.approx(best_of_all(problem), abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.0, None])
def test_no_run_in_random_order_ends_much_higher_and_no_fit_is_oversmoothed(smoothness):
    behind = []
    for seed in range(3):
        problem = sinc_problem(seed=seed, smoothness=smoothness)
        found = SequentialSolver().solve(problem)
        assert len(found.active) > 2  # the oversmoothed mode has two atoms
        runs = [RandomOrderSolver(random_state=run).solve(problem) for run in range(6)]
        behind.append(max(run.objective for run in runs) - found.objective)
    assert max(behind) < 0.5
    assert np.median(behind) < 1e-6


@pytest.mark.slow
def test_thorough_is_never_below_balanced():
    for seed in range(5):
        problem = sinc_problem(n=40, seed=seed)
        balanced, thorough = (
            SequentialSolver(effort).solve(problem) for effort in ("balanced", "thorough")
        )
        assert thorough.objective > balanced.objective - 1e-6
