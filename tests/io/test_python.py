"""Exported Python gives what the model gives, and needs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from relvec import RVMClassifier, RVMRegressor
from relvec.io import export_python
from tests.io import exports, zoo
from tests.io.test_c import NASTY


def executed(text):
    names = {"__name__": "exported"}
    exec(compile(text, "exported.py", "exec"), names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.EXPORTABLE)
def test_answers_of_the_file(name):
    # averages over a thousand points in plain Python take their time
    X = exports.points(name, 100 if name.startswith("softmax") else 1000)
    expected = exports.truth(name, X)
    names = executed(export_python(zoo.fitted(name)[0]))
    if name in exports.CLASSIFIERS:
        found = {"probabilities": np.array([names["probabilities"](row) for row in X.tolist()])}
        assert [names["predict"](row) for row in X[:20].tolist()] == expected["label"][:20].tolist()
        assert names["CLASSES"] == zoo.fitted(name)[0].classes_.tolist()
    else:
        found = {
            what: np.array([names[function](row) for row in X.tolist()]).reshape(len(X), -1)
            for what, function in (("mean", "predict"), ("std", "predict_std"))
        }
    exports.check(name, found, expected, "float64")


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.EXPORTABLE)
def test_only_math_is_imported(name):
    tree = ast.parse(export_python(zoo.fitted(name)[0]))
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(each) for each in imports] == ["import math"]


@pytest.mark.parametrize("name", ["regressor", "two_outputs", "one_vs_rest"])
def test_as_a_program(name, tmp_path):
    path = export_python(zoo.fitted(name)[0], tmp_path / "m.py")
    rows = "\n".join(", ".join(map(repr, row)) for row in zoo.NEW.tolist()) + "\n\n"
    command = [sys.executable, "-I", "-W", "ignore", str(path)]
    done = subprocess.run(command, input=rows, capture_output=True, text=True, check=True)
    said = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    expected = exports.truth(name, zoo.NEW)
    together = expected.get("probabilities", None)
    if together is None:
        together = np.hstack([expected["mean"], expected["std"]])
    np.testing.assert_allclose(said, together, rtol=1e-11)
    for wrong in ("1 2", "1 2 three"):
        done = subprocess.run(command, input=f"1 2 3\n{wrong}\n", capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr == "line 2: every row must hold 3 numbers\n"


@pytest.mark.parametrize(("name", "kind"), [("regressor", "ard"), ("drvm", "ard")])
def test_std_is_calibrated(name, kind):
    model = zoo.fitted(name)[0]
    assert model.model_kind_ == kind
    assert name != "regressor" or model.calibration_ > 1.02
    said = executed(export_python(model))["predict_std"](zoo.NEW[0].tolist())
    assert said == pytest.approx(model.predict(zoo.NEW[:1], return_std=True)[1][0], rel=1e-9)


def test_std_can_be_left_out():
    model = zoo.fitted("regressor")[0]
    text = export_python(model, std=False)
    names = executed(text)
    assert "predict_std" not in names
    assert len(text) < len(export_python(model))
    found = [names["predict"](row) for row in zoo.NEW.tolist()]
    np.testing.assert_allclose(found, model.predict(zoo.NEW), rtol=1e-11)


@pytest.mark.slow
def test_any_names_of_features_and_classes():
    n = len(NASTY)
    frame = pd.DataFrame(np.hstack([zoo.X, zoo.X, zoo.X])[:, :n], columns=NASTY)
    labels = np.array(NASTY, dtype=object)[np.arange(60) % n]
    executed(export_python(RVMRegressor(gamma=0.05).fit(frame, zoo.Y)))
    classifier = RVMClassifier(gamma=0.05).fit(frame, labels)
    assert executed(export_python(classifier))["CLASSES"] == classifier.classes_.tolist()
