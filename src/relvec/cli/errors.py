"""Failures that are said in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

__all__ = ["CommandError", "UsageError", "listed", "suggestion"]


class CommandError(Exception):
    """The command cannot do what was asked; the message is all the user needs."""

    exit_code = 1


class UsageError(CommandError):
    """The options contradict each other or the file they speak of."""

    exit_code = 2


def listed(names: Iterable[str], limit: int = 8) -> str:
    """Names in quotes, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def suggestion(
    name: str, choices: Iterable[str], *, by: Callable[[str], str] = lambda name: name
) -> str:
    """Ask whether the name most like this one was meant, or say nothing.

    What is alike is what `by` makes of the names.

    Examples
    --------
    >>> suggestion("prize", ["price", "rooms"])
    " Did you mean 'price'?"
    """
    by_lower = {by(choice).lower(): choice for choice in choices}
    found = difflib.get_close_matches(by(name).lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[found[0]]!r}?" if found else ""
