"""Columns with entry penalties: subsets, backward elimination, and no nested model above them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import PolynomialBasis
from relvec.priors import BoundFlat, BoundSmoothness
from relvec.solvers import Problem, SequentialSolver, WarmStart
from relvec.solvers.gaussian.ascent import maximise_precisions
from relvec.solvers.gaussian.backward import eliminate_backward, remove_penalties
from relvec.solvers.gaussian.beam import find_subset_states
from relvec.solvers.gaussian.state import EMPTY, State
from relvec.solvers.gaussian.tuning import SearchTuning
from tests.helpers_dense import DenseMoments


def powers(seed, n=20, noise=0.05):
    """A curve that no power of its input explains by itself."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1, 1, n)
    y = np.sinc(10 * x / np.pi) + noise * rng.standard_normal(n)
    return x[:, None] ** np.arange(1, 9), y


def alike(seed, n=60, p=8):
    """Columns that correlate, half of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1)) * (-1.0) ** np.arange(p)
    return X, X[:, ::2] @ rng.standard_normal((p + 1) // 2) + rng.standard_normal(n)


def posed(X, y, c=0.0, noise_variance=None):
    """Columns that must gain the logarithm of their number or, if `c`, pay that per degree."""
    prior = BoundSmoothness(c) if c else BoundFlat()
    min_gain = 1e-3 if c else np.log(X.shape[1])
    return Problem(DenseMoments(X, y), min_gain, prior, noise_variance)


def best_of(problem, active, theta):
    """Objective of a set of columns, its precisions maximised from two initialisations."""
    moments = problem.moments
    weights = np.linalg.lstsq(moments.gram(active), moments.correlation[active], rcond=None)[0]
    left = moments.target_ss - weights @ moments.correlation[active]
    by_squares = np.log(left / moments.n_effective / np.maximum(weights**2, 1e-12))
    starts = [theta, np.clip(by_squares, -25.0, 25.0)]
    return max(maximise_precisions(problem, State(active, start)).objective for start in starts)


@pytest.mark.parametrize("noise_variance", [None, 0.02])
@pytest.mark.parametrize("make", [powers, alike])
def test_subsets_are_ranked_as_by_brute_force(make, noise_variance):
    X, y = make(0)
    problem = posed(X, y, noise_variance=noise_variance)
    starts = find_subset_states(problem, SearchTuning(beam_width=300))
    centred, target = X - X.mean(axis=0), y - y.mean()
    n, scores = len(y) - 1, {}
    for size in range(9):
        for subset in combinations(range(8), size):
            weights = np.linalg.lstsq(centred[:, subset], target, rcond=None)[0]
            rss = np.sum((target - centred[:, subset] @ weights) ** 2)
            fit = -0.5 * (n * np.log(rss) if noise_variance is None else rss / noise_variance)
            scores[subset] = fit - size * (np.log(8) + 0.5 * np.log(n))
    best = sorted(scores, key=lambda subset: -scores[subset])
    assert tuple(starts[0].active) == best[0]
    assert len({tuple(start.active) for start in starts}) == len(starts)


@pytest.mark.slow
@pytest.mark.parametrize("noise_variance", [None, 0.5])
@pytest.mark.parametrize("c", [0.0, 2.0])
@pytest.mark.parametrize("make", [powers, alike])
@pytest.mark.parametrize("seed", range(3))
def test_no_subset_of_eight_columns_is_better(seed, make, c, noise_variance):
    problem = posed(*make(seed), c, noise_variance)
    solution = SequentialSolver().solve(problem)
    theta = np.zeros(8)
    theta[solution.active] = solution.log_lam
    for size in range(min(9, problem.active_cap + 1)):
        for subset in combinations(range(8), size):
            active = np.array(subset, dtype=np.intp)
            assert solution.objective >= best_of(problem, active, theta[active]) - 1e-3


@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
def test_columns_that_are_only_useful_together_are_found(effort):
    x = np.linspace(-10, 10, 20)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + 0.05 * np.random.default_rng(0).standard_normal(20)
    model = SparseBayesRegressor(PolynomialBasis(degree=9), effort=effort).fit(x, y)
    free = SparseBayesRegressor(PolynomialBasis(degree=9), min_gain=0.0).fit(x, y)
    assert len(model.relevance_) == 4
    assert model.objective_ >= free.objective_ - len(free.relevance_) * np.log(9) - 1e-3


def test_the_backward_path_ends_no_lower_than_any_model_on_it():
    problem = posed(*alike(1))
    flat = SequentialSolver().solve(remove_penalties(problem, 1e-3))
    start = State(flat.active, flat.log_lam)
    best = eliminate_backward(problem, start)
    assert best.objective >= maximise_precisions(problem, start).objective
    assert best.objective >= maximise_precisions(problem, EMPTY).objective
    assert len(best.active) < len(flat.active)
    again = SequentialSolver().solve(problem, warm_start=WarmStart(best.active, best.theta))
    assert SequentialSolver().solve(problem).objective >= again.objective - 1e-3


def test_a_library_is_searched_as_well_as_from_the_truth():
    """Products of three inputs, of which forward selection alone takes others."""
    rng = np.random.default_rng(7)
    for _ in range(6):
        x = rng.standard_normal((60, 3)) + rng.standard_normal((60, 1))
        powers_of = [e for e in np.ndindex(4, 4, 4) if 0 < sum(e) <= 3]
        X = np.stack([np.prod(x ** np.array(e), axis=1) for e in powers_of], axis=1)
        true = np.sort(rng.permutation(len(powers_of))[:4])
        f = (X[:, true] / X[:, true].std(axis=0)).sum(axis=1)
        problem = posed(X, f + 0.5 * f.std() * rng.standard_normal(60))
        warm = SequentialSolver().solve(problem, warm_start=WarmStart(true, np.zeros(4)))
        assert SequentialSolver().solve(problem).objective >= warm.objective - 1e-3


def test_a_monitor_ends_the_search_anywhere():
    problem = posed(*powers(0))
    for last in range(1, 40, 3):
        calls = []

        def stop(progress, calls=calls, last=last):
            calls.append(progress.objective)
            return len(calls) == last

        solution = SequentialSolver().solve(problem, monitor=stop)
        assert len(calls) <= last
        assert np.isfinite(solution.objective)
