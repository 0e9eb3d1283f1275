"""Levels and slopes that wander: the Wiener process and its integral, in sines and cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions.base import Expansion

__all__ = ["SlopeWalk", "Walk"]


@dataclass(frozen=True, kw_only=True)
class Walk(Expansion):
    """Wiener process: a level that wanders without returning, ``min(t, t')``, ``t = u - start``.

    It predicts that the present level stays, with a variance that grows linearly. The columns are
    those of its Karhunen-Loève expansion on ``[0, span]``. With an intercept of flat prior the
    evidence does not depend on `start`, but only after it can the level differ from the first one.
    """

    symbol: ClassVar[str] = "RW"

    n_terms: int = 110
    span: float = 2.7
    """Length of the interval; the training inputs have ``u`` in [-1, 1]."""
    start: float = -1.0
    """Where the process begins, at zero."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_terms

    @property
    def reach(self) -> tuple[float, float]:
        """The interval of the expansion; before its start the process is zero."""
        return self.start, self.start + self.span

    @property
    def _frequencies(self) -> Vector:
        orders = np.arange(1.0, self.n_terms + 1.0)
        return (orders - 0.5) * (np.pi / self.span)

    def _time(self, U: Matrix) -> Vector:
        """Return the time since the start, before which the process is zero."""
        return np.maximum(self._select(U) - self.start, 0.0)

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate ``sqrt(2 / span) sin(omega t) / omega``."""
        omega = self._frequencies
        waves: Matrix = np.sin(np.multiply.outer(self._time(U), omega))
        return waves * (np.sqrt(2.0 / self.span) / omega)

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate ``min(t, t')``."""
        value: Matrix = np.minimum.outer(self._time(U), self._time(V))
        return value

    def variance(self, U: Matrix) -> Vector:
        """Return ``t``."""
        return self._time(U)


@dataclass(frozen=True, kw_only=True)
class SlopeWalk(Walk):
    """Integrated Wiener process: a slope that wanders. It predicts that the present slope stays.

    It starts with slope zero; models that contain it have a diffuse linear column in addition,
    which `n_searched` counts.
    """

    symbol: ClassVar[str] = "IRW"
    n_searched: ClassVar[int] = 1

    n_terms: int = 60

    def count_log_choices(self, n_samples: float) -> float:
        """Return half the log number of rows, for the slope of the linear column, as in BIC."""
        return 0.5 * math.log(n_samples)

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the integrals of the columns of the Wiener process."""
        omega = self._frequencies
        waves: Matrix = 1.0 - np.cos(np.multiply.outer(self._time(U), omega))
        return waves * (np.sqrt(2.0 / self.span) / omega**2)

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate ``m^3 / 3 + |t - t'| m^2 / 2`` with ``m = min(t, t')``."""
        t, s = self._time(U), self._time(V)
        first: Matrix = np.minimum.outer(t, s)
        apart: Matrix = np.abs(np.subtract.outer(t, s))
        return first**3 / 3.0 + apart * first**2 / 2.0

    def variance(self, U: Matrix) -> Vector:
        """Return ``t^3 / 3``."""
        value: Vector = self._time(U) ** 3 / 3.0
        return value
