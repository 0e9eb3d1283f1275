"""Dates become days, in the same way whenever and wherever they are read."""

from __future__ import annotations

import datetime
import json

import numpy as np
import polars as pl
import pytest

import relvec.io
from relvec.cli.dates import as_days, day_of, days_until
from relvec.cli.kinds import Column, describe_column, prepare

START = datetime.date(2019, 1, 3)


def table(n_rows=80, first=0, n_days=1000):
    rng = np.random.default_rng(n_rows)
    days = first + np.r_[0, rng.integers(0, n_days, n_rows - 1)]
    x = rng.normal(size=n_rows)
    return pl.DataFrame(
        {
            "x": x,
            "sold": [START + datetime.timedelta(int(day)) for day in days],
            "y": 3.0 * x + 0.01 * days + 0.01 * rng.normal(size=n_rows),
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        "2019-01-03",
        "2019/1/3",
        "2019.01.03",
        "2019-01-03T00:00",
        "2019-01-03 00:00:00.000",
        "2019-01-03T00:00:00Z",
        "2019-01-03 02:00:00+02:00",
        "2019-01-02T19:00-0500",
    ],
)
def test_one_day_in_many_spellings(text):
    days, bad = as_days(pl.Series([text]))
    assert bad is None
    assert days.to_list() == [days_until("2019-01-03")]


@pytest.mark.parametrize(
    "text", ["2019-02-29", "2019-13-01", "2019-01/03", "3.1.2019", "0000-01-01"]
)
def test_what_is_no_date(text):
    assert as_days(pl.Series(["2019-01-01", text]))[1] == 1


def test_types_of_dates_agree_with_text():
    day = pl.Series("day", [START, None, START + datetime.timedelta(400)])
    expected = as_days(day.cast(pl.String))[0].to_list()
    for series in (
        day,
        day.cast(pl.Datetime("ns")),
        day.cast(pl.Datetime("ms")).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    ):
        assert as_days(series)[0].to_list() == expected


@pytest.mark.parametrize("days", [-700_000.0, -0.25, 0.0, 17_899.75])
def test_days_and_their_names(days):
    assert days_until(day_of(days)) == np.floor(days)


def test_the_number_is_days_since_the_earliest():
    column = describe_column(pl.Series("t", ["2020-03-01 12:00", "", "2020-02-28", "NA"]))
    assert column == Column("t", "date", n_missing=2, origin="2020-02-28")
    assert column.made_as == "days since 2020-02-28"
    # earlier and later days than those of training count on, in both directions
    later = prepare(pl.DataFrame({"t": ["2021-02-28", "2020-02-27 06:00", None]}), [column])
    assert np.allclose(later["t"], [366.0, -0.75, np.nan], equal_nan=True)


def test_dates_of_antiquity_are_left_out():
    days = pl.Series("t", [-800_000, 0], dtype=pl.Int32).cast(pl.Date)
    assert "before the year 1" in describe_column(days).why


def test_dates_asked_for_as_levels_stay_levels():
    for values in (["2020-01-01", "2020-01-02"] * 3, [START, START + datetime.timedelta(1)] * 3):
        column = describe_column(pl.Series("t", values), as_level=True)
        assert column.kind == "level"
        assert len(column.levels) == 2


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_model_of_dates_from_file_to_prediction(cli, tmp_path, suffix):
    train, later = table(), table(30, first=1000, n_days=300)
    train = train.with_columns(pl.when(pl.col("x") < 1.5).then("sold").alias("sold"))
    for name, frame in (("train", train), ("later", later)):
        path = tmp_path / f"{name}.{suffix}"
        (frame.write_csv if suffix == "csv" else frame.write_parquet)(path)
    fit = ["fit", tmp_path / f"train.{suffix}", "-t", "y", "-o", tmp_path / "m.relvec"]
    result = cli(*fit, "--no-cv", "--model", "linear")
    assert result.exit_code == 0, result.output
    assert "'sold' holds dates: the model takes days since 2019-01-03" in result.stderr
    assert "numbers 1, dates 1" in result.stdout
    score = cli("score", tmp_path / "m.relvec", tmp_path / f"later.{suffix}", "--json")
    assert json.loads(score.stdout)["scores"]["r2"] > 0.99
    seen = cli("inspect", tmp_path / "m.relvec", "--vectors").stdout
    assert seen.count("days since 2019-01-03") == 2
    export = cli("export", tmp_path / "m.relvec", "-o", tmp_path / "m.py")
    assert "days since 2019-01-03; " in export.stdout
    assert (tmp_path / "m.py").exists()


def test_csv_and_parquet_give_the_same_answers(cli, tmp_path):
    table().write_csv(tmp_path / "t.csv")
    table().write_parquet(tmp_path / "t.parquet")
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.relvec", "--no-cv", "-q"]
    assert cli(*fit, "--model", "linear").exit_code == 0
    answers = [
        cli("predict", tmp_path / "m.relvec", tmp_path / f"t.{s}") for s in ("csv", "parquet")
    ]
    assert answers[0].stdout == answers[1].stdout


def test_dates_can_be_left_out(cli, tmp_path, fit_model):
    table().write_csv(tmp_path / "t.csv")
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m.relvec", "--drop", "sold")
    columns = relvec.io.inspect(tmp_path / "m.relvec").about["columns"]
    assert [each["name"] for each in columns] == ["x"]


def test_a_prediction_says_what_is_no_date(cli, refused, tmp_path, fit_model):
    table().write_csv(tmp_path / "t.csv")
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m.relvec")
    for wrong in ("soon", "3.1.2019"):
        (tmp_path / "new.csv").write_text(f"x,sold\n1,2019-01-03\n2,{wrong}\n")
        said = refused("predict", tmp_path / "m.relvec", tmp_path / "new.csv")
        assert said.startswith(
            f"Column 'sold' must hold dates as 2019-01-31, but row 2 has '{wrong}'."
        )
    (tmp_path / "new.csv").write_text("x,sold\n1,\n")
    result = cli("predict", tmp_path / "m.relvec", tmp_path / "new.csv")
    assert result.exit_code == 0
    assert "1 rows miss 'sold'" in result.stderr
