"""`relvec fit --sample`, and what other commands do with its models."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import relvec.io
from relvec.cli.metadata import find_defect

OPTIONS = ("--sample", "--chains", "2", "--draws", "20")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(folder, tmp_path_factory):
    """A folder with a linear table, and sampled models of it."""
    place = tmp_path_factory.mktemp("sampled")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = x[:, 0] - x[:, 1] + 0.3 * rng.normal(size=60)
    kind = np.where(y > 0.0, "high", "low")
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}
    pl.DataFrame(columns | {"y": y}).write_csv(place / "t.csv")
    pl.DataFrame(columns | {"kind": kind}).write_csv(place / "k.csv")
    return place


@pytest.fixture(scope="module")
def answer(place):
    return run_json("fit", place / "t.csv", "-t", "y", "-o", place / "t.relvec", *OPTIONS)


@pytest.fixture(scope="module")
def linear(place):
    path = place / "linear.relvec"
    more = (*OPTIONS, "--no-cv", "--model", "linear")
    run_json("fit", place / "t.csv", "-t", "y", "-o", path, *more)
    return path


@pytest.fixture(scope="module")
def classes(place):
    path = place / "k.relvec"
    more = (*OPTIONS, "--no-cv", "--model", "linear")
    return path, run_json("fit", place / "k.csv", "-t", "kind", "-o", path, *more)


def run_json(*arguments):
    from typer.testing import CliRunner

    from relvec.cli.app import app

    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_json_describes_the_posterior(answer):
    found = answer["sampling"]
    assert (found["n_chains"], found["n_draws"], found["n_candidates"]) == (2, 20, 3)
    assert found["inclusion"]["a"] == found["inclusion"]["b"] == 1.0 > found["inclusion"]["c"]
    assert found["noise_std"]["low"] < 0.3 < found["noise_std"]["high"]
    assert answer["noise_std"] == found["noise_std"]["mean"]
    assert answer["n_basis_functions"] == round(found["n_active"]["mean"])


def test_metrics_are_those_of_the_sampled_model(answer):
    results = answer["cross_validation"]["models"]
    assert list(results) == ["linear", "rvm", "sampled_linear", "mean", "ridge"]
    assert answer["model"] == "sampled_linear"
    assert 0.2 < results["sampled_linear"]["rmse"]["mean"] < 0.4
    assert results["sampled_linear"]["coverage"]["mean"] > 0.85
    assert list(answer["permutation_importance"])[:2] in (["a", "b"], ["b", "a"])


def test_notes_name_options_of_the_command(answer):
    notes = " ".join(answer["notes"])
    assert ("not converged" in notes) != answer["sampling"]["converged"]
    assert "max_doublings" not in notes
    assert "warm_start" not in notes


def test_the_printed_summary(cli, place, tmp_path):
    more = ("--no-cv", "--model", "rvm")
    output = cli("fit", place / "t.csv", "-t", "y", "-o", tmp_path / "m", *OPTIONS, *more)
    assert output.exit_code == 0, output.output
    shown = output.stdout
    for words in (
        "relevance vector machine, sampled",
        "of 63 candidates",
        "2 of ",
        "R-hat",
        "effective sample size",
        "inclusion probability",
    ):
        assert words in shown
    assert shown.count("(95 % interval") == 2


def test_inspect_shows_diagnostics(cli, place, answer):
    shown = cli("inspect", place / "t.relvec", "--vectors").stdout
    for words in ("MCSE", "ESS bulk", "n_active", "convergence", "basis function", "cross-valid"):
        assert words in shown
    facts = run_json("inspect", place / "t.relvec", "--vectors")
    assert facts["vectors"]["inclusion probability"][0] == 1.0
    assert facts["diagnostics"][0]["name"] == "noise_std"
    assert facts["fitted"]["ess"] == answer["sampling"]["ess"]


def test_inspect_of_a_model_saved_from_python(cli, place, answer, tmp_path):
    model = relvec.io.load(place / "t.relvec")[-1]
    shown = cli("inspect", relvec.io.save(model, tmp_path / "m.relvec"), "--vectors").stdout
    assert "r_hat" in shown
    assert "MCSE" in shown


def test_predict_and_score(cli, place, answer):
    rows = cli("predict", place / "t.relvec", place / "t.csv", "--std", "--interval", "0.9").stdout
    found = pl.read_csv(rows.encode())
    assert found.columns == ["y_predicted", "y_std", "y_lower", "y_upper"]
    assert (found["y_lower"] < found["y_predicted"]).all()
    scores = run_json("score", place / "t.relvec", place / "t.csv")["scores"]
    assert scores["r2"] > 0.9


def test_a_classifier(cli, place, classes, refused):
    path, facts = classes
    assert "noise_std" not in facts["sampling"]
    rows = pl.read_csv(cli("predict", path, place / "k.csv", "--proba").stdout.encode())
    assert np.allclose(rows["kind_proba_high"] + rows["kind_proba_low"], 1.0)
    assert run_json("score", path, place / "k.csv")["scores"]["error_rate"] < 0.2
    message = refused("export", path, "-o", place / "m.c")
    assert "sampled classifier cannot be exported" in message
    assert "without --sample" in message
    message = refused("predict", path, place / "k.csv", "--flag-extrapolation", code=2)
    assert "--flag-extrapolation is not possible" in message


def test_report(cli, place, linear, tmp_path):
    facts = run_json("report", linear, place / "t.csv", "-o", tmp_path / "r.html", "--folds", "0")
    assert facts["metrics"]["training rows"]["r2"] > 0.9
    page = (tmp_path / "r.html").read_text()
    assert '<section id="sampling">' in page


def test_export(cli, place, linear, refused):
    message = refused("export", linear, "-o", place / "m.py")
    assert message.startswith("The standard deviations of a sampled model cannot be exported. Add ")
    result = cli("export", linear, "-o", place / "m.py", "--mean-only")
    assert result.exit_code == 0, result.output
    assert "predict_std" not in (place / "m.py").read_text()


def test_export_of_sampled_length_scales(place, refused, cli):
    path = place / "rvm.relvec"
    table = pl.read_csv(place / "t.csv").with_columns(y=(2.0 * pl.col("a")).sin())
    table.write_csv(place / "sine.csv")
    more = (*OPTIONS, "--no-cv", "--model", "rvm", "-q")
    assert cli("fit", place / "sine.csv", "-t", "y", "-o", path, *more).exit_code == 0
    message = refused("export", path, "-o", place / "m.c", "--mean-only")
    assert "length-scales of this sampled model differ from draw to draw" in message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--chains", "2"], "--chains is an option of the sampler; add --sample."),
        (["--draws", "9"], "--draws is an option of the sampler"),
        (["--jobs", "2"], "--jobs is an option of the sampler"),
        (["--sample", "--model", "select"], "not available for --model select. Use --model auto,"),
        (["--sample", "--task", "counts"], "this is a problem of counts. Omit --sample."),
        (["--sample", "--noise", "robust"], "cannot be combined with --noise robust"),
        (["--sample", "--noise-std", "c"], "cannot be combined with --noise-std"),
        (["--sample", "--exposure", "c"], "cannot be combined with --exposure"),
        (["--sample", "--target-transform", "log"], "combined with --target-transform log"),
    ],
)
def test_options_that_cannot_be_combined(refused, place, tmp_path, more, message):
    arguments = ("fit", place / "t.csv", "-t", "y", "-o", tmp_path / "m")
    assert message in refused(*arguments, *more, code=2)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("option", ["--chains", "--draws", "--jobs"])
def test_numbers_that_are_too_small(cli, place, tmp_path, option):
    arguments = ("fit", place / "t.csv", "-t", "y", "-o", tmp_path / "m", "--sample", option, "0")
    assert cli(*arguments).exit_code == 2


def test_skewed_targets_are_not_transformed(place, tmp_path):
    table = pl.read_csv(place / "t.csv").with_columns(pl.col("y").exp())
    table.write_csv(tmp_path / "t.csv")
    more = (*OPTIONS, "--no-cv", "--model", "linear")
    facts = run_json("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", *more)
    assert any("--sample does not transform the target" in note for note in facts["notes"])
    assert "target_transform" not in facts


@pytest.mark.parametrize(
    "change",
    [
        {"converged": 1},
        {"n_chains": "2"},
        {"r_hat": None},
        {"n_active": {"mean": 1.0}},
        {"noise_std": {"mean": None, "low": 1.0, "high": 2.0}},
        {"inclusion": {"a": 2.0}},
        {"inclusion": {"a": "1"}},
    ],
)
def test_damaged_metadata(place, answer, change):
    about = relvec.io.inspect(place / "t.relvec").about
    pipeline = relvec.io.load(place / "t.relvec")
    assert find_defect(about, pipeline) == ""
    about["sampling"] = about["sampling"] | change
    assert find_defect(about, pipeline) == "sampling"
