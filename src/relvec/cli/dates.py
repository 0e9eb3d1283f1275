"""Conversion of dates to numbers: days since the earliest day of the training rows.

This origin is stored with the column in the model file and is used for later tables too. It only
shifts the numbers, so that it carries no information on the target.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl

from relvec.cli.errors import CommandError

__all__ = ["as_times", "days_since_epoch", "format_day", "has_dates", "parse_days"]

EPOCH = date(1970, 1, 1)
DATE_TIME = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[-+]\d{2}:?\d{2})?)?"
)
"""Year, month and day, optionally with a time and a time zone."""
MONTH = re.compile(r"(\d{4})-(\d{2})")
"""Year and month, which stand for the first day of the month."""


def has_dates(series: pl.Series) -> bool:
    """Whether the data type of a column is a date, with or without time."""
    return series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime)


def parse_days(text: pl.Series) -> tuple[pl.Series, int | None]:
    """Convert dates to days since 1970-01-01.

    Times are fractions of days. Times with a zone are converted to UTC.

    Returns
    -------
    days : Series
        Null where the date is missing.
    bad : int or None
        Index of the first row that is not a date.

    Examples
    --------
    >>> days, bad = parse_days(pl.Series(["1970-01-02", "1970/1/3 12:00", None, "soon"]))
    >>> days.to_list(), bad
    ([1.0, 2.5, None, None], 3)
    >>> parse_days(pl.Series(["1970-01", "1970-02"]))[0].to_list()  # first days
    [0.0, 31.0]
    """
    if has_dates(text):
        return (text.dt.epoch("us") / 86_400e6).alias(text.name), None
    if text.dtype == pl.String:
        known = {each: _parse_date(each) for each in text.unique().drop_nulls().to_list()}
        found = [None if each is None else known[each] for each in text.to_list()]
    else:
        found = [None] * len(text)
    days = pl.Series(text.name, found, dtype=pl.Float64)
    bad = days.is_null() & text.is_not_null()
    return days, bad.arg_true().item(0) if bad.any() else None


def as_times(days: pl.Series, *, first_row: int = 1) -> pl.Series:
    """Convert days since 1970-01-01 to dates and times.

    Raises
    ------
    CommandError
        If one is missing; the message names the row.

    Examples
    --------
    >>> as_times(pl.Series("day", [1.5])).to_list()
    [datetime.datetime(1970, 1, 2, 12, 0)]
    """
    missing = days.is_null().arg_true()
    if len(missing):
        raise CommandError(
            f"Column '{days.name}' must contain dates, but row {first_row + missing.item(0)} has "
            "none. Remove the rows without a date."
        )
    return (days * 86_400e6).round().cast(pl.Int64).cast(pl.Datetime("us"))


def _parse_date(text: str) -> float | None:
    match = DATE_TIME.fullmatch(f"{text}-01" if MONTH.fullmatch(text) else text)
    if match is None:
        return None
    year, _, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
            tzinfo=_parse_zone(zone),
        )
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)


def _parse_zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-ahead if text[0] == "-" else ahead)


def format_day(days: float) -> str:
    """Format the day that is `days` after 1970-01-01.

    Examples
    --------
    >>> format_day(-0.5)
    '1969-12-31'
    """
    return (EPOCH + timedelta(days=days // 1)).isoformat()


def days_since_epoch(day: str) -> float:
    """Number of days from 1970-01-01 to `day`.

    Examples
    --------
    >>> days_since_epoch("1970-02-01")
    31.0
    """
    return float((date.fromisoformat(day) - EPOCH).days)
