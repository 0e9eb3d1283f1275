"""`relvec density`."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("density") / "t.csv"
    pl.DataFrame(
        {
            "wait": [*rng.exponential(size=299), None],
            "size": rng.normal(size=300),
            "times": rng.integers(1, 3, size=300),
            "town": ["Bern", "Lund"] * 150,
        }
    ).write_csv(path)
    return path


def test_density_of_a_column(cli, table, tmp_path):
    out = tmp_path / "grid.csv"
    result = cli("density", table, "-c", "wait", "--support", "0:", "-o", out)
    assert result.exit_code == 0, result.output
    assert "299 of wait" in result.stdout
    assert "exponential" in result.stdout
    assert "1 of 300 rows have missing values" in result.stderr
    grid = pl.read_csv(out)
    assert grid.columns == ["wait", "density", "density_lower", "density_upper", "cdf"]
    assert len(grid) == 200
    x, density = grid["wait"].to_numpy(), grid["density"].to_numpy()
    assert x.min() >= 0.0
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=0.01)
    assert (grid["density_lower"] < grid["density"]).all()
    assert (grid["density_upper"] > grid["density"]).all()


def test_density_as_json_and_on_the_standard_output(cli, table):
    facts = json.loads(cli("density", table, "-c", "size", "--json").stdout)
    assert facts["reference"] == "normal"
    assert facts["points"] == 300
    assert facts["quantiles"]["0.5"] == pytest.approx(0.0, abs=0.3)
    assert len(facts["modes"]) >= 1
    printed = cli("density", table, "-c", "size", "--points", "50", "-o", "-", "-q").stdout
    assert len(pl.read_csv(io.StringIO(printed))) == 50


def test_density_of_two_columns_with_weights(cli, table, tmp_path):
    out = tmp_path / "two.parquet"
    options = ["-c", "wait,size", "--weight", "times", "--support", "0:", "--support", ":"]
    result = cli("density", table, *options, "--points", "12", "-o", out)
    assert result.exit_code == 0, result.output
    grid = pl.read_parquet(out)
    assert grid.columns == ["wait", "size", "density", "density_lower", "density_upper"]
    assert len(grid) == 144


def test_intensity(cli, table, tmp_path):
    out = tmp_path / "rate.csv"
    result = cli("density", table, "-c", "wait", "--support", "0:9", "--intensity", "-o", out)
    assert result.exit_code == 0, result.output
    grid = pl.read_csv(out)
    assert grid.columns[1] == "intensity"
    total = np.trapezoid(grid["intensity"].to_numpy(), grid["wait"].to_numpy())
    assert total == pytest.approx(299.0, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["size", "wait,size"])
def test_plot(cli, table, tmp_path, columns):
    pytest.importorskip("matplotlib")
    result = cli("density", table, "-c", columns, "--plot", tmp_path / "d.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "d.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "Name the column"),
        (["-c", "sise"], 1, "Did you mean 'size'"),
        (["-c", "town"], 1, "must contain numbers only, but row 1 has 'Bern'"),
        (["-c", "size", "--support", "0"], 2, "--support must be LOWER:UPPER"),
        (["-c", "size", "--support", "0:a"], 2, "--support must be LOWER:UPPER"),
        (["-c", "size", "--support", "0:"], 1, "All points must lie in the support"),
        (["-c", "size,wait", "--support", "0:"], 2, "once for each of the 2 columns"),
        (["-c", "size,wait,times"], 2, "once or twice"),
        (["-c", "size", "--coverage", "95"], 2, "--coverage must be between 0 and 1"),
        (["-c", "size", "--plot", "x.gif"], 2, "--plot must end in .png"),
    ],
)
def test_density_refuses(refused, table, options, code, message):
    assert message in refused("density", table, *options, code=code)


def test_density_refuses_two_results_on_the_standard_output(cli, table):
    result = cli("density", table, "-c", "size", "-o", "-", "--json")
    assert result.exit_code == 2
    assert "where the table would go" in json.loads(result.stdout)["error"]


def test_density_refuses_a_constant_column(refused, tmp_path):
    (tmp_path / "c.csv").write_text("x\n2\n2\n2\n")
    assert "at least two different points" in refused("density", tmp_path / "c.csv")
