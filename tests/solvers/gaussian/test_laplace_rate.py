"""The rate of a Laplace prior learnt from the data, against integrals done by quadrature."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from relvec.priors import RateHyperprior
from relvec.priors.laplace import BoundLaplace, LaplacePrior
from relvec.solvers import Problem, RateLearner, SequentialSolver, WarmStart, with_learnt_rate
from relvec.solvers.gaussian.rate import compute_expected_variances, find_best_rate
from tests.helpers_dense import DenseMoments
from tests.helpers_priors import prior_of

WEAK = RateHyperprior(1.0, 0.1)


def learning(problem):
    """Return the problem of learning the rate as well."""
    return replace(problem, prior=BoundLaplace(0.0, WEAK))


def linear_problem(seed=0, n=100, k=50, strength=1.0, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k))
    y = strength * X[:, :5].sum(axis=1) + rng.standard_normal(n)
    return learning(Problem(DenseMoments(X, y), **options))


def sinc_problem(seed=0, n=100):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 10, n)
    t = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(n)
    return learning(Problem(DenseMoments(np.exp(-(np.subtract.outer(x, x) ** 2) / 8.0), t)))


def friedman_problem(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 5))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n)
    distance = ((X[:, None, :] - X) ** 2).sum(axis=2)
    return learning(Problem(DenseMoments(np.exp(-distance), y)))


def moment(power, s, quality, rate):
    """Integral of gamma^power under the exponential density and the evidence of an atom."""

    def integrand(v):
        gamma = math.exp(v)
        log_evidence = 0.5 * (quality * gamma / (1 + s * gamma) - math.log1p(s * gamma))
        return gamma ** (power + 1) * math.exp(log_evidence - 0.5 * rate * gamma)

    return 0.5 * rate * quad(integrand, -30, 25, limit=500, points=[-10, 0, 5, 10])[0]


@pytest.mark.parametrize("hyperprior", [WEAK, RateHyperprior(3.0, 1.0), RateHyperprior(0.5, 1e-3)])
def test_the_best_rate_maximises_the_product_of_the_evidence_of_all_atoms(hyperprior):
    s = np.array([1.0, 0.5, 0.9, 1e-3, 1.0, 0.2])
    quality = np.array([0.3, 9.0, 25.0, 0.0, 1.5, 2.0])
    a, b = hyperprior
    best = find_best_rate(s, quality, hyperprior)

    def value(rate):
        logs = [math.log(moment(0, *atom, rate)) for atom in zip(s, quality, strict=True)]
        return sum(logs) + (a - 1) * math.log(rate) - b * rate

    assert all(value(best) > value(best * factor) for factor in (0.1, 0.8, 1.25, 10.0))
    # the rule of the papers, with expected variances in place of the best ones
    expected = sum(
        moment(1, *atom, best) / moment(0, *atom, best) for atom in zip(s, quality, strict=True)
    )
    assert best == pytest.approx(2 * (len(s) + a - 1) / (expected + 2 * b), rel=1e-3)


def test_atoms_the_data_say_nothing_of_have_no_say():
    s, quality = np.array([1.0, 0.8]), np.array([20.0, 6.0])
    mute = np.full(500, 1e-12)
    alone = find_best_rate(s, quality, WEAK)
    assert find_best_rate(np.r_[s, mute], np.r_[quality, mute], WEAK) == pytest.approx(
        alone, rel=1e-3
    )


def test_copies_of_atoms_in_the_model_have_no_say():
    """Nor does the rounding error that is all there is of their statistics."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    t = X @ np.array([3.0, 0.5, 0.0, 0.0]) + rng.standard_normal(30)
    solution = replace(
        SequentialSolver().solve(Problem(DenseMoments(X, t))),
        active=np.array([0]),
        log_lam=np.array([math.log(1e-12)]),
    )
    learner = RateLearner(SequentialSolver())
    alone = learner._find_best_log_rate(learning(Problem(DenseMoments(X, t))), solution)
    copied = np.c_[X, X[:, [0] * 20] * rng.uniform(0.1, 9.0, 20) + rng.standard_normal(20)]
    with_copies = learner._find_best_log_rate(learning(Problem(DenseMoments(copied, t))), solution)
    assert with_copies == pytest.approx(alone, abs=1e-3)


def test_noise_alone_gives_a_large_rate_and_strong_atoms_a_small_one():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(200) ** 2
    noise = find_best_rate(np.ones(200), z, WEAK)
    assert 5.0 < noise < 100.0
    assert find_best_rate(np.ones(200), 100.0 * z, WEAK) < 0.1
    # without a density of the rate it would go to infinity: it ends where the search does
    assert find_best_rate(np.ones(200), 0.0 * z, RateHyperprior(1.0, 1e-12)) > 9e3


@pytest.mark.parametrize(
    "problem", [linear_problem(min_gain=math.log(50)), sinc_problem(), friedman_problem()],
    ids=["linear", "sinc", "friedman"],
)  # fmt: skip
def test_learning_does_not_empty_the_model_where_the_published_rule_does(problem):
    solver = SequentialSolver("fast")
    solution = RateLearner(solver).solve(problem)
    assert solution.converged
    assert len(solution.active) > 0
    # the published rule: rate = 2 (M + a - 1) / sum(gamma), with a = 1 and b = 0
    published = solver.solve(problem)
    for _ in range(30):
        total = np.exp(-published.log_lam).sum()
        if not total:
            break
        published = solver.solve(
            replace(problem, prior=prior_of(laplace_rate=2 * problem.moments.n_atoms / total)),
            warm_start=WarmStart(published.active, published.log_lam),
        )
    assert not len(published.active)


def test_the_answer_is_a_fixed_point_and_solves_the_problem_at_its_rate():
    problem = linear_problem(2)
    learner = RateLearner(SequentialSolver(), tol=1e-4)
    solution = learner.solve(problem)
    held = replace(problem, noise_variance=solution.noise_variance)
    again = SequentialSolver().solve(
        replace(held, prior=prior_of(laplace_rate=solution.laplace_rate)),
        warm_start=WarmStart(solution.active, solution.log_lam),
    )
    assert solution.objective == pytest.approx(again.objective, abs=1e-6)
    np.testing.assert_array_equal(solution.active, again.active)
    wanted = learner._find_best_log_rate(held, again)
    assert math.log(solution.laplace_rate) == pytest.approx(wanted, abs=1e-3)


def test_the_noise_is_that_under_the_flat_prior_unless_given():
    problem = linear_problem(2)
    flat = SequentialSolver().solve(problem)
    assert RateLearner(SequentialSolver()).solve(problem).noise_variance == flat.noise_variance
    given = replace(problem, noise_variance=1.5)
    assert RateLearner(SequentialSolver()).solve(given).noise_variance == 1.5


def test_noise_of_more_columns_than_rows_is_that_of_penalised_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150))
    problem = learning(Problem(DenseMoments(X, 2.0 * X[:, 0] + rng.standard_normal(60))))
    solution = RateLearner(SequentialSolver("fast")).solve(problem)
    assert 0.5 < solution.noise_variance < 1.5  # the flat prior explains all of it
    assert 0 in solution.active


def test_atoms_have_the_expectations_of_their_variances():
    s, quality, rate = np.array([1.0, 0.5, 0.9]), np.array([0.3, 9.0, 25.0]), 0.2
    expected = [
        moment(1, *atom, rate) / moment(0, *atom, rate) for atom in zip(s, quality, strict=True)
    ]
    np.testing.assert_allclose(compute_expected_variances(s, quality, rate), expected, rtol=1e-5)


def test_a_laplace_prior_that_predicts_worse_is_refused():
    problem = friedman_problem()
    solution = RateLearner(SequentialSolver()).solve(problem)
    flat = SequentialSolver().solve(problem)
    assert solution.laplace_rate == 0.0
    np.testing.assert_array_equal(solution.active, flat.active)


def test_nothing_but_noise_is_found_out():
    sizes = [
        len(RateLearner(SequentialSolver("fast")).solve(linear_problem(i, strength=0)).active)
        for i in range(5)
    ]
    flat = [len(SequentialSolver("fast").solve(linear_problem(i, strength=0)).active)
            for i in range(5)]  # fmt: skip
    assert np.mean(sizes) <= 2
    assert np.mean(flat) > 8


def test_the_interval_is_halved_when_the_rate_goes_back_and_forth():
    class Contrary(RateLearner):
        """Wants a large rate where it is small, and a small one where it is large."""

        def _find_best_log_rate(self, problem, solution):
            return 1.0 if solution.laplace_rate < 0.5 else -3.0

    solution = Contrary(SequentialSolver("fast")).solve(linear_problem())
    assert solution.converged
    assert solution.laplace_rate == pytest.approx(0.5, rel=2e-3)


def test_too_few_solves_are_not_called_converged():
    solution = RateLearner(SequentialSolver("fast"), max_solves=1).solve(linear_problem())
    assert solution.laplace_rate > 0
    assert not solution.converged


def test_a_monitor_ends_the_learning():
    calls = []

    def stop(progress):
        calls.append(progress.n_iter)
        return len(calls) == 4

    RateLearner(SequentialSolver("fast")).solve(linear_problem(), monitor=stop)
    assert len(calls) == 4
    assert calls == sorted(calls)


def test_nothing_is_learnt_from_a_constant_target():
    problem = Problem(DenseMoments(np.random.default_rng(0).standard_normal((9, 3)), np.ones(9)))
    assert RateLearner(SequentialSolver()).solve(learning(problem)).laplace_rate == 0.0


def test_a_rate_that_is_given_needs_no_learner():
    solver = SequentialSolver()
    assert with_learnt_rate(solver, LaplacePrior(0.5)) is solver
    assert isinstance(with_learnt_rate(solver, LaplacePrior()), RateLearner)
    with pytest.raises(ValueError, match="needs a Laplace prior whose rate is to be learnt"):
        RateLearner(solver).solve(replace(linear_problem(), prior=BoundLaplace(0.5)))
