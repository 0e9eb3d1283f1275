"""Escape docstrings for reStructuredText, and choose the members of a class that are shown.

Docstrings are written for a terminal. In reStructuredText `(n_features_in_,)` would be a link,
`(*signal.shape, 2)` emphasis, the dot of a product the end of a sentence, and the initial of a name
an item of a list.
"""

from __future__ import annotations

import re
from typing import Any

MARKUP = re.compile(r"(?<=\w)_(?=\W|$)|\*")
LITERAL = re.compile(r"``[^`]*``")
INITIAL = re.compile(r"^(\s*[A-Z])\. (?=[A-Z])")
FIELD = re.compile(r"Alias for field number \d+")


def tidied(line: str) -> str:
    r"""Escape one line of a docstring.

    Examples
    --------
    >>> tidied("names_ : ndarray of shape (n_features_in_,)")
    'names_ : ndarray of shape (n_features_in\\_,)'
    >>> tidied("The inner product ``x . z``.")
    'The inner product ``x · z``.'
    >>> tidied("M. E. Tipping (2001), JMLR 1.")
    'M\\. E. Tipping (2001), JMLR 1.'
    """
    name, colon, kind = line.partition(" : ")
    if colon and not line.startswith(" ") and "`" not in kind:
        return name + colon + MARKUP.sub(r"\\\g<0>", kind)
    line = INITIAL.sub(r"\1\. ", line)
    return LITERAL.sub(lambda literal: literal[0].replace(" . ", " · "), line)


def process(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring in place; leave out the default docstrings of tuple fields."""
    lines[:] = [tidied(line) for line in lines if not FIELD.fullmatch(line)]


def skip_inherited(
    app: Any, what: str, name: str, item: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that scikit-learn and the standard library add to every class.

    Examples
    --------
    >>> skip_inherited(None, "class", "count", tuple.count, False, None)
    True
    >>> skip_inherited(None, "class", "tidied", tidied, False, None) is None
    False
    """
    if type(item).__module__.startswith("sphinx"):
        return None  # an attribute with a type and a docstring, but no value
    home = getattr(item, "__module__", None) or getattr(
        getattr(item, "fget", None), "__module__", None
    )
    is_foreign = bool(home) and not home.startswith("relvec")
    return True if is_foreign or item is getattr(tuple, name, None) else None


def setup(app: Any) -> dict[str, bool]:
    """Connect to the events of autodoc, before numpydoc."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
