"""Random number generators for the commands."""

from __future__ import annotations

import numpy as np

__all__ = ["make_generator"]


def make_generator(seed: int, purpose: str) -> np.random.Generator:
    """Make a generator for one purpose from the seed of the command.

    It differs from ``default_rng(seed)``, with which a user may have simulated the table: rows
    drawn with the same random numbers would depend on their values.

    Examples
    --------
    >>> int(make_generator(0, "rows").integers(100)) == int(make_generator(0, "rows").integers(100))
    True
    """
    return np.random.default_rng([seed, *b"relvec ", *purpose.encode()])
