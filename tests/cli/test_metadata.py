"""Invalid metadata of a model file are rejected; those of early versions are read."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pytest

import relvec.io
from relvec.cli.metadata import find_defect

WRONG = [
    ("columns", 3),
    ("columns", [3]),
    ("columns", [{"name": "area"}]),
    ("columns", [{"name": "area", "kind": "number", "missing": "no"}]),
    ("columns", [{"name": "area", "kind": "date", "origin": "soon"}]),
    ("columns", [{"name": "area", "kind": "category", "categories": 7}]),
    ("columns", []),
    ("target", None),
    ("task", None),
    ("task", ["regression"]),
    ("task", "classification"),
    ("model", {}),
    ("n_basis_functions", -1),
    ("n_basis_functions", "many"),
    ("rows", 120),
    ("rows", {"used": None}),
    ("noise_std", "large"),
    ("noise_std", 10**400),
    ("permutation_importance", [1, 2]),
    ("permutation_importance", {"area": "much"}),
    ("cross_validation", []),
    ("cross_validation", {"folds": 5, "models": {"linear": {"rmse": 3}}}),
    ("cross_validation", {"folds": 5, "models": {"linear": {"rmse": {"mean": 3}}}}),
    ("held_out", 3),
    ("held_out", {"rows": 12, "models": {"search": 5}}),
    ("held_out", {"rows": 12, "models": {"search": {"rmse": "small"}}}),
    ("notes", "none"),
    ("relevance_vector_rows", 4),
]


@pytest.fixture(scope="module")
def parts(folder):
    path = folder / "houses.relvec"
    return relvec.io.load(path), relvec.io.inspect(path).about


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), WRONG)
def test_damaged_metadata_are_reported(refused, parts, tmp_path, folder, name, value):
    pipeline, about = parts
    about = copy.deepcopy(about) | {name: value}
    assert find_defect(about, pipeline)
    if value == 10**400:
        return  # cannot be stored in a file
    path = tmp_path / "m.relvec"
    relvec.io.save(pipeline, path, about=about)
    assert "its metadata are damaged" in refused("inspect", path)


@pytest.mark.parametrize("command", ["predict", "score", "report"])
def test_all_commands_check_the_metadata(refused, parts, tmp_path, folder, command):
    pipeline, about = parts
    relvec.io.save(pipeline, tmp_path / "m.relvec", about=about | {"columns": 3})
    more = ["-o", tmp_path / "r.html"] if command == "report" else []
    message = refused(command, tmp_path / "m.relvec", folder / "houses.csv", *more)
    assert "its metadata are damaged (columns)" in message


def test_missing_entries_are_reported(refused, parts, tmp_path):
    pipeline, about = parts
    for name in ("target", "task", "rows", "model", "n_basis_functions"):
        less = {key: value for key, value in about.items() if key != name}
        relvec.io.save(pipeline, tmp_path / "m.relvec", about=less)
        assert f"damaged ({name})" in refused("inspect", tmp_path / "m.relvec")


def test_metadata_of_another_model(refused, parts, tmp_path, folder):
    _, about = parts
    other = relvec.io.load(folder / "flowers.relvec")
    relvec.io.save(other, tmp_path / "m.relvec", about=about)
    assert "damaged (task)" in refused("inspect", tmp_path / "m.relvec")
    relvec.io.save(other[-1], tmp_path / "m.relvec", about=about)
    assert "damaged" in refused("inspect", tmp_path / "m.relvec")


def test_valid_metadata(parts):
    pipeline, about = parts
    assert find_defect(about, pipeline) == ""
    assert (
        find_defect(
            about | {"noise_std": math.pi, "permutation_importance": {"area": None}}, pipeline
        )
        == ""
    )


def test_other_metadata_are_ignored(cli, parts, tmp_path):
    """Metadata saved from Python are not interpreted."""
    pipeline, _ = parts
    relvec.io.save(pipeline, tmp_path / "m.relvec", about={"columns": 4, "task": ["mine"]})
    assert cli("inspect", tmp_path / "m.relvec").exit_code == 0


@pytest.mark.parametrize(
    ("name", "metric"), [("regression", "RMSE"), ("classification", "error rate")]
)
def test_files_of_early_versions_are_read(cli, tmp_path, name, metric):
    """They have other names of entries, of a pipeline step and of metrics."""
    path = Path(__file__).parent / "data" / f"fit-0.1-{name}.relvec"
    shown = cli("inspect", path, "--vectors").stdout
    assert metric in shown
    assert "categorical" in shown
    assert "cross-validation" in shown
    about = json.loads(cli("inspect", path, "--json").stdout)["metadata"]
    assert "n_basis_functions" in about
    assert {each["kind"] for each in about["columns"]} == {"number", "category"}
    (tmp_path / "new.csv").write_text("area,rooms,town,age,door_number\n90,3,Astad,9,5\n")
    if name == "classification":
        (tmp_path / "new.csv").write_text("length,colour\n2.0,red\n")
    assert cli("predict", path, tmp_path / "new.csv").exit_code == 0
    exported = cli("export", path, "-o", tmp_path / "m.py").stdout
    assert " = " in exported  # one-hot features
