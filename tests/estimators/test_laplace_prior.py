"""What the Laplace prior does at the defaults: weak effects in columns, kernels, noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.datasets import make_friedman
from relvec.priors import LaplacePrior


def weak_effects(seed, n=150, p=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1000, p))
    y = X @ (0.35 * rng.normal(size=p)) + rng.normal(size=n + 1000)
    return X[:n], y[:n], X[n:], y[n:]


def rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def test_fifty_weak_effects_are_predicted_nearly_as_well_as_by_ridge_regression():
    ratio, noise = [], []
    for seed in range(200, 206):
        X, y, X_new, y_new = weak_effects(seed)
        model = SparseBayesRegressor(LinearBasis(), prior="laplace").fit(X, y)
        ratio.append(rmse(model, X_new, y_new) / rmse(BayesianRidge().fit(X, y), X_new, y_new))
        noise.append(model.noise_variance_)
        assert model.prior_rate_ > 0.0
        assert 20 < len(model.relevance_) < 50
    assert np.mean(ratio) < 1.06
    assert 0.7 < np.mean(noise) < 1.3


def test_nothing_but_noise_is_left_to_the_null_model():
    kept = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 120)), rng.normal(size=80)
        model = SparseBayesRegressor(LinearBasis(), prior="laplace", calibrate=False).fit(X, y)
        kept.append(len(model.relevance_))
    assert np.mean(kept) <= 2


@pytest.mark.slow
def test_the_feature_selective_lasso_predicts_as_well_as_a_penalised_model_and_warns():
    X, y = make_friedman(1, n_samples=1150, random_state=3)
    truth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    truth += 10 * X[:, 3] + 5 * X[:, 4]
    with pytest.warns(UserWarning, match="replaced the Laplace prior"):
        lasso = DRVMRegressor(prior="laplace").fit(X[:150], y[:150])
    assert lasso.prior_rate_ == 0.0
    assert rmse(lasso, X[150:], truth[150:]) < 1.0
    assert 0.6 < lasso.noise_variance_ < 1.6


def test_a_rate_that_is_given_is_not_questioned():
    X, y = make_friedman(1, n_samples=100, random_state=0)
    model = RVMRegressor(gamma=1.0, prior=LaplacePrior(0.5)).fit(X[:, :5], y)
    assert model.prior_rate_ == 0.5
