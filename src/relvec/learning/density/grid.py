"""Bins of a density, and a quadrature rule that integrates over them and over the tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from relvec._typing import Matrix, Vector
from relvec.learning.density.standard import Standard

__all__ = ["Axis", "Quadrature", "make_quadrature", "product_of"]


@dataclass(frozen=True)
class Axis:
    """Bins of equal width along one coordinate."""

    lower: float
    upper: float
    n_bins: int

    @property
    def span(self) -> float:
        """Length of the range of the bins."""
        return self.upper - self.lower

    @property
    def edges(self) -> Vector:
        """Ends of the bins."""
        return np.linspace(self.lower, self.upper, self.n_bins + 1)

    @property
    def centres(self) -> Vector:
        """Middles of the bins."""
        edges = self.edges
        return 0.5 * (edges[1:] + edges[:-1])


@dataclass(frozen=True)
class Quadrature:
    """Nodes along one coordinate and their masses under the reference density.

    Outside the bins the log ratio of density and reference is held at its value at the nearest
    end: the tails of the reference count as masses at the two ends.
    """

    nodes: Vector
    """The lower end, nodes of the bins in ascending order, the upper end."""
    masses: Vector


def make_quadrature(axis: Axis, standard: Standard, n_nodes: int) -> Quadrature:
    """Return a composite Gauss-Legendre rule with `n_nodes` nodes in each bin, and the tails."""
    points, weights = leggauss(n_nodes)
    half = 0.5 * axis.span / axis.n_bins
    inner = (axis.centres[:, None] + half * points).ravel()
    within = np.tile(half * weights, axis.n_bins) * np.exp(standard.log_density(inner))
    ends = np.array([axis.lower, axis.upper])
    tails = standard.lower_mass(ends[:1]), standard.upper_mass(ends[1:])
    return Quadrature(
        np.concatenate([ends[:1], inner, ends[1:]]),
        np.concatenate([tails[0], within, tails[1]]),
    )


def product_of(axes: list[Vector]) -> Matrix:
    """Return all combinations of the values along each axis, shape (n_points, n_axes)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
