"""Notes of a model file that cannot be true are refused in one sentence."""

from __future__ import annotations

import copy
import math

import pytest

import relvec.io
from relvec.cli.notes import what_is_wrong

WRONG = [
    ("columns", 3),
    ("columns", [3]),
    ("columns", [{"name": "area"}]),
    ("columns", [{"name": "area", "kind": "number", "missing": "no"}]),
    ("columns", [{"name": "area", "kind": "date", "origin": "soon"}]),
    ("columns", [{"name": "area", "kind": "level", "levels": 7}]),
    ("columns", []),
    ("target", None),
    ("task", None),
    ("task", ["regression"]),
    ("task", "classification"),
    ("model", {}),
    ("vectors", -1),
    ("vectors", "many"),
    ("rows", 120),
    ("rows", {"used": None}),
    ("noise_std", "large"),
    ("noise_std", 10**400),
    ("relevance", [1, 2]),
    ("relevance", {"area": "much"}),
    ("cross_validation", []),
    ("cross_validation", {"folds": 5, "models": {"linear": {"rmse": 3}}}),
    ("cross_validation", {"folds": 5, "models": {"linear": {"rmse": {"mean": 3}}}}),
    ("notes", "none"),
    ("vector_rows", 4),
]


@pytest.fixture(scope="module")
def parts(folder):
    path = folder / "houses.relvec"
    return relvec.io.load(path), relvec.io.inspect(path).about


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), WRONG)
def test_damaged_notes_are_said(refused, parts, tmp_path, folder, name, value):
    pipeline, about = parts
    about = copy.deepcopy(about) | {name: value}
    assert what_is_wrong(about, pipeline)
    if value == 10**400:
        return  # what no file can be made to hold
    path = tmp_path / "m.relvec"
    relvec.io.save(pipeline, path, about=about)
    assert "its notes are damaged" in refused("inspect", path)


@pytest.mark.parametrize("command", ["predict", "score", "report"])
def test_all_commands_look_at_the_notes(refused, parts, tmp_path, folder, command):
    pipeline, about = parts
    relvec.io.save(pipeline, tmp_path / "m.relvec", about=about | {"columns": 3})
    more = ["-o", tmp_path / "r.html"] if command == "report" else []
    said = refused(command, tmp_path / "m.relvec", folder / "houses.csv", *more)
    assert "its notes are damaged (columns)" in said


def test_missing_notes_are_damaged_notes(refused, parts, tmp_path):
    pipeline, about = parts
    for name in ("target", "task", "rows", "model", "vectors"):
        less = {key: value for key, value in about.items() if key != name}
        relvec.io.save(pipeline, tmp_path / "m.relvec", about=less)
        assert f"damaged ({name})" in refused("inspect", tmp_path / "m.relvec")


def test_notes_of_another_model(refused, parts, tmp_path, folder):
    _, about = parts
    other = relvec.io.load(folder / "flowers.relvec")
    relvec.io.save(other, tmp_path / "m.relvec", about=about)
    assert "damaged (task)" in refused("inspect", tmp_path / "m.relvec")
    relvec.io.save(other[-1], tmp_path / "m.relvec", about=about)
    assert "damaged" in refused("inspect", tmp_path / "m.relvec")


def test_good_notes(parts):
    pipeline, about = parts
    assert what_is_wrong(about, pipeline) == ""
    assert (
        what_is_wrong(about | {"noise_std": math.pi, "relevance": {"area": None}}, pipeline) == ""
    )


def test_notes_of_others_are_theirs(cli, parts, tmp_path):
    """Whoever saves a model in Python may note columns as they like."""
    pipeline, _ = parts
    relvec.io.save(pipeline, tmp_path / "m.relvec", about={"columns": 4, "task": ["mine"]})
    assert cli("inspect", tmp_path / "m.relvec").exit_code == 0
