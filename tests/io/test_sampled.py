"""Models that were sampled: files, continued chains, and the export of their means."""

from __future__ import annotations

import runpy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec.io import ExportError, export_c, export_onnx, export_python, load, save
from relvec.io.extract import extract_formula
from tests.io import zoo

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
CLASSIFIERS = ("sampled_two", "sampled_three")
SAMPLED = ("sampled_rvm", "sampled_fixed", "sampled_linear", *CLASSIFIERS)
EXPORTED = ("sampled_fixed", "sampled_linear")


@pytest.mark.parametrize("name", SAMPLED)
def test_what_is_known_of_the_posterior_is_kept(name, tmp_path):
    model, inputs = zoo.fitted(name)
    again = load(save(model, tmp_path / "m.relvec"))
    for coverage in () if name in CLASSIFIERS else (0.5, 0.95):
        np.testing.assert_array_equal(
            again.predict_interval(inputs, coverage), model.predict_interval(inputs, coverage)
        )
    assert repr(again.diagnostics_) == repr(model.diagnostics_)
    assert (again.r_hat_, again.ess_) == (model.r_hat_, model.ess_)
    assert again.converged_ == model.converged_
    assert again.inclusion_table() == model.inclusion_table()
    assert repr(again.rival_models()) == repr(model.rival_models())
    np.testing.assert_array_equal(
        again.feature_inclusion_probability_, model.feature_inclusion_probability_
    )
    np.testing.assert_array_equal(
        again.evidence_model_.predict(inputs), model.evidence_model_.predict(inputs)
    )


@pytest.mark.parametrize("name", SAMPLED)
def test_chains_continue_after_loading(name, tmp_path):
    model, inputs = zoo.fitted(name)
    y = {"sampled_two": zoo.TWO, "sampled_three": zoo.THREE}.get(name, zoo.Y)
    model = clone(model).fit(zoo.X, y)
    path = save(model, tmp_path / "m.relvec")
    one, other = (each.set_params(warm_start=True).fit(zoo.X, y) for each in (model, load(path)))
    assert one.n_iter_ == other.n_iter_ > load(path).n_iter_
    np.testing.assert_array_equal(one.predict(inputs), other.predict(inputs))
    for quantity, draws in one.traces_.items():
        np.testing.assert_array_equal(other.traces_[quantity], draws)


def test_a_file_with_positions_out_of_range_is_not_read_beyond_its_arrays():
    model, inputs = zoo.fitted("sampled_linear")
    functions = model.outputs_[0].functions
    far = np.full_like(functions.index, 10**6)
    for wrong in (
        replace(functions, index=far),
        replace(functions, index=-far),
        replace(functions, offset=functions.offset[::-1].copy()),
        replace(functions, offset=functions.offset * 100),
    ):
        with pytest.raises(ValueError, match="ind"):
            wrong.mean(inputs)
        with pytest.raises(ValueError, match="ind"):
            wrong.evaluate(inputs)


@pytest.mark.parametrize("name", EXPORTED)
def test_the_mean_as_python_onnx_and_c(name, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, inputs = zoo.fitted(name)
    X = inputs.astype(np.float32).astype(np.float64)
    expected = model.predict(X)
    written = runpy.run_path(str(export_python(model, tmp_path / "m.py", std=False)))
    found = [written["predict"](list(row)) for row in X]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6)
    session = onnxruntime.InferenceSession(export_onnx(model, std=False, dtype="float64"))
    [mean] = session.run(None, {"X": X})
    np.testing.assert_allclose(mean, expected, rtol=1e-6)
    code = export_c(model, tmp_path / "m.c", std=False).read_text()
    assert "predict" in code
    assert "_std" not in code
    formula = extract_formula(model, std=False)
    np.testing.assert_allclose(formula.evaluate(X)[0][:, 0], expected, rtol=1e-6)
    assert formula.measure_rounding_error("float32") < 0.01


def test_the_mean_after_a_scaler():
    pipeline = make_pipeline(StandardScaler(), clone(zoo.fitted("sampled_linear")[0]))
    pipeline.fit(zoo.X, zoo.Y)
    mean, _ = extract_formula(pipeline, std=False).evaluate(zoo.NEW)
    np.testing.assert_allclose(mean[:, 0], pipeline.predict(zoo.NEW), rtol=1e-9)


def test_a_model_without_basis_functions():
    model = clone(zoo.fitted("sampled_linear")[0]).set_params(size_prior=1000.0)
    model.fit(zoo.X, zoo.Y)
    assert not len(model.atoms_)
    mean, _ = extract_formula(model, std=False).evaluate(zoo.NEW)
    np.testing.assert_allclose(mean[:, 0], model.predict(zoo.NEW), rtol=1e-12)


def test_length_scales_of_the_draws_differ():
    with pytest.raises(ExportError, match=r'sample_length_scales="fixed".*--mean-only'):
        extract_formula(zoo.fitted("sampled_rvm")[0], std=False)


def test_the_model_of_highest_evidence_can_be_exported():
    model, inputs = zoo.fitted("sampled_linear")
    mean, std = extract_formula(model.evidence_model_).evaluate(inputs)
    expected = model.evidence_model_.predict(inputs, return_std=True)
    np.testing.assert_allclose((mean[:, 0], std[:, 0]), expected, rtol=1e-9)


def test_chains_that_have_not_converged_warn():
    with pytest.warns(ConvergenceWarning, match="have not converged"):
        clone(zoo.fitted("sampled_linear")[0]).fit(zoo.X, zoo.Y)
