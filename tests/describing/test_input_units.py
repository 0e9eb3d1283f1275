"""Names of periods, durations, rates and locations; amounts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec.describing.amounts import Amounts, format_with_std
from relvec.describing.input_units import InputUnit


def dated(start, step, n=100):
    days = (np.datetime64(start) - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    return InputUnit.of(days + step * np.arange(n), None, is_date=True)


@pytest.mark.parametrize(
    ("unit", "period", "phrase"),
    [
        ("years", 1.003, "A yearly season"),
        ("months", 12.05, "A yearly season"),
        ("days", 7.0, "A weekly season"),
        ("hours", 24.0, "A daily season"),
        ("days", 1.0 / 24.0, "An hourly season"),
        ("months", 3.0, "A quarterly season"),
        ("Year", 10.7, "A pattern that repeats every 10.7 years"),
        ("years", 1.02, "A pattern that repeats every 1.02 years"),
        ("km", 1.0, "A pattern that repeats every 1 km"),
        (None, 4.0, "A pattern that repeats every 4"),
        ("years", 0.0188, "A pattern that repeats every 6.87 days"),
    ],
)
def test_periods(unit, period, phrase):
    assert InputUnit.of(np.arange(50.0), unit).name_period(period)[0] == phrase


def test_units_of_dates():
    monthly, daily, hourly = (
        dated("2000-01-01", 30.4),
        dated("2020-02-28", 1.0),
        dated("2020", 0.04),
    )
    assert monthly.rate.name == "per year"
    assert daily.rate.name == "per day"
    assert hourly.rate.name == "per day"
    assert daily.format_place(daily.low + 1.0) == "on 29 February 2020"
    assert monthly.format_place(monthly.low) == "in January 2000"
    assert hourly.format_location(hourly.low + 0.5) == "1 January 2020, 12:00"
    assert daily.format_duration(1.0) == "24 hours"
    assert daily.format_duration(45.0) == "45 days"
    assert daily.format_duration(3652.4) == "10 years"
    assert daily.find_phase(daily.low, "week") == "on Fridays"
    assert hourly.find_phase(hourly.low + 0.25, "day") == "at 06:00"


def test_fractions_of_years():
    monthly = InputUnit.of(1950.0 + np.arange(60) / 12.0, "years")
    months = [monthly.find_month(x) for x in np.round(1950.0 + np.arange(12) / 12.0, 4)]
    assert months[:3] == ["January", "February", "March"]
    assert months[-1] == "December"
    assert len(set(months)) == 12
    assert monthly.format_location(1974.0849) == "February 1974"
    assert monthly.format_location(1974.1616) == "March 1974"
    yearly = InputUnit.of(np.arange(1700.0, 1800.0), "years")
    assert yearly.format_place(1750.0) == "in 1750"
    assert InputUnit.of(np.arange(0.0, 5.0, 0.1), "years").format_place(2.3) == "at 2.3"


def test_amounts():
    assert format_with_std(12345.6, 123.4) == "12346 ± 123"
    assert format_with_std(0.5, 0.0) == "0.5"
    assert format_with_std(2.0, math.inf) == "2"
    assert Amounts("log").format_change(-1.2) == "69.9 %"
    assert Amounts("log").format_signed(-0.1, 0.01) == "−9.5 ± 0.9 %"
    assert Amounts("sqrt", 10.0).format_swing(1.0) == "20"
    assert Amounts("sqrt", 10.0).format_spread(0.5) == "10"
    assert Amounts("identity").format_signed(2.0, 0.5) == "+2.0 ± 0.5"
