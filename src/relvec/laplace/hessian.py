"""The curvature of a log posterior in the weights, factorised, and all that is read off it.

``H = X'BX + A``, with ``X`` the effects of the weights on the latent functions, ``B`` the curvature
of the log likelihood in these and ``A`` the prior precisions. Here is the case of one latent
function; several, with a weight for each pair of an atom and a class, are in `pairs`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from relvec._linalg import (
    inverse_from_cholesky,
    log_det_cholesky,
    robust_cholesky,
    solve_lower,
)
from relvec._typing import Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.likelihoods.base import BoundLikelihood

__all__ = ["Design", "Hessian", "Penalty"]

Penalty: TypeAlias = float | Vector
"""Penalty per degree of freedom: one number for all weights, or one for each."""


class Hessian:
    """A factorised negative Hessian of a log posterior.

    It takes ``X'BX`` over and adds the prior precisions, zero for intercepts, in place.
    """

    def __init__(self, design: Design, rows: Any, matrix: Matrix, precision: Vector) -> None:
        matrix.flat[:: len(precision) + 1] += precision
        self.design, self.rows, self.precision = design, rows, precision
        self.n_atoms = design.n_atoms
        # weights of very different sizes: a unit diagonal is what Cholesky likes
        self.scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), np.finfo(float).tiny))
        self.factor = robust_cholesky(matrix * np.multiply.outer(self.scale, self.scale))

    @property
    def log_det(self) -> float:
        """Log determinant."""
        return log_det_cholesky(self.factor) - 2.0 * float(np.log(self.scale).sum())

    @cached_property
    def covariance(self) -> Matrix:
        """Inverse: the posterior covariance of the weights."""
        return inverse_from_cholesky(self.factor) * np.multiply.outer(self.scale, self.scale)

    @property
    def degrees_of_freedom(self) -> Vector:
        """Share of each weight that the data determine."""
        shares: Vector = (1.0 - self.precision * self.covariance.diagonal())[: self.n_atoms]
        return shares

    def degrees_of_freedom_slope(self, c: Penalty) -> Vector:
        """Minus the derivative of ``sum(c * degrees_of_atoms)`` in the log precisions."""
        penalised = self._weight_precision_by_penalty(c)
        own = penalised * self.covariance.diagonal()
        slope: Vector = own - self.precision * ((self.covariance * self.covariance) @ penalised)
        return slope[: self.n_atoms]

    def penalised_covariance(self, c: Penalty) -> Matrix:
        """Covariance whose product with a change of ``B`` is that of twice the penalised volume.

        Penalising degrees of freedom by `c` adds ``2 S C A S`` to the covariance ``S``.
        """
        if isinstance(c, float) and not c:
            return self.covariance
        return (
            self.covariance
            + 2.0 * (self.covariance * self._weight_precision_by_penalty(c)) @ self.covariance
        )

    def compute_entry_statistics(
        self,
        dictionary: Dictionary,
        penalty: tuple[Penalty, Penalty] | None = None,
    ) -> tuple[Matrix, Matrix, Matrix | None]:
        """Statistics of every atom in every latent function, as if it were to enter.

        `penalty` is that per degree of freedom of all atoms, and of those in the model. Of shape
        (n_atoms, n_latent) are: the curvature in the weight of the atom, all other weights held;
        the same with them integrated out, which rounding may make negative; and ``r``, if there
        is a penalty: with precision ``a``, the atom adds ``r / (a + s)`` to it.
        """
        sides = self.design.list_curvatures(self.rows)
        raw = np.column_stack([dictionary.sq_norms(own) for own, _ in sides])
        s, shrunk = raw.copy(), np.zeros_like(raw)
        for k, (_, effects) in enumerate(sides if len(self.scale) else []):
            # half of the inverse Hessian on this side of the product with all atoms
            root = solve_lower(self.factor, (effects * self.scale).T).T
            products = dictionary.rmatmat(root)
            s[:, k] -= np.einsum("ij,ij->i", products, products)
            if penalty is not None:
                solved = solve_lower(self.factor, products.T, transposed=True).T * self.scale
                shrunk[:, k] = np.square(solved) @ self._weight_precision_by_penalty(penalty[1])
        if penalty is None:
            return raw, s, None
        if not isinstance(penalty[0], np.ndarray):  # displacing others cannot pay
            return raw, s, np.maximum(penalty[0] * s - shrunk, 0.0)
        return raw, s, penalty[0][:, None] * s - shrunk

    def _weight_precision_by_penalty(self, c: Penalty) -> Vector:
        """Prior precisions times the penalty; intercepts have none."""
        penalised = np.zeros(len(self.precision))
        penalised[: self.n_atoms] = c
        result: Vector = penalised * self.precision
        return result


class Design:
    """The linear map from weights to the latent functions at the training rows.

    Here there is one: the columns of the atoms, and ones if there is an intercept, which is last.
    """

    n_latent = 1

    def __init__(self, columns: Matrix, *, has_intercept: bool) -> None:
        self.n_atoms = columns.shape[1]
        """Number of weights besides the intercepts."""
        self.contrast = np.ones((1, int(has_intercept)))
        """Effect of the intercepts on each latent function, which they move as a whole."""
        self.columns = columns
        if has_intercept:
            self.columns = np.column_stack([columns, np.ones(len(columns))])
        self.n_weights = self.columns.shape[1]

    def latent(self, weights: Vector) -> Matrix:
        """Latent functions, offsets left out."""
        return self.columns @ weights

    def apply_transpose(self, residual: Matrix) -> Vector:
        """Inner product of every weight's effect on the latent functions with `residual`."""
        result: Vector = residual @ self.columns
        return result

    def compute_slope_and_curvature(
        self, likelihood: BoundLikelihood, f: Matrix
    ) -> tuple[Matrix, Any]:
        """Slope of the log likelihood in the latent functions, and its curvature ``B``.

        The slope is what the residual of the working response has it.
        """
        slope, curvature = likelihood.quadratic(f)
        rows = likelihood.weighted(curvature)
        return rows * (f + slope / curvature - f), rows

    def compute_reference_curvature(self, likelihood: BoundLikelihood) -> Any:
        """Curvature ``B`` that a penalty on degrees of freedom counts with."""
        return likelihood.weighted(likelihood.reference_curvature())

    def hessian(self, rows: Any, precision: Vector) -> Hessian:
        """Curvature in the weights, given that of the rows."""
        return Hessian(self, rows, self.columns.T @ (self.columns * rows[:, None]), precision)

    def compute_volume_slope(
        self, hessian: Hessian, likelihood: BoundLikelihood, f: Matrix, c: Penalty
    ) -> Matrix:
        """Derivative, in every latent value, of twice the log volume plus `c` per degree."""
        spread = self.columns @ hessian.penalised_covariance(c)
        variance = np.einsum("ij,ij->i", spread, self.columns)
        return likelihood.weighted(likelihood.curvature_slope(f)) * variance

    def apply_curvature(self, rows: Any, change: Matrix) -> Matrix:
        """Apply ``B`` to a change of the latent functions."""
        result: Matrix = rows * change
        return result

    def list_curvatures(self, rows: Any) -> list[tuple[Vector, Matrix]]:
        """For each latent function, its own curvature and ``B`` times all effects, rows first."""
        return [(rows, self.columns * rows[:, None])]
