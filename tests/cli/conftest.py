"""Small tables, and models that are fitted to them once per session."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from relvec.cli.app import app
from relvec.cli.demonstrating import make_houses


@pytest.fixture
def cli():
    """Run the command in this process."""

    def run(*arguments, **options):
        return CliRunner().invoke(app, [str(each) for each in arguments], **options)

    return run


@pytest.fixture
def refused(cli):
    """Run a command that must fail with one message, without traceback; return the message."""

    def run(*arguments, code=1, **options):
        result = cli(*arguments, **options)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        assert result.stdout == ""
        last = result.stderr.strip().splitlines()[-1]
        assert last.startswith("relvec: ")
        return last.removeprefix("relvec: ")

    return run


@pytest.fixture
def fit_model():
    """Fit a linear model with --quiet."""
    return fit_quietly


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Folder of tables and models that no test modifies."""
    place = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    make_houses(120, rng).write_csv(place / "houses.csv")
    make_houses(60, rng).write_csv(place / "new.csv")
    fit_quietly(place / "houses.csv", "price", place / "houses.relvec")
    make_flowers(90, rng).write_csv(place / "flowers.csv")
    fit_quietly(place / "flowers.csv", "kind", place / "flowers.relvec")
    return place


def fit_quietly(table, target, output, *more):
    arguments = ["fit", table, "-t", target, "-o", output, "--no-cv", "--model", "linear", "-q"]
    result = CliRunner().invoke(app, [str(each) for each in [*arguments, *more]])
    assert result.exit_code == 0, result.output
    assert result.output == ""


def make_flowers(n_rows, rng):
    kind = rng.choice(["iris", "rose", "tulip"], n_rows)
    centre = {"iris": 0.0, "rose": 2.0, "tulip": 4.0}
    length = np.array([centre[each] for each in kind]) + 0.5 * rng.normal(size=n_rows)
    return pl.DataFrame({"length": length, "width": rng.normal(size=n_rows), "kind": kind})
