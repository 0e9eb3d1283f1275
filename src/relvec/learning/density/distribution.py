"""Distribution function, quantiles and random points of a fitted density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.density.fitted import FittedDensity
from relvec.learning.density.grid import Axis, product_of
from relvec.learning.density.standard import Standard

__all__ = ["Distribution", "sample_points", "tabulate_distribution"]

CELLS_PER_BIN = 4
"""Cells of the table of a distribution in each bin: basis functions are at least 7 cells wide, and
cubic interpolation then has errors of about 1e-7."""


@dataclass(frozen=True)
class Distribution:
    """Distribution function of the score of a density of one variable.

    Between the ends of the cells, where it and the density are known, it is a cubic polynomial;
    outside the bins, a multiple of that of the reference.
    """

    ends: Vector
    """Ends of the cells."""
    reached: Vector
    """Probability below each of them."""
    density: Vector
    """Density of the score at each of them."""
    standard: Standard
    tails: tuple[float, float]
    """Ratio of density and reference below and above all cells."""

    def cdf(self, score: Vector) -> Vector:
        """Return the probability below scores."""
        cell = np.searchsorted(self.ends, score, side="right") - 1
        inner = np.clip(cell, 0, len(self.ends) - 2)
        step = np.diff(self.ends)[inner]
        result = self._cubic(inner, np.clip((score - self.ends[inner]) / step, 0.0, 1.0))
        below, above = score < self.ends[0], score > self.ends[-1]
        result[below] = self.tails[0] * self.standard.lower_mass(score[below])
        result[above] = 1.0 - self.tails[1] * self.standard.upper_mass(score[above])
        return result

    def ppf(self, level: Vector) -> Vector:
        """Return the scores with these probabilities below them."""
        cell = np.searchsorted(self.reached, level, side="right") - 1
        inner = np.clip(cell, 0, len(self.ends) - 2)
        lower, upper = np.zeros(len(level)), np.ones(len(level))
        for _ in range(50):
            middle = 0.5 * (lower + upper)
            is_below = self._cubic(inner, middle) < level
            lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
        result: Vector = self.ends[inner] + np.diff(self.ends)[inner] * 0.5 * (lower + upper)
        below, above = level < self.reached[0], level > self.reached[-1]
        result[below] = self.standard.lower_quantile(level[below] / self.tails[0])
        result[above] = self.standard.upper_quantile((1.0 - level[above]) / self.tails[1])
        # The ends of the support exactly.
        result[level <= 0.0], result[level >= 1.0] = self.standard.lower, self.standard.upper
        return result

    def _cubic(self, cell: IndexArray, place: Vector) -> Vector:
        """Return Hermite's cubic polynomial at places from 0 to 1 in cells."""
        step = np.diff(self.ends)[cell]
        start, rise = self.reached[cell], self.reached[cell + 1] - self.reached[cell]
        first, last = step * self.density[cell], step * self.density[cell + 1]
        square = place * place
        result: Vector = start + rise * square * (3.0 - 2.0 * place)
        return result + place * (1.0 - place) * (first * (1.0 - place) - last * place)


def tabulate_distribution(fitted: FittedDensity) -> Distribution:
    """Tabulate the distribution function of the score of a density of one variable."""
    (axis,), (standard,) = fitted.atoms.axes, fitted.coordinates.standards
    cells = Axis(axis.lower, axis.upper, CELLS_PER_BIN * axis.n_bins)
    points, weights = leggauss(3)
    half = 0.5 * cells.span / cells.n_bins
    nodes = (cells.centres[:, None] + half * points).ravel()
    total = float(np.exp(fitted.log_integral()))

    def density(score: Vector) -> Vector:
        ratio = fitted.ratio(score[:, None])
        result: Vector = np.exp(ratio + standard.log_density(score)) / total
        return result

    masses = density(nodes).reshape(-1, 3) @ (half * weights)
    tails = np.exp(fitted.ratio(np.array([[axis.lower], [axis.upper]]))) / total
    below = float(tails[0] * standard.lower_mass(np.array(axis.lower)))
    reached = below + np.concatenate([[0.0], np.cumsum(masses)])
    ends = cells.edges
    return Distribution(ends, reached, density(ends), standard, (float(tails[0]), float(tails[1])))


def sample_points(fitted: FittedDensity, n_samples: int, rng: np.random.Generator) -> Matrix:
    """Draw points from a density: by quantiles in one dimension, by cells in two."""
    if len(fitted.atoms.axes) == 1:
        U = tabulate_distribution(fitted).ppf(rng.random(n_samples))[:, None]
    else:
        U = _sample_cells(fitted, n_samples, rng)
    return fitted.coordinates.inverse(U)


def _sample_cells(fitted: FittedDensity, n_samples: int, rng: np.random.Generator) -> Matrix:
    """Draw coordinates: a cell by its probability, then a place inside it.

    The density is constant in a cell, which is an eighth of the narrowest basis function wide.
    The outermost cells are the tails of the reference.
    """
    nodes, masses, tables = [], [], []
    for axis, standard in zip(fitted.atoms.axes, fitted.coordinates.standards, strict=True):
        cells = Axis(axis.lower, axis.upper, CELLS_PER_BIN * axis.n_bins)
        inner = np.diff(standard.lower_mass(cells.edges))
        outer = standard.lower_mass(cells.edges[:1]), standard.upper_mass(cells.edges[-1:])
        nodes.append(np.concatenate([cells.edges[:1], cells.centres, cells.edges[-1:]]))
        masses.append(np.concatenate([outer[0], inner, outer[1]]))
        tables.append((cells, standard))
    probability = np.prod(product_of(masses), axis=1) * np.exp(fitted.ratio(product_of(nodes)))
    reached = np.cumsum(probability)
    chosen = np.searchsorted(reached, rng.random(n_samples) * reached[-1], side="right")
    places = np.unravel_index(chosen, [len(each) for each in nodes])
    return np.column_stack(
        [
            _place_inside(place, cells, standard, rng)
            for place, (cells, standard) in zip(places, tables, strict=True)
        ]
    )


def _place_inside(
    place: IndexArray, cells: Axis, standard: Standard, rng: np.random.Generator
) -> Vector:
    """Return scores drawn from the reference inside cells; 0 and the last are the tails."""
    edges, u = cells.edges, rng.random(len(place))
    inner = np.clip(place - 1, 0, cells.n_bins - 1)
    result: Vector = edges[inner] + u * (edges[1] - edges[0])
    below, above = place == 0, place == cells.n_bins + 1
    result[below] = standard.lower_quantile(u[below] * standard.lower_mass(edges[0]))
    result[above] = standard.upper_quantile(u[above] * standard.upper_mass(edges[-1]))
    return result
