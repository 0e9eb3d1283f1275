"""Kinds of columns: number, date, category, or not usable.

A *number* column contains numbers only. A *date* column contains dates, which are converted to
days. A *category* column contains text with few different values, true/false, or codes.
Identifiers, constants, empty columns and text with many different values are left out; a few texts
in a column of numbers are reported as an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from relvec.cli.dates import as_times, days_since_epoch, format_day, has_dates, parse_days
from relvec.cli.errors import CommandError
from relvec.cli.limits import LIMITS

__all__ = [
    "Column",
    "Dropped",
    "as_categories",
    "as_numbers",
    "describe_column",
    "explain_mistyped",
    "explain_mixed",
    "prepare_columns",
]

MISSING = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NULL", "null", "?")
"""Texts that are read as a missing value."""

ID_NAMES = ("id", "uuid", "guid", "index", "rowid", "row_id", "row")
WHOLE_NUMBER = r"^(-?[0-9]+)\.0*$"
"""A whole number written with a decimal point, such as 3.0."""
DATE = r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}-\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?$"


@dataclass(frozen=True)
class Column:
    """A column used by a model.

    Parameters
    ----------
    name : str
    kind : {"number", "date", "time", "category"}
        Dates are days since `origin` for the model; times, of series, are dates for it too.
    categories : list of str
        Different values of a category column, the most frequent first.
    n_missing : int
        Number of missing values in the training rows.
    origin : str
        Day 0 of a date column, for example 2019-01-31.
    """

    name: str
    kind: str
    categories: list[str] = field(default_factory=list)
    n_missing: int = 0
    origin: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the description that is stored in the model file."""
        entry: dict[str, Any] = {"name": self.name, "kind": self.kind, "missing": self.n_missing}
        if self.kind == "date":
            return entry | {"origin": self.origin}
        return entry | {"categories": self.categories} if self.kind == "category" else entry

    @property
    def unit(self) -> str:
        """Unit of the encoded number of a date column, else empty."""
        return f"days since {self.origin}" if self.kind == "date" else ""


@dataclass(frozen=True)
class Dropped:
    """A column that is left out, with the reason."""

    name: str
    reason: str
    is_error: bool = False
    """Whether the column looks mistyped, so that the command should stop."""

    def describe(self) -> str:
        """Return the message to the user."""
        if self.is_error:
            return f"Column '{self.name}' is not numeric throughout: {self.reason}."
        return f"Column '{self.name}' is left out: {self.reason}."


def cleaned(series: pl.Series) -> pl.Series:
    """Strip white space and replace texts for missing values by null."""
    text = series.str.strip_chars()
    return text.set(text.is_in(list(MISSING)), None)


def as_numbers(series: pl.Series) -> tuple[pl.Series, int | None]:
    """Convert a column to floating-point numbers.

    Returns
    -------
    numbers : Series
        Null where the value is missing, infinite or too large.
    bad : int or None
        Index of the first row that is not a number.

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
    numbers = numbers.set(numbers.is_nan() | (numbers.abs() > LIMITS.largest_number), None).alias(
        series.name
    )
    return numbers, bad.arg_true().item(0) if bad.any() else None


def as_categories(series: pl.Series, *, fold_booleans: bool = True) -> pl.Series:
    """Convert a column to text, with null for missing values.

    3.0 becomes 3, and, if `fold_booleans`, True and TRUE become true. Each value is converted by
    itself, so that the result does not depend on the file format or on the block.

    Examples
    --------
    >>> as_categories(pl.Series(["3.0", "TRUE", "NA"])).to_list()
    ['3', 'true', None]
    >>> as_categories(pl.Series([3.0, 0.5])).to_list()
    ['3', '0.5']
    """
    if series.dtype == pl.String:
        text = cleaned(series).str.replace(WHOLE_NUMBER, "$1")
        if fold_booleans:
            lower = text.str.to_lowercase()
            text = text.set(lower.is_in(["true", "false"]), None).fill_null(
                lower.set(~lower.is_in(["true", "false"]), None)
            )
        return text
    if series.dtype.is_float():
        series = series.cast(pl.Float64)
        series = series.set(series.is_nan(), None)
        is_whole = (series % 1 == 0) & (series.abs() < 2.0**53)
        integers = series.set(~is_whole, None).cast(pl.Int64).cast(pl.String)
        return integers.fill_null(series.cast(pl.String))
    if series.dtype in (pl.List, pl.Struct, pl.Object, pl.Binary):
        raise CommandError(f"Column '{series.name}' contains lists or objects, not single values.")
    return series.cast(pl.String)


def describe_column(
    series: pl.Series,
    *,
    max_categories: int = LIMITS.max_categories,
    as_category: bool = False,
    is_requested: bool = False,
) -> Column | Dropped:
    """Determine the kind of a column, or the reason why it is left out.

    Parameters
    ----------
    series : Series
    max_categories : int, default=30
        Leave out text with more different values.
    as_category : bool, default=False
        Treat numbers and dates as categories.
    is_requested : bool, default=False
        Whether the user named the column; it is then not left out as an identifier.
    """
    name, dtype = series.name, series.dtype
    if has_dates(series) and not as_category:
        return _describe_dates(series)
    if dtype.is_temporal() and not as_category:
        return Dropped(name, "it contains times without dates; convert them to numbers to use them")
    if dtype in (pl.List, pl.Struct, pl.Object, pl.Binary, pl.Array):
        return Dropped(name, "it contains lists or objects, not single values")
    view = _ColumnView.from_series(
        series, max_categories=max_categories, as_category=as_category, is_requested=is_requested
    )
    return next(result for rule in _RULES if (result := rule(view)) is not None)


@dataclass(frozen=True)
class _ColumnView:
    """A column of single values, with what the rules below need to classify it."""

    series: pl.Series
    max_categories: int
    as_category: bool
    is_requested: bool
    bad: int | None
    """Index of the first row that is not a number."""
    is_number: bool
    values: pl.Series
    """Numbers or categories, null where missing."""

    @classmethod
    def from_series(cls, series: pl.Series, *, as_category: bool, **options: Any) -> _ColumnView:
        numbers, bad = as_numbers(series)
        is_number = bad is None and series.dtype != pl.Boolean and not as_category
        values = numbers if is_number else as_categories(series)
        return cls(
            series, as_category=as_category, bad=bad, is_number=is_number, values=values, **options
        )

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


def _empty_column(view: _ColumnView) -> Dropped | None:
    if len(view.present):
        return None
    reason = "all its values are missing"
    is_empty = not view.is_number or as_categories(view.series).null_count() == len(view.series)
    return Dropped(
        view.name,
        reason if is_empty else f"{reason}, infinite or larger than {LIMITS.largest_number:g}",
    )


def _constant_column(view: _ColumnView) -> Dropped | None:
    if view.n_missing:  # the missing-value indicator may be informative
        return None
    if view.n_different == 1:
        value = _format_value(view.present.item(0))
        return Dropped(view.name, f"it is constant ({value})")
    least = 1.0 / LIMITS.largest_number
    if view.is_number and _range(view.values) < least:
        return Dropped(view.name, f"its values differ by less than {least:g}")
    return None


def _number_column(view: _ColumnView) -> Column | Dropped | None:
    if not view.is_number:
        return None
    if not view.is_requested and _is_row_identifier(view.values, view.name):
        reason = (
            "it looks like a row identifier (to use it, name it and all other columns with "
            "--features)"
        )
        return Dropped(view.name, reason)
    return Column(view.name, "number", n_missing=view.n_missing)


def _date_column(view: _ColumnView) -> Column | Dropped | None:
    if (
        view.as_category
        or _fraction(view.present.str.contains(DATE)) <= 1.0 - LIMITS.max_typo_fraction
    ):
        return None
    return _describe_dates(view.series)


def _mistyped_numbers(view: _ColumnView) -> Dropped | None:
    mistyped = explain_mistyped(view.series, view.bad, at_most=LIMITS.max_typo_fraction)
    if view.as_category or not mistyped:
        return None
    name = view.name
    choices = f"Use --drop '{name}' to leave it out or --categorical '{name}' for categories"
    return Dropped(name, f"{mistyped}. {choices}", is_error=True)


def _too_many_categories(view: _ColumnView) -> Dropped | None:
    n_different = view.n_different
    if n_different <= view.max_categories:
        return None
    mistyped = explain_mistyped(view.series, view.bad)
    if n_different == len(view.present) and not mistyped:
        reason = f"it looks like names or identifiers (all {n_different} texts differ)"
        return Dropped(view.name, reason)
    hint = mistyped or "see --max-categories"
    reason = f"it has {n_different} categories, more than {view.max_categories} ({hint})"
    return Dropped(view.name, reason)


def _category_column(view: _ColumnView) -> Column:
    counts = view.present.value_counts(sort=True)
    categories = [str(each) for each in counts[view.name].to_list()]
    return Column(view.name, "category", categories, view.n_missing)


_RULES: tuple[Callable[[_ColumnView], Column | Dropped | None], ...] = (
    _empty_column,
    _constant_column,
    _number_column,
    _date_column,
    _mistyped_numbers,
    _too_many_categories,
    _category_column,
)
"""Applied in this order; the first result that is not None counts."""


def _describe_dates(series: pl.Series) -> Column | Dropped:
    """Describe a column of dates; its origin is the earliest day."""
    text = cleaned(series) if series.dtype == pl.String else series
    days, bad = parse_days(text)
    if bad is not None:
        return Dropped(
            series.name,
            f"not all of its dates have the form 2019-01-31, for example {series.item(bad)!r}",
        )
    first, last = days.min(), days.max()
    if first is None:
        return Dropped(series.name, "all its values are missing")
    assert isinstance(first, float)
    if first < days_since_epoch("0001-01-01"):
        return Dropped(series.name, "it contains dates before the year 1")
    if first == last and not days.null_count():
        return Dropped(series.name, f"it is constant ({format_day(first)})")
    return Column(series.name, "date", n_missing=days.null_count(), origin=format_day(first))


def _format_value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _range(numbers: pl.Series) -> float:
    values = numbers.to_numpy()
    return float(values.max() - values.min())


def _fraction(flags: pl.Series) -> float:
    return float(flags.sum()) / len(flags)


def _is_row_identifier(numbers: pl.Series, name: str) -> bool:
    """Whether a column counts 0, 1, 2, ... or 1, 2, 3, ..., or is a unique ID by its name."""
    if numbers.null_count() or len(numbers) < 10 or not (numbers % 1 == 0).all():
        return False
    steps = numbers.diff().drop_nulls()
    if (steps == 1).all() and numbers.item(0) in (0.0, 1.0):
        return True
    lower = name.lower()
    is_named = lower in ID_NAMES or lower.endswith("_id") or lower.startswith("unnamed_")
    return is_named and numbers.n_unique() == len(numbers)


def explain_mistyped(series: pl.Series, bad: int | None, *, at_most: float = 0.5) -> str:
    """Explain why a column that is mostly numbers was read as text, or return "".

    Parameters
    ----------
    series : Series
    bad : int or None
        Index of the first value that is not a number.
    at_most : float
        Largest fraction of values that may be text.

    Examples
    --------
    >>> explain_mistyped(pl.Series(["1", "2", "two"]), 2)
    "most values are numbers, but one is 'two'; correct it or leave it empty"
    """
    if series.dtype != pl.String or bad is None:
        return ""
    text = cleaned(series).drop_nulls()
    if _fraction(text.str.contains(r"^[-+]?[0-9.]*,[0-9]+$")) > 0.5:
        return "if its values are numbers with a decimal comma, such as 1,5, add --decimal-comma"
    if _fraction(text.cast(pl.Float64, strict=False).is_null()) < at_most:
        value = series.item(bad)
        return f"most values are numbers, but one is {value!r}; correct it or leave it empty"
    return ""


def explain_mixed(column: Column, series: pl.Series) -> str:
    """Explain that a column of numbers and texts is treated as categorical, or return "".

    Examples
    --------
    >>> floors = pl.Series("floors", ["1", "2", "2", "3+"])
    >>> explain_mixed(Column("floors", "category"), floors)
    "Column 'floors' contains numbers and text such as '3+'; it is treated as categorical."
    """
    bad = as_numbers(series)[1] if column.kind == "category" else None
    if bad is None or not explain_mistyped(series, bad):
        return ""
    return (
        f"Column '{column.name}' contains numbers and text such as {series.item(bad)!r}; it is "
        "treated as categorical."
    )


def prepare_columns(
    frame: pl.DataFrame, columns: list[Column], *, first_row: int = 1
) -> pl.DataFrame:
    """Convert the columns used by a model: numbers with NaN for missing, categories as text.

    Raises
    ------
    CommandError
        If a number or date column contains other text; the message names row and value.
    """
    ready = []
    for column in columns:
        series = frame[column.name]
        if column.kind == "category":
            ready.append(as_categories(series))
            continue
        if column.kind in ("date", "time"):
            days, bad = parse_days(cleaned(series) if series.dtype == pl.String else series)
            origin = days_since_epoch(column.origin) if column.kind == "date" else 0.0
            numbers, what = days - origin, "dates in the form 2019-01-31"
        else:
            (numbers, bad), what = as_numbers(series), "numbers"
        if bad is not None:
            raise CommandError(
                f"Column '{column.name}' must contain {what}, but row {first_row + bad} has "
                f"{str(series.item(bad))!r}. Correct it, or leave it empty if the value is missing."
            )
        if column.kind == "time":
            ready.append(as_times(numbers, first_row=first_row))
        else:
            ready.append(numbers.fill_null(float("nan")))
    return pl.DataFrame(ready)
