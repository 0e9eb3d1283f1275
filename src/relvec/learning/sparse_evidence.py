"""Evidence of a sparse model as a function of its precisions and input scales.

The weights are integrated out: the derivative in a scale includes the Occam factor ``log|K|``,
which a derivative at fixed weights lacks. With unit-norm atoms ``Phi``, ``S = (G + Lam)^-1``,
residual ``r``, posterior mean ``mu`` and the penalty ``c`` per degree of freedom::

    dJ / dPhi = (n / R) r mu' - Phi S - 2 c Phi S Lam S

(compare Tipping 2001, eqs. 53-57). If the noise is held, ``n / R`` is replaced by the inverse noise
variance. The chain rule through normalisation and centring of the atoms gives the derivative in
the raw kernel values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.evidence import gradient_and_hessian, penalised_shrinkage
from relvec.kernels import (
    KernelLike,
    kernel_block,
    raw_scale_gradient,
    scale_features,
    scale_jacobian,
)
from relvec.learning.ascent import ascend
from relvec.learning.length_scale_uncertainty import integrated_information
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Objective, Point, evaluate

__all__ = ["SparseEvidence", "SparsePoint"]


class SparsePoint(NamedTuple):
    """Objective of a sparse model, and its derivatives."""

    objective: float
    """Penalised log evidence, up to a constant."""
    theta: Vector
    """Derivative in the log precisions."""
    scale: Vector
    """Derivative in the scales (not their logarithms)."""


class _Model(NamedTuple):
    """A sparse model at given precisions and scales."""

    point: Point
    unit: Matrix
    """Atoms, centred and of unit norm."""
    norm: Vector
    covariance: Matrix
    """Posterior covariance of the weights of unit atoms, in units of the noise variance."""
    mean: Vector
    precision: float
    """Inverse of the noise variance."""


class SparseEvidence:
    """Evidence of a sparse model with fixed kernel centres and variable input scales.

    Parameters
    ----------
    kernel : Kernel
        Kernel of features multiplied by the square roots of their scales.
    X : ndarray of shape (n_samples, n_features)
        Training inputs.
    centers : ndarray of shape (n_kernels, n_features)
        Centres of the active kernels.
    others : ndarray of shape (n_samples, n_others)
        Active atoms of other kinds.
    target : ndarray of shape (n_samples,)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Frequency weights of the rows.
    centre : bool
        Whether there is an intercept.
    objective : Objective
        Prior, noise and sample size; its `target_ss` includes the noise floor.
    """

    def __init__(
        self,
        kernel: KernelLike,
        X: Matrix,
        centers: Matrix,
        others: Matrix,
        target: Vector,
        sample_weight: Vector | None,
        *,
        centre: bool,
        objective: Objective,
    ) -> None:
        self.kernel, self.X, self.centers, self.others = kernel, X, centers, others
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        self.root = np.sqrt(weight)
        # Zero without an intercept: subtracting share @ column then changes nothing.
        self.share = weight / weight.sum() if centre else np.zeros(len(X))
        self.target = (target - self.share @ target) * self.root
        self.objective = objective

    def evaluate(self, theta: Vector, scale: Vector) -> SparsePoint | None:
        """Evaluate objective and derivatives; None if they are numerically undefined."""
        found = self.evaluate_atoms(theta, self._evaluate_kernels(scale))
        if found is None:
            return None
        objective, by_theta, slope = found
        kernels = slope[:, : len(self.centers)]
        by_scale = raw_scale_gradient(self.kernel, scale, self.X, self.centers, kernels)
        return SparsePoint(objective, by_theta, by_scale)

    def evaluate_atoms(self, theta: Vector, kernels: Matrix) -> tuple[float, Vector, Matrix] | None:
        """Evaluate the objective, and its derivatives in log precisions and atoms.

        Parameters
        ----------
        theta : ndarray of shape (n_atoms,)
            Log precisions of atoms of unit norm.
        kernels : ndarray of shape (n_samples, n_kernels)
            Values of the kernels; the other atoms are held.

        Returns
        -------
        found : tuple or None
            Objective, derivative in `theta`, and derivative in the values of all atoms, with the
            precisions of unit-norm atoms held; None if they are numerically undefined.
        """
        model = self._model(theta, kernels)
        if model is None:
            return None
        n, _, prior, noise = self.objective
        point, unit, norm, covariance, mean, precision = model
        # d log|K| / dPhi = 2 Phi S; the penalty c D with D = m - tr(Lam S) adds 2 c S Lam S to S.
        shrunk, volume = None, covariance
        if prior.is_penalised:
            shrunk = penalised_shrinkage(prior.penalty, covariance, point.lam)
            weighted = covariance * (prior.penalty * point.lam)
            volume = covariance + 2.0 * weighted @ covariance
        slopes = prior.derivatives(theta, noise) if prior.has_density else None
        by_theta, _ = gradient_and_hessian(
            covariance, mean, point.lam, shrunk, point.quadratic, n, noise, slopes
        )
        # dJ / dPhi for unit-norm atoms, then through the normalisation: the component along each
        # atom has no effect.
        residual = self.target - unit @ mean
        # Precisions of unit atoms are held, and the mean and the noise variance are at their
        # optimum, so only the explicit dependence on Phi counts (envelope theorem).
        slope = np.multiply.outer(precision * residual, mean) - unit @ volume
        # d(phi / |phi|) = (I - phi phi' / |phi|^2) dphi / |phi|.
        slope = (slope - unit * np.einsum("ij,ij->j", unit, slope)) / norm
        slope *= self.root[:, None]  # already centred, like unit atoms and residuals
        # `Point.cost` is -2 J.
        return -0.5 * point.cost, -0.5 * by_theta, slope

    def maximise(self, theta: Vector, scale: Vector, max_iter: int) -> tuple[Vector, Vector, float]:
        """Maximise the objective over precisions and scales jointly.

        Parameters
        ----------
        theta : ndarray of shape (n_atoms,)
            Initial log precisions.
        scale : ndarray of shape (n_features,)
            Initial scales; zero scales stay zero.
        max_iter : int
            Largest number of steps.

        Returns
        -------
        theta, scale
            Log precisions and scales at the end.
        rise : float
            Rise of the objective, never negative.
        """
        features, size, moved = np.flatnonzero(scale), len(theta), scale.copy()

        def objective(vector: Vector) -> tuple[float, Vector] | None:
            # Log scales, relative to the initial ones: all coordinates are of order one.
            moved[features] = scale[features] * np.exp(vector[size:])
            point = self.evaluate(vector[:size], moved)
            if point is None:
                return None
            return point.objective, np.concatenate([point.theta, (moved * point.scale)[features]])

        start = np.concatenate([theta, np.zeros(len(features))])
        farthest = math.log(1e8)  # beyond, kernels are constant in a feature or diagonal
        bounds = np.full((2, len(start)), [[-farthest], [farthest]])
        bounds[:, :size] = [[THETA_MIN], [THETA_MAX]]
        end = ascend(objective, start, bounds, max_iter)
        if not end.value > end.first:
            return theta, scale, 0.0
        moved[features] = scale[features] * np.exp(end.vector[size:])
        return end.vector[:size], moved, end.value - end.first

    def information(self, theta: Vector, scale: Vector) -> Matrix | None:
        """Compute the information matrix ``D' C^-1 D`` of the scales, weights integrated out.

        ``D`` is the derivative of the mean function in the scales and ``C`` the covariance of the
        targets. None if the model is numerically undefined.
        """
        model = self._model(theta, self._evaluate_kernels(scale))
        if model is None:
            return None
        # Weights of raw kernels, from those of unit-norm atoms.
        weights = (model.mean / model.norm)[: len(self.centers)]
        D = scale_jacobian(self.kernel, scale, self.X, self.centers, weights)
        D = (D - self.share @ D) * self.root[:, None]
        return model.precision * integrated_information(D, model.unit, model.covariance)[0]

    def _evaluate_kernels(self, scale: Vector) -> Matrix:
        scaled = scale_features(self.kernel, scale, self.X)
        return kernel_block(self.kernel, scaled, scale_features(self.kernel, scale, self.centers))

    def _model(self, theta: Vector, kernels: Matrix) -> _Model | None:
        atoms = np.hstack([kernels, self.others])
        centred = (atoms - self.share @ atoms) * self.root[:, None]
        norm = np.sqrt(np.einsum("ij,ij->j", centred, centred))
        if not (norm > 1e-140).all():  # else the square underflows
            return None
        unit = centred / norm
        correlation = unit.T @ self.target
        point = evaluate(unit.T @ unit, correlation, theta, self.objective)
        if point is None:
            return None
        n, noise = self.objective.n_effective, self.objective.noise_variance
        # 1 / sigma^2 with sigma^2 = R / N at its maximum (docs/notation.md), unless given.
        precision = n / point.quadratic if noise is None else 1.0 / noise
        covariance = point.covariance
        return _Model(point, unit, norm, covariance, covariance @ correlation, precision)
