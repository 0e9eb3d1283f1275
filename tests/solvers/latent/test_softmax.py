"""The solver for several classes: monotone, converged, symmetric in the classes."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli, Softmax
from relvec.priors import SmoothnessPrior
from relvec.solvers import LaplaceSolver, LatentProblem
from relvec.solvers.groups import best_common_precision
from relvec.solvers.latent.entries import find_candidate_units
from relvec.solvers.latent.monotone import MonotoneSearch
from tests.helpers_labels import class_problem, kernel_problem
from tests.helpers_priors import gamma_prior, with_prior

PENALTIES = [
    {},
    {"smoothness": 1.0},
    {"smoothness": 1.0, "is_penalty_prior": False},
    {"min_gain": 2.0},
]
SHARED = [False, True]


def split(problem, active):
    """Atoms of each class."""
    blocks, atoms = np.divmod(active, problem.dictionary.shape[1])
    return [atoms[blocks == k] for k in range(problem.n_blocks)]


def problem_of(Phi, t, n_classes=3, weight=None, offset=None, has_intercept=True, **kwargs):
    classes = Softmax(n_classes).bind(t, weight, offset)
    return LatentProblem(DenseDictionary(Phi), classes, has_intercept, **with_prior(kwargs))


def columns_of(problem, active):
    return problem.dictionary.columns(active % problem.dictionary.shape[1])


def check(problem, solution):
    """The claims every answer makes."""
    assert np.isfinite(solution.trace).all()
    assert (np.diff(solution.trace) > 0).all()
    assert solution.converged
    state = solution.state
    assert solution.trace[-1] == state.objective
    assert (np.diff(state.active) > 0).all()
    again = problem.evaluate(state.active, state.log_precision, columns_of(problem, state.active))
    assert again.objective == pytest.approx(state.objective, abs=1e-4)
    if problem.shared:
        tiles = state.log_precision.reshape(problem.n_blocks, -1)
        np.testing.assert_allclose(tiles, np.broadcast_to(tiles[0], tiles.shape), atol=1e-9)
        by_class = split(problem, state.active)
        assert all(np.array_equal(atoms, by_class[0]) for atoms in by_class)


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("seed", range(10))
def test_noisy_classes(seed, shared):
    Phi, t = class_problem(90, seed)
    problem = problem_of(Phi, t, shared=shared)
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    assert (solution.state.mode.latent.argmax(axis=1) != t).mean() < 0.25
    assert 2 <= len(np.unique(solution.state.active % 90)) <= 30
    assert solution.certificate.best_gain < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("penalties", PENALTIES)
def test_penalties(penalties, shared):
    Phi, t = class_problem(90, 1, width=0.7)
    free = LaplaceSolver().solve(problem_of(Phi, t, shared=shared)).state
    problem = problem_of(Phi, t, shared=shared, **penalties)
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    assert len(solution.state.active) <= len(free.active)
    paid = problem.evaluate(free.active, free.log_precision, columns_of(problem, free.active))
    assert solution.state.objective >= paid.objective - 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
def test_permuting_classes_permutes_the_answer(shared):
    Phi, t = class_problem(90, 2)
    order = np.array([2, 0, 1])
    first = problem_of(Phi, t, shared=shared)
    second = problem_of(Phi, order[t], shared=shared)
    one, two = (LaplaceSolver().solve(problem).state for problem in (first, second))
    assert two.objective == pytest.approx(one.objective, abs=1e-5)
    for k, atoms in enumerate(split(first, one.active)):
        np.testing.assert_array_equal(split(second, two.active)[order[k]], atoms)
    # logits have no level, which priors set to a mean of zero only if precisions are shared
    spread = [x.mode.latent - x.mode.latent.mean(axis=1, keepdims=True) for x in (one, two)]
    np.testing.assert_allclose(spread[1][:, order], spread[0], atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_do_as_well_as_the_binary_solver(seed):
    Phi, t = kernel_problem(100, seed)
    binary = LaplaceSolver().solve(LatentProblem(DenseDictionary(Phi), Bernoulli().bind(t)))
    problem = problem_of(Phi, t.astype(np.intp), 2)
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    # the contrast of two intercepts is their difference over the square root of two
    assert solution.state.objective > binary.state.objective - 0.5 * np.log(2.0) - 1.5
    logits = solution.state.mode.latent
    ours, theirs = logits[:, 1] - logits[:, 0], binary.state.mode.latent
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


@pytest.mark.parametrize("shared", SHARED)
def test_separable_classes_end_with_bounded_logits(shared):
    Phi, t = class_problem(60, 3, spread=0.05)
    problem = problem_of(Phi, t, shared=shared, largest_latent=10.0)
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    deviation = np.exp(-0.5 * solution.state.log_precision)
    scale = columns_of(problem, solution.state.active).std(axis=0)
    assert (deviation * scale < 10.0 * 1.001).all()
    assert (solution.state.mode.latent.argmax(axis=1) == t).all()


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize(
    "target",
    [np.r_[2, np.arange(39) % 2], np.arange(40) % 2, np.zeros(40, dtype=np.intp)],
    ids=["one row of a class", "an absent class", "a single class"],
)
def test_rare_classes(target, shared):
    Phi, _ = class_problem(40, 4)
    problem = problem_of(Phi, target, shared=shared)
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    assert np.isfinite(solution.state.mode.latent).all()


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
def test_small_and_degenerate_dictionaries(shared):
    few = np.exp(-0.5 * np.subtract.outer(np.arange(6.0), np.arange(6.0)) ** 2)
    t = np.arange(6) % 3
    Phi, labels = class_problem(45, 5)
    near = Phi + 1e-9 * np.random.default_rng(0).normal(size=Phi.shape)
    constant = Phi.copy()
    constant[:, ::3] = 1.0
    constant[:, 1] = 0.0
    cases = [
        (few, t),
        (np.ones((6, 2)), t),
        (np.empty((6, 0)), t),
        (np.hstack([Phi, Phi]), labels),
        (np.hstack([Phi, near]), labels),
        (np.vstack([Phi, Phi]), np.r_[labels, labels]),
        (constant, labels),
    ]
    for atoms, target in cases:
        problem = problem_of(atoms, target, shared=shared)
        solution = LaplaceSolver().solve(problem)
        check(problem, solution)
    assert not np.isin(solution.state.active % 45, np.r_[np.arange(0, 45, 3), 1]).any()


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_scale_of_columns_does_not_matter(factor, shared):
    Phi, t = class_problem(60, 6)
    expected = LaplaceSolver().solve(problem_of(Phi, t, shared=shared))
    problem = problem_of(factor * Phi, t, shared=shared)
    found = LaplaceSolver().solve(problem)
    check(problem, found)
    assert found.state.objective == pytest.approx(expected.state.objective, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
def test_weights_and_offsets(shared):
    Phi, t = class_problem(60, 7)
    twice = LaplaceSolver().solve(problem_of(np.vstack([Phi, Phi]), np.r_[t, t], shared=shared))
    weighted = problem_of(Phi, t, weight=np.full(60, 2.0), shared=shared)
    solution = LaplaceSolver().solve(weighted)
    check(weighted, solution)
    assert solution.state.objective == pytest.approx(twice.state.objective, abs=1e-4)
    offset = np.random.default_rng(0).normal(size=(60, 3))
    for intercept in (True, False):
        problem = problem_of(Phi, t, offset=offset, has_intercept=intercept, shared=shared)
        check(problem, LaplaceSolver().solve(problem))


def test_regressions_are_stationary_at_the_mode():
    Phi, t = class_problem(40, 8)
    offset = np.random.default_rng(1).normal(size=(40, 3))
    problem = problem_of(Phi, t, weight=np.linspace(0.5, 2.0, 40), offset=offset)
    active = np.array([3, 9, 40 + 5, 80 + 5, 80 + 20])
    state = problem.evaluate(active, np.zeros(5), columns_of(problem, active))
    weights = np.split(state.mode.weights[:5], [2, 3])
    intercepts = state.mode.design.contrast @ state.mode.weights[5:]
    for k, (curvature, response) in enumerate(
        problem.likelihood.working_responses(state.mode.latent)
    ):
        atoms = Phi[:, split(problem, active)[k]]
        residual = curvature * (response - atoms @ weights[k] - intercepts[k])
        np.testing.assert_allclose(atoms.T @ residual, weights[k], atol=1e-5)
        assert residual.sum() == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("is_penalty_prior", [True, False])
def test_problem_gradient_against_differences(shared, is_penalty_prior):
    Phi, t = class_problem(30, 9)
    problem = problem_of(Phi, t, smoothness=0.7, is_penalty_prior=is_penalty_prior, shared=shared)
    active = np.array([3, 30 + 3, 60 + 3]) if shared else np.array([3, 9, 60 + 20])
    theta = np.array([0.3, -0.4, 1.0])
    found = problem.gradient(
        problem.evaluate(active, theta, columns_of(problem, active)), exact=True
    )
    for i, unit in enumerate(1e-4 * np.eye(3)):
        up, down = (
            problem.evaluate(active, theta + x, columns_of(problem, active)).objective
            for x in (unit, -unit)
        )
        assert found[i] == pytest.approx((up - down) / 2e-4, abs=1e-5)


def test_common_precision_against_the_formula_of_one_weight():
    rng = np.random.default_rng(0)
    s = rng.uniform(0.1, 100.0, 50)
    q = np.sqrt(s) * rng.uniform(1.5, 6.0, 50)
    gain, log_precision = best_common_precision(s[:, None], q[:, None] ** 2)
    ratio = q * q / s
    np.testing.assert_allclose(gain, 0.5 * (ratio - 1 - np.log(ratio)), rtol=1e-4)
    np.testing.assert_allclose(log_precision, np.log(s / (ratio - 1)), atol=0.05)
    # a penalty at the same curvature is as if the slope were smaller
    r = 0.5 * s
    penalised, _ = best_common_precision(s[:, None], q[:, None] ** 2, (s[:, None], r[:, None]))
    ratio = (q * q - 2 * r) / s
    np.testing.assert_allclose(penalised, 0.5 * (ratio - 1 - np.log(ratio)), rtol=1e-3, atol=1e-4)


def test_monitor_can_stop_and_warm_start_continues():
    Phi, t = class_problem(60, 10)
    for shared in SHARED:
        problem = problem_of(Phi, t, shared=shared)
        seen = []

        def watch(progress, seen=seen):
            seen.append(progress)
            return len(seen) == 2

        stopped = LaplaceSolver().solve(problem, monitor=watch)
        assert not stopped.converged
        assert len(seen) == 2
        start = (stopped.state.active, stopped.state.log_precision)
        full = LaplaceSolver().solve(problem, warm_start=start)
        check(problem, full)
        assert full.state.objective > stopped.state.objective


def test_gamma_prior_is_refused():
    problem = problem_of(np.eye(6), np.arange(6) % 3, hyperprior=gamma_prior(1.0, 1.0))
    with pytest.raises(ValueError, match="cannot be added or removed one by one"):
        LaplaceSolver().solve(problem)


def test_failed_laplace_approximations_are_rejected():
    """Atoms that separate the classes, with wider and wider priors."""
    Phi, t = class_problem(60, 3, spread=0.05)
    problem = problem_of(Phi, t)
    active = np.array([0, 61, 122])
    columns = columns_of(problem, active)
    fits, allowed = [], []
    for deviation in (1.0, 10.0, 1e3, 1e5):
        state = problem.evaluate(active, np.full(3, -2.0 * np.log(deviation)), columns)
        assert np.isfinite(state.objective) == (state.mode.is_credible(problem.likelihood))
        mode = state.mode
        variance = mode.design.relative_variances(t, mode.hessian.covariance)
        fits.append(problem.likelihood.averaged_log_density(mode.latent, variance))
        allowed.append(np.isfinite(state.objective))
    assert allowed[0]
    assert not allowed[-1]
    assert fits[-1] < max(fits) - 10.0
    nothing = problem.evaluate(active[:0], np.empty(0), columns[:, :0])
    assert nothing.mode.is_credible(problem.likelihood)
    assert np.isfinite(nothing.objective)


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
def test_search_leaves_a_start_where_the_approximation_fails(shared):
    Phi, t = class_problem(60, 3, spread=0.05)
    problem = problem_of(Phi, t, shared=shared)
    active = np.array([0, 1, 2, 60, 61, 62, 120, 121, 122])
    start = active, np.full(9, -23.0)
    assert problem.evaluate(*start, columns_of(problem, active)).objective == -np.inf
    solution = LaplaceSolver().solve(problem, warm_start=start)
    check(problem, solution)
    assert solution.state.mode.is_credible(problem.likelihood)


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("penalties", PENALTIES[:3])
def test_exact_derivatives_end_at_a_maximum(penalties, shared):
    Phi, t = class_problem(60, 11)
    problem = problem_of(Phi, t, shared=shared, **penalties)
    first = LaplaceSolver().solve(problem)
    solution = LaplaceSolver(exact=True).solve(problem)
    check(problem, solution)
    assert solution.state.objective >= first.state.objective - 1e-6
    assert solution.certificate.gradient < 1e-2
    assert solution.certificate.best_gain < 1e-3


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("penalties", PENALTIES[:3])
def test_derivative_in_the_variance_of_an_absent_unit(penalties, shared):
    Phi, t = class_problem(40, 12)
    problem = problem_of(Phi, t, shared=shared, min_gain=0.0, **penalties)
    units = np.array([3, 20])
    active, theta = problem.expand_units(units), np.tile([0.5, -0.3], problem.n_tied)
    state = problem.evaluate(active, theta, columns_of(problem, active))
    search = MonotoneSearch(problem, 1e-3, None, (active, theta))
    found, _, gain = find_candidate_units(search, exact=True)
    assert len(found)
    tiny = 1e-6
    for unit in (0, 10, 30, 39):
        slopes = []
        for v in (tiny, 2 * tiny):
            grown, values = search.insert_units(np.array([unit]), np.array([-np.log(v)]))
            objective = problem.evaluate(grown, values, columns_of(problem, grown)).objective
            slopes.append((objective - state.objective) / v)
        slope = 2 * slopes[0] - slopes[1]
        place = np.flatnonzero(found == unit)
        # a unit is an entrant exactly if the objective rises with its variance
        if abs(slope) > 1e-2:
            assert len(place) == (slope > 0.0)
        if len(place):
            assert gain[place[0]] >= -1e-9


@pytest.mark.slow
@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("is_penalty_prior", [True, False])
def test_penalties_of_groups(shared, is_penalty_prior):
    Phi, t = class_problem(40, 13)
    prior = SmoothnessPrior([0.1, 4.0], by=np.arange(40) % 2).bind(40.0)
    problem = problem_of(Phi, t, shared=shared, prior=prior, is_penalty_prior=is_penalty_prior)
    free = LaplaceSolver().solve(problem_of(Phi, t, shared=shared)).state
    solution = LaplaceSolver().solve(problem)
    check(problem, solution)
    paid = problem.evaluate(free.active, free.log_precision, columns_of(problem, free.active))
    assert solution.state.objective >= paid.objective - 1e-3
    active = problem.expand_units(np.array([3, 8]))
    theta = np.tile([0.3, -0.4], problem.n_tied)
    found = problem.gradient(
        problem.evaluate(active, theta, columns_of(problem, active)), exact=True
    )
    for i, unit in enumerate(1e-4 * np.eye(len(theta))):
        up, down = (
            problem.evaluate(active, theta + x, columns_of(problem, active)).objective
            for x in (unit, -unit)
        )
        assert found[i] == pytest.approx((up - down) / 2e-4, abs=1e-5)
