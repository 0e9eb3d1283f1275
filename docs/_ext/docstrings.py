"""Docstrings as reStructuredText wants them.

They are written to be read in a terminal: `ndarray of shape (n_features_in_,)` has what would be a
link, `(*signal.shape, 2)` what would be emphasis, and the dot of a product what would be the end
of a sentence.
"""

from __future__ import annotations

import re
from typing import Any

MARKUP = re.compile(r"(?<=\w)_(?=\W|$)|\*")
LITERAL = re.compile(r"``[^`]*``")


def tidied(line: str) -> str:
    r"""One line of a docstring.

    Examples
    --------
    >>> tidied("names_ : ndarray of shape (n_features_in_,)")
    'names_ : ndarray of shape (n_features_in\\_,)'
    >>> tidied("The inner product ``x . z``.")
    'The inner product ``x · z``.'
    """
    name, colon, kind = line.partition(" : ")
    if colon and not line.startswith(" ") and "`" not in kind:
        return name + colon + MARKUP.sub(r"\\\g<0>", kind)
    return LITERAL.sub(lambda literal: literal[0].replace(" . ", " · "), line)


def process(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Tidy a docstring in place."""
    lines[:] = [tidied(line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Listen to docstrings, before numpydoc does."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
