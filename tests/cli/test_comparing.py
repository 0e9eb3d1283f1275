"""Paired differences, evidences, verdict and rolling origins of `relvec compare`."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from relvec import RVMRegressor, SparseBayesRegressor, compare_models
from relvec.bases import LinearBasis


@pytest.fixture(scope="module")
def wave(tmp_path_factory):
    """A table with a column of dates whose rows are not in the order of time."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, size=80)
    days = np.datetime64("2024-01-01") + rng.permutation(80)
    path = tmp_path_factory.mktemp("comparing") / "wave.csv"
    y = np.sin(x) + 0.2 * rng.normal(size=80)
    pl.DataFrame({"day": days.astype(str), "x": x, "y": y}).write_csv(path)
    return path


def compare(cli, path, *options):
    models = ["--model", "rvm", "--model", "linear", "--model", "ridge"]
    result = cli("compare", path, "-t", "y", "--folds", "3", *models, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_numbers_are_those_of_the_function(cli, wave):
    answer = json.loads(compare(cli, wave, "--drop", "day", "--json"))
    table = pl.read_csv(wave)
    models = {
        "rvm": RVMRegressor(random_state=0),
        "linear": SparseBayesRegressor(LinearBasis(), random_state=0),
    }
    found = compare_models(models, table[["x"]].to_numpy(), table["y"].to_numpy(), cv=3)
    for name in models:
        ours, theirs = found[name], answer["models"][name]
        assert theirs["difference"]["mean"] == pytest.approx(ours.difference.mean)
        assert theirs["difference"]["se"] == pytest.approx(ours.difference.se)
        assert theirs["log_evidence"] == pytest.approx(ours.evidences.log_evidence)
        assert theirs["tied_evidence"] == pytest.approx(ours.evidences.tied_evidence)
        assert theirs["posterior_probability"] == pytest.approx(ours.probability)
    assert answer["models"]["ridge"]["log_evidence"] is None
    assert answer["verdict"]["best"] == "rvm"
    assert answer["verdict"]["text"].startswith("relevance vector machine is the best")


def test_summary_has_evidences_and_verdict(cli, wave):
    text = compare(cli, wave, "--drop", "day")
    for words in ("difference", "evidence", "tied", "probability", "is the best"):
        assert words in text


def test_rolling_origins_follow_the_dates(cli, wave, tmp_path):
    rolling = json.loads(compare(cli, wave, "--rolling", "--json"))
    assert rolling["held_out"] == "3 rolling origins"
    assert any("in the order of column 'day'" in note for note in rolling["notes"])
    pl.read_csv(wave).sort("day").write_csv(tmp_path / "sorted.csv")
    in_order = json.loads(compare(cli, tmp_path / "sorted.csv", "--rolling", "--json"))
    for name, model in in_order["models"].items():
        assert rolling["models"][name]["scores"]["rmse"]["mean"] == pytest.approx(
            model["scores"]["rmse"]["mean"]
        )
    by_rows = json.loads(compare(cli, wave, "--rolling", "--drop", "day", "--json"))
    assert any("in the order of the table" in note for note in by_rows["notes"])
    by_x = json.loads(compare(cli, wave, "--rolling", "--time", "x", "--json"))
    assert by_x["models"]["rvm"]["scores"] != rolling["models"]["rvm"]["scores"]


def test_classes_have_a_verdict(cli, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    kind = np.where(x + 0.3 * rng.normal(size=90) > 0, "a", "b")
    pl.DataFrame({"x": x, "y": kind}).write_csv(tmp_path / "t.csv")
    answer = json.loads(compare(cli, tmp_path / "t.csv", "--rolling", "--json"))
    assert answer["models"]["class_prior"]["difference"]["mean"] > 0.0
    assert answer["models"]["linear"]["tied_evidence"] is not None
    assert answer["verdict"]["leader"] in answer["models"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--time", "x"], "--time is for --rolling"),
        (["--rolling", "--time", "day2"], "got 'day2'. Did you mean 'day'?"),
        (["--rolling", "--folds", "100"], "need at least 102 rows"),
    ],
)
def test_options_that_do_not_fit(cli, wave, options, words):
    result = cli("compare", wave, "-t", "y", "--model", "linear", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
