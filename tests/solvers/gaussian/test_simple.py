"""Ridge regression by evidence and the null model, against dense algebra and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from relvec import SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.solvers import NullSolver, RidgeSolver
from tests.helpers_dense import dense_log_evidence, dense_problem, raw_precisions


def problem_of(n_samples=40, n_atoms=25, seed=0, **options):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n_samples, n_atoms))
    t = Phi @ rng.normal(size=n_atoms) + 2.0 * rng.normal(size=n_samples) + 3.0
    return Phi, t, dense_problem(Phi, t, **options)


@pytest.mark.parametrize("n_atoms", [5, 25, 80])
def test_the_evidence_is_that_of_dense_algebra_and_the_highest(n_atoms):
    Phi, t, problem = problem_of(n_atoms=n_atoms)
    solution = RidgeSolver().solve(problem)
    np.testing.assert_array_equal(solution.active, np.arange(n_atoms))
    assert np.ptp(solution.log_lam) == 0.0

    def evidence(factor_lam, factor_noise):
        alpha = raw_precisions(problem, solution) * factor_lam / factor_noise
        return dense_log_evidence(Phi, t, alpha, solution.noise_variance * factor_noise)

    highest = evidence(1.0, 1.0)
    assert solution.objective == pytest.approx(highest, abs=1e-6)
    for factors in [(1.05, 1.0), (0.95, 1.0), (1.0, 1.05), (1.0, 0.95)]:
        assert evidence(*factors) < highest + 1e-6


def test_weights_are_those_of_bayesian_ridge():
    """On columns of unit norm, on which its one precision is that of ours."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 20))
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    y = X @ rng.normal(size=20) * 3.0 + 0.5 * rng.normal(size=60)
    ridge = BayesianRidge(
        alpha_1=1e-12, alpha_2=1e-12, lambda_1=1e-12, lambda_2=1e-12, tol=1e-9, max_iter=3000
    ).fit(X, y)
    model = SparseBayesRegressor(LinearBasis(), solver=RidgeSolver(), calibrate=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=0.02, atol=1e-3)
    # the intercept takes one of the degrees of freedom here
    assert model.noise_variance_ == pytest.approx(1.0 / ridge.alpha_, rel=0.05)


def test_a_given_noise_is_kept():
    _, _, problem = problem_of(noise_variance=3.0)
    assert RidgeSolver().solve(problem).noise_variance == 3.0
    assert NullSolver().solve(problem).noise_variance == 3.0


def test_weighted_rows_are_repeated_rows():
    rng = np.random.default_rng(2)
    X, y, weight = rng.normal(size=(30, 8)), rng.normal(size=30), rng.choice([1, 2], size=30)
    rows = np.repeat(np.arange(30), weight)
    weighted = SparseBayesRegressor(LinearBasis(), solver=RidgeSolver()).fit(X, y, weight)
    repeated = SparseBayesRegressor(LinearBasis(), solver=RidgeSolver()).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_the_null_model_is_the_mean():
    Phi, t, problem = problem_of()
    solution = NullSolver().solve(problem)
    assert len(solution.active) == 0
    assert solution.noise_variance == pytest.approx(t.var(ddof=1))
    none = np.full(Phi.shape[1], np.inf)
    assert solution.objective == pytest.approx(dense_log_evidence(Phi, t, none, t.var(ddof=1)))


def test_nothing_to_explain():
    X = np.random.default_rng(0).normal(size=(10, 3))
    model = SparseBayesRegressor(LinearBasis(), solver=RidgeSolver()).fit(X, np.ones(10))
    assert len(model.relevance_) == 0
    np.testing.assert_allclose(model.predict(X), 1.0)
