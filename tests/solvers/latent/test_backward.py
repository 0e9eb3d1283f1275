"""Labels and counts under penalties: never below the null model, nor below a nested one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from relvec import RVMClassifier
from relvec.datasets import make_snake
from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli, Poisson, Softmax
from relvec.priors import BoundFlat, BoundSmoothness
from relvec.solvers import LaplaceSolver, LatentProblem
from relvec.solvers.latent.backward import BackwardElimination, has_penalties
from relvec.solvers.latent.monotone import MonotoneSearch
from tests.helpers_labels import class_problem

PENALTIES = [{"c": 1.5}, {"c": 0.0, "min_gain": 1.5}]


def snake(seed, n=40):
    """Kernels too narrow for one of them to be worth a penalty."""
    X, y = make_snake(n, random_state=seed)
    Phi = np.exp(-4.0 * ((X[:, None] - X) ** 2).sum(axis=-1))
    return Phi, y.astype(float)


def posed(Phi, likelihood, c=0.0, min_gain=1e-3, **options):
    prior = BoundSmoothness(c) if np.any(c) else BoundFlat()
    return LatentProblem(
        DenseDictionary(Phi), likelihood, prior=prior, min_gain=min_gain, **options
    )


def best_of(problem, active, log_precision):
    """Objective of a set of atoms, its precisions maximised from two initialisations."""
    active = np.array(active, dtype=np.intp)
    columns = problem.dictionary.columns(active)
    if not len(active):
        return problem.evaluate(active, np.empty(0), columns).objective
    least, most = problem.bounds(columns)

    def cost(value):
        state = problem.evaluate(active, value, columns)
        return -state.objective, -problem.gradient(state, exact=True)

    bounds = list(zip(least, most, strict=True))
    starts = [np.clip(log_precision, least, most), least + 2.0]
    return max(-minimize(cost, s, jac=True, bounds=bounds).fun for s in starts)


def six_columns(seed, kind):
    """Columns that correlate; some matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 6)) + rng.standard_normal((50, 1)) * (-1.0) ** np.arange(6)
    f = X @ (1.2 * rng.standard_normal(6) * (rng.random(6) < 0.5))
    if kind == "counts":
        return X, Poisson().bind(rng.poisson(np.exp(np.clip(0.3 * f, -3, 3))))
    return X, Bernoulli().bind(rng.random(50) < 1.0 / (1.0 + np.exp(-f)))


@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", ["labels", "counts"])
@pytest.mark.parametrize("seed", range(3))
def test_no_subset_of_six_columns_is_better(seed, kind, penalty):
    problem = posed(*six_columns(seed, kind), **penalty)
    state = LaplaceSolver().solve(problem).state
    value = np.zeros(6)
    value[state.active] = state.log_precision
    for size in range(7):
        for subset in combinations(range(6), size):
            assert state.objective >= best_of(problem, subset, value[list(subset)]) - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["bic", "ric"])
@pytest.mark.parametrize("seed", range(10))
def test_narrow_kernels_under_a_penalty_are_no_worse_than_none_or_one_less(seed, prior):
    """A search that begins without penalties ends with the empty model in eight cases of ten."""
    X, y = make_snake(100, random_state=seed)
    found = []

    class Keeping(LaplaceSolver):
        def solve(self, problem, **options):
            found.append((problem, super().solve(problem, **options)))
            return found[-1][1]

    model = RVMClassifier(gamma=4.0, prior=prior, solver=Keeping()).fit(X, y)
    problem, solution = found[-1]
    state = solution.state
    assert solution.converged
    assert (np.diff(solution.trace) > 0).all()
    assert model.objective_ == pytest.approx(state.objective)
    assert state.objective >= MonotoneSearch(problem, 1e-3).state.objective  # no atoms
    for out in range(len(state.active)):
        rest = np.delete(np.arange(len(state.active)), out)
        columns = problem.dictionary.columns(state.active[rest])
        held = problem.evaluate(state.active[rest], state.log_precision[rest], columns)
        assert state.objective > held.objective
    flat = RVMClassifier(gamma=4.0).fit(X, y)
    assert 0 < len(model.relevance_) < len(flat.relevance_) or (seed, prior) == (5, "ric")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_nested_model_of_narrow_kernels_is_better(seed):
    Phi, t = snake(seed, 60)
    problem = posed(Phi, Bernoulli().bind(t), c=np.log(60), has_intercept=False)
    state = LaplaceSolver().solve(problem).state
    for size in range(len(state.active)):
        for subset in combinations(range(len(state.active)), size):
            nested = best_of(problem, state.active[list(subset)], state.log_precision[list(subset)])
            assert state.objective >= nested - 0.02


def test_penalties_that_differ_and_shared_and_signed_models_are_searched():
    Phi, target = class_problem(60, 0)
    c = np.linspace(0.5, 3.0, 60)
    for options in ({}, {"shared": True}):
        problem = posed(Phi, Softmax(3).bind(target), c, **options)
        solution = LaplaceSolver().solve(problem)
        assert solution.converged
        assert solution.state.objective >= MonotoneSearch(problem, 1e-3).state.objective
        assert len(solution.state.active) > 0
    labels = Bernoulli().bind(target == 0)
    problem = posed(Phi, labels, c, signs=np.where(target == 0, 1.0, -1.0))
    state = LaplaceSolver().solve(problem).state
    assert not problem.find_wrong_signs(state.active, state.mode).any()
    assert state.objective >= MonotoneSearch(problem, 1e-3).state.objective


def test_a_path_returns_the_best_model_on_it():
    Phi, t = snake(0)
    problem = posed(Phi, Bernoulli().bind(t), c=2.0)
    flat = LaplaceSolver().solve(posed(Phi, Bernoulli().bind(t))).state
    seen = []

    def watch(progress):
        seen.append(progress.objective)
        return False

    best = BackwardElimination(problem, watch).prune(flat)
    null = MonotoneSearch(problem, 1e-3).state.objective
    assert best.objective == pytest.approx(max(*seen, null))


def test_tolerances_are_no_penalties():
    Phi, t = snake(0)
    assert not has_penalties(posed(Phi, Bernoulli().bind(t)))
    assert not has_penalties(posed(Phi, Bernoulli().bind(t), min_gain=np.inf))
    assert has_penalties(posed(Phi, Bernoulli().bind(t), c=0.5))
    assert has_penalties(posed(Phi, Bernoulli().bind(t), min_gain=0.5))


@pytest.mark.parametrize("last", [1, 5, 12, 25, 50, 70])
def test_a_monitor_ends_the_search_anywhere(last):
    Phi, t = snake(1)
    problem = posed(Phi, Bernoulli().bind(t), c=1.5)
    calls = []

    def stop(progress):
        calls.append(progress)
        return len(calls) == last

    solution = LaplaceSolver().solve(problem, monitor=stop)
    assert len(calls) == last
    assert not solution.converged
    assert np.isfinite(solution.state.objective)


def test_a_removal_that_failed_is_remembered_until_something_changes():
    Phi, target = class_problem(60, 1)
    problem = posed(Phi, Softmax(3).bind(target))
    state = LaplaceSolver().solve(problem).state
    search = MonotoneSearch(problem, 1e-3, warm_start=(state.active, state.log_precision))
    tried = []
    accept = search.move_if_better
    search.move_if_better = lambda active, *rest: tried.append(len(active)) or accept(active, *rest)
    assert not search.remove_weakest(remember=True)
    assert tried
    before = len(tried)
    assert not search.remove_weakest(remember=True)
    assert len(tried) == before
    search._failed_removals = {
        unit: (j - 2.0, loss) for unit, (j, loss) in search._failed_removals.items()
    }
    assert not search.remove_weakest(remember=True)  # the objective has risen by two nats since
    assert len(tried) > before
