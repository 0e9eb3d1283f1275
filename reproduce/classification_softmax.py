"""The same digits by one model of all classes, which the paper left out for its cost."""

from __future__ import annotations

from pathlib import Path

from bench.report import Table
from reproduce import classification_usps
from reproduce.classification_usps import ONE_VERSUS_REST, Method

__all__ = ["METHODS", "tables"]

METHODS = (Method("softmax", {"multi_class": "softmax"}, ONE_VERSUS_REST),)
"""The width is that of ten machines: cross-validation of the joint model takes hours."""


def tables(folder: str | Path | None, n_draws: int, seed: int) -> list[Table]:
    """Return the printed figures of ten machines next to ours of one model."""
    return classification_usps.tables(folder, n_draws, seed, METHODS)
