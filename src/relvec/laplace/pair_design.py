"""The linear map of a model with one weight for each of some pairs of an atom and a class.

The logits of class k are a combination of the atoms that class k has, plus its intercept. All
intercepts moved by the same amount change no probability, so they are parametrised by
orthonormal contrasts, K - 1 numbers for K classes, on which a flat prior is regular.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import helmert

from relvec._linalg import (
    inverse_from_cholesky,
    log_det_cholesky,
    robust_cholesky,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import Matrix, Vector
from relvec.dictionaries.base import Dictionary

__all__ = ["PairCurvature", "PairDesign"]


@dataclass(frozen=True)
class PairDesign:
    """Columns of the pairs, class by class, and the contrasts of the intercepts."""

    columns: Matrix
    """The atom of each pair at the rows, classes in ascending order."""
    sizes: tuple[int, ...]
    """Number of pairs of each class."""
    contrast: Matrix
    """Shape (n_classes, n_classes - 1), or (n_classes, 0) without intercepts."""

    @classmethod
    def of(cls, columns: Matrix, sizes: tuple[int, ...], *, has_intercept: bool) -> PairDesign:
        """Choose the contrasts."""
        n_classes = len(sizes)
        contrast = helmert(n_classes).T if has_intercept else np.empty((n_classes, 0))
        return cls(columns, sizes, contrast)

    @cached_property
    def classes(self) -> list[slice]:
        """Where the pairs of each class are."""
        ends = np.cumsum((0, *self.sizes))
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def n_pairs(self) -> int:
        """Number of weights besides the intercepts."""
        return self.columns.shape[1]

    @property
    def n_weights(self) -> int:
        """Number of weights, contrasts of the intercepts included."""
        return self.n_pairs + self.contrast.shape[1]

    def logits(self, weights: Matrix) -> Matrix:
        """Logits of all classes, shape (n_rows, n_classes).

        Given a matrix of weights, one model per column, the result has the models first.
        """
        intercepts = self.contrast @ weights[self.n_pairs :]
        each = [
            self.columns[:, block] @ weights[block] + intercepts[k]
            for k, block in enumerate(self.classes)
        ]
        return np.moveaxis(np.stack(each, axis=-1), 0, -2)

    def pull(self, residual: Matrix) -> Vector:
        """Inner product of every weight's effect on the logits with `residual`."""
        each = [residual[:, k] @ self.columns[:, block] for k, block in enumerate(self.classes)]
        return np.concatenate([*each, residual.sum(axis=0) @ self.contrast])

    def expected(self, probability: Matrix) -> Matrix:
        """Effect of every weight on the mean logit of each row, shape (n_rows, n_weights)."""
        result = np.empty((len(self.columns), self.n_weights))
        for k, block in enumerate(self.classes):
            np.multiply(self.columns[:, block], probability[:, k, None], out=result[:, block])
        result[:, self.n_pairs :] = probability @ self.contrast
        return result

    def within(self, other: Matrix) -> Matrix:
        """Sum, for each class, of the products of its effects with the entries of `other`."""
        product = self.columns * other[:, : self.n_pairs]
        each = [product[:, block].sum(axis=1) for block in self.classes]
        return np.column_stack(each) + other[:, self.n_pairs :] @ self.contrast.T

    def variances(self, covariance: Matrix) -> Matrix:
        """Variance of every logit, shape (n_rows, n_classes), given the weights' covariance."""
        n_rows, n = len(self.columns), self.n_pairs
        result = np.empty((n_rows, len(self.sizes)))
        for k, block in enumerate(self.classes):
            intercept = np.broadcast_to(self.contrast[k], (n_rows, self.contrast.shape[1]))
            effects = np.column_stack([self.columns[:, block], intercept])
            index = np.r_[block, n : self.n_weights]
            inner = covariance[np.ix_(index, index)]
            result[:, k] = np.einsum("ij,ij->i", effects @ inner, effects)
        return result

    def effects(self, k: int) -> Matrix:
        """Effect of every weight on the logit of class `k`, shape (n_rows, n_weights)."""
        result = np.zeros((len(self.columns), self.n_weights))
        result[:, self.classes[k]] = self.columns[:, self.classes[k]]
        result[:, self.n_pairs :] = self.contrast[k]
        return result


class PairCurvature:
    """Negative Hessian of a log posterior whose likelihood is a softmax.

    Spec: with ``y`` the probabilities, ``v`` the weights of the rows and ``x_k`` the effects on
    class k, ``H = sum_n v_n [ sum_k y_k x_k x_k' - (sum_k y_k x_k) (sum_k y_k x_k)' ] + A``.

    Parameters
    ----------
    design : PairDesign
        The map from weights to logits.
    probability : ndarray of shape (n_rows, n_classes)
        Positive, with rows adding up to one.
    weight : ndarray of shape (n_rows,) or None
        How often rows count.
    precision : ndarray of shape (n_weights,)
        Prior precisions; zero for intercepts.
    """

    def __init__(
        self, design: PairDesign, probability: Matrix, weight: Vector | None, precision: Vector
    ) -> None:
        self.design, self.probability, self.precision = design, probability, precision
        self.weight = np.ones(len(probability)) if weight is None else weight
        self.expected = design.expected(probability)
        weighted = self.expected * self.weight[:, None]
        n = design.n_pairs
        sums = self.weight @ self.expected
        hessian = -(self.expected.T @ weighted)
        for k, block in enumerate(design.classes):
            hessian[block, block] += design.columns[:, block].T @ weighted[:, block]
            cross = np.multiply.outer(sums[block], design.contrast[k])
            hessian[block, n:] += cross
            hessian[n:, block] += cross.T
        total = self.weight @ probability
        hessian[n:, n:] += design.contrast.T @ (total[:, None] * design.contrast)
        hessian.flat[:: len(precision) + 1] += precision
        self.scale = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), np.finfo(float).tiny))
        self.factor = robust_cholesky(hessian * np.multiply.outer(self.scale, self.scale))

    @property
    def log_det(self) -> float:
        """Log determinant."""
        return log_det_cholesky(self.factor) - 2.0 * float(np.log(self.scale).sum())

    def solve(self, right: Vector) -> Vector:
        """Return the inverse times a vector."""
        if not len(self.scale):
            return right
        return self.scale * solve_cholesky(self.factor, self.scale * right)

    @cached_property
    def covariance(self) -> Matrix:
        """Inverse."""
        return inverse_from_cholesky(self.factor) * np.multiply.outer(self.scale, self.scale)

    @property
    def degrees(self) -> float:
        """Effective degrees of freedom, intercepts left out."""
        shares = 1.0 - self.precision * self.covariance.diagonal()
        return float(shares[: self.design.n_pairs].sum())

    @property
    def degrees_slope(self) -> Vector:
        """Minus the derivative of `degrees` in the log precisions, curvature held."""
        own = self.precision * self.covariance.diagonal()
        shrunk = (self.covariance * self.covariance) @ self.precision
        slope: Vector = own - self.precision * shrunk
        return slope[: self.design.n_pairs]

    def drift(self, c: float) -> Matrix:
        """Derivative, in every logit, of twice the log volume plus `c` per degree of freedom.

        Spec: with ``V = x (S + 2 c S A S) x'`` of a row, classes by classes, and
        ``B = diag(y) - y y'``: ``v B (diag V - 2 V y)``.
        """
        design, y = self.design, self.probability
        covariance = self.covariance
        if c:
            covariance = covariance + (2.0 * c) * ((covariance * self.precision) @ covariance)
        mixed = design.within(self.expected @ covariance)
        own = design.variances(covariance)
        inner_slope = y * (own - 2.0 * mixed)
        inner_slope -= y * inner_slope.sum(axis=1, keepdims=True)
        return inner_slope * self.weight[:, None]

    def entry(self, dictionary: Dictionary, *, degrees: bool) -> tuple[Matrix, Matrix | None]:
        """Statistics of every pair as if it were to enter, shape (n_atoms, n_classes).

        Returns
        -------
        s : ndarray
            Curvature in the weight of the pair, all other weights integrated out.
        r : ndarray or None
            If asked for, degrees of freedom the pair would add per unit of its variance.
        """
        n_classes = self.probability.shape[1]
        s = np.empty((dictionary.shape[1], n_classes))
        r = np.empty_like(s) if degrees else None
        for k in range(n_classes):
            y = self.probability[:, k]
            s[:, k] = dictionary.sq_norms(self.weight * y * (1.0 - y))
            if not len(self.scale):
                continue
            effects = (self.design.effects(k) - self.expected) * (self.weight * y)[:, None]
            # half of the inverse Hessian on this side of the product with all atoms
            root = solve_lower(self.factor, (effects * self.scale).T).T
            products = dictionary.rmatmat(root)
            s[:, k] -= np.einsum("ij,ij->i", products, products)
            if r is not None:
                solved = solve_lower(self.factor, products.T, transposed=True).T * self.scale
                r[:, k] = s[:, k] - np.square(solved) @ self.precision
        if r is not None and not len(self.scale):
            r[:] = s
        return s, None if r is None else np.maximum(r, 0.0)
