"""Exported C compiles without warnings and gives the predictions of the model."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.io import export_c
from relvec.kernels import Linear
from tests.io import exports, zoo

COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]


def compiled(text, folder, *, more="", flags=()):
    (folder / "model.c").write_text(text + more)
    program = folder / "model"
    command = [COMPILER, *FLAGS, *flags, str(folder / "model.c"), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def run(program, X):
    rows = "\n".join(",".join(repr(float(value)) for value in row) for row in X)
    done = subprocess.run([program], input=rows, capture_output=True, text=True, check=True)
    return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("name", exports.EXPORTABLE)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_answers_of_the_program(name, precision, tmp_path):
    X = exports.points(name)
    text = export_c(zoo.fitted(name)[0], precision=precision)
    answers = run(compiled(text, tmp_path, flags=["-DMODEL_MAIN"]), X)
    expected = exports.truth(name, X)
    if name in exports.CLASSIFIERS:
        found = {"probabilities": answers}
    else:
        found = dict(zip(("mean", "std"), np.hsplit(answers, 2), strict=True))
    exports.check(name, found, expected, precision)


@pytest.mark.slow
def test_functions_can_be_called(tmp_path):
    """As a library, next to another model."""
    first = export_c(zoo.fitted("regressor")[0], name="first")
    second = export_c(zoo.fitted("softmax")[0], name="second", precision="float32")
    main = """
#include <stdio.h>
int main(void)
{
    double x[FIRST_N_FEATURES] = {0.5, -0.5, 1.0}, p[SECOND_N_CLASSES];
    second_probabilities(x, p);
    printf("%.17g %.17g %s %d\\n", first_predict(x), first_predict_std(x),
           second_classes[second_predict(x)], (int)(p[0] + p[1] + p[2] + 0.5));
    return 0;
}
"""
    program = compiled(first, tmp_path, more=second + main)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    x = [[0.5, -0.5, 1.0]]
    mean, std = zoo.fitted("regressor")[0].predict(x, return_std=True)
    np.testing.assert_allclose(
        [float(printed[0]), float(printed[1])], [mean[0], std[0]], rtol=1e-12
    )
    assert printed[2:] == [zoo.fitted("softmax")[0].predict(x)[0], "1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["regressor", "two_outputs"])
def test_std_can_be_left_out(name, tmp_path):
    model = zoo.fitted(name)[0]
    text = export_c(model, std=False)
    assert "predict_std" not in text
    assert len(text) < len(export_c(model))
    answers = run(compiled(text, tmp_path, flags=["-DMODEL_MAIN"]), zoo.NEW)
    expected = np.reshape(model.predict(zoo.NEW), (50, -1))
    np.testing.assert_allclose(answers, expected, rtol=1e-11)


@pytest.mark.slow
def test_nothing_but_math_is_included():
    for name in exports.EXPORTABLE:
        text = export_c(zoo.fitted(name)[0])
        before, _, program = text.partition("#ifdef MODEL_MAIN")
        assert re.findall("#include.*", before) == ["#include <math.h>"]
        assert re.findall("#include.*", program) == ["#include <stdio.h>"]
        assert "malloc" not in text


@pytest.mark.slow
def test_optimisers_find_nothing_to_complain_about(tmp_path):
    for name in ("regressor", "two_outputs", "classifier", "one_vs_rest", "softmax"):
        for precision in ("float32", "float64"):
            text = export_c(zoo.fitted(name)[0], precision=precision)
            compiled(text, tmp_path, flags=["-DMODEL_MAIN", "-O3", "-Wshadow", "-Wundef"])


NASTY = ["*/ int x; /*", '"', "\\", "a\nb", "é", "??/", "$name", "%s", '"""']


@pytest.mark.slow
def test_any_names_of_features_and_classes(tmp_path):
    n = len(NASTY)
    X = np.hstack([zoo.X, zoo.X, zoo.X])[:, :n]
    frame = pd.DataFrame(X, columns=NASTY)
    labels = np.array(NASTY, dtype=object)[np.arange(60) % n]
    regressor = RVMRegressor(gamma=0.05).fit(frame, zoo.Y)
    classifier = RVMClassifier(gamma=0.05).fit(frame, labels)
    run(compiled(export_c(regressor), tmp_path, flags=["-DMODEL_MAIN", "-trigraphs"]), X[:2])
    main = """
#include <stdio.h>
int main(void)
{
    int i;
    for (i = 0; i < MODEL_N_CLASSES; i++)
        fwrite(model_classes[i], 1, 40, stdout);
    return 0;
}
""".replace("fwrite(model_classes[i], 1, 40, stdout)", 'printf("%s|", model_classes[i])')
    program = compiled(export_c(classifier), tmp_path, more=main)
    printed = subprocess.run([program], capture_output=True, check=True).stdout.decode()
    assert printed.split("|")[:-1] == classifier.classes_.tolist()


@pytest.mark.parametrize(
    ("classes", "written"),
    [
        ([3, -7], "-7, 3"),
        ([1.0, 2.0], "1.0, 2.0"),
        ([False, True], "0, 1"),
        (["b", "a"], '"a", "b"'),
    ],
)
def test_tables_of_classes(classes, written):
    model = RVMClassifier(gamma=0.1).fit(zoo.X, np.array(classes)[zoo.TWO])
    assert f"{{\n    {written}\n}};" in export_c(model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("1 2 3 4", 1),
        ("1 2 three", 1),
        ("1 2 3\n1 2\n3\n", 2),
        ("1\n2\n3\n", 1),
        ("\n\n1,2,3\n4,5,6,7\n", 4),
        ("1 2 3x", 1),
        ("1 2 " + 600 * "3", 1),
    ],
)
def test_every_line_is_a_row(rows, line, tmp_path):
    program = compiled(export_c(zoo.fitted("regressor")[0]), tmp_path, flags=["-DMODEL_MAIN"])
    done = subprocess.run([program], input=rows, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"line {line}: every row must have 3 numbers\n"


def test_blank_lines_and_other_separators(tmp_path):
    program = compiled(export_c(zoo.fitted("regressor")[0]), tmp_path, flags=["-DMODEL_MAIN"])
    rows = "\r\n1;2;\t3\r\n\n 1, 2 ,3"
    done = subprocess.run([program], input=rows, capture_output=True, text=True, check=True)
    assert len(set(done.stdout.splitlines())) == 1
    assert done.stdout.count("\n") == 2


def head_of(text):
    return text[: text.index("#include")]


def test_the_head_names_features_classes_and_outputs():
    frame = pd.DataFrame(zoo.X, columns=["area", "*/", "town = B"])
    labels = np.array(["small", "big"])[zoo.TWO]
    text = head_of(export_c(RVMClassifier(gamma=0.1).fit(frame, labels)))
    assert " *     x[0]  area\n *     x[1]  __\n *     x[2]  town = B\n" in text
    assert "prints for each\n * the probability of each class, in this order:\n *     big\n" in text
    assert "functions of distances" in text
    text = head_of(export_c(RVMRegressor(gamma=0.1).fit(frame, zoo.Y)))
    assert "the prediction, then its standard deviation." in text


def test_the_head_of_a_linear_model_names_features():
    model = SparseBayesRegressor(LinearBasis()).fit(zoo.X, zoo.X[:, 0] + 0.01 * zoo.Y)
    text = head_of(export_c(model))
    assert "phi are the features that have a weight." in text
    assert "vectors" not in text
    assert "pivots" not in text
    inner = RVMRegressor(Linear()).fit(zoo.X, zoo.X[:, 0] + 0.01 * zoo.Y)
    assert "functions of inner products" in head_of(export_c(inner))


def test_the_file_is_written(tmp_path):
    path = export_c(zoo.fitted("regressor")[0], tmp_path / "m.c", name="nice_1")
    assert path == tmp_path / "m.c"
    assert "double nice_1_predict(const double *x)" in path.read_text()


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "é", None, "_x"])
def test_names_must_be_identifiers(name):
    with pytest.raises(ValueError, match="name must begin with a letter"):
        export_c(zoo.fitted("regressor")[0], name=name)


def test_unknown_precision():
    with pytest.raises(ValueError, match="precision must be one of 'float32', 'float64'"):
        export_c(zoo.fitted("regressor")[0], precision="half")


def test_numbers_too_large_for_single_precision():
    model = RVMRegressor(gamma=0.1).fit(zoo.X, 1e50 * zoo.Y)
    with (
        pytest.warns(UserWarning, match="in single precision"),
        pytest.raises(ValueError, match="outside the range of single precision; use float64"),
    ):
        export_c(model, precision="float32")
