"""Warm starts, and the ways not to store the dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import relvec.estimators._regression_plan as plan_module
from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.moments import GramMoments, LazyMoments
from tests.estimators.problems import linear, sinc, smooth

X, Y = smooth()

# ------------------------------------------------------------------ warm start


@pytest.mark.parametrize("solver", ["sequential", "mackay", "em", "textbook"])
def test_second_fit_continues_where_the_first_ended(solver):
    model = RVMRegressor(gamma=0.1, solver=solver, warm_start=True).fit(X, Y)
    first, n_first = model.objective_, model.n_iter_
    mean = model.predict(X)
    model.fit(X, Y)
    assert model.objective_ >= first - 1e-6
    assert model.n_iter_ <= max(3, n_first // 3)
    np.testing.assert_allclose(model.predict(X), mean, atol=1e-2)


def test_without_it_the_second_fit_is_the_first_again():
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    before, n_iter = model.predict(X), model.n_iter_
    model.fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_iter_ == n_iter


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 20, 59, 61, 200])
def test_other_numbers_of_rows(n):
    model = RVMRegressor(gamma=0.1, prior="bic", warm_start=True).fit(X, Y)
    inputs, target = smooth(n=n, seed=8)
    model.fit(inputs, target)
    assert (model.relevance_ < n).all()
    assert np.isfinite(model.predict(inputs, return_std=True)[1]).all()


def test_warm_start_with_other_data_parameters_and_outputs():
    model = RVMRegressor(gamma=0.1, prior="bic", warm_start=True).fit(X, Y)
    model.fit(X[:, :1], Y)
    assert model.n_features_in_ == 1
    model.set_params(gamma=0.02, prior="flat").fit(X, Y)
    model.fit(X, np.column_stack([Y, -Y, Y**2]))
    assert model.predict(X).shape == (60, 3)
    model.fit(X, Y, sample_weight=np.r_[np.zeros(20), np.ones(40)])
    assert (model.relevance_ >= 20).all()
    assert model.score(X[20:], Y[20:]) > 0.8


def test_more_data_of_the_same_kind():
    inputs, target = sinc(300)
    model = RVMRegressor(gamma=1 / 9, warm_start=True).fit(inputs[:200], target[:200])
    model.fit(inputs, target)
    cold = RVMRegressor(gamma=1 / 9).fit(inputs, target)
    assert model.n_iter_ < cold.n_iter_
    assert model.log_evidence_ > cold.log_evidence_ - 2.0


# ------------------------------------------------------------------ memory


@pytest.fixture
def kinds(monkeypatch):
    """Record which kind of moments each fit uses."""
    seen = []
    original = plan_module.compute_moments

    def spy(*args, **kwargs):
        moments = original(*args, **kwargs)
        seen.append(type(moments[0]))
        return moments

    monkeypatch.setattr(plan_module, "compute_moments", spy)
    return seen


def check_same(model, other, inputs):
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-6)
    for mine, its in zip(
        model.predict(inputs, return_std=True),
        other.predict(inputs, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=0.1),
        RVMRegressor(gamma=0.1, prior="bic", fit_intercept=False),
        RVMRegressor("laplacian", gamma=0.1),
        RVMRegressor(gamma=0.1, solver="mackay"),
        RVMRegressor(gamma=0.1, solver="textbook"),
        SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()),
    ],
    ids=str,
)
def test_not_storing_the_dictionary_changes_nothing(model, kinds):
    stored = clone(model).set_params(low_memory=False, calibrate=False).fit(X, Y)
    lean = clone(model).set_params(low_memory=True, calibrate=False).fit(X, Y)
    assert kinds == [LazyMoments, LazyMoments]
    check_same(lean, stored, X)
    np.testing.assert_array_equal(lean.relevance_, stored.relevance_)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=0.1, centers=25, random_state=0),
        RVMRegressor(gamma=0.1, centers=25, random_state=0, prior="bic", fit_intercept=False),
        RVMRegressor(gamma=0.1, centers=25, random_state=0, solver="mackay"),
        SparseBayesRegressor(PolynomialBasis(3)),
    ],
    ids=str,
)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_many_rows_and_few_atoms_are_read_once(model, shift, kinds):
    inputs, target = smooth(n=3000)
    target = target + shift
    stored = clone(model).set_params(low_memory=False, calibrate=False).fit(inputs, target)
    lean = clone(model).set_params(low_memory=True, calibrate=False).fit(inputs, target)
    assert kinds == [LazyMoments, GramMoments]
    check_same(lean, stored, inputs[:200])


def test_sufficient_statistics_with_weights_and_outputs(kinds):
    inputs, target = linear(n=1000)
    targets = np.column_stack([target, inputs[:, 0] + 100.0])
    weight = np.random.default_rng(0).uniform(0, 2, size=1000)
    stored, lean = (
        SparseBayesRegressor(LinearBasis(), low_memory=flag, calibrate=False).fit(
            inputs, targets, weight
        )
        for flag in (False, True)
    )
    assert kinds == [LazyMoments, GramMoments]
    np.testing.assert_allclose(lean.predict(inputs), stored.predict(inputs), rtol=1e-6)
    np.testing.assert_allclose(lean.log_evidence_, stored.log_evidence_, rtol=1e-6)


def test_few_columns_are_evaluated():
    inputs, target = sinc(1500)
    model = RVMRegressor(gamma=1 / 9, effort="fast", low_memory=True).fit(inputs, target)
    assert len(model.relevance_) < model.n_columns_fetched_ < 300
    assert model.n_atoms_ == 1500
