"""Initialisation by regressions on the working response."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli, NegativeBinomial, Poisson
from relvec.priors import FlatPrior, SmoothnessPrior
from relvec.solvers import LaplaceSolver, LatentProblem
from relvec.solvers.latent.working_start import find_working_start

X = np.random.default_rng(0).uniform(size=120)
PHI = np.exp(-0.5 * ((X[:, None] - X) / 0.3) ** 2)
LOG_RATE = 1.0 + 1.5 * np.sin(2.0 * np.pi * X)


def make_problem(recipe, target, prior=None, **options):
    bound = recipe.bind(target)
    prior = (prior or FlatPrior()).bind(120.0, np.ones(120), None)
    return LatentProblem(DenseDictionary(PHI), bound, prior=prior, **options)


@pytest.mark.parametrize("recipe", [Poisson(), NegativeBinomial(5.0), Bernoulli()])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_start_is_better_than_no_atoms(recipe, has_intercept):
    counts = np.random.default_rng(1).poisson(np.exp(LOG_RATE))
    target = counts > 2 if isinstance(recipe, Bernoulli) else counts
    problem = make_problem(recipe, target, has_intercept=has_intercept)
    active, log_precision = find_working_start(problem)
    start = problem.evaluate(active, log_precision, PHI[:, active])
    none = problem.evaluate(np.empty(0, int), np.empty(0), PHI[:, :0])
    assert start.objective > none.objective + 10.0
    solution = LaplaceSolver().solve(problem, warm_start=(active, log_precision))
    assert solution.state.objective >= start.objective - 1e-9


def test_nothing_is_found_in_noise():
    counts = np.random.default_rng(2).poisson(3.0, size=120)
    active, _ = find_working_start(make_problem(Poisson(), counts, min_gain=10.0))
    assert len(active) == 0


def test_penalties_are_kept():
    counts = np.random.default_rng(1).poisson(np.exp(LOG_RATE))
    penalised = find_working_start(make_problem(Poisson(), counts, SmoothnessPrior("bic")))
    free = find_working_start(make_problem(Poisson(), counts))
    assert 0 < len(penalised[0]) <= len(free[0])
