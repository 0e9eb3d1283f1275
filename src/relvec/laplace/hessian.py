"""Negative Hessian of the log posterior of the weights, factorised, and quantities derived from it.

``H = X'BX + A``, with ``X`` the linear map from weights to latent functions, ``B`` the curvature
(negative second derivative) of the log likelihood in the latent functions and ``A`` the diagonal
matrix of prior precisions (Tipping 2001, eq. 25). This module treats one latent function; `pairs`
treats several, with a weight for each pair of an atom and a class.
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
"""Penalty per effective degree of freedom: one number for all weights, or one for each."""


class Hessian:
    """Factorised negative Hessian ``H = X'BX + A`` of a log posterior.

    `matrix` is ``X'BX``, to which the prior precisions (zero for intercepts) are added in place;
    `rows` is the curvature ``B`` of the rows.
    """

    def __init__(self, design: Design, rows: Any, matrix: Matrix, precision: Vector) -> None:
        # Strided view of the diagonal: H = X'BX + A without a dense diagonal matrix.
        matrix.flat[:: len(precision) + 1] += precision
        self.design, self.rows, self.precision = design, rows, precision
        self.n_atoms = design.n_atoms
        # Weights may have very different scales: a unit diagonal keeps Cholesky accurate.
        self.scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), np.finfo(float).tiny))
        self.factor = robust_cholesky(matrix * np.multiply.outer(self.scale, self.scale))

    @property
    def log_det(self) -> float:
        """Log determinant of ``H``."""
        # With D = diag(scale), LL' = D H D, so log|H| = log|LL'| - 2 log|D|.
        return log_det_cholesky(self.factor) - 2.0 * float(np.log(self.scale).sum())

    @cached_property
    def covariance(self) -> Matrix:
        """Posterior covariance ``S = H^-1`` of the weights (Tipping 2001, eq. 26)."""
        # H^-1 = D (D H D)^-1 D: the same scaling multiplies the inverse, it does not divide it.
        return inverse_from_cholesky(self.factor) * np.multiply.outer(self.scale, self.scale)

    @property
    def degrees_of_freedom(self) -> Vector:
        """Effective degrees of freedom ``gamma = 1 - alpha S_ii`` of each weight of an atom."""
        shares: Vector = (1.0 - self.precision * self.covariance.diagonal())[: self.n_atoms]
        return shares

    def degrees_of_freedom_slope(self, c: Penalty) -> Vector:
        """Minus the derivative of ``sum(c * degrees_of_freedom)`` in the log precisions.

        With ``dS = -S dA S`` it is ``c_i alpha_i S_ii - alpha_i sum_j c_j alpha_j S_ij^2``.
        """
        penalised = self._penalised_precision(c)
        # First term: explicit dependence of gamma_i = 1 - alpha_i S_ii on alpha_i, with S held.
        # Second: the change of all S_jj, dS_jj / d log alpha_i = -alpha_i S_ij^2.
        own = penalised * self.covariance.diagonal()
        slope: Vector = own - self.precision * ((self.covariance * self.covariance) @ penalised)
        return slope[: self.n_atoms]

    def penalised_covariance(self, c: Penalty) -> Matrix:
        """Compute the covariance by which twice the penalised log volume changes with ``B``.

        This is ``V`` such that a change ``dB`` changes it by ``tr(X'dBX V)``.

        Twice the log volume is ``log|H|``, with ``V = S``. A penalty `c` on degrees of freedom adds
        ``2 S diag(c) A S``.
        """
        # d gamma_j = alpha_j (S X'dBX S)_jj, hence d(2 sum_j c_j gamma_j) = tr(X'dBX 2 S diag(c
        # alpha) S).
        if isinstance(c, float) and not c:
            return self.covariance
        return (
            self.covariance
            + 2.0 * (self.covariance * self._penalised_precision(c)) @ self.covariance
        )

    def compute_entry_statistics(
        self,
        dictionary: Dictionary,
        penalty: tuple[Penalty, Penalty] | None = None,
    ) -> tuple[Matrix, Matrix, Matrix | None]:
        """Compute the statistics of every atom in every latent function, for its entry.

        `penalty` has the penalties per degree of freedom of all atoms, and of the active ones. The
        results have shape (n_atoms, n_latent): the curvature ``phi'B phi`` in the weight of the
        atom, all other weights held; the sparsity factor ``s = phi'B phi - phi'BX S X'B phi``
        (Tipping and Faul, 2003), with the other weights integrated out, which rounding may make
        negative; and, with a penalty, ``r``: at precision ``a`` the atom adds ``r / (a + s)`` to
        it.
        """
        # phi'B phi of each atom in each latent function; own is the diagonal entry of B of that
        # function.
        sides = self.design.list_curvatures(self.rows)
        raw = np.column_stack([dictionary.sq_norms(own) for own, _ in sides])
        s, shrunk = raw.copy(), np.zeros_like(raw)
        for k, (_, effects) in enumerate(sides if len(self.scale) else []):
            # S = L^-T L^-1: the squared norms of L^-1 X'B phi are what s is reduced by.
            root = solve_lower(self.factor, (effects * self.scale).T).T
            products = dictionary.rmatmat(root)
            s[:, k] -= np.einsum("ij,ij->i", products, products)
            if penalty is not None:
                # S X'B phi. By the inverse of a bordered matrix, an atom of precision a has
                # posterior variance 1 / (a + s) and raises S_jj by (S X'B phi)_j^2 / (a + s):
                # gamma_j of the active atoms falls by alpha_j times this, while the atom itself has
                # gamma = s / (a + s).
                solved = solve_lower(self.factor, products.T, transposed=True).T * self.scale
                shrunk[:, k] = np.square(solved) @ self._penalised_precision(penalty[1])
        if penalty is None:
            return raw, s, None
        if not isinstance(penalty[0], np.ndarray):  # one common penalty: r cannot be negative
            return raw, s, np.maximum(penalty[0] * s - shrunk, 0.0)
        # With unequal penalties r may be negative: the atom takes degrees of freedom from others
        # that have a larger penalty.
        return raw, s, penalty[0][:, None] * s - shrunk

    def _penalised_precision(self, c: Penalty) -> Vector:
        """Return prior precisions times the penalty; zero for intercepts."""
        penalised = np.zeros(len(self.precision))
        # Intercepts have prior precision zero and are not penalised.
        penalised[: self.n_atoms] = c
        result: Vector = penalised * self.precision
        return result


class Design:
    """Linear map ``X`` from weights to one latent function at the training rows.

    Its columns are those of the atoms and, last, ones if there is an intercept.
    """

    n_latent = 1

    def __init__(self, columns: Matrix, *, has_intercept: bool) -> None:
        self.n_atoms = columns.shape[1]
        """Number of weights besides the intercepts."""
        self.contrast = np.ones((1, int(has_intercept)))
        """Effect of the intercepts on each latent function, the same at all rows."""
        self.columns = columns
        if has_intercept:
            self.columns = np.column_stack([columns, np.ones(len(columns))])
        self.n_weights = self.columns.shape[1]

    def latent(self, weights: Vector) -> Matrix:
        """Compute the latent functions ``X w``, without offsets."""
        return self.columns @ weights

    def apply_transpose(self, residual: Matrix) -> Vector:
        """Compute ``X' residual``."""
        result: Vector = residual @ self.columns
        return result

    def compute_slope_and_curvature(
        self, likelihood: BoundLikelihood, f: Matrix
    ) -> tuple[Matrix, Any]:
        """Compute slope and curvature ``B`` of the log likelihood in the latent functions.

        The slope is the weighted residual of the working response ``f + slope / curvature``.
        """
        slope, curvature = likelihood.slope_and_curvature(f)
        rows = likelihood.apply_weights(curvature)
        # The weighted slope, as the residual B (z - f) of the working response z: the same
        # operations as with repeated rows, so that a row of weight two and two copies of it agree.
        return rows * (f + slope / curvature - f), rows

    def compute_reference_curvature(self, likelihood: BoundLikelihood) -> Any:
        """Compute the curvature ``B`` at which a penalty counts degrees of freedom.

        It does not depend on the targets.
        """
        return likelihood.apply_weights(likelihood.reference_curvature())

    def hessian(self, rows: Any, precision: Vector) -> Hessian:
        """Compute ``H = X'BX + A`` from the curvature ``B`` of the rows."""
        return Hessian(self, rows, self.columns.T @ (self.columns * rows[:, None]), precision)

    def compute_volume_slope(
        self, hessian: Hessian, likelihood: BoundLikelihood, f: Matrix, c: Penalty
    ) -> Matrix:
        """Derivative of ``log|H|`` plus twice `c` per degree of freedom, in every latent value.

        ``d log|H| / df_n = (dB_n / df_n) x_n' S x_n``: the third derivative of the log likelihood
        times the posterior variance of the latent value (Rasmussen & Williams 2006, eq. 5.23).
        """
        spread = self.columns @ hessian.penalised_covariance(c)
        # Diagonal of X V X' only: the n x n matrix is not formed.
        variance = np.einsum("ij,ij->i", spread, self.columns)
        return likelihood.apply_weights(likelihood.curvature_slope(f)) * variance

    def apply_curvature(self, rows: Any, change: Matrix) -> Matrix:
        """Apply ``B`` to a change of the latent functions."""
        result: Matrix = rows * change
        return result

    def list_curvatures(self, rows: Any) -> list[tuple[Vector, Matrix]]:
        """List, for each latent function, its own curvature and its rows of ``B X``."""
        return [(rows, self.columns * rows[:, None])]
