"""Conversion of dates to days, consistent between training, prediction and file formats."""

from __future__ import annotations

import datetime
import json

import numpy as np
import polars as pl
import pytest

import relvec.io
from relvec.cli.dates import days_since_epoch, format_day, parse_days
from relvec.cli.kinds import Column, describe_column, prepare_columns

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
def test_formats_of_a_date(text):
    days, bad = parse_days(pl.Series([text]))
    assert bad is None
    assert days.to_list() == [days_since_epoch("2019-01-03")]


@pytest.mark.parametrize(
    "text", ["2019-02-29", "2019-13-01", "2019-01/03", "3.1.2019", "0000-01-01"]
)
def test_invalid_dates(text):
    assert parse_days(pl.Series(["2019-01-01", text]))[1] == 1


def test_types_of_dates_agree_with_text():
    day = pl.Series("day", [START, None, START + datetime.timedelta(400)])
    expected = parse_days(day.cast(pl.String))[0].to_list()
    for series in (
        day,
        day.cast(pl.Datetime("ns")),
        day.cast(pl.Datetime("ms")).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    ):
        assert parse_days(series)[0].to_list() == expected


@pytest.mark.parametrize("days", [-700_000.0, -0.25, 0.0, 17_899.75])
def test_days_and_dates_are_inverse(days):
    assert days_since_epoch(format_day(days)) == np.floor(days)


def test_the_number_is_days_since_the_earliest():
    column = describe_column(pl.Series("t", ["2020-03-01 12:00", "", "2020-02-28", "NA"]))
    assert column == Column("t", "date", n_missing=2, origin="2020-02-28")
    assert column.unit == "days since 2020-02-28"
    # earlier and later days than those of training count on, in both directions
    later = prepare_columns(pl.DataFrame({"t": ["2021-02-28", "2020-02-27 06:00", None]}), [column])
    assert np.allclose(later["t"], [366.0, -0.75, np.nan], equal_nan=True)


def test_dates_before_year_one_are_left_out():
    days = pl.Series("t", [-800_000, 0], dtype=pl.Int32).cast(pl.Date)
    assert "before the year 1" in describe_column(days).reason


def test_dates_as_categories():
    for values in (["2020-01-01", "2020-01-02"] * 3, [START, START + datetime.timedelta(1)] * 3):
        column = describe_column(pl.Series("t", values), as_category=True)
        assert column.kind == "category"
        assert len(column.categories) == 2


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
    assert "'sold' contains dates, which are encoded as days since 2019-01-03" in result.stderr
    assert "1 numeric, 1 date" in result.stdout
    score = cli("score", tmp_path / "m.relvec", tmp_path / f"later.{suffix}", "--json")
    assert json.loads(score.stdout)["scores"]["r2"] > 0.99
    seen = cli("inspect", tmp_path / "m.relvec", "--vectors").stdout
    assert seen.count("days since 2019-01-03") == 2
    export = cli("export", tmp_path / "m.relvec", "-o", tmp_path / "m.py")
    assert "days since 2019-01-03; " in export.stdout
    assert (tmp_path / "m.py").exists()


def test_csv_and_parquet_give_the_same_predictions(cli, tmp_path):
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


def test_invalid_dates_in_new_rows_are_reported(cli, refused, tmp_path, fit_model):
    table().write_csv(tmp_path / "t.csv")
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m.relvec")
    for wrong in ("soon", "3.1.2019"):
        (tmp_path / "new.csv").write_text(f"x,sold\n1,2019-01-03\n2,{wrong}\n")
        message = refused("predict", tmp_path / "m.relvec", tmp_path / "new.csv")
        assert message.startswith(
            f"Column 'sold' must contain dates in the form 2019-01-31, but row 2 has '{wrong}'."
        )
    (tmp_path / "new.csv").write_text("x,sold\n1,\n")
    result = cli("predict", tmp_path / "m.relvec", tmp_path / "new.csv")
    assert result.exit_code == 0
    assert "'sold' is missing in 1 row, but" in result.stderr
