"""`relvec fit --search` and `relvec forecast`: series in files, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from relvec import KernelSearchRegressor
from relvec.cli.app import app
from relvec.cli.search_facts import format_period
from relvec.io import inspect, load

N = 72


def make_series(seed=1):
    rng = np.random.default_rng(seed)
    steps = np.arange(N)
    months = (np.datetime64("2015-01") + steps).astype("datetime64[D]")
    value = 50 + 0.5 * steps + 6 * np.sin(2 * np.pi * steps / 12) + rng.normal(size=N)
    return pl.DataFrame({"month": months, "sales": value.round(3), "noise": rng.normal(size=N)})


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """Folder with the table of a series and its model."""
    place = tmp_path_factory.mktemp("series")
    make_series().write_csv(place / "sales.csv")
    search = ["--search", "--time", "month", "--effort", "fast"]
    arguments = ["fit", place / "sales.csv", "-t", "sales", *search, "-o", place / "sales.relvec"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    (place / "facts.json").write_text(result.stdout)
    return place


@pytest.fixture
def facts(series):
    return json.loads((series / "facts.json").read_text())


# ---------------------------------------------------------------------- fit


@pytest.mark.slow
def test_the_structure_of_the_series_is_reported(facts):
    search = facts["search"]
    assert search["expression"] == "LIN + PER"
    assert search["period_texts"] == ["1 year"]
    assert search["periods"][0] == pytest.approx(365.24, rel=0.01)
    assert {each["name"] for each in search["components"]} == {"LIN", "PER"}
    assert all(each["score_loss"] > 5.0 for each in search["components"])
    assert search["structures"][0]["margin"] == 0.0
    assert sum(each["weight"] for each in search["structures"]) == pytest.approx(1.0)
    assert "'sales' is modelled as a series, a function of 'month'." in facts["notes"]


@pytest.mark.slow
def test_the_end_of_the_series_is_held_out(facts):
    held_out, table = facts["held_out"], make_series()
    assert held_out["rows"] == round(0.2 * N)
    models = held_out["models"]
    # the noise has standard deviation one, the season 4.2
    assert models["search"]["rmse"] < 0.5 * models["straight line"]["rmse"]
    assert models["search"]["rmse"] < 0.5 * models["last value"]["rmse"]
    X, y = table["month"].to_numpy(), table["sales"].to_numpy()
    before, after = slice(0, N - held_out["rows"]), slice(N - held_out["rows"], None)
    model = KernelSearchRegressor(effort="fast").fit(X[before], y[before])
    error = model.predict(X[after]) - y[after]
    low, high = model.predict_interval(X[after]).T
    assert models["search"]["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    covered = np.mean((low <= y[after]) & (y[after] <= high))
    assert models["search"]["coverage"] == pytest.approx(covered)
    assert models["last value"]["mae"] == pytest.approx(
        np.abs(y[after] - y[N - held_out["rows"] - 1]).mean()
    )


@pytest.mark.slow
def test_the_report_on_the_terminal(cli, series, tmp_path):
    table = make_series().tail(40)
    table.write_csv(tmp_path / "short.csv")
    shown = cli(
        *("fit", tmp_path / "short.csv", "-t", "sales", "--search", "--drop", "noise"),
        *("-o", tmp_path / "m.relvec", "--no-cv", "--mode", "interpretable", "--effort", "fast"),
    )
    assert shown.exit_code == 0, shown.output
    for text in ("structure", "share of variance", "margin", "Not tested on held-out rows"):
        assert text in shown.stdout
    command = f"Next: relvec forecast {tmp_path / 'm.relvec'} --steps 24"
    assert command.split() == shown.stdout.split()[-len(command.split()) :]
    assert "encoded as days" not in shown.stderr
    assert load(tmp_path / "m.relvec")[-1].mode == "interpretable"


@pytest.mark.slow
def test_the_report_of_a_series(cli, series, tmp_path):
    result = cli(
        *("report", series / "sales.relvec", series / "sales.csv", "--folds", "0"),
        *("--bootstrap", "0", "-o", tmp_path / "r.html"),
    )
    assert result.exit_code == 0, result.output
    assert " parts and noise: " in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_rows_in_another_order_give_the_same_model(cli, series, tmp_path):
    make_series().sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "mixed.csv")
    result = cli(
        *("fit", tmp_path / "mixed.csv", "-t", "sales", "--search", "--time", "month"),
        *("--effort", "fast", "--no-cv", "-o", tmp_path / "m.relvec", "--json"),
    )
    notes = json.loads(result.stdout)["notes"]
    assert "The rows are not in order of 'month'; they are sorted." in notes
    ahead = np.array(["2021-06-01"], dtype="datetime64[D]")
    models = [load(path)[-1] for path in (tmp_path / "m.relvec", series / "sales.relvec")]
    np.testing.assert_array_equal(*(model.predict(ahead) for model in models))


@pytest.mark.slow
def test_a_table_of_several_columns(cli, refused, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 3))
    y = 3 * X[:, 0] + np.sin(6 * X[:, 1]) + 0.1 * rng.normal(size=60)
    table = pl.DataFrame({"rain": X[:, 0], "heat": X[:, 1], "dust": X[:, 2], "crop": y})
    table.write_csv(tmp_path / "fields.csv")
    result = cli(
        *("fit", tmp_path / "fields.csv", "-t", "crop", "--search", "--folds", 2),
        *("-o", tmp_path / "m.relvec", "--json"),
    )
    facts = json.loads(result.stdout)
    assert facts["search"]["expression"] == "LIN(rain) + SE(heat)"
    models = facts["cross_validation"]["models"]
    assert models["search"]["rmse"]["mean"] < 0.5 * models["ridge"]["rmse"]["mean"]
    assert "LIN(rain) + SE(heat)" in cli("inspect", tmp_path / "m.relvec").stdout
    message = refused("forecast", tmp_path / "m.relvec", "--steps", 3)
    assert "is a function of 3 columns, which has no next rows" in message


# ---------------------------------------------------------------------- forecast


@pytest.mark.slow
def test_forecast_of_dates(cli, series, tmp_path):
    out = tmp_path / "ahead.csv"
    result = cli(
        *("forecast", series / "sales.relvec", "--steps", 12, "-o", out),
        *("--coverage", 0.8, "--quantile", 0.1, "--quantile", 0.9),
    )
    assert result.exit_code == 0, result.output
    assert "12 steps of sales, 2021-01-01 to 2021-12-01" in result.stdout
    table = pl.read_csv(out, try_parse_dates=True)
    assert table.columns[0] == "month"
    assert table["month"].dtype == pl.Date
    steps = np.arange(N, N + 12)
    truth = 50 + 0.5 * steps + 6 * np.sin(2 * np.pi * steps / 12)
    assert np.sqrt(np.mean((table["sales_median"].to_numpy() - truth) ** 2)) < 1.5
    np.testing.assert_allclose(table["sales_lower"], table["sales_q0.1"])
    np.testing.assert_allclose(table["sales_upper"], table["sales_q0.9"])
    assert (table["sales_lower"] < table["sales_median"]).all()


@pytest.mark.slow
def test_forecast_on_the_standard_output(cli, series):
    lines = cli("forecast", series / "sales.relvec", "--steps", 2).stdout.splitlines()
    assert lines[0] == "month,sales_median,sales_lower,sales_upper"
    assert len(lines) == 3
    found = json.loads(cli("forecast", series / "sales.relvec", "--steps", 2, "--json").stdout)
    assert [row["month"] for row in found["forecast"]] == ["2021-01-01", "2021-02-01"]


@pytest.mark.slow
def test_a_far_forecast_is_noted(cli, series):
    far = cli("forecast", series / "sales.relvec", "--steps", N)
    assert "beyond the record by 100 % of its length" in far.stderr


@pytest.mark.slow
def test_a_forecast_is_drawn(cli, series, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("plot.png", "plot.svg"):
        plot = tmp_path / name
        assert cli("forecast", series / "sales.relvec", "--steps", 6, "--plot", plot).exit_code == 0
        assert plot.stat().st_size > 5_000


@pytest.mark.slow
def test_numbers_as_times(cli, tmp_path):
    year = 1900.0 + np.arange(60) / 4.0
    y = 3.0 + np.sin(2 * np.pi * year / 5.0) + 0.1 * np.random.default_rng(0).normal(size=60)
    pl.DataFrame({"year": year, "level": y}).write_csv(tmp_path / "quarters.csv")
    result = cli(
        *("fit", tmp_path / "quarters.csv", "-t", "level", "--search", "--effort", "fast"),
        *("--no-cv", "-o", tmp_path / "m.relvec", "--json"),
    )
    assert json.loads(result.stdout)["search"]["periods"][0] == pytest.approx(5.0, rel=0.02)
    lines = cli("forecast", tmp_path / "m.relvec", "--steps", 2).stdout.splitlines()
    assert [line.split(",")[0] for line in lines] == ["year", "1915.0", "1915.25"]


# ---------------------------------------------------------------------- other commands


@pytest.mark.slow
def test_other_commands_take_the_model(cli, series, tmp_path):
    path = series / "sales.relvec"
    assert inspect(path).about["columns"] == [{"name": "month", "kind": "time", "missing": 0}]
    shown = cli("inspect", path)
    assert "LIN + PER" in shown.stdout
    assert "held-out end" in shown.stdout
    scores = json.loads(cli("score", path, series / "sales.csv", "--json").stdout)["scores"]
    assert scores["rmse"] < 1.3
    assert scores["coverage"] > 0.9
    predicted = cli("predict", path, series / "sales.csv", "--std", "--interval", 0.9)
    table = pl.read_csv(predicted.stdout.encode())
    assert table.columns == [f"sales_{each}" for each in ("predicted", "std", "lower", "upper")]
    assert len(table) == N


@pytest.mark.slow
def test_a_missing_date_is_not_predicted(refused, series, tmp_path):
    (tmp_path / "new.csv").write_text('month\n2021-01-01\n""\n2021-03-01\n')
    message = refused("predict", series / "sales.relvec", tmp_path / "new.csv")
    assert "row 2 has none. Remove the rows without a date." in message


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "day"], "There is no time column 'day' in "),
        (["--time", "sales"], "'sales' is the target; --time must name another column."),
        (["--time", "month", "--effort", "much"], "--effort must be one of fast, balanced"),
        (["--time", "month", "--mode", "best"], "--mode must be one of accuracy, interpretable"),
        (["--model", "rvm"], "Give --search or --model rvm, not both."),
        (["--task", "classification"], "--search is for regression"),
        (["--noise", "robust"], "--search has constant noise"),
        (["--sample"], "--search has constant noise"),
        (["--time", "month", "--features", "noise"], "--time names the only input"),
    ],
)
def test_options_that_do_not_go_together(refused, series_table, options, message, tmp_path):
    code = 1 if "no time column" in message else 2
    found = refused(
        *("fit", series_table, "-t", "sales", "--search", "-o", tmp_path / "m.relvec", *options),
        code=code,
    )
    assert message in found


@pytest.fixture(scope="module")
def series_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "sales.csv"
    make_series().write_csv(path)
    return path


@pytest.mark.parametrize("option", ["--time", "--effort", "--mode"])
def test_options_of_a_search_need_it(refused, series_table, option, tmp_path):
    arguments = ("fit", series_table, "-t", "sales", "-o", tmp_path / "m.relvec")
    assert f"{option} needs --search" in refused(*arguments, option, "fast", code=2)


def test_repeated_times_are_refused(refused, tmp_path):
    table = make_series()
    pl.concat([table, table.with_columns(pl.col("sales") + 5)]).write_csv(tmp_path / "two.csv")
    message = refused(
        *("fit", tmp_path / "two.csv", "-t", "sales", "--search", "--time", "month"),
        *("-o", tmp_path / "m.relvec"),
    )
    assert f"'month' has {N} repeated times, for example in rows 1 and {N + 1}." in message


def test_few_rows_are_refused(refused, tmp_path):
    rows = [["2020-01-01", 1.0], ["2020-02-01", 3.0], ["2020-03-01", 2.0], ["", 4.0], ["", 2.0]]
    pl.DataFrame(rows, schema=["month", "sales"], orient="row").write_csv(tmp_path / "few.csv")
    message = refused(
        *("fit", tmp_path / "few.csv", "-t", "sales", "--search", "-o", tmp_path / "m.relvec")
    )
    assert "The series has 3 rows with a time and a 'sales'; at least 5 are needed." in message


def test_text_is_no_time(refused, tmp_path):
    pl.DataFrame({"kind": ["a", "b"] * 10, "sales": np.arange(20.0)}).write_csv(tmp_path / "t.csv")
    message = refused(
        *("fit", tmp_path / "t.csv", "-t", "sales", "--search", "-o", tmp_path / "m.relvec")
    )
    assert "Column 'kind' contains text, but a series needs numbers or dates." in message


def test_months_without_a_day_begin_on_the_first(tmp_path):
    months = [f"{2015 + k // 12}-{k % 12 + 1:02}" for k in range(40)]
    pl.DataFrame({"month": months, "sales": np.arange(40.0)}).write_csv(tmp_path / "t.csv")
    options = ["-t", "sales", "--search", "--effort", "fast", "-o", str(tmp_path / "m.relvec")]
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "t.csv"), *options])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["forecast", str(tmp_path / "m.relvec"), "--steps", "1"])
    assert "2018-05-01" in result.output


def test_texts_that_are_no_dates_are_refused(refused, tmp_path):
    months = [f"{2015 + k // 12} month {k % 12 + 1}" for k in range(40)]
    pl.DataFrame({"month": months, "sales": np.arange(40.0)}).write_csv(tmp_path / "t.csv")
    message = refused(
        *("fit", tmp_path / "t.csv", "-t", "sales", "--search", "--time", "month"),
        *("-o", tmp_path / "m.relvec"),
    )
    assert "'month' contains text such as '2015 month 1'" in message


def test_forecasts_of_other_models_are_refused(refused, folder):
    message = refused("forecast", folder / "houses.relvec", "--steps", 3)
    assert "holds a SparseBayesRegressor; forecasts need the model of a series." in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", 0], "--steps must be at least 1; got 0."),
        (["--steps", 3, "--coverage", 1.0], "--coverage must be strictly between 0 and 1; got 1."),
        (["--steps", 3, "--quantile", 0], "--quantile must be strictly between 0 and 1; got 0."),
        (["--steps", 3, "--plot", "p.gif"], "--plot must end in .png, .pdf, .svg; got 'p.gif'."),
    ],
)
def test_options_of_forecasts(refused, folder, options, message):
    assert refused("forecast", folder / "houses.relvec", *options, code=2) == message


@pytest.mark.slow
def test_searched_models_are_not_exported(refused, series, tmp_path):
    message = refused("export", series / "sales.relvec", "-o", tmp_path / "model.py")
    assert "KernelSearchRegressor cannot be exported" in message


# ---------------------------------------------------------------------- periods


@pytest.mark.parametrize(
    ("days", "text"),
    [(365.0, "1 year"), (30.5, "1 month"), (7.02, "1 week"), (1.0, "1 day"), (3652.4, "10 years")],
)
def test_periods_of_dates(days, text):
    assert format_period(days, is_date=True) == text
