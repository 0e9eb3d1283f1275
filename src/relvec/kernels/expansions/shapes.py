"""Single columns: lines, steps and kinks."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions.base import Expansion

__all__ = ["Kink", "Line", "Step"]


@dataclass(frozen=True, kw_only=True)
class Shape(Expansion):
    """A single column ``phi``, of covariance ``phi(u) phi(v)``."""

    origin: float = 0.0
    """Where the line is zero, or where the step or the change of slope is."""

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    @property
    def reach(self) -> tuple[float, float]:
        """Everywhere."""
        return -np.inf, np.inf

    def count_log_choices(self, n_samples: float) -> float:
        """Return the log number of rows for a location: it may be between any two of them."""
        return self.n_searched * math.log(n_samples)

    @abstractmethod
    def _evaluate(self, u: Vector) -> Vector:
        """Evaluate the column."""

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the column."""
        return self._evaluate(self._select(U))[:, np.newaxis]

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Multiply the column at both inputs."""
        left, right = self._evaluate(self._select(U)), self._evaluate(self._select(V))
        return np.multiply.outer(left, right)

    def variance(self, U: Matrix) -> Vector:
        """Return the square of the column."""
        value: Vector = self._evaluate(self._select(U)) ** 2
        return value


@dataclass(frozen=True, kw_only=True)
class Line(Shape):
    """A line that is zero at `origin`."""

    symbol: ClassVar[str] = "LIN"

    def _evaluate(self, u: Vector) -> Vector:
        return u - self.origin


@dataclass(frozen=True, kw_only=True)
class Step(Shape):
    """A level that changes once, at `origin`."""

    symbol: ClassVar[str] = "STEP"
    n_searched: ClassVar[int] = 1

    def _evaluate(self, u: Vector) -> Vector:
        return np.where(u > self.origin, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Kink(Shape):
    """A slope that changes once, at `origin`."""

    symbol: ClassVar[str] = "KINK"
    n_searched: ClassVar[int] = 1

    def _evaluate(self, u: Vector) -> Vector:
        return np.maximum(u - self.origin, 0.0)
