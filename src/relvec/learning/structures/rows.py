"""Rows of a search: scaled inputs, and targets under a transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.learning.structures.transforms import OutputTransform

__all__ = ["OutputScaling", "Scaling", "SearchRows", "TransformedTarget"]


GRID_TOLERANCE = 0.1
"""Median distance of gaps from multiples of the smallest one, below which inputs lie on a grid. It
is 0.25 if gaps have nothing to do with each other."""


class Scaling(NamedTuple):
    """Linear map of each feature to [-1, 1] over the training rows."""

    centre: Vector
    half_range: Vector

    @classmethod
    def of(cls, X: Matrix) -> Scaling:
        """Return the scaling of training inputs; constant features map to zero."""
        low, high = X.min(axis=0), X.max(axis=0)
        half = 0.5 * (high - low)
        return cls(0.5 * (low + high), np.where(half > 0.0, half, 1.0))

    def apply(self, X: Matrix) -> Matrix:
        """Return scaled inputs."""
        return (X - self.centre) / self.half_range

    def invert(self, U: Matrix) -> Matrix:
        """Return inputs of scaled ones."""
        return U * self.half_range + self.centre


@dataclass(frozen=True)
class OutputScaling:
    """A transform of the target, then the linear map that standardises the training targets."""

    transform: OutputTransform
    mean: float
    std: float

    def forward(self, target: Vector) -> Vector:
        """Return standardised transformed values of targets."""
        return (self.transform.forward(target) - self.mean) / self.std

    def inverse(self, values: Vector) -> Vector:
        """Return the targets of standardised transformed values."""
        return self.transform.inverse(values * self.std + self.mean)

    def log_slope(self, target: Vector) -> Vector:
        """Return the log derivative of the standardised transformed value in the target."""
        return self.transform.log_slope(target) - np.log(self.std)


@dataclass(frozen=True)
class TransformedTarget(OutputScaling):
    """Training targets under a transform, standardised."""

    target: Vector
    """The targets as given."""

    @classmethod
    def of(
        cls, transform: OutputTransform, target: Vector, weight: Vector | None = None
    ) -> TransformedTarget:
        """Standardise transformed targets."""
        z = transform.forward(target)
        mean = float(np.average(z, weights=weight))
        variance = float(np.average((z - mean) ** 2, weights=weight))
        # Of a constant target only the size is known: its spread is rounding error.
        std = np.sqrt(variance) or max(abs(mean), 1.0) * 1e-8
        return cls(transform, mean, float(std), target)

    @property
    def scaling(self) -> OutputScaling:
        """The transform and the linear map, without the targets."""
        return OutputScaling(self.transform, self.mean, self.std)

    @cached_property
    def values(self) -> Vector:
        """Standardised transformed targets."""
        return self.forward(self.target)

    @cached_property
    def log_jacobian(self) -> Vector:
        """Log derivative of `values` in the target, by which densities are those of the target."""
        return self.log_slope(self.target)


@dataclass(frozen=True)
class SearchRows:
    """Scaled inputs of a series, in order of the first feature, with their spacing."""

    U: Matrix

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.U)

    @cached_property
    def _gaps(self) -> Vector:
        gaps = np.diff(np.sort(self.U[:, 0]))
        gaps = gaps[gaps > 1e-9]  # equal inputs, up to rounding, have no gap
        return gaps if len(gaps) else np.array([2.0])

    @cached_property
    def spacing(self) -> float:
        """Median gap between neighbouring inputs; zero for several features, which have none."""
        if self.U.shape[1] > 1:
            return 0.0
        return max(float(np.median(self._gaps)), 2.0 / 4000.0)

    @cached_property
    def smallest_spacing(self) -> float:
        """Step of the grid that the inputs lie on, or the median gap if they do not lie on one.

        If rows are missing from a regular grid, periods down to twice its step can be seen, which
        is less than twice the median gap. Inputs at random have no such limit, but the more
        frequencies are searched, the more of them fit noise.
        """
        # The step is a gap that 2 % of all gaps do not exceed, up to rounding of the inputs.
        step = float(np.quantile(self._gaps, 0.02))
        steps = self._gaps / step
        is_grid = np.median(np.abs(steps - np.round(steps))) < GRID_TOLERANCE
        return max(step if is_grid else float(np.median(self._gaps)), 2.0 / 6000.0)
