"""`relvec report` from table to page."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import relvec.io
from relvec import RVMClassifier
from relvec.cli.app import app

RNG = np.random.default_rng(3)
AREA = RNG.normal(size=80)
TOWN = RNG.choice(["A", "B", "C"], 80)
PRICE = 100.0 + 20.0 * np.sin(2.0 * AREA) + 10.0 * (TOWN == "B") + 3.0 * RNG.normal(size=80)


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("houses")
    table = pl.DataFrame({"area": AREA, "town": TOWN, "price": PRICE})
    table.write_csv(folder / "houses.csv")
    table.head(20).write_csv(folder / "new.csv")
    done = run(
        "fit", folder / "houses.csv", "--target", "price", "-o", folder / "houses.relvec", "-q"
    )
    assert done.exit_code == 0, done.stderr
    return folder


@pytest.mark.slow
def test_table_with_categories_and_held_out_rows(houses):
    page = houses / "report.html"
    done = run(
        "report",
        houses / "houses.relvec",
        houses / "houses.csv",
        *("--test", houses / "new.csv", "-o", page, "--folds", 2, "--bootstrap", 2, "--json"),
    )
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["rows"] == 80
    assert list(facts["metrics"]) == ["training rows", "2-fold cross-validation", "held-out rows"]
    html = page.read_text(encoding="utf-8")
    assert facts["bytes"] == page.stat().st_size
    assert "<h1>price: houses.relvec</h1>" in html
    assert "area" in html
    assert "town = B" in html


@pytest.mark.slow
def test_console_output_names_the_file(houses):
    page = houses / "short.html"
    done = run(
        "report",
        houses / "houses.relvec",
        houses / "houses.csv",
        *("-o", page, "--folds", 0, "--bootstrap", 0, "--max-rows", 50),
    )
    assert done.exit_code == 0, done.stderr
    assert "saved" in done.stdout
    assert "short.html" in done.stdout
    assert "50 of 80 rows, drawn at random, are used" in done.stderr


@pytest.mark.slow
def test_classifier_with_integer_labels(tmp_path):
    X = np.column_stack([AREA, PRICE / 100.0])
    y = (PRICE > 100.0).astype(int)
    relvec.io.save(RVMClassifier(gamma=1.0).fit(X, y), tmp_path / "model.relvec")
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": y}).write_csv(tmp_path / "t.csv")
    done = run(
        "report",
        tmp_path / "model.relvec",
        tmp_path / "t.csv",
        *("-o", tmp_path / "r.html", "--folds", 2, "--json"),
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["training rows"]["error_rate"] < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "match"),
    [
        (["--rows", "old"], 2, "--rows must be one of 'auto', 'training', 'new'; got 'old'"),
        (["--folds", 1], 2, r"--folds must be 0 \(none\) or at least 2; got 1"),
        (["--bootstrap", -1], 2, "--bootstrap must not be negative"),
        (["-o", "no/such/folder/r.html"], 1, "folder 'no/such/folder'.* does not exist"),
        (["--target", "prize"], 1, "Did you mean 'price'"),
    ],
)
def test_bad_options(houses, options, code, match):
    done = run("report", houses / "houses.relvec", houses / "houses.csv", *options)
    assert done.exit_code == code
    assert re.search(match, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1
