"""Weights of given signs: never wrong, near the best there is, and as before if none is given."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr

from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli
from relvec.moments.gram import SufficientStatistics
from relvec.solvers import LaplaceSolver, LatentProblem
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import Schedule
from relvec.solvers.gaussian.state import State
from relvec.solvers.latent.exact import ascend_exactly
from relvec.solvers.latent.monotone import MonotoneSearch
from relvec.solvers.latent.signs import ascend_signed, has_wrong_sign
from tests.helpers_labels import kernel_problem
from tests.helpers_priors import with_prior

PENALTIES = [
    {},
    {"smoothness": 1.0},
    {"smoothness": 1.0, "is_penalty_prior": False},
    {"min_gain": 2.0},
]


def problem_of(Phi, t, signs, weight=None, has_intercept=True, **terms):
    labels = Bernoulli().bind(t, weight)
    return LatentProblem(
        DenseDictionary(Phi), labels, has_intercept, signs=signs, **with_prior(terms)
    )


def check(problem, solution):
    """The claims every answer makes."""
    state = solution.state
    assert np.isfinite(solution.trace).all()
    assert (np.diff(solution.trace) > 0).all()
    assert solution.trace[-1] == state.objective
    assert solution.converged
    weights = state.mode.weights[: len(state.active)]
    signs = problem.signs[state.active]
    assert (signs * weights >= 0).all()
    assert (weights != 0).all()
    again = problem.evaluate(
        state.active, state.log_precision, problem.dictionary.columns(state.active)
    )
    assert again.objective == pytest.approx(state.objective, abs=1e-4)


# ---------------------------------------------------------------------- the problem


def test_signs_are_checked():
    Phi, t = kernel_problem(10, 0)
    with pytest.raises(ValueError, match=r"shape \(10,\), one for each atom.*got shape \(9,\)"):
        problem_of(Phi, t, np.ones(9))
    with pytest.raises(ValueError, match=r"-1 .*, 1 .* and 0 .*; got .*0\.5"):
        problem_of(Phi, t, np.full(10, 0.5))


def test_a_model_of_the_wrong_sign_has_no_evidence():
    Phi, t = kernel_problem(40, 0)
    active, log_precision = np.arange(0, 40, 8), np.zeros(5)
    free = problem_of(Phi, t, None).evaluate(active, log_precision, Phi[:, active])
    signs = np.zeros(40)
    signs[active] = np.sign(free.mode.weights[:5])
    same = problem_of(Phi, t, signs).evaluate(active, log_precision, Phi[:, active])
    assert same.objective == free.objective
    signs[active[2]] *= -1.0
    problem = problem_of(Phi, t, signs)
    assert problem.evaluate(active, log_precision, Phi[:, active]).objective == -np.inf
    allowed = problem.remove_wrong_signs(
        problem.evaluate(active, log_precision, Phi[:, active]), Phi[:, active]
    )
    assert np.isfinite(allowed.objective)
    assert active[2] not in allowed.active
    # what is left is the model one would have written down
    left = problem.evaluate(
        allowed.active, np.zeros(len(allowed.active)), problem.dictionary.columns(allowed.active)
    )
    assert left.objective == pytest.approx(allowed.objective, abs=1e-5)


def test_a_zero_weight_is_wrong_and_a_free_one_never():
    signs = np.array([1.0, 1.0, -1.0, -1.0, 1.0, 0.0, 0.0])
    weights = np.array([1.0, -1.0, 1.0, -1.0, 0.0, 0.0, -3.0])
    wrong = [False, True, True, False, True, False, False]
    np.testing.assert_array_equal(has_wrong_sign(signs, weights), wrong)


def test_at_the_edge_the_model_without_the_atom_has_more_evidence():
    """Why no maximum is there."""
    Phi, t = kernel_problem(40, 1)
    active = np.array([3, 11, 20])
    problem = problem_of(Phi, t, None, min_gain=0.0)
    rest = problem.evaluate(active[:2], np.zeros(2), Phi[:, active[:2]])
    # an atom turned until its slope at the mode of the others is zero
    slope = rest.mode.slope
    turned = Phi[:, 20] - slope * (slope @ Phi[:, 20]) / (slope @ slope)
    columns = np.column_stack([Phi[:, active[:2]], turned])
    edge = problem.evaluate(active, np.array([0.0, 0.0, -1.0]), columns)
    assert abs(edge.mode.weights[2]) < 1e-6
    assert edge.objective < rest.objective - 0.1


@pytest.mark.parametrize("slope", [0.5, 2.0, -1.0])
def test_truncated_evidence_of_one_atom_is_not_sparse(slope):
    """Why the factors of the truncation are left out: with them any right slope is a gain."""
    curvature = 1.5

    def truncated(alpha):
        total = alpha + curvature
        gaussian = 0.5 * np.log(alpha / total) + 0.5 * slope**2 / total
        return gaussian + np.log(2.0) + log_ndtr(slope / np.sqrt(total))

    def integrated(alpha):
        value, _ = quad(
            lambda w: np.exp(slope * w - 0.5 * (curvature + alpha) * w * w),
            0.0,
            40.0 / np.sqrt(alpha + curvature),
        )
        return np.log(2.0 * value * np.sqrt(alpha / (2.0 * np.pi)))

    for alpha in (0.1, 1.0, 50.0):
        assert truncated(alpha) == pytest.approx(integrated(alpha), abs=1e-7)
    assert (truncated(1e6) > 0.0) == (slope > 0.0)
    assert truncated(1e8) == pytest.approx(slope * np.sqrt(2.0 / (np.pi * 1e8)), rel=1e-3)


# ---------------------------------------------------------------------- no signs, no change


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("penalties", PENALTIES)
def test_free_weights_are_found_as_without_signs(penalties, exact):
    Phi, t = kernel_problem(90, 2)
    solver = LaplaceSolver(exact=exact)
    without = solver.solve(
        LatentProblem(DenseDictionary(Phi), Bernoulli().bind(t), **with_prior(dict(penalties)))
    )
    free = solver.solve(problem_of(Phi, t, np.zeros(90), **penalties))
    assert free.trace == without.trace
    assert free.certificate == without.certificate
    np.testing.assert_array_equal(free.state.active, without.state.active)
    np.testing.assert_array_equal(free.state.log_precision, without.state.log_precision)
    np.testing.assert_array_equal(free.state.mode.weights, without.state.mode.weights)


def test_signs_that_the_answer_has_anyway_cost_nothing():
    Phi, t = kernel_problem(100, 3)
    free = LaplaceSolver(exact=True).solve(problem_of(Phi, t, None)).state
    signs = np.zeros(100)
    signs[free.active] = np.sign(free.mode.weights[: len(free.active)])
    problem = problem_of(Phi, t, signs)
    start = free.active, free.log_precision
    solution = LaplaceSolver(exact=True).solve(problem, warm_start=start)
    check(problem, solution)
    assert solution.state.objective >= free.objective - 1e-6


# ---------------------------------------------------------------------- against brute force


def evidence_by_hand(Phi, t, log_precision):
    """Laplace evidence with a flat intercept, and the weights at the mode."""
    design = np.column_stack([Phi, np.ones(len(t))])
    precision = np.append(np.exp(log_precision), 0.0)

    def log_posterior(w):
        return t @ (design @ w) - np.logaddexp(0, design @ w).sum() - 0.5 * precision @ w**2

    def curvature(w):
        y = expit(design @ w)
        return (design.T * (y * (1 - y))) @ design + np.diag(precision)

    w = np.zeros(len(precision))
    for _ in range(100):
        gradient = design.T @ (t - expit(design @ w)) - precision * w
        step = np.linalg.solve(curvature(w), gradient)
        length = 1.0
        while log_posterior(w + length * step) < log_posterior(w) - 1e-12 and length > 1e-8:
            length /= 2
        w = w + length * step
        if gradient @ step < 1e-13:
            break
    volume = np.linalg.slogdet(curvature(w))[1] - log_precision.sum() - np.log(2 * np.pi)
    return log_posterior(w) - 0.5 * volume, w[:-1]


def best_by_hand(Phi, t, signs, largest_latent, penalty, seed):
    """Largest objective of all subsets, each from two starts; only right signs count."""
    rng = np.random.default_rng(seed)
    spread = 2.0 * np.log(Phi.std(axis=0))
    best = evidence_by_hand(Phi[:, :0], t, np.empty(0))[0]
    for k in range(1, Phi.shape[1] + 1):
        for chosen in map(list, combinations(range(Phi.shape[1]), k)):
            found = [-np.inf]

            def cost(log_precision, chosen=chosen, found=found):
                value, w = evidence_by_hand(Phi[:, chosen], t, log_precision)
                if (signs[chosen] * w >= 0).all():
                    found.append(value)
                return -value

            least = spread[chosen] - 2.0 * np.log(largest_latent)
            for _ in range(2):
                start = spread[chosen] + rng.uniform(-3.0, 2.0, size=k)
                bounds = [(x, x + 20.0) for x in least]
                minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 30})
            best = max(best, max(found) - penalty * k)
    return best


def small_problem(kind, seed):
    rng = np.random.default_rng(seed)
    n, m = 12, 4
    if kind == "kernels":
        x = rng.normal(size=n)
        t = (rng.random(n) < expit(3.0 * np.sin(2.0 * x))).astype(float)
        centre = rng.choice(n, m, replace=False)
        Phi = np.exp(-2.0 * np.subtract.outer(x, x[centre]) ** 2)
        return Phi, t, 2.0 * t[centre] - 1.0
    Phi = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    t = (rng.random(n) < expit(Phi @ rng.normal(size=m))).astype(float)
    return Phi, t, rng.integers(-1, 2, size=m).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kernels", "features"])
def test_near_the_best_of_all_subsets(kind):
    short, short_at_fixed_curvature = [], []
    for seed in range(6):
        Phi, t, signs = small_problem(kind, seed)
        best = best_by_hand(Phi, t, signs, largest_latent=10.0, penalty=1e-3, seed=seed)
        problem = problem_of(Phi, t, signs, largest_latent=10.0)
        answers = [LaplaceSolver(exact=exact).solve(problem) for exact in (False, True)]
        for answer in answers:
            check(problem, answer)
        short_at_fixed_curvature.append(best - answers[0].state.objective)
        short.append(best - answers[1].state.objective)
    assert np.median(short) < 0.01
    assert np.mean(np.array(short) < 0.3) >= 0.8
    # steps at fixed curvature end elsewhere, with signs or without
    assert np.median(short_at_fixed_curvature) < 1.5
    # and nothing beats all subsets
    assert min(short) > -1e-3


# ---------------------------------------------------------------------- ordinary and odd problems


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("signs", ["labels", "random", "positive", "opposite", "some"])
def test_kernels(signs, penalties, exact):
    Phi, t = kernel_problem(80, 4, width=0.7)
    rng = np.random.default_rng(0)
    each = {
        "labels": 2.0 * t - 1.0,
        "random": rng.choice([-1.0, 1.0], 80),
        "positive": np.ones(80),
        "opposite": 1.0 - 2.0 * t,
        "some": np.where(rng.random(80) < 0.5, 0.0, 2.0 * t - 1.0),
    }
    problem = problem_of(Phi, t, each[signs], **penalties)
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    if exact:
        assert solution.certificate.gradient < 1e-2
    if not penalties:  # with them, gains at fixed curvature are too high, signs or not
        assert solution.certificate.best_gain < 0.05
        assert solution.certificate.gradient < 0.05


@pytest.mark.parametrize("exact", [False, True])
def test_nothing_can_be_said_with_the_wrong_sign_only(exact):
    x = np.linspace(-2.0, 2.0, 40)
    t = (x > 0.1).astype(float)
    t[[5, 30]] = 1.0 - t[[5, 30]]
    problem = problem_of(x[:, None], t, np.array([-1.0]))
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    assert not len(solution.state.active)
    assert solution.certificate == (0.0, 0.0)
    assert len(
        LaplaceSolver(exact=exact).solve(replace(problem, signs=-problem.signs)).state.active
    )


@pytest.mark.parametrize("exact", [False, True])
def test_separable_classes(exact):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    t = (X[:, 0] > 0).astype(float)
    X[:, 0] += 2.0 * (2.0 * t - 1.0)
    Phi = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    problem = problem_of(Phi, t, 2.0 * t - 1.0, largest_latent=20.0)
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    assert ((solution.state.mode.latent > 0) == (t == 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "t",
    [np.r_[1.0, np.zeros(49)], np.zeros(50), np.ones(50)],
    ids=["one positive", "no positive", "no negative"],
)
def test_rare_classes(t, intercept, exact):
    Phi, _ = kernel_problem(50, 3)
    problem = problem_of(Phi, t, 2.0 * t - 1.0, has_intercept=intercept)
    check(problem, LaplaceSolver(exact=exact).solve(problem))


@pytest.mark.parametrize("exact", [False, True])
def test_copies_of_an_atom_with_either_sign_are_a_free_atom(exact):
    Phi, t = kernel_problem(60, 5)
    free = LaplaceSolver(exact=exact).solve(problem_of(Phi, t, None)).state
    both = problem_of(np.hstack([Phi, Phi]), t, np.repeat([-1.0, 1.0], 60))
    solution = LaplaceSolver(exact=exact).solve(both)
    check(both, solution)
    assert len(np.unique(solution.state.active % 60)) == len(solution.state.active)
    assert solution.state.objective == pytest.approx(free.objective, abs=1.0)


def test_same_inputs_with_different_labels():
    """Duplicated rows: their atoms are equal and want opposite signs."""
    Phi, t = kernel_problem(40, 6)
    index = np.r_[np.arange(40), np.arange(10)]
    labels = np.r_[t, 1.0 - t[:10]]
    problem = problem_of(Phi[np.ix_(index, index)], labels, 2.0 * labels - 1.0)
    check(problem, LaplaceSolver().solve(problem))
    check(problem, LaplaceSolver(exact=True).solve(problem))


def test_rows_given_twice_or_weighted_twice_are_the_same():
    Phi, t = kernel_problem(60, 7)
    signs = 2.0 * t - 1.0
    twice = LaplaceSolver().solve(problem_of(np.vstack([Phi, Phi]), np.r_[t, t], signs))
    problem = problem_of(Phi, t, signs, weight=np.full(60, 2.0))
    weighted = LaplaceSolver().solve(problem)
    check(problem, weighted)
    assert weighted.state.objective == pytest.approx(twice.state.objective, abs=1e-6)
    np.testing.assert_array_equal(weighted.state.active, twice.state.active)


def test_turning_the_classes_around_turns_the_weights():
    Phi, t = kernel_problem(70, 8)
    signs = 2.0 * t - 1.0
    one = LaplaceSolver().solve(problem_of(Phi, t, signs)).state
    other = LaplaceSolver().solve(problem_of(Phi, 1.0 - t, -signs)).state
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_allclose(one.mode.weights, -other.mode.weights, rtol=1e-4, atol=1e-6)


def test_more_atoms_than_a_working_set():
    Phi, t = kernel_problem(400, 9, width=0.7)
    problem = problem_of(Phi, t, 2.0 * t - 1.0)
    check(problem, LaplaceSolver().solve(problem))


def test_a_start_with_wrong_signs_is_put_right():
    Phi, t = kernel_problem(60, 1)
    signs = 2.0 * t - 1.0
    free = LaplaceSolver().solve(problem_of(Phi, t, None)).state
    problem = problem_of(Phi, t, -signs)
    start = free.active, free.log_precision
    for exact in (False, True):
        solution = LaplaceSolver(exact=exact).solve(problem, warm_start=start)
        check(problem, solution)


# ---------------------------------------------------------------------- parts


@pytest.mark.parametrize("seed", range(5))
def test_regression_ascent_ends_with_right_signs(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 30)) + 2.0 * rng.normal(size=(80, 1))
    y = X @ rng.normal(size=30) + rng.normal(size=80)
    signs = rng.integers(-1, 2, size=30).astype(float)
    statistics = SufficientStatistics(30)
    statistics.update(X, y, np.ones(80))
    problem = Problem(statistics.moments(centre=True), noise_variance=1.0)
    start = State(np.empty(0, dtype=np.intp), np.empty(0))
    end = ascend_signed(problem, start, Schedule(), signs)
    moments = problem.moments
    gram = moments.gram(end.active) + np.diag(np.exp(end.theta))
    mean = np.linalg.solve(gram, moments.correlation[end.active])
    assert len(end.active) > 0
    assert (signs[end.active] * mean >= 0).all()


def test_exact_ascent_leaves_an_atom_where_its_weight_is_zero():
    """From wherever it starts, it neither stops at an edge nor goes over it."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 8)) + 2.0 * rng.normal(size=(60, 1))
        t = (rng.random(60) < expit(X @ rng.normal(size=8))).astype(float)
        problem = problem_of(X, t, np.ones(8))
        start = problem.remove_wrong_signs(problem.evaluate(np.arange(8), rng.normal(size=8), X), X)
        search = MonotoneSearch(problem, 1e-3, None, (start.active, start.log_precision))
        start = search.state
        converged, certificate = ascend_exactly(search, 500)
        assert converged
        assert certificate.gradient < 1e-2
        assert search.state.objective >= start.objective
        assert (search.state.mode.weights[: len(search.state.active)] > 0).all()
