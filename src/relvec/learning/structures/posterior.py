"""Posterior of a structure: predictions of the sum, of components and of their sums.

The diffuse slope that goes with a wandering slope belongs to that component.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relvec._linalg import log_det_cholesky, robust_cholesky, solve_cholesky, solve_lower
from relvec._typing import Matrix, Vector
from relvec.evidence import factorise
from relvec.kernels.expansions import SlopeWalk
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import find_used_columns
from relvec.learning.structures.structure import DIFFUSE_VARIANCE, Structure

__all__ = ["ColumnPosterior", "KernelPosterior", "Latent"]


def _find_slope_walk(structure: Structure) -> int:
    """Return the place of the wandering slope, to which the diffuse slope belongs; -1 if none."""
    places = (i for i, each in enumerate(structure.components) if each.kinds == (SlopeWalk,))
    return next(places, -1)


def _zeros(U: Matrix, V: Matrix) -> Matrix:
    return np.zeros((len(U), len(V)))


class Latent(NamedTuple):
    """Posterior of a function at each row, without noise."""

    mean: Vector
    variance: Vector


class ColumnPosterior:
    """Posterior of the weights of the columns of a structure.

    Its cost does not depend on the number of rows, and it is valid within the reach of the
    expansions.
    """

    def __init__(self, structure: Structure, store: ColumnStore) -> None:
        self.structure = structure
        design = store.design(structure)
        log_variance = design.log_variances(structure)
        self.used = np.flatnonzero(find_used_columns(log_variance, structure.log_noise))
        lam = np.exp(structure.log_noise - log_variance[self.used])
        gram = design.gram[np.ix_(self.used, self.used)]
        factor = factorise(gram, lam)
        self.lower, self.lam = factor.lower, factor.lam
        self.mean = solve_cholesky(self.lower, design.correlation[self.used])
        self.inverse_norm = np.exp(-0.5 * design.log_square[self.used])
        sizes = [c.product.n_columns for c in structure.components]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        diffuse = [-1, _find_slope_walk(structure)][: design.n_diffuse]
        self.component = np.concatenate([diffuse, owners])[self.used]
        """Component of each column; -1 for the intercept."""

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the columns that are used, scaled as on the training rows."""
        blocks = [component.product.columns(U) for component in self.structure.components]
        raw = np.hstack([self.structure.diffuse_columns(U), *blocks])[:, self.used]
        scaled: Matrix = raw * self.inverse_norm
        return scaled

    def predict(self, U: Matrix) -> Latent:
        """Predict the sum of all components."""
        return self._combine(self.columns(U))

    def predict_components(self, U: Matrix) -> list[Latent]:
        """Predict each component."""
        return [self.predict_sum(U, [place]) for place in range(len(self.structure.components))]

    def predict_sum(
        self, U: Matrix, places: Sequence[int], contrasts: Matrix | None = None
    ) -> Latent:
        """Predict the sum of some components, or contrasts of it: combinations of the rows."""
        columns = np.where(np.isin(self.component, places), self.columns(U), 0.0)
        return self._combine(columns if contrasts is None else contrasts @ columns)

    def _combine(self, columns: Matrix) -> Latent:
        # The posterior covariance of the weights is sigma^2 (G + Lam)^-1.
        white = solve_lower(self.lower, np.asfortranarray(columns.T))
        noise = math.exp(self.structure.log_noise)
        return Latent(columns @ self.mean, noise * np.einsum("ij,ij->j", white, white))

    @property
    def well_determined(self) -> Vector:
        """``gamma`` of each column that is used: how far the data determine its weight."""
        white = solve_lower(self.lower, np.asfortranarray(np.eye(len(self.lam))))
        gamma: Vector = 1.0 - self.lam * np.einsum("ij,ij->j", white, white)
        return gamma


class KernelPosterior:
    """Posterior of a Gaussian process with the covariance function of a structure.

    It is exact everywhere, and its cost grows with the third power of the number of rows.
    """

    def __init__(
        self, structure: Structure, U: Matrix, target: Vector, weight: Vector | None = None
    ) -> None:
        self.structure, self.U = structure, U
        noise = math.exp(structure.log_noise)
        covariance = structure.covariance(U, U)
        covariance.flat[:: len(U) + 1] += noise if weight is None else noise / weight
        # of unit diagonal, so that a jitter is relative
        self.root = np.sqrt(covariance.diagonal())
        self.lower = robust_cholesky(covariance / np.multiply.outer(self.root, self.root))
        self.solved = solve_cholesky(self.lower, target / self.root) / self.root
        # log N(t | 0, C), with the determinant of the scaled matrix.
        self.log_evidence = -0.5 * (
            len(U) * math.log(2.0 * math.pi)
            + log_det_cholesky(self.lower)
            + 2.0 * float(np.log(self.root).sum())
            + float(target @ self.solved)
        )

    def predict(self, U: Matrix) -> Latent:
        """Predict the sum of all components."""
        return self._combine(self.structure.covariance(U, self.U), self.structure.variance(U))

    def predict_components(self, U: Matrix) -> list[Latent]:
        """Predict each component."""
        return [self.predict_sum(U, [place]) for place in range(len(self.structure.components))]

    def predict_sum(
        self, U: Matrix, places: Sequence[int], contrasts: Matrix | None = None
    ) -> Latent:
        """Predict the sum of some components, or contrasts of it: combinations of the rows."""
        cross = sum((self._covariance(place, U, self.U) for place in places), _zeros(U, self.U))
        if contrasts is None:
            variance = sum((self._variance(place, U) for place in places), np.zeros(len(U)))
            return self._combine(cross, variance)
        prior = sum((self._covariance(place, U, U) for place in places), _zeros(U, U))
        spread = np.einsum("ij,ij->i", contrasts @ prior, contrasts)
        return self._combine(contrasts @ cross, spread)

    def _variance(self, place: int, U: Matrix) -> Vector:
        """Evaluate the prior variance of a component, with the slope that goes with it."""
        component = self.structure.components[place]
        value = math.exp(component.log_variance) * component.product.variance(U)
        if component.kinds == (SlopeWalk,):
            value = value + DIFFUSE_VARIANCE * U[:, 0] ** 2
        return np.asarray(value)

    def _covariance(self, place: int, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the covariance function of a component, with the slope that goes with it."""
        component = self.structure.components[place]
        value = math.exp(component.log_variance) * component.product.covariance(U, V)
        if component.kinds == (SlopeWalk,):
            value = value + DIFFUSE_VARIANCE * np.multiply.outer(U[:, 0], V[:, 0])
        return np.asarray(value)

    def _combine(self, cross: Matrix, variance: Vector) -> Latent:
        white = solve_lower(self.lower, np.asfortranarray((cross / self.root).T))
        left = variance - np.einsum("ij,ij->j", white, white)
        return Latent(cross @ self.solved, np.maximum(left, 0.0))
