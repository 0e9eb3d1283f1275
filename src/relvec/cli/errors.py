"""Errors reported to the user as one message, and helpers to write them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

__all__ = ["CommandError", "UsageError", "format_names", "suggest_name"]


class CommandError(Exception):
    """The command failed. The message is shown without a traceback."""

    exit_code = 1


class UsageError(CommandError):
    """The options are invalid, or contradict each other or the input file."""

    exit_code = 2


def format_names(names: Iterable[str], limit: int = 8) -> str:
    """List names in quotes, at most `limit` of them.

    Examples
    --------
    >>> format_names(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def suggest_name(
    name: str, choices: Iterable[str], *, key: Callable[[str], str] = lambda name: name
) -> str:
    """Return "Did you mean ...?" for the most similar choice, or an empty string.

    Similarity is that of ``key(name)``.

    Examples
    --------
    >>> suggest_name("prize", ["price", "rooms"])
    " Did you mean 'price'?"
    """
    by_lower = {key(choice).lower(): choice for choice in choices}
    found = difflib.get_close_matches(key(name).lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[found[0]]!r}?" if found else ""
