"""Summaries of sampled models."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import (
    RVMRegressor,
    SampledRVMRegressor,
    SampledSparseBayesClassifier,
    SampledSparseBayesRegressor,
)
from relvec.bases import LinearBasis
from relvec.describing import (
    has_extrapolation,
    is_sampled,
    list_basis_inclusion,
    list_feature_inclusion,
    shorten_chains,
    summarise_sampling,
)

pytestmark = pytest.mark.slow
SHORT = {"n_chains": 2, "n_draws": 20, "max_doublings": 0, "random_state": 0}
X = np.random.default_rng(0).normal(size=(50, 3))
Y = X[:, 1] + 0.3 * np.random.default_rng(1).normal(size=50)


def fitted(model, y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.fixture(scope="module")
def regressor():
    return fitted(SampledSparseBayesRegressor(LinearBasis(), **SHORT))


@pytest.fixture(scope="module")
def classifier():
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
    return fitted(SampledSparseBayesClassifier(LinearBasis(), **SHORT), labels)


def test_summary_of_a_regressor(regressor):
    summary = summarise_sampling(regressor)
    assert (summary.n_chains, summary.n_draws) == (2, 20)
    assert summary.n_steps == regressor.n_iter_
    low, high = summary.noise_std.low, summary.noise_std.high
    assert 0.2 < low < summary.noise_std.mean < high < 0.45
    assert 1.0 <= summary.n_active.mean <= summary.n_active.high <= 3.0 == summary.n_candidates
    assert not summary.converged
    assert summary.verdict.startswith("not converged")
    assert (summary.r_hat, summary.ess) == (regressor.r_hat_, regressor.ess_)


def test_inclusion_with_names(regressor):
    features = list_feature_inclusion(regressor, ["age", "bmi", "sex"])
    assert features[0] == ("bmi", 1.0)
    assert [each.probability for each in features] == sorted(
        regressor.feature_inclusion_probability_, reverse=True
    )
    assert list_basis_inclusion(regressor, ["age", "bmi", "sex"], 1) == [("bmi", 1.0)]
    assert list_basis_inclusion(regressor) == regressor.inclusion_table()


def test_names_of_the_wrong_number(regressor):
    with pytest.raises(ValueError, match="3 names, one per feature; got 1"):
        list_feature_inclusion(regressor, ["age"])


def test_several_classes_have_basis_functions_of_their_own(classifier):
    summary = summarise_sampling(classifier)
    assert summary.noise_std is None
    assert summary.n_candidates == 9
    names = {each.name for each in list_basis_inclusion(classifier)}
    assert len(names) == 9
    assert "x1 · a" in names
    assert not has_extrapolation(classifier)


def test_which_models_are_sampled(regressor):
    assert is_sampled(regressor)
    assert not is_sampled(SampledSparseBayesRegressor())
    assert not is_sampled(fitted(RVMRegressor(gamma=0.3)))
    assert is_sampled(fitted(make_pipeline(StandardScaler(), regressor)))


def test_chains_of_refits_are_short():
    model = SampledRVMRegressor(n_chains=8, n_draws=100, warm_start=True)
    pipeline = make_pipeline(StandardScaler(), model)
    short = shorten_chains(pipeline)[-1]
    assert (short.n_chains, short.n_draws, short.max_doublings) == (2, 100, 1)
    assert not short.warm_start
    assert model.n_chains == 8


def test_a_kernel_model_measures_extrapolation():
    assert has_extrapolation(fitted(SampledRVMRegressor(gamma=0.3, **SHORT)))
