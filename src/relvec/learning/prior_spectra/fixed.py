"""Expansions without hyper-parameters to learn: of known spectrum, and columns that are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions import Expansion

__all__ = ["Given", "Held"]


@dataclass(frozen=True, kw_only=True)
class Held(Expansion):
    """An expansion whose hyper-parameters are not learnt."""

    symbol: ClassVar[str] = "HELD"

    inner: Expansion

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.inner.n_columns

    @property
    def reach(self) -> tuple[float, float]:
        """Values between which the columns stand for the covariance function."""
        return self.inner.reach

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the columns."""
        return self.inner.columns(U)

    def log_spectrum(self) -> Vector:
        """Return the log spectrum."""
        return self.inner.log_spectrum()

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the covariance function."""
        return self.inner.covariance(U, V)

    def variance(self, U: Matrix) -> Vector:
        """Evaluate the variance."""
        return self.inner.variance(U)


@dataclass(frozen=True, kw_only=True)
class Given(Expansion):
    """Columns that are given as features, from `feature` on."""

    symbol: ClassVar[str] = "GIVEN"

    count: int = 1

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.count

    @property
    def reach(self) -> tuple[float, float]:
        """Everywhere."""
        return -np.inf, np.inf

    def columns(self, U: Matrix) -> Matrix:
        """Return the columns."""
        return U[:, self.feature : self.feature + self.count]

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the inner products of rows."""
        return self.columns(U) @ self.columns(V).T

    def variance(self, U: Matrix) -> Vector:
        """Evaluate the squared norms of rows."""
        value: Vector = np.einsum("ij,ij->i", self.columns(U), self.columns(U))
        return value
