"""Noise, exposure and transforms of the target on the command line."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import relvec.io
from relvec import RVMRegressor
from relvec.cli.app import app
from relvec.cli.noise_options import noise_lines


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def fit_json(folder, name, target, *options):
    """Fit a table; return the JSON output."""
    output = folder / f"{name}{len(list(folder.iterdir()))}.relvec"
    fit = ["fit", folder / f"{name}.csv", "-t", target, "-o", output, "--json", *options]
    result = run(*fit)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables with known errors, skewed targets, unequal noise, outliers and counts."""
    folder = tmp_path_factory.mktemp("noise")
    rng = np.random.default_rng(11)
    x, e = rng.uniform(0.0, 10.0, 160), rng.normal(size=160)
    err = 0.1 * np.exp(0.8 * rng.normal(size=160))
    star = pl.DataFrame({"time": x, "mag": np.sin(x) + err * e, "err": err})
    star.with_columns(var=pl.col("err") ** 2).write_csv(folder / "star.csv")
    pl.DataFrame({"x": x, "sales": np.exp(np.sin(x) + 0.6 * e)}).write_csv(folder / "sales.csv")
    unequal = np.sin(x) + (0.05 + 0.08 * x) * e
    pl.DataFrame({"x": x, "y": unequal}).write_csv(folder / "unequal.csv")
    errors = np.where(rng.random(160) < 0.1, 4.0, 0.1) * e
    pl.DataFrame({"x": x, "y": np.sin(x) + errors}).write_csv(folder / "outliers.csv")
    hours = rng.uniform(1.0, 9.0, 160)
    counts = rng.poisson(hours * np.exp(0.3 * x - 1.0))
    pl.DataFrame({"x": x, "hours": hours, "events": counts}).write_csv(folder / "events.csv")
    pl.DataFrame({"x": x, "y": np.sin(x) + 0.1 * e}).write_csv(folder / "plain.csv")
    return folder


FAST = ("--model", "rvm", "--no-cv")


@pytest.mark.slow
def test_known_noise_is_that_of_the_estimator(tables):
    """Standard deviations are squared; the column is no feature."""
    facts = fit_json(tables, "star", "mag", *FAST, "--noise-std", "err", "--drop", "var")
    assert [each["name"] for each in facts["columns"]] == ["time"]
    assert facts["row_column"] == {"name": "err", "role": "noise_std"}
    assert facts["noise"]["kind"] == "known"
    table = pl.read_csv(tables / "star.csv")
    expected = RVMRegressor(random_state=0).fit(
        table[["time"]].to_numpy(), table["mag"].to_numpy(), noise_variance=table["var"].to_numpy()
    )
    pipeline = relvec.io.load(facts["output"])
    assert pipeline[-1].log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-12)
    of_variances = fit_json(
        tables, "star", "mag", *FAST, "--noise-variance", "var", "--drop", "err"
    )
    other = relvec.io.load(of_variances["output"])
    assert other[-1].log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-12)


@pytest.mark.slow
def test_known_noise_in_predict_and_score(tables, tmp_path):
    facts = fit_json(tables, "star", "mag", *FAST, "--noise-std", "err", "--drop", "var")
    model = facts["output"]
    result = run("predict", model, tables / "star.csv", "--std", "--interval", 0.9)
    answer = pl.read_csv(io.StringIO(result.stdout))
    table = pl.read_csv(tables / "star.csv")
    fitted = relvec.io.load(model)[-1]
    X, variance = table[["time"]].to_numpy(), table["var"].to_numpy()
    _, std = fitted.predict(X, return_std=True, noise_variance=variance)
    assert np.allclose(answer["mag_std"], std)
    interval = fitted.predict_interval(X, 0.9, noise_variance=variance)
    assert np.allclose(answer["mag_lower"], interval[:, 0])
    scores = json.loads(run("score", model, tables / "star.csv", "--json").stdout)["scores"]
    density = fitted.log_predictive_density(X, table["mag"].to_numpy(), noise_variance=variance)
    assert scores["mlpd"] == pytest.approx(density.mean())
    assert 0.85 < scores["coverage"] <= 1.0

    table.drop("err").write_csv(tmp_path / "new.csv")
    result = run("predict", model, tmp_path / "new.csv", "--std")
    assert "has no column 'err'" in result.stderr
    assert "without noise" in result.stderr
    _, function_std = fitted.predict(X, return_std=True, include_noise=False)
    assert np.allclose(pl.read_csv(io.StringIO(result.stdout))["mag_std"], function_std)
    scores = json.loads(run("score", model, tmp_path / "new.csv", "--json").stdout)["scores"]
    assert set(scores) == {"rmse", "mae", "r2"}  # the noise of these rows is not known


@pytest.mark.slow
def test_noise_known_up_to_a_factor(tables, tmp_path):
    table = pl.read_csv(tables / "star.csv").with_columns(err=pl.col("err") / 3.0).drop("var")
    table.write_csv(tmp_path / "star.csv")
    options = (*FAST, "--noise-std", "err")
    wrong = fit_json(tmp_path, "star", "mag", *options)
    assert any("--scale-noise models this" in note for note in wrong["notes"])
    facts = fit_json(tmp_path, "star", "mag", *options, "--scale-noise")
    assert facts["noise"]["scale"] == pytest.approx(9.0, rel=0.5)
    assert not any("--scale-noise" in note for note in facts["notes"])


@pytest.mark.slow
def test_cross_validation_uses_the_noise_of_each_fold(tables):
    options = ("--model", "rvm", "--folds", 3, "--noise-std", "err", "--drop", "var")
    results = fit_json(tables, "star", "mag", *options)["cross_validation"]["models"]
    assert results["rvm"]["mlpd"]["mean"] > 0.5
    assert 0.88 < results["rvm"]["coverage"]["mean"] <= 1.0


@pytest.mark.slow
def test_skewed_targets_are_transformed_and_said_so(tables):
    facts = fit_json(tables, "sales", "sales", "--model", "rvm", "--folds", 3)
    assert facts["target_transform"] == "log"
    assert facts["target_transform_gain"] > 10.0
    ((name, text), *_) = noise_lines(facts)
    assert name == "target"
    assert text.startswith("log transform, chosen by evidence (+")
    plain = fit_json(
        tables, "sales", "sales", "--model", "rvm", "--folds", 3, "--target-transform", "none"
    )
    assert "target_transform" not in plain
    assert any("--target-transform auto models this" in note for note in plain["notes"])
    ours, before = (each["cross_validation"]["models"]["rvm"] for each in (facts, plain))
    assert ours["mlpd"]["mean"] > before["mlpd"]["mean"] + 0.2
    answer = run("predict", facts["output"], tables / "sales.csv", "--interval", 0.99)
    assert pl.read_csv(io.StringIO(answer.stdout))["sales_lower"].min() > 0.0


def test_symmetric_targets_are_not_transformed(tables):
    facts = fit_json(tables, "plain", "y", *FAST)
    assert "target_transform" not in facts
    assert facts["noise_std"] == pytest.approx(0.1, rel=0.3)
    assert not any("models this" in note for note in facts["notes"])


@pytest.mark.slow
def test_unequal_noise_is_noted_and_modelled(tables):
    before = fit_json(tables, "unequal", "y", *FAST)
    assert any("--noise heteroscedastic models this" in note for note in before["notes"])
    facts = fit_json(tables, "unequal", "y", *FAST, "--noise", "heteroscedastic")
    assert facts["noise"]["kind"] == "heteroscedastic"
    assert facts["noise"]["gain"] > 3.0
    assert facts["noise"]["high"] > 2.0 * facts["noise"]["low"]
    assert not any("models this" in note for note in facts["notes"])
    ((_, text),) = noise_lines(facts)
    assert "nats over constant noise" in text


@pytest.mark.slow
def test_outliers_are_noted_and_modelled(tables):
    before = fit_json(tables, "outliers", "y", *FAST)
    assert any("--noise robust models this" in note for note in before["notes"])
    facts = fit_json(tables, "outliers", "y", *FAST, "--noise", "robust")
    assert facts["noise"]["kind"] == "contaminated"
    assert facts["noise"]["requested"] == "robust"
    assert 0.04 < facts["noise"]["share"] < 0.2
    assert facts["noise_std"] == pytest.approx(0.1, rel=0.4)


def test_noise_model_that_gains_nothing_is_said_to_be_constant(tables):
    facts = fit_json(tables, "plain", "y", *FAST, "--noise", "heteroscedastic")
    ((_, text),) = noise_lines(facts)
    assert text.startswith("constant, std 0.")
    assert text.endswith("heteroscedastic noise does not gain enough evidence")


@pytest.mark.slow
def test_counts_with_exposure(tables, tmp_path):
    options = ("--exposure", "hours", "--model", "linear", "--folds", 3)
    facts = fit_json(tables, "events", "events", *options)
    assert facts["task"] == "counts"
    assert [each["name"] for each in facts["columns"]] == ["x"]
    assert facts["noise"] == {"kind": "poisson"}
    results = facts["cross_validation"]["models"]
    assert set(results) == {"linear", "mean_rate", "poisson"}
    deviance = {name: found["deviance"]["mean"] for name, found in results.items()}
    assert deviance["linear"] < 1.3 < deviance["mean_rate"]
    assert results["linear"]["d2"]["mean"] > 0.5
    assert facts["permutation_importance"]["x"] > 1.0
    model = facts["output"]
    predicted = run("predict", model, tables / "events.csv", "--interval", 0.95)
    answer, table = pl.read_csv(io.StringIO(predicted.stdout)), pl.read_csv(tables / "events.csv")
    assert (answer["events_upper"] % 1 == 0).all()
    table.drop("hours").write_csv(tmp_path / "new.csv")
    rates = run("predict", model, tmp_path / "new.csv")
    assert "one unit of exposure" in rates.stderr
    rate = pl.read_csv(io.StringIO(rates.stdout))["events_predicted"]
    assert np.allclose(answer["events_predicted"], rate * table["hours"])
    assert "no column 'hours'" in run("score", model, tmp_path / "new.csv").stderr
    scores = json.loads(run("score", model, tables / "events.csv", "--json").stdout)["scores"]
    assert scores["deviance"] < 1.3
    assert scores["coverage"] > 0.9


@pytest.mark.slow
def test_kernels_of_counts_are_relevance_vectors(tables, tmp_path):
    model = tmp_path / "m.relvec"
    table = tables / "events.csv"
    options = ("--exposure", "hours", "--model", "rvm", "--no-cv")
    result = run("fit", table, "-t", "events", "-o", model, *options)
    assert re.search(r"relevance vectors +\d+ of \d+ rows", result.stderr + result.stdout)
    shown = run("inspect", model, "--vectors").stdout
    assert "relevance vector, in units of the log rate" in " ".join(shown.split())


def test_few_counts_are_suggested_as_counts(tables, tmp_path):
    table = pl.DataFrame({"x": np.arange(40.0) / 7.0, "n": np.arange(40) % 4})
    table.write_csv(tmp_path / "t.csv")
    result = run("fit", tmp_path / "t.csv", "-t", "n", "-o", tmp_path / "m.relvec", "--no-cv")
    assert "if they count events, --task counts" in result.stderr


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--noise", "constnat"], "--noise must be one of .*; got 'constnat'. Did you mean"),
        (["--target-transform", "logarithm"], "--target-transform must be one of"),
        (["--noise-std", "err", "--noise-variance", "var"], "exclude each other"),
        (["--noise-std", "err", "--noise", "robust"], "estimates the noise, but --noise-std gives"),
        (["--noise-std", "err", "--target-transform", "log"], "models a transformed target"),
        (["--noise", "robust", "--target-transform", "log"], "--noise robust has heavy tails"),
        (["--scale-noise"], "--scale-noise needs --noise-variance or --noise-std"),
        (["--noise-std", "mag"], "'mag' is the target"),
        (["--noise-std", "err", "--features", "err"], "both --features and --noise-std"),
        (
            ["--noise-std", "error"],
            "no noise standard deviation column 'error'.*Did you mean 'err'",
        ),
        (["--task", "regression", "--exposure", "err"], "--exposure is for counts"),
        (["--task", "counts", "--noise", "robust"], "must contain counts, whole numbers"),
    ],
)
def test_bad_options(tables, tmp_path, options, match):
    output = tmp_path / "m.relvec"
    result = run("fit", tables / "star.csv", "-t", "mag", "-o", output, *options)
    assert result.exit_code != 0
    assert re.search(match, result.stderr), result.stderr
    assert not output.exists()


def test_noise_is_for_regressions(tables, tmp_path):
    fit = ["fit", tables / "events.csv", "-t", "events", "-o", tmp_path / "m.relvec"]
    result = run(*fit, "--task", "counts", "--noise", "robust")
    assert "--noise is for regression, but this is a problem of counts" in result.stderr
    result = run(*fit, "--task", "counts", "--model", "select")
    assert "--model select is not available for counts" in result.stderr


@pytest.mark.parametrize(
    ("value", "found"), [("-1", "is '-1"), ("", "is missing"), ("x", "is 'x'")]
)
def test_noise_that_is_no_positive_number_names_its_row(tmp_path, value, found):
    rows = [f"{i},{i % 5},{0.1 if i != 6 else value}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y,s", *rows]))
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.relvec", "--noise-std", "s"]
    result = run(*fit)
    assert result.exit_code == 1
    assert "must be a positive number in every row, but in row 7 it " + found in result.stderr


@pytest.mark.slow
def test_metadata_of_row_columns_are_checked(tables, tmp_path):
    facts = fit_json(tables, "star", "mag", *FAST, "--noise-std", "err", "--drop", "var")
    pipeline, about = relvec.io.load(facts["output"]), relvec.io.inspect(facts["output"]).about
    for name, wrong in (
        ("row_column", "err"),
        ("row_column", {"name": "err", "role": "weight"}),
        ("noise", {"std": 1.0}),
        ("target_transform", 3),
    ):
        relvec.io.save(pipeline, tmp_path / "m.relvec", about=about | {name: wrong})
        result = run("inspect", tmp_path / "m.relvec")
        assert f"its metadata are damaged ({name})" in result.stderr


@pytest.mark.slow
def test_a_transformed_target_is_not_exported(tables, tmp_path):
    facts = fit_json(tables, "sales", "sales", *FAST)
    result = run("export", facts["output"], "-o", tmp_path / "m.py")
    assert result.exit_code == 1
    assert "Fit it again with relvec fit --target-transform none" in result.stderr


@pytest.mark.slow
def test_the_mean_of_noise_that_varies_is_exported(tables, tmp_path):
    facts = fit_json(tables, "unequal", "y", *FAST, "--noise", "heteroscedastic")
    output = tmp_path / "m.py"
    result = run("export", facts["output"], "-o", output)
    assert result.exit_code == 1
    assert "Export the mean alone" in result.stderr
    assert "relvec export --mean-only" in result.stderr
    assert not output.exists()
    result = run("export", facts["output"], "-o", output, "--mean-only")
    assert result.exit_code == 0, result.output
    written = {}
    exec(output.read_text(), written)
    assert "predict_std" not in written
    table = pl.read_csv(tables / "unequal.csv")[["x"]].head(5)
    expected = relvec.io.load(facts["output"]).predict(table)
    found = [written["predict"](list(row)) for row in table.iter_rows()]
    np.testing.assert_allclose(found, expected)


def test_mean_only_is_for_regressors(folder, refused, tmp_path):
    message = refused(
        "export", folder / "flowers.relvec", "-o", tmp_path / "m.py", "--mean-only", code=2
    )
    assert "--mean-only is for regressors" in message


@pytest.mark.slow
def test_counts_are_not_exported(tables, tmp_path):
    facts = fit_json(tables, "events", "events", *FAST, "--task", "counts", "--exposure", "hours")
    result = run("export", facts["output"], "-o", tmp_path / "m.c")
    assert result.exit_code == 1
    assert "SparseBayesCountRegressor cannot be exported" in result.stderr
    assert "relvec predict" in result.stderr
