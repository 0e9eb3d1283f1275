"""The user's own classes and functions in model files: only those that are passed."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from relvec import RVMRegressor
from relvec.io import ModelFileError, load, save
from tests.io import zoo


def my_kernel(X, Z):
    return np.exp(-0.1 * ((X[:, None] - Z[None]) ** 2).sum(axis=-1))


class MyKernel(RBF):
    """A kernel as users write them."""


class CallableKernel:
    def __init__(self, width):
        self.width = width

    def __call__(self, X, Z):
        return my_kernel(X / self.width, Z / self.width)


class Forgetful(CallableKernel):
    def __setstate__(self, state):
        raise KeyError("width")


Pair = collections.namedtuple("Pair", "first second")


class Halved(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X / 2.0


class Listed(list):
    pass


MODELS = {
    "class": (lambda: RVMRegressor(MyKernel(2.0)), [MyKernel]),
    "callable": (lambda: RVMRegressor(CallableKernel(2.0)), [CallableKernel]),
    "function": (lambda: RVMRegressor(my_kernel), [my_kernel]),
    "two": (lambda: make_pipeline(Halved(), RVMRegressor(my_kernel)), [Halved, my_kernel]),
}


@pytest.mark.parametrize("what", MODELS)
def test_what_is_given_comes_back(what, tmp_path):
    make, own = MODELS[what]
    model = make().fit(zoo.X, zoo.Y)
    path = save(model, tmp_path / "m.relvec", trusted=own)
    again = load(path, trusted=tuple(own))
    np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW), strict=True)
    with pytest.raises(ModelFileError, match=rf"{own[0].__name__}.*load\(path, trusted=\[...\]\)"):
        load(path)
    if len(own) > 1:
        with pytest.raises(ModelFileError, match="it names tests.io.test_own_types.my_kernel,"):
            load(path, trusted=own[:1])


@pytest.mark.parametrize("what", MODELS)
def test_what_is_not_given_is_not_saved(what, tmp_path):
    make, _ = MODELS[what]
    model = make().fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=r"If it is your own, pass it: save\(..., trusted="):
        save(model, tmp_path / "m.relvec")
    assert list(tmp_path.iterdir()) == []


def test_named_tuples_come_back(tmp_path):
    model = RVMRegressor(gamma=0.1).fit(zoo.X, zoo.Y)
    model.extra = Pair(1, [2])
    again = load(save(model, tmp_path / "m.relvec", trusted=[Pair]), trusted=[Pair])
    assert again.extra == Pair(1, [2])
    assert type(again.extra) is Pair


def test_estimators_that_are_refused_can_be_given(tmp_path):
    model = SVR().fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=r"SVR.*pass classes and functions as trusted"):
        save(model, tmp_path / "m.relvec")
    again = load(save(model, tmp_path / "m.relvec", trusted=[SVR]), trusted=[SVR])
    np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW))


def test_trust_is_in_objects_not_in_names(tmp_path):
    """Another class of the same name elsewhere is another class."""
    path = save(RVMRegressor(MyKernel()).fit(zoo.X, zoo.Y), tmp_path / "m", trusted=[MyKernel])
    from tests.io import test_models

    with pytest.raises(ModelFileError, match="it names tests.io.test_own_types.MyKernel"):
        load(path, trusted=[test_models.MyKernel])


@pytest.mark.parametrize("given", ["tests.MyKernel", len, np.sin, MyKernel(), partial(my_kernel)])
def test_only_classes_and_functions_can_be_given(given, tmp_path):
    model = zoo.fitted("linear_basis")[0]
    path = save(model, tmp_path / "m.relvec")
    for call in (lambda t: load(path, trusted=t), lambda t: save(model, path, trusted=t)):
        with pytest.raises(TypeError, match="trusted takes classes and functions themselves"):
            call([given])


@pytest.mark.parametrize("given", ["MyKernel", MyKernel, None, 3])
def test_a_list_is_needed(given, tmp_path):
    path = save(zoo.fitted("linear_basis")[0], tmp_path / "m.relvec")
    with pytest.raises(
        TypeError, match=r"must be a list of classes and functions, for example \[MyKern"
    ):
        load(path, trusted=given)


def test_what_has_no_home_cannot_be_given(tmp_path):
    class Local(RBF):
        pass

    for each in (Local, lambda X, Z: my_kernel(X, Z)):
        model = RVMRegressor(each() if isinstance(each, type) else each).fit(zoo.X, zoo.Y)
        with pytest.raises(ValueError, match="define it at the top level of a module"):
            save(model, tmp_path / "m.relvec", trusted=[each])


def test_what_would_not_come_back_is_not_saved(tmp_path):
    model = RVMRegressor(Forgetful(1.0)).fit(zoo.X, zoo.Y)
    with pytest.raises(ModelFileError, match=r"loading it fails .*__getstate__ and __setstate"):
        save(model, tmp_path / "m.relvec", trusted=[Forgetful])
    model = RVMRegressor(gamma=0.1).fit(zoo.X, zoo.Y)
    model.extra = Listed([1])
    with pytest.raises(ModelFileError, match="Only functions, and classes whose instances consist"):
        save(model, tmp_path / "m.relvec", trusted=[Listed])
    assert list(tmp_path.iterdir()) == []


def test_what_is_given_is_not_called_by_a_file(tmp_path, monkeypatch):
    """A class that was given can be an object with attributes, and nothing else."""
    from tests.io.test_hostile_files import many, node, packed, text

    path = save(RVMRegressor(MyKernel()).fit(zoo.X, zoo.Y), tmp_path / "m", trusted=[MyKernel])
    name = f"{__name__}.MyKernel"
    monkeypatch.setattr(MyKernel, "__init__", lambda *a, **k: pytest.fail("called"))
    arguments = many("TupleNode", "builtins.tuple", [text(1.0)])
    from relvec.io.audit import audit
    from relvec.io.own import collect_own_types

    for loader, rest in (
        ("ConstructorFromReduceNode", {"content": arguments}),
        ("ListNode", {"content": []}),
        ("FunctionNode", {}),
        ("TypeNode", {}),
    ):
        assert audit(packed(node(loader, name, **rest)), collect_own_types([MyKernel])) == [name]
    assert load(path, trusted=[MyKernel]).kernel.length_scale == 1.0


@pytest.mark.slow
def test_a_class_of_a_script(tmp_path):
    """What `__main__` defines can be saved there, and loaded by a script that defines it too."""
    (tmp_path / "script.py").write_text(
        "import sys, json, numpy as np\n"
        "from sklearn.gaussian_process.kernels import RBF\n"
        "from relvec import RVMRegressor\n"
        "from relvec.io import load, save\n"
        "class Mine(RBF):\n    pass\n"
        "X = np.linspace(-3, 3, 30)[:, None]\n"
        "if sys.argv[1] == 'save':\n"
        "    model = RVMRegressor(Mine()).fit(X, np.sin(X[:, 0]))\n"
        "    save(model, sys.argv[2], trusted=[Mine])\n"
        "else:\n    model = load(sys.argv[2], trusted=[Mine])\n"
        "print(json.dumps(model.predict(X).tolist()))\n"
    )
    printed = []
    for step in ("save", "load"):
        command = [sys.executable, str(tmp_path / "script.py"), step, str(tmp_path / "m.relvec")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(json.loads(done.stdout))
    assert printed[0] == printed[1]
