"""Loaded models equal the models that were saved."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from functools import partial

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.callback import ProgressBar
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import relvec
from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import FunctionBasis
from relvec.io import (
    TRUSTED_TYPES,
    ModelFile,
    ModelFileError,
    ModelFileWarning,
    inspect,
    load,
    save,
)
from tests.io import zoo


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo.NAMES)
def test_answers_are_equal_to_the_last_bit(name, tmp_path):
    model, inputs = zoo.fitted(name)
    again = load(save(model, tmp_path / "model.relvec"))
    assert type(again) is type(model)
    for before, after in zip(zoo.answers(model, inputs), zoo.answers(again, inputs), strict=True):
        np.testing.assert_array_equal(before, after, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["regressor", "softmax_scales", "mixed_pipeline"])
def test_what_was_loaded_can_be_saved_again(name, tmp_path):
    model, inputs = zoo.fitted(name)
    first = save(model, tmp_path / "first.relvec")
    second = save(load(first), tmp_path / "second.relvec")
    np.testing.assert_array_equal(load(second).predict(inputs), model.predict(inputs))
    assert inspect(second).n_bytes < 1.2 * inspect(first).n_bytes


def test_what_was_loaded_can_be_fitted_again(tmp_path):
    model, _ = zoo.fitted("warm_start")
    again = load(save(model, tmp_path / "m.relvec")).fit(zoo.X, zoo.Y)
    np.testing.assert_allclose(again.predict(zoo.X), zoo.Y, atol=0.5)


def test_names_of_features_are_kept(tmp_path):
    model, _ = zoo.fitted("feature_names")
    again = load(save(model, tmp_path / "m.relvec"))
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    assert again.atom_names() == model.atom_names()


# ---------------------------------------------------------------------- the list of types


@pytest.mark.parametrize("name", TRUSTED_TYPES)
def test_trusted_types_exist_and_are_types(name):
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, type)
    assert found.__module__.partition(".")[0] in ("relvec", "sklearn", "numpy")


@pytest.mark.slow
def test_the_list_holds_what_is_needed_and_little_more():
    needed = set()
    for name in zoo.NAMES:
        needed.update(skops.io.get_untrusted_types(data=skops.io.dumps(zoo.fitted(name)[0])))
    assert needed <= set(TRUSTED_TYPES)
    spare = {each.rpartition(".")[2] for each in set(TRUSTED_TYPES) - needed}
    assert spare == {"CompoundKernel", "StratifiedKFold", "WhiteKernel"}


@pytest.mark.slow
def test_every_public_estimator_is_in_the_zoo():
    classes = {type(zoo.fitted(name)[0]).__name__ for name in zoo.NAMES}
    estimators = {n for n in relvec.__all__ if n[0].isupper()}
    assert estimators <= classes


# ---------------------------------------------------------------------- the header


def test_inspect_tells_what_a_file_is(tmp_path):
    model, _ = zoo.fitted("scaled_pipeline")
    about = {"columns": ["a", "b"], "scores": {"r2": 0.5}, "naïve": None}
    path = save(model, tmp_path / "m.relvec", about=about)
    file = inspect(path)
    assert isinstance(file, ModelFile)
    assert file.class_name == "sklearn.Pipeline"
    assert file.about == about
    assert file.relvec_version == relvec.__version__
    assert file.made.endswith("+00:00")
    assert file.format == 1
    assert set(file.versions) == {"python", "relvec", "numpy", "scipy", "scikit-learn", "skops"}
    assert file.n_bytes == path.stat().st_size
    assert file.path == path
    assert inspect(str(path)) == file


def test_the_header_is_readable_without_relvec(tmp_path):
    path = save(zoo.fitted("regressor")[0], tmp_path / "m.relvec")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["relvec.json", "model.skops"]
        assert all(info.compress_type == zipfile.ZIP_DEFLATED for info in archive.infolist())
        assert json.loads(archive.read("relvec.json"))["class_name"] == "relvec.RVMRegressor"


def test_inspect_does_not_build_the_model(tmp_path, monkeypatch):
    path = save(zoo.fitted("regressor")[0], tmp_path / "m.relvec")
    monkeypatch.setattr(skops.io, "loads", lambda *a, **k: pytest.fail("loaded"))
    assert inspect(path).class_name == "relvec.RVMRegressor"


@settings(max_examples=20)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    ).filter(lambda value: "Infinity" not in json.dumps(value))
)
def test_about_comes_back(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "about.relvec"
    save(zoo.fitted("linear_basis")[0], path, about={"value": value})
    assert inspect(path).about == {"value": value}


@pytest.mark.parametrize("value", [object(), float("nan"), np.zeros(2), {1, 2}, b"x"])
def test_about_must_be_json(tmp_path, value):
    with pytest.raises(ModelFileError, match="about must contain JSON types only"):
        save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec", about={"value": value})
    assert list(tmp_path.iterdir()) == []


def test_about_must_not_be_a_library(tmp_path):
    with pytest.raises(ModelFileError, match="Shorten about, or fit a smaller model"):
        save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec", about={"text": "x" * (1 << 24)})
    assert list(tmp_path.iterdir()) == []


def test_about_must_be_a_dict(tmp_path):
    with pytest.raises(TypeError, match="about must be a dict; got 'text'"):
        save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec", about="text")


def test_other_versions_of_scikit_learn_are_one_warning(tmp_path, monkeypatch):
    model, inputs = zoo.fitted("scaled_pipeline")
    real = relvec.io.models.version
    monkeypatch.setattr(
        relvec.io.models, "version", lambda p: "1.4.2" if p == "scikit-learn" else real(p)
    )
    monkeypatch.setattr("sklearn.base.__version__", "1.4.2")
    path = save(model, tmp_path / "m.relvec")
    monkeypatch.undo()
    with pytest.warns(
        ModelFileWarning, match="saved with scikit-learn 1.4.2 and is loaded"
    ) as seen:
        again = load(path)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    np.testing.assert_array_equal(again.predict(inputs), model.predict(inputs))


# ---------------------------------------------------------------------- what cannot be saved


def my_kernel(X, Z):
    return np.exp(-0.1 * ((X[:, None] - Z[None]) ** 2).sum(axis=-1))


class MyKernel(RBF):
    pass


class CallableKernel:
    def __call__(self, X, Z):
        return my_kernel(X, Z)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (my_kernel, "my_kernel"),
        (lambda X, Z: my_kernel(X, Z), "<lambda>"),
        (partial(my_kernel), "functools.partial"),
        (CallableKernel(), "CallableKernel"),
        (CallableKernel().__call__, "CallableKernel"),
        (MyKernel(), "MyKernel"),
    ],
)
def test_functions_and_classes_of_others_are_refused(kernel, named, tmp_path):
    model = RVMRegressor(kernel).fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=rf"this RVMRegressor cannot be saved: .*{named}") as e:
        save(model, tmp_path / "m.relvec")
    assert "contains no code" in str(e.value)
    assert "relvec.kernels" in str(e.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model",
    [
        SparseBayesRegressor(FunctionBasis([np.sin, np.sinc])),
        SparseBayesRegressor(FunctionBasis(lambda X: X[:, 0])),
        make_pipeline(FunctionTransformer(my_kernel.__call__, check_inverse=False), RVMRegressor()),
    ],
)
def test_functions_elsewhere_are_refused(model, tmp_path):
    fitted = model if hasattr(model, "steps") else model.fit(zoo.X, zoo.Y)
    if hasattr(model, "steps"):
        fitted.steps[-1] = ("last", zoo.fitted("regressor_given_width")[0])
    with pytest.raises(ModelFileError, match="cannot be saved: it contains"):
        save(fitted, tmp_path / "m.relvec")


def test_what_cannot_even_be_written_is_refused(tmp_path):
    model = RVMRegressor(gamma=0.1).fit(zoo.X, zoo.Y)
    model.lock = threading.Lock()
    with pytest.raises(ModelFileError, match="this RVMRegressor cannot be saved"):
        save(model, tmp_path / "m.relvec")


def test_scores_of_a_search_are_not_saved(tmp_path):
    search = GridSearchCV(RVMRegressor(effort="fast"), {"gamma": [0.1]}, cv=2, scoring="r2")
    search.fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=r"_Scorer.*such as best_estimator_ of a search"):
        save(search, tmp_path / "m.relvec")
    save(search.best_estimator_, tmp_path / "m.relvec")


def test_callbacks_are_not_saved(tmp_path):
    model = RVMRegressor(gamma=0.1).fit(zoo.X, zoo.Y).set_callbacks(ProgressBar())
    with pytest.raises(ModelFileError, match=r"ProgressBar.*Call set_callbacks\(\) without"):
        save(model, tmp_path / "m.relvec")
    save(model.set_callbacks(), tmp_path / "m.relvec")


def test_folders_of_caches_are_not_saved(tmp_path):
    model = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1), memory=str(tmp_path / "cache"))
    model.fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=r"call set_params\(memory=None\) before saving"):
        save(model, tmp_path / "m.relvec")
    load(save(model.set_params(memory=None), tmp_path / "m.relvec"))


@pytest.mark.parametrize("model", [None, RVMRegressor, "model", np.zeros(3), [RVMRegressor()]])
def test_only_estimators_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="save needs a fitted estimator"):
        save(model, tmp_path / "m.relvec")


@pytest.mark.parametrize("model", [RVMRegressor(), make_pipeline(RVMClassifier())])
def test_only_fitted_estimators_are_saved(model, tmp_path):
    with pytest.raises(NotFittedError, match="is not fitted; call fit before saving"):
        save(model, tmp_path / "m.relvec")


def test_models_of_scikit_learn_alone_are_welcome(tmp_path):
    model = LinearRegression().fit(zoo.X, zoo.Y)
    again = load(save(model, tmp_path / "m.relvec"))
    np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW))


def test_a_missing_skops_says_what_to_type(tmp_path, monkeypatch):
    path = save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'skops.*pip install "relvec\[export\]"'):
        save(zoo.fitted("linear_basis")[0], tmp_path / "other.relvec")
    with pytest.raises(ImportError, match=r'skops.*pip install "relvec\[export\]"'):
        load(path)
    assert inspect(path).class_name == "relvec.SparseBayesRegressor"


# ---------------------------------------------------------------------- writing


def test_a_file_is_replaced_in_one_step(tmp_path):
    path = save(zoo.fitted("regressor")[0], tmp_path / "m.relvec", about={"number": 1})
    save(zoo.fitted("classifier")[0], path, about={"number": 2})
    assert inspect(path).about == {"number": 2}
    assert [each.name for each in tmp_path.iterdir()] == ["m.relvec"]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_nothing_is_left_of_a_failure(tmp_path, monkeypatch, step):
    path = save(zoo.fitted("regressor")[0], tmp_path / "m.relvec", about={"number": 1})

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        save(zoo.fitted("classifier")[0], path)
    assert inspect(path).about == {"number": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["m.relvec"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "m.relvec"
    link.symlink_to(tmp_path / "there" / "real.relvec")
    save(zoo.fitted("linear_basis")[0], link)
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.relvec").is_file()


def test_the_usual_permissions(tmp_path):
    (tmp_path / "plain").write_text("")
    path = save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_permissions_of_a_file_that_is_replaced(tmp_path, mode):
    path = save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec")
    path.chmod(mode)
    save(zoo.fitted("linear_basis")[0], path, about={"number": 2})
    assert path.stat().st_mode & 0o777 == mode
    assert inspect(path).about == {"number": 2}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_or_device_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="pipe is a device or a pipe; give the name of a file"):
        save(zoo.fitted("linear_basis")[0], pipe)
    assert pipe.is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        save(zoo.fitted("linear_basis")[0], tmp_path)


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        save(zoo.fitted("linear_basis")[0], tmp_path / "no" / "m.relvec")


@pytest.mark.slow
def test_files_can_be_read_in_another_process(tmp_path):
    model, _ = zoo.fitted("softmax")
    path = save(model, tmp_path / "m.relvec")
    code = (
        "import sys, numpy as np\n"
        "from relvec.io import load\n"
        "print(load(sys.argv[1]).predict_proba([[0.5, -0.5, 1.0]]).tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert run.stdout.strip() == model.predict_proba([[0.5, -0.5, 1.0]]).tobytes().hex(), run.stderr
