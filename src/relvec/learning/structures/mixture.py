"""Predictive distributions of several structures, averaged by weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils import check_random_state

from relvec._typing import Matrix, Vector
from relvec.learning.structures.rows import OutputScaling

__all__ = ["Normal", "StructureMixture"]

MAX_BISECTIONS = 1200
"""Enough for neighbouring numbers from a bracket as wide as the range of numbers."""


@dataclass(frozen=True)
class Normal:
    """Normal distributions of standardised transformed targets, one per row."""

    output: OutputScaling
    mean: Vector
    std: Vector

    @cached_property
    def median(self) -> Vector:
        """Median of the target, in its own units."""
        return self.output.inverse(self.mean)

    def quantile(self, level: float) -> Vector:
        """Return the quantile of the target."""
        return self.output.inverse(self.mean + float(ndtri(level)) * self.std)

    def cdf(self, target: Vector) -> Vector:
        """Return the probability that a target is at most some value."""
        probability: Vector = ndtr((self._forward(target) - self.mean) / self.std)
        return probability

    def log_density(self, target: Vector) -> Vector:
        """Return the log density of targets; minus infinity outside the domain."""
        inside = self.output.transform.supports(target)
        # any target of the domain in place of the others, whose density is zero
        safe = np.where(inside, target, self.median)
        z = (self._forward(safe) - self.mean) / self.std
        density = -0.5 * z**2 - np.log(self.std) - 0.5 * np.log(2.0 * np.pi)
        return np.where(inside, density + self.output.log_slope(safe), -np.inf)

    def _forward(self, target: Vector) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.output.forward(target)
        # below the domain of the transform there is no probability
        return np.where(np.isnan(value), -np.inf, value)


@dataclass(frozen=True)
class StructureMixture:
    """Mixture of the predictive distributions of structures.

    Parameters
    ----------
    members : sequence of Normal
        Predictive distributions of each structure.
    weights : ndarray of shape (n_members,)
        Their weights, which sum to one.
    """

    members: Sequence[Normal]
    weights: Vector

    @property
    def centre(self) -> Vector:
        """Weighted mean of the medians of the members.

        After a logarithm the mean of a distant forecast is dominated by its upper tail; the median
        is not.
        """
        medians = np.array([member.median for member in self.members])
        return self.weights @ medians

    @property
    def mean(self) -> Vector:
        """What is predicted: `centre`, since means of distant forecasts may not exist."""
        return self.centre

    @property
    def variance(self) -> Vector:
        """Square of `std`."""
        return self.std**2

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target, by bisection between those of the members."""
        each = np.array([member.quantile(level) for member in self.members])
        low, high = each.min(axis=0), np.minimum(each.max(axis=0), np.finfo(float).max)
        # To neighbouring numbers: a member of small weight can widen the bracket by any factor.
        for _ in range(MAX_BISECTIONS):
            middle = 0.5 * low + 0.5 * high
            if ((middle <= low) | (middle >= high)).all():
                break
            enough = self.cdf(middle) >= level
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals, shape (n_rows, 2)."""
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    @property
    def std(self) -> Vector:
        """Half the width of the central interval of one standard deviation of a normal variable."""
        low, high = self.interval(float(2.0 * ndtr(1.0) - 1.0)).T
        return 0.5 * (high - low)

    def cdf(self, target: Vector) -> Vector:
        """Return the probability that a target is at most some value."""
        return self.weights @ np.array([member.cdf(target) for member in self.members])

    def log_density(self, target: Vector) -> Vector:
        """Return the log density of observed targets."""
        with np.errstate(divide="ignore"):
            each = np.array([member.log_density(target) for member in self.members])
            return np.logaddexp.reduce(each + np.log(self.weights)[:, np.newaxis], axis=0)

    def sample(self, n_samples: int, random_state: object = None) -> Matrix:
        """Draw targets of each row, independent between rows, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        shape = (len(self.members[0].mean), n_samples)
        which = rng.choice(len(self.members), size=shape, p=self.weights)
        normal, draws = rng.normal(size=shape), np.empty(shape)
        for number, member in enumerate(self.members):
            values = member.mean[:, np.newaxis] + member.std[:, np.newaxis] * normal
            chosen = which == number
            draws[chosen] = member.output.inverse(values[chosen])
        return draws
