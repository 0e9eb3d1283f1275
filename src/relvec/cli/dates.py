"""Dates become numbers: days since the first day of the training rows.

The day from which is counted only shifts the numbers, so that it tells nothing about any target.
It is kept with the column in the model file, and later tables are counted from it too.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl

__all__ = ["as_days", "day_of", "days_until", "holds_moments"]

EPOCH = date(1970, 1, 1)
WRITTEN = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[-+]\d{2}:?\d{2})?)?"
)
"""Year, month and day, with a time and its zone if there is one."""


def holds_moments(series: pl.Series) -> bool:
    """Whether the type of a column is that of dates, with or without times."""
    return series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime)


def as_days(text: pl.Series) -> tuple[pl.Series, int | None]:
    """Days since 1970 with null for missing dates, and the first row that is no date.

    Times are parts of days. Those with a zone are taken to that of Greenwich.

    Examples
    --------
    >>> days, bad = as_days(pl.Series(["1970-01-02", "1970/1/3 12:00", None, "soon"]))
    >>> days.to_list(), bad
    ([1.0, 2.5, None, None], 3)
    """
    if holds_moments(text):
        return (text.dt.epoch("us") / 86_400e6).alias(text.name), None
    if text.dtype == pl.String:
        known = {each: _days(each) for each in text.unique().drop_nulls().to_list()}
        found = [None if each is None else known[each] for each in text.to_list()]
    else:
        found = [None] * len(text)
    days = pl.Series(text.name, found, dtype=pl.Float64)
    bad = days.is_null() & text.is_not_null()
    return days, bad.arg_true().item(0) if bad.any() else None


def _days(text: str) -> float | None:
    match = WRITTEN.fullmatch(text)
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
            tzinfo=_zone(zone),
        )
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    ahead = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-ahead if text[0] == "-" else ahead)


def day_of(days: float) -> str:
    """The day at so many days after the first of 1970, as text.

    Examples
    --------
    >>> day_of(-0.5)
    '1969-12-31'
    """
    return (EPOCH + timedelta(days=days // 1)).isoformat()


def days_until(day: str) -> float:
    """Days from the first of 1970 to this one.

    Examples
    --------
    >>> days_until("1970-02-01")
    31.0
    """
    return float((date.fromisoformat(day) - EPOCH).days)
