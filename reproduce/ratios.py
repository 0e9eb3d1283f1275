"""Errors and numbers of vectors over splits: means, ratios of them, and standard errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = ["Sample", "ratio_of"]


class Sample(NamedTuple):
    """Errors in percent and numbers of vectors, one of each for every split."""

    error: np.ndarray
    n_vectors: np.ndarray
    n_test: int

    def mean(self, what: str) -> float:
        """Mean over splits of the error or the number of vectors."""
        return float(getattr(self, what).mean())

    def standard_error(self, what: str) -> float:
        """Return that of the mean; of one split, that of counting its test errors."""
        values = getattr(self, what)
        if len(values) > 1:
            return float(values.std(ddof=1)) / math.sqrt(len(values))
        if what == "n_vectors":
            return 0.0
        return math.sqrt(float(values[0] * (100.0 - values[0])) / self.n_test)


def ratio_of(ours: Sample, other: Sample, what: str) -> tuple[float, float]:
    """Return the ratio of two means and its standard error.

    Of several splits by the differences on each of them, since both models saw the same; of one
    split as if they had seen different rows, which is cautious.
    """
    top, bottom = getattr(ours, what), getattr(other, what)
    ratio = float(top.mean() / bottom.mean())
    if len(top) > 1:
        left = (top - ratio * bottom) / bottom.mean()
        return ratio, float(left.std(ddof=1)) / math.sqrt(len(top))
    shares = (sample.standard_error(what) / sample.mean(what) for sample in (ours, other))
    return ratio, ratio * math.hypot(*shares)
