"""What `import relvec` gives, and what it does not cost."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import relvec


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_import_is_light():
    heavy = ["sklearn", "scipy", "numpy", "pandas", "polars", "matplotlib", "rich", "joblib"]
    loaded = run(f"import relvec, sys; print([m for m in {heavy} if m in sys.modules])")
    assert loaded == "[]"


@pytest.mark.slow
def test_using_an_estimator_imports_no_pictures():
    loaded = run(
        "import sys\n"
        "before = set(sys.modules)\n"
        "import sklearn.gaussian_process, sklearn.cluster, sklearn.callback\n"
        "from sklearn.utils.validation import validate_data\n"
        "theirs = set(sys.modules)\n"
        "from relvec import RVMRegressor\n"
        "RVMRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0])\n"
        "heavy = {'matplotlib', 'pandas', 'polars', 'rich'}\n"
        "print(sorted((set(sys.modules) - theirs) & heavy))"
    )
    assert loaded == "[]"


@pytest.mark.parametrize("name", relvec.__all__)
def test_public_names_exist(name):
    assert getattr(relvec, name) is getattr(relvec, name)


@pytest.mark.slow
def test_star_import():
    assert run("from relvec import *; print(RVMRegressor.__name__)") == "RVMRegressor"


def test_names_are_the_classes_of_their_home():
    from relvec.estimators import RVMRegressor

    assert relvec.RVMRegressor is RVMRegressor


def test_dir_lists_the_public_names_and_rooms():
    assert set(relvec.__all__) < set(dir(relvec))
    assert set(dir(relvec)) - set(relvec.__all__) <= set(ROOMS)
    assert {"RVMRegressor", "plotting", "kernels"} <= set(dir(relvec))


@pytest.mark.slow
def test_rooms_need_no_import_of_their_own():
    names = [name for name in dir(relvec) if name not in relvec.__all__]
    found = run(f"import relvec; print([getattr(relvec, n).__name__ for n in {names}])")
    assert found == str([f"relvec.{name}" for name in names])


def test_public_names_are_sorted_and_unique():
    assert len(set(relvec.__all__)) == len(relvec.__all__)


@pytest.mark.parametrize("name", ["RVMRegresor", "numpy", "_nothing"])
def test_unknown_name(name):
    with pytest.raises(AttributeError, match=f"module 'relvec' has no attribute '{name}'"):
        getattr(relvec, name)
    with pytest.raises(ImportError, match=name):
        exec(f"from relvec import {name}")


ROOMS = [
    "assessing",
    "bases",
    "comparing",
    "datasets",
    "dictionaries",
    "estimators",
    "io",
    "kernels",
    "noise",
    "plotting",
    "priors",
    "published",
    "reporting",
    "sampling",
    "solvers",
    "testing",
]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_export_what_they_promise(room):
    module = importlib.import_module(f"relvec.{room}")
    for name in module.__all__:
        assert hasattr(module, name), name


def test_every_public_class_has_a_docstring_with_an_example():
    for name in set(relvec.__all__) - {"__version__"}:
        text = getattr(relvec, name).__doc__
        assert "Parameters\n" in text
        assert ">>> " in text


def test_types_are_shipped():
    assert importlib.resources.files("relvec").joinpath("py.typed").is_file()


def test_version():
    major, minor, *_ = relvec.__version__.split(".")
    assert major.isdigit()
    assert minor.isdigit()
    try:
        installed = importlib.metadata.version("relvec")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("relvec is on the path but not installed")
    assert installed == relvec.__version__
