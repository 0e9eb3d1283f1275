"""Coordinates of a density estimate: scores of the margins, uncorrelated if there are two.

In these coordinates the reference density is a product of standard densities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relvec._linalg import solve_lower
from relvec._typing import Matrix, Vector
from relvec.learning.density.margins import Margin
from relvec.learning.density.standard import Standard

__all__ = ["Coordinates"]


@dataclass(frozen=True)
class Coordinates:
    """A change of variables from points to coordinates with a standard reference density."""

    margins: tuple[Margin, ...]
    correlation: float = 0.0
    """Correlation of the two scores under the reference; zero unless both are normal."""
    kept: int = 0
    """Score that is itself a coordinate if they are correlated; the other coordinate is what is
    left of the other score after regression on this one."""

    @property
    def standards(self) -> list[Standard]:
        """Standard density of each coordinate."""
        return [margin.standard for margin in self.margins]

    @property
    def _root(self) -> Matrix:
        """Triangular factor of the correlation matrix of the scores, the kept one first."""
        rho = self.correlation
        return np.array([[1.0, 0.0], [rho, math.sqrt(1.0 - rho**2)]])

    @property
    def _order(self) -> list[int]:
        return [self.kept, 1 - self.kept]

    def transform(self, X: Matrix) -> Matrix:
        """Return the coordinates of points."""
        scores = [margin.score(x) for margin, x in zip(self.margins, X.T, strict=True)]
        result: Matrix = np.column_stack(scores)
        if self.correlation:
            return solve_lower(self._root, result[:, self._order].T).T[:, self._order]
        return result

    def inverse(self, U: Matrix) -> Matrix:
        """Return the points of coordinates."""
        scores = U
        if self.correlation:
            scores = (U[:, self._order] @ self._root.T)[:, self._order]
        points = [margin.inverse(s) for margin, s in zip(self.margins, scores.T, strict=True)]
        return np.column_stack(points)

    def log_slope(self, X: Matrix) -> Vector:
        """Return the log of the absolute Jacobian determinant of `transform`."""
        each = [margin.log_slope(x) for margin, x in zip(self.margins, X.T, strict=True)]
        result: Vector = np.sum(each, axis=0) - 0.5 * math.log1p(-(self.correlation**2))
        return result
