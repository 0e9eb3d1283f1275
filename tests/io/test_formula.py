"""The formula of a model gives the predictions of the model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from relvec import (
    DRVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesCountRegressor,
)
from relvec.bases import LinearBasis
from relvec.io import ExportError, export_c, export_onnx, export_python
from relvec.io.extract import extract_formula
from tests.io import exports, zoo


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.EXPORTABLE)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_formula_is_the_model(name, precision):
    X = exports.points(name)
    formula = extract_formula(zoo.fitted(name)[0])
    first, second = formula.evaluate(X, precision)
    found = {"probabilities": first} if formula.is_classifier else {"mean": first, "std": second}
    assert first.dtype == precision
    exports.check(name, found, exports.truth(name, X), precision)


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.REFUSED)
@pytest.mark.parametrize("export", [export_onnx, export_c, export_python])
def test_other_models_are_refused_in_one_sentence(name, export):
    with pytest.raises(ExportError, match=exports.REFUSED[name]):
        export(zoo.fitted(name)[0])


@pytest.mark.parametrize("export", [export_onnx, export_c, export_python])
def test_other_objects_are_refused(export):
    for thing in (None, "model", RVMRegressor, LinearRegression(), make_pipeline(MinMaxScaler())):
        with pytest.raises(ExportError, match="only regressors and classifiers of relvec"):
            export(thing)
    with pytest.raises(ExportError, match="neither rates nor exposure. Use relvec.io.save"):
        export(SparseBayesCountRegressor())
    with pytest.raises(NotFittedError):
        export(RVMRegressor())
    with pytest.raises(NotFittedError):
        export(make_pipeline(StandardScaler(), RVMRegressor()))
    with pytest.raises(TypeError, match="std must be True or False"):
        export(zoo.fitted("regressor")[0], std=1)


@pytest.mark.parametrize(
    "classes",
    [["a", "b\0c"], ["a", "\ud800"], np.array([1, 2**63 + 5], np.uint64), [-(2**63), 1]],
)
@pytest.mark.parametrize("export", [export_onnx, export_c, export_python])
def test_labels_that_other_languages_do_not_know(classes, export):
    labels = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    model = RVMClassifier(gamma=0.1).fit(zoo.X, labels[zoo.TWO])
    with pytest.raises(ExportError, match="cannot be exported: classes must be 64-bit integers"):
        export(model)


def test_without_std_a_formula_is_smaller():
    model = zoo.fitted("regressor_given_width")[0]
    full, less = extract_formula(model), extract_formula(model, std=False)
    assert (
        len(less.kernel_tables[0].vectors)
        == len(full.kernel_tables[0].vectors)
        == len(model.relevance_)
    )
    np.testing.assert_array_equal(less.evaluate(zoo.NEW)[0], full.evaluate(zoo.NEW)[0])
    for export in (export_onnx, export_c, export_python):
        assert len(export(model, std=False)) < len(export(model))
    propagated = zoo.fitted("drvm_propagate")[0]
    mean, _ = extract_formula(propagated, std=False).evaluate(zoo.NEW)
    np.testing.assert_allclose(mean[:, 0], propagated.predict(zoo.NEW), rtol=1e-11)


@pytest.mark.slow
def test_features_that_are_not_relevant_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.sin(2.0 * X[:, 4]) + 0.1 * rng.normal(size=80)
    model = DRVMRegressor().fit(X, y)
    formula = extract_formula(model)
    assert (
        formula.kernel_tables[0].features.tolist()
        == model.get_support(indices=True).tolist()
        == [4]
    )
    assert formula.kernel_tables[0].vectors.shape[1] == 1
    np.testing.assert_allclose(formula.evaluate(X)[0][:, 0], model.predict(X), rtol=1e-11)


def test_vectors_and_pivots_are_shared():
    model = zoo.fitted("one_vs_rest")[0]
    formula = extract_formula(model)
    together = {
        row.tobytes() for latent in model.class_model_.models for row in latent.atoms.centers
    }
    assert len(formula.kernel_tables[0].vectors) == len(together)
    assert len(formula.pivot_sets) == 1
    assert {member.pivot_set for member in formula.members} == {0}
    assert (
        len(extract_formula(zoo.fitted("two_outputs")[0]).pivot_sets) == 1
    )  # both have that kernel
    assert len(extract_formula(zoo.fitted("two_outputs_scales")[0]).pivot_sets) == 2


@pytest.mark.parametrize("name", ["classifier", "softmax_scales"])
def test_every_model_of_an_average_is_a_member(name):
    model, new = zoo.fitted(name)
    formula, n_models = extract_formula(model), len(model.average_.models)
    assert len(formula.members) == len(formula.kernel_tables) == n_models > 1
    np.testing.assert_allclose(
        [member.weight for member in formula.members], model.average_.weights
    )
    np.testing.assert_allclose(formula.evaluate(new)[0], model.predict_proba(new), rtol=1e-10)


def test_the_class_prior_of_a_linear_model_is_exported():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 5))
    model = SparseBayesClassifier(LinearBasis(), min_gain=0.0).fit(X, rng.integers(0, 2, 60))
    assert model.class_model_.shrinkage > 0.0
    np.testing.assert_allclose(
        extract_formula(model).evaluate(X)[0], model.predict_proba(X), rtol=1e-10
    )


@settings(max_examples=10)
@given(
    st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
    st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_scalers_are_folded_in(scale, shift, with_mean, with_std):
    X = zoo.X * scale + shift
    scalers = [StandardScaler(with_mean=with_mean, with_std=with_std), StandardScaler()]
    model = make_pipeline(*scalers, "passthrough", RVMRegressor(gamma=0.1, effort="fast"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, zoo.Y)
    new = zoo.NEW[:40] * scale + shift
    found, _ = extract_formula(model).evaluate(new)
    np.testing.assert_allclose(found[:, 0], model.predict(new), rtol=1e-8)


def test_a_pipeline_without_scalers_is_its_model():
    inner = zoo.fitted("regressor_given_width")[0]
    found, _ = extract_formula(Pipeline([("model", inner)])).evaluate(zoo.NEW)
    np.testing.assert_allclose(found[:, 0], inner.predict(zoo.NEW), rtol=1e-12)


def test_single_precision_warns_where_it_is_not_enough():
    X = np.linspace(-1, 1, 50)[:, None]
    y = np.sin(3.0 * X[:, 0]) + 1e-4 * np.random.default_rng(0).normal(size=50)
    model = RVMRegressor(gamma=0.3).fit(X, y)
    error = extract_formula(model).measure_rounding_error("float32")
    assert error > 0.01
    rough = extract_formula(model).evaluate(X, "float32")[0][:, 0] - model.predict(X)
    assert np.abs(rough).max() / np.sqrt(model.noise_variance_) > 0.01
    for export, option in ((export_c, "precision"), (export_onnx, "dtype")):
        with pytest.warns(UserWarning, match="the rounding error of this RVMRegressor is up to"):
            export(model, **{option: "float32"})
        export(model, **{option: "float64"})


def test_single_precision_warns_of_large_inputs():
    start = 1.7e9  # seconds since 1970
    X = start + np.linspace(0.0, 500.0, 40)[:, None]
    y = np.sin((X[:, 0] - start) / 100.0) + 0.1 * np.random.default_rng(0).normal(size=40)
    model = RVMRegressor(gamma=1e-4).fit(X, y)
    with pytest.warns(UserWarning, match="in single precision"):
        export_onnx(model)
    export_c(model, precision="float32")  # takes inputs in double precision
    found, _ = extract_formula(model).evaluate(X)
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-6)


def test_numbers_that_are_not_finite_are_refused():
    model = RVMRegressor(gamma=0.1).fit(zoo.X, zoo.Y)
    object.__setattr__(model.outputs_[0].posterior, "target_mean", np.inf)
    with pytest.raises(ExportError, match="numbers that are not finite"):
        extract_formula(model)
