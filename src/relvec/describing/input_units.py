"""Units of the input of a series: names of periods, durations, rates and locations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from relvec._typing import Vector

__all__ = ["InputUnit", "Rate", "format_number", "plural", "round_up"]

DAYS = {
    "year": 365.2425,
    "quarter": 365.2425 / 4.0,
    "month": 365.2425 / 12.0,
    "week": 7.0,
    "day": 1.0,
    "hour": 1.0 / 24.0,
    "minute": 1.0 / 1440.0,
    "second": 1.0 / 86400.0,
}
"""Length of each unit of time in days; years and months as in the Gregorian calendar."""
ADJECTIVES = {
    "year": "yearly",
    "quarter": "quarterly",
    "month": "monthly",
    "week": "weekly",
    "day": "daily",
    "hour": "hourly",
}
NAMING_TOLERANCE = 0.01
"""A period is named after a unit of time that it differs from by at most this share."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_STARTS = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334])
"""Days from the start of a year to that of each month."""
SHORT = 0.1
"""Durations below this share of the given unit are in a shorter one."""
ROUNDING = 0.6
"""Days by which a twelfth of a year, as a fraction of the year, may be short of a month's start."""


def format_number(value: float) -> str:
    """Format a number with three significant digits, without an exponent if it can be avoided.

    Examples
    --------
    >>> [format_number(value) for value in (12345.6, 0.12345, 2.0, -3.14159)]
    ['12346', '0.123', '2', '-3.14']
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"


def round_up(value: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least a value.

    Examples
    --------
    >>> [round_up(value) for value in (1.0, 1.2, 0.03, 70.0)]
    [1.0, 2.0, 0.05, 100.0]
    """
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return next(round(k * power, 12) for k in (1.0, 2.0, 5.0, 10.0) if k * power >= value * 0.999)


def plural(noun: str, number: float) -> str:
    """Return a noun in the singular if the number reads as one, else in the plural."""
    return noun if format_number(number) == "1" else f"{noun}s"


@dataclass(frozen=True)
class Rate:
    """A stretch of the input to which slopes refer."""

    length: float
    """Its length, in units of the input."""
    name: str
    """Such as "per year"."""
    stretch: str
    """Such as "in a year"."""


@dataclass(frozen=True)
class InputUnit:
    """Unit of the single input of a series.

    Parameters
    ----------
    low, high : float
        First and last input.
    step : float
        Median distance of neighbouring inputs.
    name : str or None
        Unit of time in the singular, another unit as it was given, or None if it is not known.
    is_date : bool
        Whether inputs are days since 1970, and locations dates.
    is_chosen : bool
        Whether the unit was given, so that durations are in this unit.
    feature : str or None
        Name of the input, for slopes if there is no unit.
    """

    low: float
    high: float
    step: float
    name: str | None
    is_date: bool
    is_chosen: bool = True
    feature: str | None = None

    @classmethod
    def of(
        cls, x: Vector, unit: str | None, *, is_date: bool = False, feature: str | None = None
    ) -> InputUnit:
        """Return the unit of sorted inputs."""
        gaps = np.diff(np.unique(x))
        step = float(np.median(gaps)) if len(gaps) else 1.0
        name = None if unit is None else unit.strip()
        if name is not None and name.lower().rstrip("s") in DAYS:
            name = name.lower().rstrip("s")
        if is_date and name is not None and name not in DAYS:
            raise ValueError(
                f"unit={unit!r} is not a unit of time, but the inputs are dates. Give one of "
                f"{', '.join(f'{each}s' for each in DAYS)}, or omit it."
            )
        is_chosen = name is not None
        if is_date and name is None:
            name = _choose_unit(float(x[-1] - x[0]))
        return cls(float(x[0]), float(x[-1]), step, name, is_date, is_chosen, feature)

    @property
    def _days(self) -> float | None:
        """Days in one unit of the input; None if it is not a time."""
        return 1.0 if self.is_date else DAYS.get(self.name or "")

    def name_period(self, period: float) -> tuple[str, str | None]:
        """Return a noun phrase for a function of a period, and the unit of time that it is.

        Examples
        --------
        >>> quarters = InputUnit.of(np.arange(40.0), "quarters")
        >>> quarters.name_period(4.01), quarters.name_period(7.0)
        (('A yearly season', 'year'), ('A pattern that repeats every 7 quarters', None))
        """
        if self._days is not None:
            for unit, adjective in ADJECTIVES.items():
                if abs(period * self._days / DAYS[unit] - 1.0) <= NAMING_TOLERANCE:
                    article = "An" if adjective[0] == "h" else "A"
                    return f"{article} {adjective} season", unit
        return f"A pattern that repeats every {self.format_duration(period)}", None

    def format_recurrence(self, period: float) -> str:
        """Return how often something recurs, such as "every week" or "every 3.2 years"."""
        _, unit = self.name_period(period)
        return f"every {unit or self.format_duration(period)}"

    def format_duration(self, length: float) -> str:
        """Return a length with its unit, such as "3.2 years"."""
        if self._days is None:
            return f"{format_number(length)} {self.name}" if self.name else format_number(length)
        days = length * self._days
        unit = str(self.name)
        if not self.is_chosen or days < SHORT * DAYS[unit]:
            unit = _choose_unit(days)
        number = days / DAYS[unit]
        return f"{format_number(number)} {plural(unit, number)}"

    @property
    def rate(self) -> Rate:
        """The stretch to which slopes refer: a unit of time, or one unit of the input."""
        if self._days is not None:
            unit, record = str(self.name), (self.high - self.low) * self._days
            if record < 2.0 * DAYS[unit]:
                unit = _choose_unit(record)
            article = "an" if unit == "hour" else "a"
            return Rate(DAYS[unit] / self._days, f"per {unit}", f"in {article} {unit}")
        if self.name:
            return Rate(1.0, f"per {self.name}", f"over 1 {self.name}")
        where = f"of {self.feature}" if self.feature else "of the input"
        return Rate(1.0, f"per unit {where}", f"over one unit {where}")

    def format_stretch(self, count: float) -> str:
        """Return a multiple of the stretch of `rate`, such as "in 5 years"."""
        rate = self.rate
        if count == 1.0:
            return rate.stretch
        if self.name:
            preposition = "over" if self._days is None else "in"
            unit = rate.name.removeprefix("per ")
            noun = unit if self._days is None else plural(unit, count)
            return f"{preposition} {format_number(count)} {noun}"
        return f"over {format_number(count)} units of {self.feature or 'the input'}"

    @property
    def has_calendar(self) -> bool:
        """Whether inputs are dates, or years of the calendar with their fractions."""
        return self.is_date or (self.name == "year" and 1000.0 <= self.low <= self.high <= 3000.0)

    def format_location(self, x: float) -> str:
        """Return an input as text: a date to the resolution of the data, or a number."""
        if self.is_date:
            return _format_date(x, self.step)
        if self.has_calendar and self.step * 12.0 < 1.5:
            year, month, day = _split_year(x)
            is_daily = self.step * DAYS["year"] < 25.0
            return f"{f'{day} ' if is_daily else ''}{MONTHS[month]} {year}"
        decimals = max(0, math.ceil(-math.log10(self.step) - 1e-9))
        return f"{x:.{decimals}f}"

    def format_place(self, x: float) -> str:
        """Return an input as text with its preposition, such as "in March 1974"."""
        text = self.format_location(x)
        if not self.has_calendar or "." in text:
            return f"at {text}"
        return f"on {text}" if text.split(" ", 1)[0].isdigit() and " " in text else f"in {text}"

    def find_month(self, x: float) -> str:
        """Return the month of an input with a calendar."""
        if self.is_date:
            return MONTHS[int(_to_date(x).astype("datetime64[M]").astype(int)) % 12]
        return MONTHS[_split_year(x)[1]]

    def find_phase(self, x: float, unit: str | None) -> str | None:
        """Return where in a period an input is, such as "in July"; None if it has no name."""
        if unit == "year" and self.has_calendar and self._spans(7.0, 40.0):
            return f"in {self.find_month(x)}"
        if unit == "week" and self.is_date and self._spans(0.0, 1.01):
            # 1 January 1970 was a Thursday.
            return f"on {WEEKDAYS[(math.floor(x) + 3) % 7]}s"
        if unit == "day" and self.is_date and self._spans(0.0, 0.26):
            return f"at {_to_date(x).astype('datetime64[m]').item():%H:%M}"
        return None

    def _spans(self, low: float, high: float) -> bool:
        """Whether the step is between two numbers of days."""
        return low <= self.step * (self._days or 1.0) <= high


def _choose_unit(days: float) -> str:
    """Return the unit for a duration: the longest of which it has two or more."""
    units = ("year", "day", "hour", "minute")
    return next((unit for unit in units if days >= 2.0 * DAYS[unit]), "second")


def _split_year(x: float) -> tuple[int, int, int]:
    """Return the year, the month from zero, and the day of a year with its fraction."""
    year = math.floor(x + ROUNDING / DAYS["year"])
    days = max((x - year) * DAYS["year"] + ROUNDING, 0.0)
    month = int(np.searchsorted(MONTH_STARTS, days, side="right")) - 1
    return year, month, int(days - MONTH_STARTS[month]) + 1


def _to_date(days: float) -> np.datetime64:
    return np.datetime64(round(days * 86_400.0), "s")


def _format_date(days: float, step: float) -> str:
    """Format a date to the resolution of the data."""
    date: datetime = _to_date(days).item()  # type: ignore[assignment]
    month = MONTHS[date.month - 1]
    if step > 300.0:
        return str(date.year)
    if step > 25.0:
        return f"{month} {date.year}"
    day = f"{date.day} {month} {date.year}"
    return day if step >= 1.0 else f"{day}, {date:%H:%M}"
