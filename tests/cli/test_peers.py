"""Models of scikit-learn in `relvec compare`: tuning and metrics."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from relvec.cli import peers


@pytest.mark.slow
def test_peers_are_tuned_on_rows_in_any_order():
    """A sinc in a file sorted by its target: needs narrow kernels and shuffled folds."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-10.0, 10.0, 150)
    y = np.sinc(2.0 * x / np.pi) + 0.05 * rng.normal(size=150)
    order = np.argsort(y)
    machine = make_pipeline(*peers.PEERS["svm"]("regression", 0)).fit(x[order, None], y[order])
    grid = np.linspace(-9.0, 9.0, 50)
    error = machine.predict(grid[:, None]) - np.sinc(2.0 * grid / np.pi)
    assert np.sqrt(np.mean(error**2)) < 0.06
    assert machine[-1].std_ == pytest.approx(0.06, abs=0.02)


def test_the_gaussian_process_learns_a_length_scale_for_each_feature():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 6))
    y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # length-scales of irrelevant features go to their bounds
        process = make_pipeline(*peers.PEERS["gp"]("regression", 0)).fit(X, y)
    scales = process[-1].kernel_.k1.k2.length_scale
    assert np.argmin(scales) == 0
    assert np.size(scales) == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ridge", "svm", "boosting"])
def test_mlpd_of_peers_by_hand(cli, folder, name):
    options = ["--folds", "2", "--model", name, "--json"]
    answer = cli("compare", folder / "houses.csv", "-t", "price", "--drop", "id", *options)
    found = json.loads(answer.stdout)["models"][name]["scores"]["mlpd"]["mean"]
    table = pandas.read_csv(folder / "houses.csv")
    y = table.pop("price").to_numpy()
    by_hand = []
    for train, test in KFold(2, shuffle=True, random_state=0).split(y):
        rooms = table["rooms"].fillna(table["rooms"].iloc[train].median())
        towns = [table["town"] == each for each in ("Astad", "Belmo", "Cerny")]
        numbers = [table["area"], rooms, table["age"], table["door_number"]]
        X = np.column_stack([*numbers, table["rooms"].isna(), *towns]).astype(float)
        fitted = make_pipeline(*peers.PEERS[name]("regression", 0)).fit(X[train], y[train])
        last, inputs = fitted[-1], fitted[:-1].transform(X[train]) if len(fitted) > 1 else X[train]
        if name == "ridge":
            centred = inputs - inputs.mean(axis=0)
            hat = np.linalg.solve(centred.T @ centred + last.alpha_ * np.eye(8), centred.T)
            lever = np.einsum("ij,ji->i", centred, hat) + 1.0 / len(train)
            left = (y[train] - last.predict(inputs)) / (1.0 - lever)
        else:
            inner = KFold(5, shuffle=True, random_state=0)
            left = np.zeros(len(train))
            for learn, rest in inner.split(inputs):
                model = clone(last.model_).fit(inputs[learn], y[train][learn])
                left[rest] = y[train][rest] - model.predict(inputs[rest])
        std = np.sqrt(np.mean(left**2))
        by_hand.append(norm.logpdf(y[test], fitted.predict(X[test]), std).mean())
    assert found == pytest.approx(np.mean(by_hand), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n_rare", [1, 2, 4])
def test_compare_with_classes_of_few_rows(cli, tmp_path, n_rare):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    kind = np.where(x > 0.0, "p", "q")
    kind[:n_rare] = "r"
    pl.DataFrame({"x": x, "kind": kind}).write_csv(tmp_path / "t.csv")
    result = cli(
        "compare", tmp_path / "t.csv", "-t", "kind", "--model", "svm", "--model", "ridge", "--json"
    )
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert ("svm" in answer["models"]) == (n_rare == 4)
    assert any("support vector machine is left out" in each for each in answer["notes"]) == (
        n_rare < 4
    )


@pytest.mark.slow
def test_sizes_of_linear_models_count_weights(folder, cli):
    options = ["--model", "linear", "--model", "ridge", "--folds", "2", "--json"]
    answer = json.loads(cli("compare", folder / "flowers.csv", "-t", "kind", *options).stdout)
    assert answer["models"]["ridge"]["size"] == 6  # of three classes and two inputs
    assert answer["models"]["linear"]["size"] > 1  # one input is kept, with several weights
