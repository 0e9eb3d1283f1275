"""A fitted density: its values, bands, distribution function and random points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.density.atoms import FREE, DensityAtoms
from relvec.learning.density.coordinates import Coordinates
from relvec.learning.density.grid import Quadrature, make_quadrature, product_of

__all__ = ["FittedDensity"]


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

    def integrate(self, weights: Matrix | None = None) -> Vector:
        """Return the integral of ``p0 exp(f)`` over the support, for each draw of weights."""
        rules = self.quadratures
        masses = np.prod(product_of([rule.masses for rule in rules]), axis=1)
        nodes = product_of([rule.nodes for rule in rules])
        result: Vector = masses @ np.exp(self.ratio(nodes, weights))
        return result

    def log_density(self, X: Matrix) -> Vector:
        """Return the log density at points; minus infinity outside the support."""
        log_norm = float(np.log(self.integrate()))
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

    def band(
        self, X: Matrix, coverage: float, n_draws: int, *, normalise: bool
    ) -> tuple[Vector, Vector]:
        """Return pointwise quantiles of densities, or intensities, drawn from the posterior.

        Each drawn density is normalised before the quantiles are taken. The draws are the same in
        every call, so that bands of neighbouring points, and of repeated calls, agree.
        """
        weights = self.draw_weights(n_draws, np.random.default_rng(0))
        # The intercept is the log ratio of the intensity to N p0, so that N exp(f) needs no norm.
        log_norm = np.log(self.integrate(weights)) if normalise else -np.log(self.total)
        reference = self.log_reference(X)
        levels = [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)]
        band = np.zeros((len(X), 2))
        inside = np.isfinite(reference)

        def quantiles(part: Matrix) -> Matrix:
            result: Matrix = np.quantile(self.ratio(part, weights) - log_norm, levels, axis=1).T
            return result

        U = self.coordinates.transform(X[inside])
        # Quantiles commute with the exponential, which is monotone.
        band[inside] = np.exp(in_chunks(quantiles, U) + reference[inside, None])
        return band[:, 0], band[:, 1]


def in_chunks(function: Callable[[Matrix], Matrix], U: Matrix, size: int = 8192) -> Matrix:
    """Apply a function to blocks of rows: the basis functions of many points fill the memory."""
    if len(U) <= size:
        return function(U)
    starts = range(0, len(U), size)
    return np.concatenate([function(U[start : start + size]) for start in starts])
