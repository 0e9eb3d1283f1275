"""What the columns of a table are: numbers, dates, levels, or nothing a model can use.

A *number* column has numbers only; a *date* column has dates, which become days; a *level* column
has few different texts, true/false or codes. Identifiers, constants, empty columns, texts of too
many kinds and numbers with a few texts among them are left out, each with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from relvec.cli.dates import as_days, day_of, days_until, holds_moments
from relvec.cli.errors import CommandError
from relvec.cli.limits import LIMITS

__all__ = [
    "Column",
    "Dropped",
    "as_levels",
    "as_numbers",
    "describe_column",
    "nearly_numbers",
    "partly_numbers",
    "prepare",
]

MISSING = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NULL", "null", "?")
"""Texts that stand for a missing value."""

ID_NAMES = ("id", "uuid", "guid", "index", "rowid", "row_id", "row")
WHOLE = r"^(-?[0-9]+)\.0*$"
"""A whole number as programs write it that take all numbers for fractions."""
DATE = r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?$"


@dataclass(frozen=True)
class Column:
    """A column that a model uses.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "level"}
    levels : list of str
        The different texts of a level column, the most frequent first.
    n_missing : int
    origin : str
        The day from which those of a date column are counted, as in 2019-01-31.
    """

    name: str
    kind: str
    levels: list[str] = field(default_factory=list)
    n_missing: int = 0
    origin: str = ""

    def facts(self) -> dict[str, Any]:
        """What is kept in the model file."""
        facts: dict[str, Any] = {"name": self.name, "kind": self.kind, "missing": self.n_missing}
        if self.kind == "date":
            return facts | {"origin": self.origin}
        return facts | {"levels": self.levels} if self.kind == "level" else facts

    @property
    def made_as(self) -> str:
        """How its number is made, if that is not plain."""
        return f"days since {self.origin}" if self.kind == "date" else ""


@dataclass(frozen=True)
class Dropped:
    """A column that is left out, and why."""

    name: str
    why: str
    is_mistake: bool = False
    """Whether it looks like a mistake in the table, of which nothing should be made."""

    def sentence(self) -> str:
        """Say so."""
        if self.is_mistake:
            return f"Column '{self.name}' is not a number everywhere: {self.why}."
        return f"Column '{self.name}' is left out: {self.why}."


def cleaned(series: pl.Series) -> pl.Series:
    """Text without blanks around it; missing values are null."""
    text = series.str.strip_chars()
    return text.set(text.is_in(list(MISSING)), None)


def as_numbers(series: pl.Series) -> tuple[pl.Series, int | None]:
    """The column as floating-point numbers with null for missing, and the first bad row.

    Examples
    --------
    >>> as_numbers(pl.Series(["1", "", "two"]))[1]
    2
    """
    if series.dtype == pl.String:
        text = cleaned(series)
        numbers = text.cast(pl.Float64, strict=False)
        bad = numbers.is_null() & text.is_not_null()
    elif series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        numbers = series.cast(pl.Float64)
        bad = pl.Series([False])
    else:
        numbers = pl.repeat(None, len(series), dtype=pl.Float64, eager=True)
        bad = series.is_not_null()
    numbers = numbers.set(numbers.is_nan() | (numbers.abs() > LIMITS.largest), None).alias(
        series.name
    )
    return numbers, bad.arg_true().item(0) if bad.any() else None


def as_levels(series: pl.Series, *, fold_truth: bool = True) -> pl.Series:
    """The column as text with null for missing; True and TRUE are true, 3.0 is 3.

    Each value is read by itself, so that files and blocks of them agree.

    Examples
    --------
    >>> as_levels(pl.Series(["3.0", "TRUE", "NA"])).to_list()
    ['3', 'true', None]
    >>> as_levels(pl.Series([3.0, 0.5])).to_list()
    ['3', '0.5']
    """
    if series.dtype == pl.String:
        text = cleaned(series).str.replace(WHOLE, "$1")
        if fold_truth:
            lower = text.str.to_lowercase()
            text = text.set(lower.is_in(["true", "false"]), None).fill_null(
                lower.set(~lower.is_in(["true", "false"]), None)
            )
        return text
    if series.dtype.is_float():
        series = series.cast(pl.Float64)
        series = series.set(series.is_nan(), None)
        is_whole = (series % 1 == 0) & (series.abs() < 2.0**53)
        whole = series.set(~is_whole, None).cast(pl.Int64).cast(pl.String)
        return whole.fill_null(series.cast(pl.String))
    if series.dtype in (pl.List, pl.Struct, pl.Object, pl.Binary):
        raise CommandError(f"Column '{series.name}' holds lists or objects, not single values.")
    return series.cast(pl.String)


def describe_column(
    series: pl.Series,
    *,
    max_levels: int = LIMITS.max_levels,
    as_level: bool = False,
    is_wanted: bool = False,
) -> Column | Dropped:
    """Say what a column of inputs is.

    Parameters
    ----------
    series : Series
    max_levels : int, default=30
        Different texts beyond which a column is left out.
    as_level : bool, default=False
        Take numbers for codes.
    is_wanted : bool, default=False
        Whether it was asked for by name: it is then no identifier, whatever it looks like.
    """
    name, dtype = series.name, series.dtype
    if holds_moments(series) and not as_level:
        return _describe_dates(series)
    if dtype.is_temporal() and not as_level:
        return Dropped(name, "it holds times without dates; make numbers of them to use it")
    if dtype in (pl.List, pl.Struct, pl.Object, pl.Binary, pl.Array):
        return Dropped(name, "it holds lists or objects, not single values")
    view = _View.of(series, max_levels=max_levels, as_level=as_level, is_wanted=is_wanted)
    return next(answer for rule in _RULES if (answer := rule(view)) is not None)


@dataclass(frozen=True)
class _View:
    """A column of single values, as the rules that tell kinds apart look at it."""

    series: pl.Series
    max_levels: int
    as_level: bool
    is_wanted: bool
    bad: int | None
    """The first row that is no number."""
    is_number: bool
    values: pl.Series
    """Numbers or levels, null where missing."""

    @classmethod
    def of(cls, series: pl.Series, *, as_level: bool, **asked: Any) -> _View:
        numbers, bad = as_numbers(series)
        is_number = bad is None and series.dtype != pl.Boolean and not as_level
        values = numbers if is_number else as_levels(series)
        return cls(series, as_level=as_level, bad=bad, is_number=is_number, values=values, **asked)

    @property
    def name(self) -> str:
        return self.series.name

    @property
    def n_missing(self) -> int:
        return self.values.null_count()

    @cached_property
    def present(self) -> pl.Series:
        return self.values.drop_nulls()

    @cached_property
    def n_different(self) -> int:
        return self.present.n_unique()


def _without_values(view: _View) -> Dropped | None:
    if len(view.present):
        return None
    why = "all its values are missing"
    is_empty = not view.is_number or as_levels(view.series).null_count() == len(view.series)
    return Dropped(view.name, why if is_empty else f"{why}, infinite or beyond {LIMITS.largest:g}")


def _constant(view: _View) -> Dropped | None:
    if view.n_missing:  # where a value is known may say something
        return None
    if view.n_different == 1:
        value = _shown(view.present.item(0))
        return Dropped(view.name, f"it has the same value in all rows ({value})")
    least = 1.0 / LIMITS.largest
    if view.is_number and _spread(view.values) < least:
        return Dropped(view.name, f"its values differ by less than {least:g}")
    return None


def _numbers(view: _View) -> Column | Dropped | None:
    if not view.is_number:
        return None
    if not view.is_wanted and _counts_rows(view.values, view.name):
        why = "it numbers the rows, which says nothing about new ones (--features keeps it)"
        return Dropped(view.name, why)
    return Column(view.name, "number", n_missing=view.n_missing)


def _dates_as_text(view: _View) -> Column | Dropped | None:
    if view.as_level or _share(view.present.str.contains(DATE)) <= 1.0 - LIMITS.few_texts:
        return None
    return _describe_dates(view.series)


def _misspelt_numbers(view: _View) -> Dropped | None:
    misspelt = nearly_numbers(view.series, view.bad, at_most=LIMITS.few_texts)
    if view.as_level or not misspelt:
        return None
    name = view.name
    choices = f"--drop '{name}' leaves it out, --categorical '{name}' takes all for levels"
    return Dropped(name, f"{misspelt}. {choices}", is_mistake=True)


def _too_many_texts(view: _View) -> Dropped | None:
    n_different = view.n_different
    if n_different <= view.max_levels:
        return None
    misspelt = nearly_numbers(view.series, view.bad)
    if n_different == len(view.present) and not misspelt:
        why = f"all its {n_different} texts differ, as names and identifiers do"
        return Dropped(view.name, why)
    hint = misspelt or "--max-levels changes that"
    why = f"it has {n_different} different texts (at most {view.max_levels} are used; {hint})"
    return Dropped(view.name, why)


def _levels(view: _View) -> Column:
    counts = view.present.value_counts(sort=True)
    levels = [str(each) for each in counts[view.name].to_list()]
    return Column(view.name, "level", levels, view.n_missing)


_RULES: tuple[Callable[[_View], Column | Dropped | None], ...] = (
    _without_values,
    _constant,
    _numbers,
    _dates_as_text,
    _misspelt_numbers,
    _too_many_texts,
    _levels,
)
"""Asked in this order until one has an answer; the last always has."""


def _describe_dates(series: pl.Series) -> Column | Dropped:
    """A column of dates, counted from the day of the earliest."""
    text = cleaned(series) if series.dtype == pl.String else series
    days, bad = as_days(text)
    if bad is not None:
        return Dropped(
            series.name,
            f"it holds dates, but not all are written as 2019-01-31: one is {series.item(bad)!r}",
        )
    first, last = days.min(), days.max()
    if first is None:
        return Dropped(series.name, "all its values are missing")
    assert isinstance(first, float)
    if first < days_until("0001-01-01"):
        return Dropped(series.name, "it holds dates before the year 1")
    if first == last and not days.null_count():
        return Dropped(series.name, f"it has the same date in all rows ({day_of(first)})")
    return Column(series.name, "date", n_missing=days.null_count(), origin=day_of(first))


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _spread(numbers: pl.Series) -> float:
    values = numbers.to_numpy()
    return float(values.max() - values.min())


def _share(marks: pl.Series) -> float:
    return float(marks.sum()) / len(marks)


def _counts_rows(numbers: pl.Series, name: str) -> bool:
    """Whether whole numbers, all different, are an identifier by name or by counting up."""
    if numbers.null_count() or len(numbers) < 10 or not (numbers % 1 == 0).all():
        return False
    steps = numbers.diff().drop_nulls()
    if (steps == 1).all() and numbers.item(0) in (0.0, 1.0):
        return True
    lower = name.lower()
    is_named = lower in ID_NAMES or lower.endswith("_id") or lower.startswith("unnamed_")
    return is_named and numbers.n_unique() == len(numbers)


def nearly_numbers(series: pl.Series, bad: int | None, *, at_most: float = 0.5) -> str:
    """Say what makes text of a column that is nearly one of numbers, or nothing.

    At most this share of its values may be text.

    Examples
    --------
    >>> nearly_numbers(pl.Series(["1", "2", "two"]), 2)
    "most are numbers, but one is 'two': correct it or leave it empty"
    """
    if series.dtype != pl.String or bad is None:
        return ""
    text = cleaned(series).drop_nulls()
    if _share(text.str.contains(r"^[-+]?[0-9.]*,[0-9]+$")) > 0.5:
        return "if these are numbers such as 1,5, add --decimal-comma"
    if _share(text.cast(pl.Float64, strict=False).is_null()) < at_most:
        return f"most are numbers, but one is {series.item(bad)!r}: correct it or leave it empty"
    return ""


def partly_numbers(column: Column, series: pl.Series) -> str:
    """Say that numbers of a column are taken for levels because of texts between them.

    Examples
    --------
    >>> rooms = pl.Series("rooms", ["1", "2", "2", "3+"])
    >>> partly_numbers(Column("rooms", "level"), rooms)
    "Column 'rooms' has texts such as '3+' between its numbers; all are taken for levels."
    """
    bad = as_numbers(series)[1] if column.kind == "level" else None
    if bad is None or not nearly_numbers(series, bad):
        return ""
    return (
        f"Column '{column.name}' has texts such as {series.item(bad)!r} between its numbers; all "
        "are taken for levels."
    )


def prepare(frame: pl.DataFrame, columns: list[Column], *, first_row: int = 1) -> pl.DataFrame:
    """The columns a model uses, as it expects them: numbers with NaN, levels as text.

    Raises
    ------
    CommandError
        If a number column holds text; the sentence names the row and the value.
    """
    ready = []
    for column in columns:
        series = frame[column.name]
        if column.kind == "level":
            ready.append(as_levels(series))
            continue
        if column.kind == "date":
            days, bad = as_days(cleaned(series) if series.dtype == pl.String else series)
            numbers, what = days - days_until(column.origin), "dates as 2019-01-31"
        else:
            (numbers, bad), what = as_numbers(series), "numbers"
        if bad is not None:
            raise CommandError(
                f"Column '{column.name}' must hold {what}, but row {first_row + bad} has "
                f"{str(series.item(bad))!r}. Correct it, or leave it empty if it is missing."
            )
        ready.append(numbers.fill_null(float("nan")))
    return pl.DataFrame(ready)
