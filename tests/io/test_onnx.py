"""ONNX graphs, run by onnxruntime, give the predictions of the model."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.io import export_onnx
from relvec.kernels import Linear
from tests.io import exports, zoo


def run(written, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(written, options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.EXPORTABLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_answers_of_onnxruntime(name, dtype):
    X = exports.points(name)
    expected = exports.truth(name, X)
    found = run(export_onnx(zoo.fitted(name)[0], dtype=dtype), X.astype(dtype))
    assert set(found) == set(expected)
    if "label" in found:
        clear = np.sort(expected["probabilities"], axis=1)[:, -2:] @ [-1.0, 1.0] > 1e-5
        assert (found["label"][clear] == expected["label"][clear]).all()
    shaped = {what: value.reshape(len(X), -1) for what, value in found.items()}
    # inverse factors of pivots that are nearly alike lose half the digits
    exports.check(name, shaped, expected, dtype, tolerance=1e-8)
    assert all(found[what].dtype == dtype for what in found if what != "label")


@pytest.mark.parametrize(
    "name", ["softmax", "softmax_shared", "one_vs_rest", "classifier", "regressor"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_from_the_data(name, dtype):
    """Where all kernels are zero, and the covariance of logits may be as well."""
    rng = np.random.default_rng(3)
    X = np.vstack([scale * rng.normal(size=(20, 3)) for scale in (10.0, 30.0, 1e6, 1e15, 1e-40)])
    X = X.astype(np.float32).astype(np.float64)
    expected = exports.truth(name, X)
    found = run(export_onnx(zoo.fitted(name)[0], dtype=dtype), X.astype(dtype))
    shaped = {what: value.reshape(len(X), -1) for what, value in found.items() if what != "label"}
    assert all(np.isfinite(value).all() for value in shaped.values())
    exports.check(name, shaped, expected, dtype)


@pytest.mark.parametrize("model", [SparseBayesRegressor(LinearBasis()), RVMRegressor(Linear())])
def test_one_input_and_one_vector_in_double_precision(model):
    """A number times a matrix is computed in single precision by ONNX Runtime."""
    x = zoo.X[:, :1]
    model = make_pipeline(StandardScaler(), model).fit(x, 3.0 * x[:, 0] + 0.1 * zoo.Y)
    found = run(export_onnx(model, dtype="float64"), zoo.NEW[:, :1])
    mean, std = model[-1].predict(model[:-1].transform(zoo.NEW[:, :1]), return_std=True)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-12)
    np.testing.assert_allclose(found["std"], std, rtol=1e-12)


def test_one_output_is_one_dimensional():
    X = zoo.NEW.astype(np.float32)
    assert run(export_onnx(zoo.fitted("regressor")[0]), X)["mean"].shape == (50,)
    assert run(export_onnx(zoo.fitted("two_outputs")[0]), X)["std"].shape == (50, 2)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "name", ["regressor", "softmax", "softmax_intercept", "regressor_constant"]
)
def test_any_number_of_rows(name, n):
    found = run(export_onnx(zoo.fitted(name)[0]), zoo.NEW[:n].astype(np.float32))
    assert all(len(value) == n for value in found.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "classes", [[3, 7], [1.0, 2.0], [False, True], ["é", 'a "b"'], [3, 5, 9], ["x", "y", "$z"]]
)
def test_labels_are_those_of_the_model(classes):
    index = zoo.TWO if len(classes) == 2 else np.digitize(zoo.Y, [2.6, 3.4])
    model = RVMClassifier(gamma=0.1).fit(zoo.X, np.array(classes)[index])
    found = run(export_onnx(model), zoo.NEW.astype(np.float32))["label"]
    assert found.tolist() == model.predict(zoo.NEW).tolist()


def test_std_can_be_left_out():
    model = zoo.fitted("regressor_given_width")[0]
    small, full = export_onnx(model, std=False), export_onnx(model)
    assert len(small) < len(full)
    assert set(run(small, zoo.NEW.astype(np.float32))) == {"mean"}


def test_the_file_says_where_it_comes_from(tmp_path):
    path = export_onnx(zoo.fitted("feature_names")[0], tmp_path / "m.onnx")
    assert path == tmp_path / "m.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.producer_name == "relvec"
    about = {each.key: each.value for each in model.metadata_props}
    assert about == {"model": "RVMRegressor", "kernel": "RBF", "features": "a, b, c"}
    assert path.stat().st_size < 10_000


def test_names_that_are_no_text():
    frame = pd.DataFrame(zoo.X, columns=["a", "\ud800", "c"])
    model = onnx.load_from_string(export_onnx(RVMRegressor(gamma=0.1).fit(frame, zoo.Y)))
    about = {each.key: each.value for each in model.metadata_props}
    assert about["features"] == "a, ?, c"


def test_unknown_dtype():
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64'"):
        export_onnx(zoo.fitted("regressor")[0], dtype="float16")


def test_a_missing_onnx_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'onnx.*pip install "relvec\[export\]"'):
        export_onnx(zoo.fitted("regressor")[0])
