"""What the columns of a table are: numbers, dates, levels, or nothing a model can use.

A *number* column has numbers only; a *date* column has dates, which become days; a *level* column
has few different texts, true/false or codes. Identifiers, constants, empty columns, texts of too
many kinds and numbers with a few texts among them are left out, each with a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from relvec.cli.dates import as_days, day_of, days_until, holds_moments
from relvec.cli.errors import CommandError

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

MAX_LEVELS = 30
"""Different texts beyond which a column is left out."""

FEW = 0.1
"""Share of texts among numbers up to which they are taken for mistakes, not for levels."""

LARGEST = 1e100
"""Numbers beyond stand for missing values too, as infinity does."""

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
    numbers = numbers.set(numbers.is_nan() | (numbers.abs() > LARGEST), None).alias(series.name)
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
    max_levels: int = MAX_LEVELS,
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
    numbers, bad = as_numbers(series)
    is_number = bad is None and dtype != pl.Boolean and not as_level
    values = numbers if is_number else as_levels(series)
    n_missing = values.null_count()
    present = values.drop_nulls()
    if not len(present):
        why = "all its values are missing"
        is_empty = not is_number or as_levels(series).null_count() == len(series)
        return Dropped(name, why if is_empty else f"{why}, infinite or beyond {LARGEST:g}")
    n_different = present.n_unique()
    if n_different == 1 and not n_missing:
        return Dropped(name, f"it has the same value in all rows ({_shown(present.item(0))})")
    if is_number and not n_missing and _spread(numbers) < 1.0 / LARGEST:
        return Dropped(name, f"its values differ by less than {1.0 / LARGEST:g}")
    if is_number:
        if not is_wanted and _counts_rows(numbers, name):
            return Dropped(
                name, "it numbers the rows, which says nothing about new ones (--features keeps it)"
            )
        return Column(name, "number", n_missing=n_missing)
    if not as_level and _share(present.str.contains(DATE)) > 1.0 - FEW:
        return _describe_dates(series)
    misspelt = "" if as_level else nearly_numbers(series, bad, at_most=FEW)
    if misspelt:
        choices = f"--drop '{name}' leaves it out, --categorical '{name}' takes all for levels"
        return Dropped(name, f"{misspelt}. {choices}", is_mistake=True)
    if n_different > max_levels:
        misspelt = nearly_numbers(series, bad)
        if n_different == len(present) and not misspelt:
            return Dropped(name, f"all its {n_different} texts differ, as names and identifiers do")
        hint = misspelt or "--max-levels changes that"
        return Dropped(
            name, f"it has {n_different} different texts (at most {max_levels} are used; {hint})"
        )
    counts = present.value_counts(sort=True)
    return Column(name, "level", [str(each) for each in counts[name].to_list()], n_missing)


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
