"""Files of earlier releases load, with the same predictions."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from relvec.io import ModelFileWarning, inspect, load
from tests.io import zoo

DATA = Path(__file__).parent / "data"
RELEASES = sorted(path.stem for path in DATA.glob("model-*.json"))
KINDS = sorted(path.stem for path in DATA.glob("kinds-*-*.relvec"))


def stored(release, kind):
    path = DATA / f"{release}-{kind}.relvec"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)  # older versions are the point
        return inspect(path), load(path), json.loads((DATA / f"{release}.json").read_text())


def test_there_are_files():
    assert "model-0.1" in RELEASES
    assert sum(kind.startswith("kinds-0.1-") for kind in KINDS) == 8


@pytest.mark.parametrize("release", RELEASES)
def test_regression(release):
    file, model, expected = stored(release, "regression")
    assert file.about == {"release": release.removeprefix("model-")}
    assert file.class_name == "sklearn.Pipeline"
    X = np.array(expected["X"])
    np.testing.assert_allclose(model.predict(X), expected["mean"], rtol=1e-9)
    std = model[-1].predict(model[:-1].transform(X), return_std=True)[1]
    np.testing.assert_allclose(std, expected["std"], rtol=1e-9)


@pytest.mark.parametrize("release", RELEASES)
def test_classifier(release):
    file, model, expected = stored(release, "classifier")
    assert file.class_name == "relvec.RVMClassifier"
    X = np.array(expected["X"])
    assert model.predict(X).tolist() == expected["label"]
    np.testing.assert_allclose(model.predict_proba(X), expected["probability"], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    _, release, name = kind.split("-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)
        model = load(DATA / f"{kind}.relvec")
    expected = json.loads((DATA / f"kinds-{release}.json").read_text())[name]
    predicted = zoo.answers(model, np.array(expected["X"]))[:2]
    assert len(predicted) == len(expected["answers"])
    for now, then in zip(predicted, expected["answers"], strict=True):
        if now.dtype.kind == "f":
            np.testing.assert_allclose(now, then, rtol=1e-7, atol=1e-9)
        else:
            assert now.tolist() == then
