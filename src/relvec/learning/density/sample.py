"""A weighted sample of one variable: moments, quantiles and a thinned copy of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._typing import Vector

__all__ = ["Sample"]


@dataclass(frozen=True)
class Sample:
    """Values with frequency weights: a value of weight two counts as two equal values."""

    values: Vector
    weight: Vector

    @cached_property
    def total(self) -> float:
        """Number of observations."""
        return float(self.weight.sum())

    @cached_property
    def mean(self) -> float:
        """Mean."""
        return float(self.weight @ self.values) / self.total

    @cached_property
    def std(self) -> float:
        """Standard deviation, with one degree of freedom less if there is more than one value."""
        squares = float(self.weight @ (self.values - self.mean) ** 2)
        return math.sqrt(squares / max(self.total - 1.0, 0.5 * self.total))

    @cached_property
    def _order(self) -> tuple[Vector, Vector]:
        order = np.argsort(self.values, kind="stable")
        return self.values[order], np.cumsum(self.weight[order])

    def quantile(self, levels: Vector) -> Vector:
        """Return quantiles: the smallest value with at least this share of the weight below."""
        values, reached = self._order
        # Rounding of the sum of weights must not decide between two values.
        place = np.searchsorted(reached, np.asarray(levels) * reached[-1] * (1.0 - 1e-12))
        result: Vector = values[np.minimum(place, len(values) - 1)]
        return result

    @property
    def median(self) -> float:
        """Median."""
        return float(self.quantile(np.array([0.5]))[0])

    @cached_property
    def spread(self) -> float:
        """Smaller of standard deviation and interquartile range over 1.349, if not zero."""
        lower, upper = self.quantile(np.array([0.25, 0.75]))
        robust = float(upper - lower) / 1.349
        return min(self.std, robust) if robust > 0.0 else self.std

    @property
    def bandwidth(self) -> float:
        """Rule-of-thumb width of a kernel (Silverman 1986, eq. 3.31)."""
        return 0.9 * self.spread * self.total**-0.2

    def thin(self, size: int = 1000) -> Sample:
        """Return at most `size` quantiles of equal weight, of the same total weight.

        Costs of likelihoods that are evaluated many times then do not depend on the number of
        observations. Samples of at most `size` different values are returned as they are, whether
        repetitions are given as weights or as copies.
        """
        if len(self.values) <= size or 1 + np.count_nonzero(np.diff(self._order[0])) <= size:
            return self
        levels = (np.arange(size) + 0.5) / size
        return Sample(self.quantile(levels), np.full(size, self.total / size))
