"""The odds of inclusion, learnt with the atoms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.solvers import OddsLearner, SequentialSolver, inclusion_penalty
from tests.helpers_dense import dense_log_evidence, dense_problem, raw_precisions


def effects(n_samples, n_atoms, n_effects, size, seed=0):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n_samples, n_atoms))
    t = Phi[:, :n_effects] @ (size * rng.normal(size=n_effects)) + rng.normal(size=n_samples)
    return Phi, t, dense_problem(Phi, t)


def test_the_objective_is_the_evidence_and_the_prior_probability_of_the_atoms():
    Phi, t, problem = effects(60, 12, 4, 0.8)
    solution = OddsLearner().solve(problem)
    alpha = raw_precisions(problem, solution)
    evidence = dense_log_evidence(Phi, t, alpha, solution.noise_variance)
    log_prior = -math.log(13 * math.comb(12, len(solution.active)))
    assert solution.objective == pytest.approx(evidence + log_prior, abs=1e-6)
    best = solution.candidates[0]
    assert (best.objective, best.n_active) == (solution.objective, len(solution.active))
    assert all(each.objective <= best.objective for each in solution.candidates)


def test_it_is_no_lower_than_at_either_penalty_it_begins_with():
    Phi, t, problem = effects(100, 60, 20, 0.4)
    value = OddsLearner().solve(problem).objective
    for penalty in (math.log(60), 0.5 * math.log(60)):
        model = SparseBayesRegressor(LinearBasis(), min_gain=penalty, calibrate=False).fit(Phi, t)
        log_prior = -math.log(61 * math.comb(60, len(model.coef_)))
        assert value >= model.log_evidence_ + log_prior - 1e-6


def test_many_weak_effects_come_in_and_few_strong_ones_stay_alone():
    for seed in range(3):
        Phi, t, problem = effects(150, 200, 40, 0.5, seed)
        many = OddsLearner().solve(problem)
        sparse = SparseBayesRegressor(LinearBasis(), calibrate=False).fit(Phi, t)
        found, before = (np.count_nonzero(a < 40) for a in (many.active, sparse.relevance_))
        assert found > 1.25 * before
        few = OddsLearner().solve(effects(100, 500, 4, 3.0, seed)[2])
        assert np.count_nonzero(few.active < 4) >= 2
        assert np.count_nonzero(few.active >= 4) <= 1


def test_noise_has_no_atoms():
    for seed in range(3):
        assert len(OddsLearner().solve(effects(80, 300, 0, 0.0, seed)[2]).active) == 0


@pytest.mark.parametrize("n_atoms", [1, 2])
def test_few_atoms_need_no_more_than_a_tolerance(n_atoms):
    _, _, problem = effects(50, n_atoms, n_atoms, 10.0)
    assert len(OddsLearner().solve(problem).active) == n_atoms
    assert inclusion_penalty(n_atoms, n_atoms) == 1e-3


def test_a_monitor_ends_it():
    _, _, problem = effects(60, 30, 10, 0.5)
    seen = []

    def stop(progress):
        seen.append(progress)
        return True

    solution = OddsLearner().solve(problem, monitor=stop)
    assert len(seen) == 1
    assert not solution.converged


def test_the_solver_inside_is_the_one_given():
    _, _, problem = effects(60, 30, 10, 0.5)
    quick = OddsLearner(SequentialSolver("fast")).solve(problem)
    assert quick.objective <= OddsLearner(SequentialSolver()).solve(problem).objective + 1e-6
