"""Chance: streams of random numbers that no table of a user was made with."""

from __future__ import annotations

import numpy as np

__all__ = ["stream"]


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose, reproducible by the seed of the command.

    ``default_rng(seed)`` itself may have made the data: rows drawn with the same numbers would
    depend on their values.

    Examples
    --------
    >>> int(stream(0, "rows").integers(100)) == int(stream(0, "rows").integers(100))
    True
    """
    return np.random.default_rng([seed, *b"relvec ", *purpose.encode()])
