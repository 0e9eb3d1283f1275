"""What every fitted model says of itself: how near a maximum it is, and its kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF

from relvec import (
    DRVMRegressor,
    PFCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from relvec.bases import KernelBasis, LinearBasis
from relvec.describing import summarise_fit
from relvec.published import TextbookSolver
from relvec.solvers import Certificate

RNG = np.random.default_rng(4)
X = RNG.uniform(-3, 3, size=(60, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
LABELS = np.where(Y + 0.3 * RNG.normal(size=60) > 0.0, "high", "low")


@pytest.mark.parametrize(
    "model",
    [RVMRegressor(), RVMRegressor(gamma=0.3, prior="bic"), SparseBayesRegressor(LinearBasis())],
    ids=str,
)
def test_a_certificate_says_how_near_the_end_is(model):
    certificate = model.fit(X, Y).certificate_
    assert isinstance(certificate, Certificate)
    assert certificate == model.outputs_[0].solution.certificate
    assert max(certificate) < 1e-2


def test_a_certificate_of_an_unfinished_search_is_large():
    with pytest.warns(match="before it had converged"):
        model = RVMRegressor(gamma=1.0, solver=TextbookSolver(max_iter=3)).fit(X, Y)
    assert not model.converged_
    assert max(model.certificate_) > 0.1


def test_several_outputs_have_a_certificate_each():
    certificates = RVMRegressor(gamma=0.3).fit(X, np.column_stack([Y, X[:, 1]])).certificate_
    assert [max(certificate) < 1e-2 for certificate in certificates] == [True, True]


@pytest.mark.parametrize("multi_class", ["softmax", "one_vs_rest"])
def test_a_classifier_has_one_certificate(multi_class):
    three = np.where(X[:, 1] > 1.0, "far", LABELS)
    model = RVMClassifier(gamma=0.2, multi_class=multi_class).fit(X, three)
    assert isinstance(model.certificate_, Certificate)
    for machine in model.class_model_.models:
        assert (np.array(model.certificate_) >= machine.certificate).all()


@pytest.mark.parametrize(
    ("model", "length"),
    [
        (RVMRegressor(gamma=0.5), 1.0),
        (RVMRegressor(RBF(2.0)), 2.0),
        (RVMRegressor(length_scales=None), np.sqrt(X.var())),
        (SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=0.5)), 1.0),
        (RVMClassifier(gamma=0.5), 1.0),
        (SparseBayesClassifier(KernelBasis(gamma=0.5)), 1.0),
    ],
    ids=str,
)
def test_a_kernel_that_was_given_is_there(model, length):
    kernel = model.fit(X, LABELS if hasattr(model, "class_weight") else Y).kernel_
    assert kernel.length_scale == pytest.approx(length)


def test_a_learnt_kernel_is_that_of_the_atoms():
    model = RVMRegressor().fit(X, Y)
    assert model.kernel_ is model.atoms_.kernel
    again = RVMRegressor(model.kernel_, length_scales=None).fit(X, Y)
    np.testing.assert_allclose(again.coef_, model.coef_)
    given = model.set_params(gamma=0.5).fit(X, Y)
    assert given.kernel_ == RBF(1.0)


def test_models_without_a_kernel_say_so():
    with pytest.raises(NotFittedError):
        _ = RVMRegressor().kernel_
    model = SparseBayesRegressor(LinearBasis()).fit(X, Y)
    assert not hasattr(model, "kernel_")
    with pytest.raises(AttributeError, match="has no kernel_"):
        _ = model.kernel_
    assert not hasattr(RVMRegressor("precomputed").fit(np.exp(-((X @ X.T) ** 2)), Y), "kernel_")


@pytest.mark.parametrize("machine", [DRVMRegressor, PFCVMClassifier])
def test_inputs_that_say_nothing_are_all_kept_if_none_may_be_left_out(machine):
    target = np.random.default_rng(0).normal(size=60)
    target = target > 0.0 if machine is PFCVMClassifier else target
    never = machine(select="never").fit(X, target)
    assert never.get_support().all()
    assert not never.features_selected_


def test_a_model_without_vectors_uses_no_input():
    models = [
        RVMRegressor(effort="fast").fit(X, np.random.default_rng(seed).normal(size=60))
        for seed in range(4)
    ]
    null = [model for model in models if model.model_kind_ == "null"]
    assert null
    for model in null:
        assert summarise_fit(model).features_used == "0 of 2"
        assert not model.feature_relevance_.any()
