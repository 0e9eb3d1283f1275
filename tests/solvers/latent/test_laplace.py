"""The binary solver: monotone, converged and honest on ordinary and on degenerate problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relvec import RVMClassifier
from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli
from relvec.priors import (
    BoundSmoothness,
    FlatPrior,
    InverseGamma,
    LaplacePrior,
    SmoothnessPrior,
)
from relvec.solvers import LaplaceSolver, LatentProblem
from relvec.solvers.latent.entries import find_candidate_units
from relvec.solvers.latent.monotone import MonotoneSearch
from tests.helpers_labels import kernel_problem
from tests.helpers_priors import HalfCauchy, gamma_prior, with_prior

PENALTIES = [
    {},
    {"smoothness": 1.0},
    {"smoothness": 1.0, "is_penalty_prior": False},
    {"min_gain": 2.0},
]


def problem_of(Phi, t, weight=None, offset=None, has_intercept=True, **penalties):
    labels = Bernoulli().bind(t, weight, offset)
    return LatentProblem(DenseDictionary(Phi), labels, has_intercept, **with_prior(penalties))


def check(problem, solution, *, converged=True):
    """The claims every answer makes."""
    assert np.isfinite(solution.trace).all()
    assert (np.diff(solution.trace) > 0).all()
    assert solution.converged == converged
    assert solution.trace[-1] == solution.state.objective
    state = solution.state
    assert (np.diff(state.active) > 0).all()
    again = problem.evaluate(
        state.active, state.log_precision, problem.dictionary.columns(state.active)
    )
    assert again.objective == pytest.approx(state.objective, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_noisy_classes(seed, exact):
    Phi, t = kernel_problem(100, seed)
    problem = problem_of(Phi, t)
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    assert 2 <= len(solution.state.active) <= 30
    if exact:
        assert solution.certificate.gradient < 1e-3
        assert solution.certificate.best_gain < 1e-3
    else:
        assert solution.certificate.best_gain < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("penalties", PENALTIES)
def test_penalties_make_models_smaller(penalties, exact):
    Phi, t = kernel_problem(120, 1, width=0.7)
    free = LaplaceSolver(exact=exact).solve(problem_of(Phi, t))
    problem = problem_of(Phi, t, **penalties)
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    assert len(solution.state.active) <= len(free.state.active)
    # the free model is among those the penalty was paid for
    paid = problem.evaluate(free.state.active, free.state.log_precision, Phi[:, free.state.active])
    assert solution.state.objective >= paid.objective - 1e-3
    if exact:
        assert solution.certificate.gradient < 2e-3


@pytest.mark.parametrize("exact", [False, True])
def test_separable_classes_end_with_bounded_logits(exact):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    t = (X[:, 0] > 0).astype(float)
    X[:, 0] += 2.0 * (2.0 * t - 1.0)
    problem = problem_of(X, t, largest_latent=20.0)
    solution = LaplaceSolver(exact=exact).solve(problem)
    check(problem, solution)
    deviation = np.exp(-0.5 * solution.state.log_precision)
    assert (deviation * X[:, solution.state.active].std(axis=0) < 20.0 * 1.001).all()
    assert ((solution.state.mode.latent > 0) == (t == 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "t",
    [np.r_[1.0, np.zeros(49)], np.zeros(50), np.ones(50)],
    ids=["one positive", "no positive", "no negative"],
)
def test_rare_classes(t, exact):
    Phi, _ = kernel_problem(50, 3)
    for intercept in (True, False):
        problem = problem_of(Phi, t, has_intercept=intercept)
        solution = LaplaceSolver(exact=exact).solve(problem)
        check(problem, solution)
        assert np.isfinite(solution.state.mode.latent).all()
    if t.sum() in (0, 50) and not exact:
        empty = LaplaceSolver().solve(problem_of(Phi, t)).state
        assert not len(empty.active)


@pytest.mark.parametrize("exact", [False, True])
def test_four_rows(exact):
    Phi = np.exp(-0.5 * np.subtract.outer(np.arange(4.0), np.arange(4.0)) ** 2)
    problem = problem_of(Phi, np.array([0.0, 1.0, 1.0, 0.0]))
    check(problem, LaplaceSolver(exact=exact).solve(problem))


def test_duplicated_columns_change_nothing():
    Phi, t = kernel_problem(80, 4)
    once = LaplaceSolver().solve(problem_of(Phi, t))
    problem = problem_of(np.hstack([Phi, Phi]), t)
    twice = LaplaceSolver(exact=True).solve(problem)
    check(problem, twice)
    assert len(np.unique(twice.state.active % 80)) == len(twice.state.active)
    exact = LaplaceSolver(exact=True).solve(problem_of(Phi, t))
    assert exact.state.objective >= once.state.objective


@pytest.mark.parametrize("noise", [1e-9, 1e-5])
def test_nearly_duplicated_columns(noise):
    Phi, t = kernel_problem(80, 5)
    near = Phi + noise * np.random.default_rng(0).normal(size=Phi.shape)
    problem = problem_of(np.hstack([Phi, near]), t)
    check(problem, LaplaceSolver().solve(problem))
    check(problem, LaplaceSolver(exact=True).solve(problem))


def test_rows_given_twice_or_weighted_twice_are_the_same():
    Phi, t = kernel_problem(60, 6)
    twice = LaplaceSolver().solve(problem_of(np.vstack([Phi, Phi]), np.r_[t, t]))
    problem = problem_of(Phi, t, weight=np.full(60, 2.0))
    weighted = LaplaceSolver().solve(problem)
    check(problem, weighted)
    assert weighted.state.objective == pytest.approx(twice.state.objective, abs=1e-6)
    np.testing.assert_array_equal(weighted.state.active, twice.state.active)


def test_rows_without_weight_have_no_influence():
    Phi, t = kernel_problem(60, 7)
    junk = 1e3 * np.random.default_rng(0).normal(size=(10, 60))
    weight = np.r_[np.ones(60), np.zeros(10)]
    problem = problem_of(np.vstack([Phi, junk]), np.r_[t, np.ones(10)], weight=weight)
    # the guard binds, so that its scale matters
    problem = replace(problem, largest_latent=3.0)
    found = LaplaceSolver().solve(problem)
    expected = LaplaceSolver().solve(problem_of(Phi, t, largest_latent=3.0))
    assert found.state.objective == pytest.approx(expected.state.objective, abs=1e-6)
    np.testing.assert_array_equal(found.state.active, expected.state.active)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("penalties", PENALTIES[:3])
def test_scale_of_columns_does_not_matter(factor, penalties):
    Phi, t = kernel_problem(80, 8)
    expected = LaplaceSolver().solve(problem_of(Phi, t, **penalties))
    problem = problem_of(factor * Phi, t, **penalties)
    found = LaplaceSolver().solve(problem)
    check(problem, found)
    assert found.state.objective == pytest.approx(expected.state.objective, abs=1e-3)
    mixed = Phi * np.where(np.arange(80) % 2, factor, 1.0)
    check(problem, LaplaceSolver(exact=True).solve(problem))
    check(problem_of(mixed, t), LaplaceSolver().solve(problem_of(mixed, t)))


def test_constant_columns_are_left_out():
    Phi, t = kernel_problem(50, 9)
    Phi[:, ::3] = 1.0
    Phi[:, 1] = 0.0
    solution = LaplaceSolver(exact=True).solve(problem_of(Phi, t))
    assert not np.isin(solution.state.active, np.r_[np.arange(0, 50, 3), 1]).any()
    only = problem_of(np.ones((50, 4)), t)
    check(only, LaplaceSolver().solve(only))


@pytest.mark.parametrize("weight", [1e-8, 1e-3, 1e4])
def test_extreme_weights(weight):
    Phi, t = kernel_problem(40, 10)
    problem = problem_of(Phi, t, weight=np.full(40, weight))
    check(problem, LaplaceSolver().solve(problem))


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [True, False])
def test_offsets_are_part_of_the_logit(intercept):
    Phi, t = kernel_problem(60, 11)
    offset = np.random.default_rng(1).normal(size=60)
    problem = problem_of(Phi, t, offset=offset, has_intercept=intercept)
    solution = LaplaceSolver(exact=True).solve(problem)
    check(problem, solution)
    mode = solution.state.mode
    np.testing.assert_allclose(mode.latent, mode.design.latent(mode.weights) + offset, atol=1e-9)
    assert solution.certificate.gradient < 1e-3


def test_no_atoms_at_all():
    problem = problem_of(np.empty((10, 0)), np.arange(10) % 2.0)
    solution = LaplaceSolver(exact=True).solve(problem)
    assert solution.converged
    assert not len(solution.state.active)


@pytest.mark.parametrize("penalties", PENALTIES[:3])
@pytest.mark.parametrize("form", ["plain", "weights and offsets", "no intercept"])
def test_derivative_in_the_variance_of_an_absent_atom(penalties, form):
    Phi, t = kernel_problem(50, 12)
    rng = np.random.default_rng(2)
    data = {
        "plain": {},
        "weights and offsets": {
            "weight": rng.uniform(0.5, 2.0, 50),
            "offset": rng.normal(size=50),
        },
        "no intercept": {"has_intercept": False},
    }[form]
    problem = problem_of(Phi, t, min_gain=0.0, **data, **penalties)
    active, log_precision = np.array([3, 20, 41]), np.array([-1.0, 0.5, 1.5])
    state = problem.evaluate(active, log_precision, Phi[:, active])
    search = MonotoneSearch(problem, 1e-3, None, (active, log_precision))
    atoms, entry, gain = find_candidate_units(search, exact=True)
    assert len(atoms)
    tiny = 1e-6
    for atom in (0, 10, 30, 49):
        grown = np.sort(np.append(active, atom))
        where = int(np.searchsorted(active, atom))
        values = [
            problem.evaluate(
                grown, np.insert(log_precision, where, -np.log(v)), Phi[:, grown]
            ).objective
            for v in (tiny, 2 * tiny)
        ]
        slope = (4 * values[0] - values[1] - 3 * state.objective) / (2 * tiny)
        place = np.flatnonzero(atoms == atom)
        if slope > 1e-2:
            # alpha = s^2 / (theta - s) and gain(theta / s) give back (theta - s) / 2
            ratio = _ratio_of(gain[place[0]])
            s = np.exp(entry[place[0]]) * (ratio - 1.0)
            assert 0.5 * s * (ratio - 1.0) == pytest.approx(slope, rel=2e-2, abs=1e-2)
        else:
            assert not len(place) or gain[place[0]] < 1e-3


def _ratio_of(gain):
    low, high = 1.0, 1e6
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if 0.5 * (middle - 1 - np.log(middle)) < gain else (low, middle)
    return low


def test_warm_start_continues():
    Phi, t = kernel_problem(100, 13)
    problem = problem_of(Phi, t)
    first = LaplaceSolver().solve(problem)
    again = LaplaceSolver().solve(
        problem, warm_start=(first.state.active, first.state.log_precision)
    )
    assert again.state.objective >= first.state.objective - 1e-6
    assert again.n_iter <= first.n_iter


@pytest.mark.parametrize("penalties", PENALTIES[:2])
@pytest.mark.parametrize("exact", [False, True])
def test_monitor_sees_every_step_and_can_stop(penalties, exact):
    Phi, t = kernel_problem(100, 14)
    problem = problem_of(Phi, t, **penalties)
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) == 3

    solution = LaplaceSolver(exact=exact).solve(problem, monitor=watch)
    assert not solution.converged
    assert len(seen) == 3
    assert (np.diff(solution.trace) > 0).all()


def test_gamma_prior_is_refused():
    problem = problem_of(np.eye(4), np.arange(4) % 2.0, hyperprior=gamma_prior(1.0, 1.0))
    with pytest.raises(ValueError, match="cannot be added or removed one by one"):
        LaplaceSolver().solve(problem)


@pytest.mark.parametrize(
    ("parts", "error", "match"),
    [
        ({"min_gain": np.nan}, ValueError, "min_gain must be a number"),
        ({"min_gain": -1.0}, ValueError, "not negative and not NaN; got -1"),
        ({"min_gain": np.ones(2)}, ValueError, "one for each of 3 atoms"),
        ({"prior": LaplacePrior(1.0).bind(5)}, ValueError, "FlatPrior or SmoothnessPrior"),
        ({"prior": LaplacePrior("auto").bind(5)}, ValueError, "is for regression only"),
        ({"prior": HalfCauchy().bind(5)}, ValueError, "BoundSeparable, a prior with a density"),
        ({"largest_latent": 0.0}, ValueError, "largest_latent must be a positive number"),
        ({"largest_latent": -1.0}, ValueError, "largest_latent must be a positive number"),
        ({"dictionary": np.eye(5)[:, :3]}, TypeError, r"wrap it: DenseDictionary\(array\)"),
        ({"prior": SmoothnessPrior("bic")}, TypeError, "prior must be bound"),
        ({"prior": BoundSmoothness(np.ones(2))}, ValueError, "penalty must be a number"),
        ({"likelihood": Bernoulli()}, TypeError, "bound to targets"),
        ({"likelihood": Bernoulli().bind([0, 1])}, ValueError, "5 rows, the likelihood 2"),
    ],
)
def test_parts_that_do_not_fit_are_named(parts, error, match):
    fitting = {
        "dictionary": DenseDictionary(np.eye(5)[:, :3]),
        "likelihood": Bernoulli().bind([0, 1, 0, 1, 1]),
    }
    with pytest.raises(error, match=match):
        LatentProblem(**(fitting | parts))


def test_a_classifier_refuses_a_prior_on_the_noise():
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    with pytest.raises(ValueError, match="has no noise variance"):
        RVMClassifier(gamma=0.1, prior=FlatPrior(noise=InverseGamma(1.0, 1.0))).fit(X, y)
    RVMClassifier(gamma=0.1, prior="gamma").fit(X, y)  # of which the noise is a default
