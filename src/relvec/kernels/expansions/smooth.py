"""Smooth functions: the squared exponential in sines on an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions.base import Expansion

__all__ = ["LOWEST_LOG_VARIANCE", "Smooth"]

LOWEST_LOG_VARIANCE = -60.0
"""Lower bound of log spectra: a variance of exp(-60) is zero to working precision, its logarithm
finite."""


@dataclass(frozen=True, kw_only=True)
class Smooth(Expansion):
    """Squared exponential ``exp(-(u - v)^2 / (2 length_scale^2))`` (R&W 2006, eq. 4.9).

    The columns are the eigenfunctions of the Laplacian on ``[-half_width, half_width]``, and the
    spectrum is the spectral density at their frequencies (Solin and Särkkä, 2020; R&W stands for
    Rasmussen and Williams).
    """

    symbol: ClassVar[str] = "SE"
    learnt: ClassVar[tuple[str, ...]] = ("length_scale",)

    length_scale: float = 0.3
    n_terms: int = 60
    half_width: float = 1.6
    """Half the width of the interval. Functions vanish at its ends, which should be a length-scale
    away from the inputs."""

    end_distance: ClassVar[float] = 2.0
    """Length-scales from the ends of the interval. At this distance ``d`` the variance is that of
    the prior: ``1 - exp(-2 d^2)``, by reflection at the end, differs from one by 3e-4."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_terms

    @property
    def reach(self) -> tuple[float, float]:
        """What is two length-scales away from the ends of the interval.

        At least the inner half of what lies between the training inputs and the ends: with long
        length-scales the variance there is below that of the prior.
        """
        end = max(
            0.5 * (1.0 + self.half_width), self.half_width - self.end_distance * self.length_scale
        )
        return -end, end

    @property
    def _frequencies(self) -> Vector:
        orders = np.arange(1.0, self.n_terms + 1.0)
        return orders * (np.pi / (2.0 * self.half_width))

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the sines, which are orthonormal on the interval."""
        shifted = self._select(U) + self.half_width
        waves: Matrix = np.sin(np.multiply.outer(shifted, self._frequencies))
        return waves / np.sqrt(self.half_width)

    def log_spectrum(self) -> Vector:
        """Return the log spectral density ``sqrt(2 pi) l exp(-omega^2 l^2 / 2)``."""
        reduced = (self._frequencies * self.length_scale) ** 2
        value = 0.5 * np.log(2.0 * np.pi) + np.log(self.length_scale) - 0.5 * reduced
        return np.maximum(value, LOWEST_LOG_VARIANCE)

    def spectrum_slopes(self) -> Matrix:
        """Return ``d log lambda / d log l = 1 - omega^2 l^2``."""
        slope = 1.0 - (self._frequencies * self.length_scale) ** 2
        is_free = self.log_spectrum() > LOWEST_LOG_VARIANCE
        return np.where(is_free, slope, 0.0)[np.newaxis]

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the squared exponential."""
        value: Matrix = np.exp(-0.5 * (self._differences(U, V) / self.length_scale) ** 2)
        return value

    def variance(self, U: Matrix) -> Vector:
        """Return ones: the covariance function is stationary."""
        return np.ones(len(U))
