"""Columns that a user names: found, or the nearest ones told."""

from __future__ import annotations

from collections.abc import Sequence

from relvec.cli.errors import CommandError, listed, suggestion
from relvec.cli.limits import LIMITS
from relvec.cli.sources import Source, delimiter_hint

__all__ = ["find_column", "split_names"]


def find_column(name: str, columns: Sequence[str], source: Source, *, role: str) -> None:
    """Insist that a column is there."""
    if name in columns:
        return
    if len(columns) == 1:
        hint = delimiter_hint(columns[0], source)
        if hint:
            raise CommandError(
                f"{source.name} has one column, {columns[0]!r}, and no {role} {name!r}.{hint}"
            )
    hint = suggestion(name, columns)
    if all(_is_number(each) for each in columns):
        hint = " Its first line holds numbers only: does it have a header with names?"
    raise CommandError(
        f"There is no {role} column {name!r} in {source.name}.{hint} "
        f"Its columns are {_with_last(columns)}."
    )


def _with_last(columns: Sequence[str]) -> str:
    """Names of columns, of many the first few and the last, which often is the target."""
    shown = LIMITS.shown_columns
    if len(columns) <= shown:
        return listed(columns, shown)
    left = len(columns) - shown
    first = listed(columns[: shown - 1], shown)
    return f"{first}, {left} more, and {columns[-1]!r}"


def split_names(names: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Names that were given one by one, or several of them with commas between.

    Examples
    --------
    >>> split_names(["a,b", "c, d"], ["a", "b", "c, d"])
    ['a', 'b', 'c, d']
    """
    found: list[str] = []
    for name in names:
        parts = [part.strip() for part in name.split(",") if part.strip()]
        found += [name] if name in choices or not parts else parts
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
