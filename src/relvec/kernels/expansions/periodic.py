"""Periodic functions: harmonics with Bessel weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ive

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions.base import Expansion
from relvec.kernels.expansions.smooth import LOWEST_LOG_VARIANCE

__all__ = ["Harmonics"]

SHORTEST_LENGTH_SCALE = 1e-4
"""Length-scales at which all harmonics have the same weight but for ``j^2 length_scale^2 / 2``.
Bessel functions of the inverse squares of far shorter ones overflow."""


@dataclass(frozen=True, kw_only=True)
class Harmonics(Expansion):
    """Periodic functions without a constant, of unit variance.

    ``sum_j lambda_j cos(2 pi j (u - v) / period)`` with ``lambda_j`` proportional to the Bessel
    function ``I_j(1 / length_scale^2)``, from the first harmonic on. With the constant and all
    harmonics it is ``exp(cos(2 pi (u - v) / period) / length_scale^2)``, the periodic kernel
    (Rasmussen & Williams 2006, eq. 4.31). A constant would compete with the intercept.
    """

    symbol: ClassVar[str] = "PER"
    learnt: ClassVar[tuple[str, ...]] = ("length_scale",)
    n_searched: ClassVar[int] = 1

    period: float = 1.0
    length_scale: float = 1.0
    """The smaller, the more functions vary within a period."""
    n_harmonics: int = 6

    def count_log_choices(self, n_samples: float) -> float:
        """Return the log of half the number of rows: so many frequencies can be distinguished."""
        return math.log(max(0.5 * n_samples, 1.0))

    @property
    def n_columns(self) -> int:
        """Number of columns: a cosine and a sine for each harmonic."""
        return 2 * self.n_harmonics

    @property
    def reach(self) -> tuple[float, float]:
        """Everywhere."""
        return -np.inf, np.inf

    @property
    def _orders(self) -> Vector:
        return np.arange(1.0, self.n_harmonics + 1.0)

    @property
    def _concentration(self) -> float:
        return max(float(self.length_scale), SHORTEST_LENGTH_SCALE) ** -2

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate cosines, then sines."""
        angle = np.multiply.outer(2.0 * np.pi / self.period * self._select(U), self._orders)
        return np.hstack([np.cos(angle), np.sin(angle)])

    def _bessel(self) -> tuple[Vector, Vector]:
        """Return ``I_j(a) exp(-a)``, and its derivative in ``a``."""
        orders, a = self._orders, self._concentration
        value = np.maximum(ive(orders, a), np.exp(LOWEST_LOG_VARIANCE))
        # I_j' = (I_(j-1) + I_(j+1)) / 2, and the factor exp(-a) of `ive`.
        return value, 0.5 * (ive(orders - 1.0, a) + ive(orders + 1.0, a)) - ive(orders, a)

    def log_spectrum(self) -> Vector:
        """Return the log weights of the harmonics, which sum to one."""
        value, _ = self._bessel()
        return np.tile(np.log(value / value.sum()), 2)

    def spectrum_slopes(self) -> Matrix:
        """Return the derivative in the log length-scale."""
        value, slope = self._bessel()
        # d a / d log l = -2 a.
        by_concentration = slope / value - slope.sum() / value.sum()
        return np.tile(-2.0 * self._concentration * by_concentration, 2)[np.newaxis]

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Sum the cosines."""
        angle = 2.0 * np.pi / self.period * self._differences(U, V)
        spectrum = np.exp(self.log_spectrum()[: self.n_harmonics])
        total = np.zeros(angle.shape)
        for order, weight in zip(self._orders, spectrum, strict=True):
            total += weight * np.cos(order * angle)
        return total

    def variance(self, U: Matrix) -> Vector:
        """Return ones: the covariance function is stationary."""
        return np.ones(len(U))
