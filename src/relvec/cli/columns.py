"""Check column names given by the user, with suggestions for misspelt ones."""

from __future__ import annotations

from collections.abc import Sequence

from relvec.cli.errors import CommandError, format_names, suggest_name
from relvec.cli.limits import LIMITS
from relvec.cli.sources import Source, delimiter_hint

__all__ = ["check_column", "split_names"]


def check_column(name: str, columns: Sequence[str], source: Source, *, role: str) -> None:
    """Raise a `CommandError`, with suggestions, if a column is missing."""
    if name in columns:
        return
    if len(columns) == 1:
        hint = delimiter_hint(columns[0], source)
        if hint:
            raise CommandError(
                f"{source.name} has one column, {columns[0]!r}, and no {role} {name!r}.{hint}"
            )
    hint = suggest_name(name, columns)
    if all(_is_number(each) for each in columns):
        hint = " Its first line contains numbers only: is the header with the column names missing?"
    raise CommandError(
        f"There is no {role} column {name!r} in {source.name}.{hint} "
        f"Its columns are {_format_columns(columns)}."
    )


def _format_columns(columns: Sequence[str]) -> str:
    """List column names; of many, the first few and the last, which often is the target."""
    shown = LIMITS.shown_columns
    if len(columns) <= shown:
        return format_names(columns, shown)
    left = len(columns) - shown
    first = format_names(columns[: shown - 1], shown)
    return f"{first}, {left} more, and {columns[-1]!r}"


def split_names(names: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Split names given as separate options or separated by commas.

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
