"""A fitted density: its values, bands, distribution function and random points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.density.atoms import FREE, DensityAtoms
from relvec.learning.density.coordinates import Coordinates
from relvec.learning.density.grid import Quadrature, make_quadrature, product_of

__all__ = ["FittedDensity"]

CHUNK = 8192
"""Points whose basis functions are evaluated at a time: those of many would fill the memory."""


@dataclass(frozen=True)
class FittedDensity:
    """Log density ``log p0(x) + f(x) - log Z``, with a Gaussian posterior of the weights of ``f``.

    ``p0`` is the reference density of the coordinates, ``f`` a combination of basis functions, and
    ``Z`` makes the integral one.
    """

    coordinates: Coordinates
    atoms: DensityAtoms
    kept: IndexArray
    """Numbers of the widths that the evidence kept."""
    weights: Vector
    """Mode of the weights: free terms, Gaussians of all widths (zero if removed), intercept."""
    root: Matrix
    """Square root of their posterior covariance, with the uncertainty of removed widths: a draw is
    ``weights + root @ normal``."""
    log_precision: Vector
    """Log prior precisions behind `root`, without that of the intercept."""
    counts: Vector
    """Weight of the points in each bin."""
    effective_dof: float
    """Effective degrees of freedom of the free terms and the kept widths."""
    log_evidence: float
    """Log evidence of the points, given their number."""
    n_iter: int
    converged: bool
    n_nodes: int = 4
    """Nodes of the quadrature in each bin, along each axis."""
    n_different: float = math.inf
    """Number of different points; infinite if values were rounded and stand for intervals."""

    @property
    def total(self) -> float:
        """Number of points."""
        return float(self.counts.sum())

    @property
    def widths(self) -> Vector:
        """Kept widths, as fractions of the range of the bins."""
        return np.array(self.atoms.widths)[self.kept]

    @property
    def quadratures(self) -> list[Quadrature]:
        """Rule that integrates along each axis, tails included."""
        axes = zip(self.atoms.axes, self.coordinates.standards, strict=True)
        return [make_quadrature(axis, standard, self.n_nodes) for axis, standard in axes]

    def ratio(self, U: Matrix, weights: Matrix | None = None) -> Matrix:
        """Return ``f``, the log ratio of density and reference, before normalisation.

        Parameters
        ----------
        U : ndarray of shape (n_points, n_axes)
            Coordinates.
        weights : ndarray of shape (n_weights, n_draws), optional
            Drawn weights; by default their mode.
        """
        result: Matrix
        if weights is not None:
            result = self.atoms.evaluate(U) @ weights
        else:
            is_kept = np.isin(self.atoms.groups, [FREE, *self.kept])
            result = self.atoms.evaluate(U, self.kept) @ self.weights[np.append(is_kept, True)]
        return result

    def log_integral(self, weights: Matrix | None = None) -> Vector:
        """Return the log integral of ``p0 exp(f)`` over the support, for each draw of weights."""
        rules = self.quadratures
        masses = np.prod(product_of([rule.masses for rule in rules]), axis=1)
        nodes = product_of([rule.nodes for rule in rules])
        ratio = self.ratio(nodes, weights)
        largest = ratio.max(axis=0)  # its exponential may overflow
        result: Vector = np.log(masses @ np.exp(ratio - largest)) + largest
        return result

    def gain(self, X: Matrix, weight: Vector) -> float:
        """Return the mean log ratio of density and reference at weighted points.

        Of many points a part is used, in equal steps.
        """
        part = slice(None, None, -(-len(X) // CHUNK))
        ratio = self.ratio(self.coordinates.transform(X[part]))
        return float(weight[part] @ ratio / weight[part].sum() - self.log_integral())

    def log_density(self, X: Matrix) -> Vector:
        """Return the log density at points; minus infinity outside the support."""
        log_norm = float(self.log_integral())
        reference = self.log_reference(X)
        value = np.full(len(X), -np.inf)
        inside = np.isfinite(reference)
        U = self.coordinates.transform(X[inside])
        value[inside] = in_chunks(lambda part: self.ratio(part)[:, None], U)[:, 0] - log_norm
        value[inside] += reference[inside]
        return value

    def log_reference(self, X: Matrix) -> Vector:
        """Return the log of the reference density at points."""
        inside = np.ones(len(X), dtype=bool)
        for x, margin in zip(X.T, self.coordinates.margins, strict=True):
            # Ends of the support belong to it; rounding of the score must not exclude them.
            ends = margin.inverse(np.array([margin.standard.lower, margin.standard.upper]))
            inside &= (x >= ends.min()) & (x <= ends.max())
        result = np.full(len(X), -np.inf)
        with np.errstate(over="ignore"):  # squares of huge numbers: the density is zero there
            U = self.coordinates.transform(X[inside])
            result[inside] = self.coordinates.log_slope(X[inside])
            for u, standard in zip(U.T, self.coordinates.standards, strict=True):
                result[inside] += standard.log_density(u)
        return result

    def draw_weights(self, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw weights from their posterior, shape (n_weights, n_draws)."""
        normal = rng.standard_normal((len(self.weights), n_draws))
        result: Matrix = self.weights[:, None] + self.root @ normal
        return result

    def draw_densities(
        self, X: Matrix, n_draws: int, rng: np.random.Generator, *, normalise: bool
    ) -> Matrix:
        """Draw densities, each normalised, or intensities; shape (n_points, n_draws)."""
        weights = self.draw_weights(n_draws, rng)
        # The intercept is the log ratio of the intensity to N p0, so that N exp(f) needs no norm.
        log_norm = self.log_integral(weights) if normalise else -np.log(self.total)
        return self._evaluate(X, lambda U: self.ratio(U, weights) - log_norm, n_draws)

    def band(self, X: Matrix, coverage: float, *, normalise: bool) -> Matrix:
        """Return pointwise quantiles of densities, or intensities, of the posterior.

        The log ratio ``f`` has a variance ``v(x)`` around its mean under the density: to first
        order that of the log of a normalised density. A Gaussian is a poor shape for the log of a
        density where there are few points, since an excess is less likely than a deficit. The
        posterior of a Poisson rate is a Gamma density; the one with the same curvature at its mode
        has shape ``1 / v``, and the estimate as its mean.
        """
        centre = np.zeros(len(self.weights))
        if normalise:
            nodes, probability = self._weigh_nodes()
            for start in range(0, len(nodes), CHUNK):
                part = slice(start, start + CHUNK)
                centre += probability[part] @ self.atoms.evaluate(nodes[part])
        levels = np.array([0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)])
        log_norm = float(self.log_integral()) if normalise else -float(np.log(self.total))

        def quantiles(U: Matrix) -> Matrix:
            shape = 1.0 / np.clip(self._variance(U, centre), 1e-12, 1e6)
            log_rate = np.log(np.maximum(gammaincinv(shape, levels) / shape, 1e-300))
            result: Matrix = self.ratio(U)[:, None] - log_norm + log_rate
            return result

        return self._evaluate(X, quantiles, 2)

    def _weigh_nodes(self) -> tuple[Matrix, Vector]:
        """Return the nodes of the quadrature and their probabilities."""
        rules = self.quadratures
        nodes = product_of([rule.nodes for rule in rules])
        masses = np.prod(product_of([rule.masses for rule in rules]), axis=1)
        probability = masses * np.exp(in_chunks(lambda U: self.ratio(U)[:, None], nodes)[:, 0])
        return nodes, probability / probability.sum()

    def _variance(self, U: Matrix, centre: Vector) -> Matrix:
        """Return the variance of ``f`` relative to its mean under the density, as a column."""
        spread = (self.atoms.evaluate(U) - centre) @ self.root
        return np.einsum("ij,ij->i", spread, spread)[:, None]

    def _evaluate(self, X: Matrix, log_ratio: Callable[[Matrix], Matrix], n_columns: int) -> Matrix:
        """Return the reference density times the exponential of a function of coordinates."""
        reference = self.log_reference(X)
        inside = np.isfinite(reference)
        result = np.zeros((len(X), n_columns))
        U = self.coordinates.transform(X[inside])
        result[inside] = np.exp(in_chunks(log_ratio, U) + reference[inside, None])
        return result


def in_chunks(function: Callable[[Matrix], Matrix], U: Matrix) -> Matrix:
    """Apply a function to blocks of rows."""
    if len(U) <= CHUNK:
        return function(U)
    starts = range(0, len(U), CHUNK)
    return np.concatenate([function(U[start : start + CHUNK]) for start in starts])
