"""Posterior of a structure: predictions of the sum, of components and of their sums.

The diffuse slope that goes with a wandering slope belongs to that component.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relvec._linalg import (
    inverse_diagonal_from_cholesky,
    log_det_cholesky,
    robust_cholesky,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import Matrix, Vector
from relvec.evidence import factorise
from relvec.kernels.expansions import SlopeWalk
from relvec.learning.structures.columns import ColumnStore, Design
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

    Parameters
    ----------
    structure : Structure
        The structure.
    store : ColumnStore
        The training rows. They are not stored.
    min_gamma : float, default=0.0
        Columns whose weights the data determine less, by ``gamma = 1 - lam S_ii``, are left out.
        What they know is their prior, whose variance stays in predictions: precisions are shared by
        all columns of a component, so leaving columns out does not change those of the others.
    """

    def __init__(self, structure: Structure, store: ColumnStore, min_gamma: float = 0.0) -> None:
        self.structure = structure
        design = store.design(structure)
        self.n_diffuse = design.n_diffuse
        log_variance = design.log_variances(structure)
        log_lam = structure.log_noise - log_variance
        self.inverse_norm = np.exp(-0.5 * design.log_square)
        sizes = [c.product.n_columns for c in structure.components]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        diffuse = [-1, _find_slope_walk(structure)][: design.n_diffuse]
        self.component = np.concatenate([diffuse, owners])
        """Component of each column; -1 for the intercept."""
        self.used = np.flatnonzero(find_used_columns(log_variance, structure.log_noise))
        self._condition(design, log_lam)
        self.dropped = np.empty(0, dtype=np.intp)
        if min_gamma > 0.0:
            is_kept = (self.well_determined >= min_gamma) | (self.used < design.n_diffuse)
            self.dropped, self.used = self.used[~is_kept], self.used[is_kept]
            self._condition(design, log_lam)
        self.dropped_variance = np.exp(log_variance[self.dropped])

    def _condition(self, design: Design, log_lam: Vector) -> None:
        """Compute the posterior of the weights of the columns that are used."""
        gram = design.gram[np.ix_(self.used, self.used)]
        factor = factorise(gram, np.exp(log_lam[self.used]))
        self.lower, self.lam = factor.lower, factor.lam
        self.mean = solve_cholesky(self.lower, design.correlation[self.used])

    @property
    def n_used(self) -> int:
        """Number of columns of components whose weights are in the model."""
        return int(np.count_nonzero(self.used >= self.n_diffuse))

    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the columns that are used, scaled as on the training rows."""
        return self._evaluate(U)[:, self.used]

    def _evaluate(self, U: Matrix) -> Matrix:
        blocks = [component.product.columns(U) for component in self.structure.components]
        raw: Matrix = np.hstack([self.structure.diffuse_columns(U), *blocks])
        return raw * self.inverse_norm

    def predict(self, U: Matrix) -> Latent:
        """Predict the sum of all components."""
        return self._combine(self._evaluate(U))

    def predict_components(self, U: Matrix) -> list[Latent]:
        """Predict each component."""
        return [self.predict_sum(U, [place]) for place in range(len(self.structure.components))]

    def predict_sum(
        self, U: Matrix, places: Sequence[int], contrasts: Matrix | None = None
    ) -> Latent:
        """Predict the sum of some components, or contrasts of it: combinations of the rows."""
        columns = np.where(np.isin(self.component, places), self._evaluate(U), 0.0)
        return self._combine(columns if contrasts is None else contrasts @ columns)

    def _combine(self, columns: Matrix) -> Latent:
        used = columns[:, self.used]
        white = solve_lower(self.lower, np.asfortranarray(used.T))
        # The posterior covariance of the weights is sigma^2 (G + Lam)^-1.
        noise = math.exp(self.structure.log_noise)
        variance = noise * np.einsum("ij,ij->j", white, white)
        return Latent(
            used @ self.mean, variance + columns[:, self.dropped] ** 2 @ self.dropped_variance
        )

    @property
    def well_determined(self) -> Vector:
        """``gamma`` of each column that is used: how far the data determine its weight."""
        gamma: Vector = 1.0 - self.lam * inverse_diagonal_from_cholesky(self.lower)
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
