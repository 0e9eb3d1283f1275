"""Errors and numbers of vectors over splits: means, ratios of them, and standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Ratio", "Sample", "compute_ratio", "compute_ratio_of_means"]


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


class Ratio(NamedTuple):
    """A ratio of two means and its standard error."""

    value: float
    error: float


def compute_ratio_of_means(numerator: Sequence[float], denominator: Sequence[float]) -> Ratio:
    """Return the ratio of the means of paired repetitions, its error to first order."""
    a, b = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    value = float(a.mean() / b.mean())
    spread = float(np.std(a - value * b, ddof=1)) if len(a) > 1 else 0.0
    return Ratio(value, spread / (math.sqrt(len(a)) * float(b.mean())))


def compute_ratio(ours: Sample, other: Sample, what: str) -> Ratio:
    """Return the ratio of two means and its standard error.

    For several splits it is paired, as both models have the same splits. For one split the two
    errors are treated as independent, which is conservative.
    """
    ratio = compute_ratio_of_means(getattr(ours, what), getattr(other, what))
    if len(getattr(ours, what)) > 1:
        return ratio
    shares = (sample.standard_error(what) / sample.mean(what) for sample in (ours, other))
    return Ratio(ratio.value, ratio.value * math.hypot(*shares))
