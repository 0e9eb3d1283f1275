"""Several latent functions, one per class, with one weight for each active pair.

A pair is an atom and a class. The logits of class k are a linear combination of the atoms paired
with it, plus its intercept, so the Hessian is as small as the model. Adding a constant to all
intercepts changes no probability. They are therefore parametrised by orthonormal (Helmert)
contrasts, K - 1 numbers for K classes, for which a flat prior leads to a proper posterior.

The curvature of a row must be ``diag(y) - y y'`` with the class probabilities ``y``, as for the
softmax (Rasmussen & Williams 2006, eq. 3.38).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert

from relvec._linalg import solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.laplace.hessian import Design, Hessian, Penalty
from relvec.likelihoods.base import BoundLikelihood

__all__ = ["PairDesign", "PairPosterior", "logit_covariance"]


class SoftmaxCurvature(NamedTuple):
    """Curvature of the rows: ``weight (diag(y) - y y')`` with class probabilities ``y``."""

    probability: Matrix
    """``y``: positive, with rows that sum to one."""
    weight: Vector
    mean_effects: Matrix
    """Effect of every weight on the mean logit ``sum_k y_k f_k`` of each row."""


class PairDesign(Design):
    """Linear map from the weights of pairs, and the contrasts of intercepts, to logits.

    `columns` has the columns of the pairs, class by class; `sizes` the number of pairs per class.
    """

    n_latent: int

    def __init__(self, columns: Matrix, sizes: tuple[int, ...], *, has_intercept: bool) -> None:
        self.columns, self.sizes = columns, sizes
        self.n_latent, self.n_atoms = len(sizes), columns.shape[1]
        # The softmax does not change if a constant is added to all logits. With a flat prior, K
        # free intercepts would make H singular; the K - 1 orthonormal Helmert contrasts sum to
        # zero.
        self.contrast = helmert(len(sizes)).T if has_intercept else np.empty((len(sizes), 0))
        self.n_weights = self.n_atoms + self.contrast.shape[1]
        ends = np.cumsum((0, *sizes))
        self.classes = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def latent(self, weights: Matrix) -> Matrix:
        """Compute the logits of all classes, shape (n_rows, n_classes).

        Given a matrix of weights, one model per column, the result has the models first.
        """
        intercepts = self.contrast @ weights[self.n_atoms :]
        each = [
            self.columns[:, block] @ weights[block] + intercepts[k]
            for k, block in enumerate(self.classes)
        ]
        return np.moveaxis(np.stack(each, axis=-1), 0, -2)

    def apply_transpose(self, residual: Matrix) -> Vector:
        """Compute ``X' residual``."""
        # The effect of the intercepts is the same in all rows: their part of X' residual needs only
        # the column sums of the residual.
        each = [residual[:, k] @ self.columns[:, block] for k, block in enumerate(self.classes)]
        return np.concatenate([*each, residual.sum(axis=0) @ self.contrast])

    def compute_slope_and_curvature(
        self, likelihood: BoundLikelihood, f: Matrix
    ) -> tuple[Matrix, SoftmaxCurvature]:
        """Compute slope and curvature of the log likelihood in the logits."""
        slope, share = likelihood.slope_and_curvature(f)
        weight = np.ones(len(share)) if likelihood.weight is None else likelihood.weight
        return likelihood.apply_weights(slope), SoftmaxCurvature(
            share, weight, self.mean_effects(share)
        )

    def compute_reference_curvature(self, likelihood: BoundLikelihood) -> SoftmaxCurvature:
        """Return an upper bound of the curvature, which does not depend on the targets.

        Böhning's bound ``(I - 11'/K) / 2`` is the curvature at equal probabilities times K / 2.
        """
        # At y = 1/K, diag(y) - y y' = (I - 11'/K) / K; the factor K/2 is included in the weights.
        equal = np.full((len(self.columns), self.n_latent), 1.0 / self.n_latent)
        weight = np.ones(len(equal)) if likelihood.weight is None else likelihood.weight
        return SoftmaxCurvature(equal, weight * (0.5 * self.n_latent), self.mean_effects(equal))

    def hessian(self, rows: SoftmaxCurvature, precision: Vector) -> Hessian:
        """Compute the negative Hessian in the weights of pairs.

        With ``y`` the probabilities, ``v`` the weights of the rows and ``x_k`` the effects on
        class k, ``H = sum_n v_n [ sum_k y_k x_k x_k' - (sum_k y_k x_k) (sum_k y_k x_k)' ] + A``.
        """
        weight, n = rows.weight, self.n_atoms
        weighted = rows.mean_effects * weight[:, None]
        sums = weight @ rows.mean_effects
        # The rank-one part y y' of B couples all classes; diag(y) adds blocks within classes only.
        matrix = -(rows.mean_effects.T @ weighted)
        for k, block in enumerate(self.classes):
            # mean_effects of class k is y_k x_k, so this is sum_n v_n y_nk x_nk x_nk'.
            matrix[block, block] += self.columns[:, block].T @ weighted[:, block]
            cross = np.multiply.outer(sums[block], self.contrast[k])
            matrix[block, n:] += cross
            matrix[n:, block] += cross.T
        total = weight @ rows.probability
        # Intercepts: sum_k (sum_n v_n y_nk) c_k c_k' with c_k the row of contrasts of class k.
        matrix[n:, n:] += self.contrast.T @ (total[:, None] * self.contrast)
        return Hessian(self, rows, matrix, precision)

    def compute_volume_slope(
        self, hessian: Hessian, likelihood: BoundLikelihood, f: Matrix, c: Penalty
    ) -> Matrix:
        """Derivative of ``log|H|`` plus twice `c` per degree of freedom, in every logit.

        With ``V`` the covariance of a row's logits, classes by classes, and
        ``B = diag(y) - y y'``, the derivative of ``tr(B V)`` is ``B (diag V - 2 V y)``.
        """
        covariance = hessian.penalised_covariance(c)
        # (V y)_k without forming V: x_k' S (sum_j y_j x_j).
        mixed = self.sum_by_class(hessian.rows.mean_effects @ covariance)
        return self.apply_curvature(hessian.rows, self.variances(covariance) - 2.0 * mixed)

    def apply_curvature(self, rows: SoftmaxCurvature, change: Matrix) -> Matrix:
        """Apply ``diag(y) - y y'`` of each row."""
        # (diag(y) - y y') d = y * (d - y'd) in O(K) per row.
        moved = rows.probability * change
        moved -= rows.probability * moved.sum(axis=1, keepdims=True)
        return moved * rows.weight[:, None]

    def list_curvatures(self, rows: SoftmaxCurvature) -> list[tuple[Vector, Matrix]]:
        """List, for each class, its own curvature and its rows of ``B X``."""
        result = []
        for k in range(self.n_latent):
            share = rows.weight * rows.probability[:, k]
            # Row k of (diag(y) - y y') X is y_k (x_k - sum_j y_j x_j).
            effects = (self.effects(k) - rows.mean_effects) * share[:, None]
            result.append((share * (1.0 - rows.probability[:, k]), effects))
        return result

    def relative_variances(self, classes: IndexArray, covariance: Matrix) -> Matrix:
        """Compute the variance of every logit relative to the logit of the class of the row."""
        rows = np.arange(len(classes))
        own = np.zeros((len(classes), self.n_latent))
        own[rows, classes] = 1.0
        # var(f_k - f_c) = V_kk - 2 V_kc + V_cc; shared has V_kc for all k, V_cc at k = c.
        shared = self.sum_by_class(self.mean_effects(own) @ covariance)
        variance = self.variances(covariance) - 2.0 * shared
        variance += shared[rows, classes, None]
        # Zero for k = c, where rounding may give a negative difference.
        return np.maximum(variance, 0.0)

    def mean_effects(self, probability: Matrix) -> Matrix:
        """Compute the effect of every weight on the mean logit, shape (n_rows, n_weights)."""
        result = np.empty((len(self.columns), self.n_weights))
        for k, block in enumerate(self.classes):
            np.multiply(self.columns[:, block], probability[:, k, None], out=result[:, block])
        result[:, self.n_atoms :] = probability @ self.contrast
        return result

    def sum_by_class(self, other: Matrix) -> Matrix:
        """Sum, for each class, the products of its effects with the entries of `other`."""
        product = self.columns * other[:, : self.n_atoms]
        each = [product[:, block].sum(axis=1) for block in self.classes]
        return np.column_stack(each) + other[:, self.n_atoms :] @ self.contrast.T

    def variances(self, covariance: Matrix) -> Matrix:
        """Compute the variance of every logit, shape (n_rows, n_classes)."""
        n_rows, n = len(self.columns), self.n_atoms
        result = np.empty((n_rows, self.n_latent))
        for k, block in enumerate(self.classes):
            intercept = np.broadcast_to(self.contrast[k], (n_rows, self.contrast.shape[1]))
            effects = np.column_stack([self.columns[:, block], intercept])
            index = np.r_[block, n : self.n_weights]
            # The logit of class k depends only on the pairs of that class and on the intercepts.
            inner = covariance[np.ix_(index, index)]
            result[:, k] = np.einsum("ij,ij->i", effects @ inner, effects)
        return result

    def effects(self, k: int) -> Matrix:
        """Return the effect of every weight on the logit of class `k`, (n_rows, n_weights)."""
        result = np.zeros((len(self.columns), self.n_weights))
        result[:, self.classes[k]] = self.columns[:, self.classes[k]]
        result[:, self.n_atoms :] = self.contrast[k]
        return result

    def all_effects(self) -> np.ndarray:
        """Return the effects on all logits, shape (n_classes, n_rows, n_weights)."""
        return np.stack([self.effects(k) for k in range(self.n_latent)])

    def subset(self, rows: slice) -> PairDesign:
        """Return the design of some of the rows."""
        has_intercept = self.n_weights > self.n_atoms
        return PairDesign(self.columns[rows], self.sizes, has_intercept=has_intercept)


def logit_covariance(effects: np.ndarray, factor: Matrix, scale: Vector) -> np.ndarray:
    """Compute the covariance of the logits of each row, shape (n_rows, n_classes, n_classes).

    Parameters
    ----------
    effects : ndarray of shape (n_classes, n_rows, n_weights)
        Effects of the weights on the logits.
    factor : ndarray of shape (n_weights, n_weights)
        Lower Cholesky factor of the precision of the weights, scaled.
    scale : ndarray of shape (n_weights,)
        Factors by which rows and columns of the precision were multiplied.
    """
    n_classes, n_rows, n_weights = effects.shape
    # With LL' = D H D the covariance E H^-1 E' is W'W, W = L^-1 D E': symmetric and positive
    # semi-definite by construction, and one triangular solve for all rows and classes.
    flat = (effects * scale).reshape(n_classes * n_rows, n_weights).T
    if n_weights:
        flat = solve_lower(factor, np.asfortranarray(flat))
    white = flat.reshape(n_weights, n_classes, n_rows)
    return np.einsum("pkn,pln->nkl", white, white, optimize=True)


@dataclass(frozen=True)
class PairPosterior:
    """Gaussian approximation of the posterior of several latent functions, without training data.

    Methods take the active atoms at new inputs, of shape (n_rows, n_atoms).
    """

    weights: Vector
    sizes: tuple[int, ...]
    place: IndexArray
    """Index of the atom of each pair, among the active atoms."""
    shift: Vector
    """Subtracted from the atoms before they are multiplied by weights."""
    contrast: Matrix
    factor: Matrix
    """Cholesky factor of the Hessian, scaled to unit diagonal."""
    scale: Vector

    @property
    def coef(self) -> Matrix:
        """Weights, one row per class; zero for atoms that are not paired with the class."""
        result = np.zeros((len(self.sizes), len(self.shift)))
        rows = np.repeat(np.arange(len(self.sizes)), self.sizes)
        result[rows, self.place] = self.weights[: len(self.place)]
        return result

    @property
    def intercept(self) -> Vector:
        """Logits where all atoms are zero; they sum to zero if the atoms are not shifted."""
        fitted: Vector = self.contrast @ self.weights[len(self.place) :]
        # (atoms - shift) w + b = atoms w + (b - shift'w).
        return fitted - self.coef @ self.shift

    def predict(self, atoms: Matrix) -> Matrix:
        """Logits at the mode, shape (n_rows, n_classes)."""
        return self._design(atoms).latent(self.weights)

    def moments(self, atoms: Matrix) -> tuple[Matrix, np.ndarray]:
        """Mean (n_rows, n_classes) and covariance (n_rows, n_classes, n_classes) of the logits."""
        design = self._design(atoms)
        covariance = logit_covariance(design.all_effects(), self.factor, self.scale)
        return design.latent(self.weights), covariance

    def _design(self, atoms: Matrix) -> PairDesign:
        columns = (atoms - self.shift)[:, self.place]
        return PairDesign(columns, self.sizes, has_intercept=self.contrast.shape[1] > 0)
