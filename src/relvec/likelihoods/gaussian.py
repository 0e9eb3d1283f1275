"""Gaussian noise: what a predictive mean and variance say about a new target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from relvec._typing import Matrix, Vector


class GaussianPrediction(NamedTuple):
    """Normal predictive distributions of new targets, one per entry.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import GaussianPrediction
    >>> prediction = GaussianPrediction(mean=np.array([1.0]), variance=np.array([4.0]))
    >>> prediction.std
    array([2.])
    >>> prediction.interval(0.95).round(2)
    array([[-2.92,  4.92]])
    """

    mean: Vector
    variance: Vector
    """Noise included."""

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return np.sqrt(self.variance)

    def interval(self, coverage: float) -> Matrix:
        """Central intervals that hold a new target with probability `coverage`: (..., 2)."""
        half = float(ndtri(0.5 + 0.5 * coverage)) * self.std
        return np.stack([self.mean - half, self.mean + half], axis=-1)

    def log_density(self, target: Vector) -> Vector:
        """Log density of observed targets."""
        squared = (target - self.mean) ** 2 / self.variance
        return -0.5 * (np.log(2.0 * np.pi * self.variance) + squared)
