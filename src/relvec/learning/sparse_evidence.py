"""The evidence of a sparse model as a function of its precisions and of the scales of its inputs.

The weights are integrated out, so that the derivative in a scale has the factor of Occam that a
derivative at fixed weights lacks. With unit-norm atoms ``Phi``, ``S = (G + Lam)^-1``, residual
``r`` and weights ``mu``, and ``c`` the price of a degree of freedom::

    dJ / dPhi = (n / R) r mu' - Phi S - 2 c Phi S Lam S

(the first factor is the inverse of the noise variance if that is held), projected back through the
normalisation and the centring of the atoms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import gradient_and_hessian, penalised_shrinkage
from relvec.kernels import (
    KernelLike,
    kernel_block,
    raw_scale_slope,
    scale_jacobian,
    scaled_inputs,
)
from relvec.learning.scale_doubt import ScaleDoubt
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Objective, Point, evaluate

__all__ = ["SparseEvidence", "SparsePoint"]


class SparsePoint(NamedTuple):
    """The objective of a sparse model, and its derivatives."""

    objective: float
    """Penalised log evidence, up to a constant."""
    theta: Vector
    """Derivative in the log precisions."""
    scale: Vector
    """Derivative in the scales themselves."""


class _Model(NamedTuple):
    """A sparse model at given precisions and scales."""

    point: Point
    unit: Matrix
    """Atoms, centred and of unit norm."""
    norm: Vector
    atom_mean: Vector
    covariance: Matrix
    """Of the weights of unit atoms, in units of the noise variance."""
    mean: Vector
    precision: float
    """Inverse of the noise variance."""


class SparseEvidence:
    """A sparse model whose atoms are held, but not their shapes.

    Parameters
    ----------
    kernel : Kernel
        Kernel of inputs multiplied by the square roots of their scales.
    X : ndarray of shape (n_samples, n_features)
        Training inputs.
    centers : ndarray of shape (n_kernels, n_features)
        Where the active kernels are.
    others : ndarray of shape (n_samples, n_others)
        Active atoms of other kinds.
    target : ndarray of shape (n_samples,)
        Targets.
    sample_weight : ndarray of shape (n_samples,) or None
        How often each row counts.
    centre : bool
        Whether there is an intercept.
    objective : Objective
        Prior, noise and sample size; its `target_ss` includes what keeps the noise from zero.
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
        self.share = weight / weight.sum() if centre else np.zeros(len(X))
        self.target = (target - self.share @ target) * self.root
        self.objective = objective

    def at(self, theta: Vector, scale: Vector) -> SparsePoint | None:
        """Evaluate; None where the objective is numerically not defined."""
        model = self._model(theta, scale)
        if model is None:
            return None
        n, _, prior, noise = self.objective
        c = prior.penalty
        point, unit, norm, _, covariance, mean, precision = model
        shrunk = None
        if prior.is_penalised:
            shrunk = penalised_shrinkage(c, covariance, point.lam)
        slopes = prior.slopes(theta, noise) if prior.has_density else None
        by_theta, _ = gradient_and_hessian(
            covariance, mean, point.lam, shrunk, point.quadratic, n, noise, slopes, c
        )
        value, volume = -0.5 * point.cost, covariance
        if prior.is_penalised:
            common, relative = (c, 1.0) if isinstance(c, float) else (1.0, c)
            volume = covariance + 2.0 * common * (
                (covariance * (relative * point.lam)) @ covariance
            )
        residual = self.target - unit @ mean
        slope = np.multiply.outer(precision * residual, mean) - unit @ volume
        slope = (slope - unit * np.einsum("ij,ij->j", unit, slope)) / norm
        slope *= self.root[:, None]  # of mean zero already: unit atoms and residuals are
        kernels = slope[:, : len(self.centers)]
        by_scale = raw_scale_slope(self.kernel, scale, self.X, self.centers, kernels)
        return SparsePoint(value, -0.5 * by_theta, by_scale)

    def climb(
        self, theta: Vector, scale: Vector, max_iter: int, *, largest_factor: float = 1e8
    ) -> tuple[Vector, Vector, float]:
        """Climb the objective in precisions and scales together.

        Parameters
        ----------
        theta : ndarray of shape (n_atoms,)
            Log precisions to start from.
        scale : ndarray of shape (n_features,)
            Scales to start from; those that are zero stay so.
        max_iter : int
            Steps to take.
        largest_factor : float, default=1e8
            By which a scale may change.

        Returns
        -------
        theta, scale
            Where the climb ended.
        rise : float
            What was gained, never negative.
        """
        inputs, size = np.flatnonzero(scale), len(theta)

        def moved(vector: Vector) -> Vector:
            result = scale.copy()
            result[inputs] = scale[inputs] * np.exp(vector[size:])
            return result

        def cost(vector: Vector) -> tuple[float, Vector]:
            there = moved(vector)
            point = self.at(vector[:size], there)
            if point is None:
                return 1e300, np.zeros_like(vector)
            by_scale = (there * point.scale)[inputs]
            return -point.objective, -np.concatenate([point.theta, by_scale])

        farthest = float(np.log(largest_factor))
        bounds = [(THETA_MIN, THETA_MAX)] * size + [(-farthest, farthest)] * len(inputs)
        start = np.clip(np.concatenate([theta, np.zeros(len(inputs))]), *np.transpose(bounds))
        first = cost(start)[0]
        end = minimize(
            cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iter}
        )
        if not end.fun < first:
            return theta, scale, 0.0
        return end.x[:size], moved(end.x), float(first - end.fun)

    def information(
        self,
        theta: Vector,
        scale: Vector,
        inputs: IndexArray | slice = slice(None),
        directions: Matrix | None = None,
    ) -> Matrix | None:
        """What the data say of the scales of some inputs: ``D' C^-1 D``, weights integrated out.

        ``D`` is the derivative of the mean function in the scales and ``C`` the covariance of the
        targets: a change of the function that other weights could bring about as well tells
        nothing. Among `inputs` are all whose scale is not zero; `directions`, one in each column,
        are changes of their scales, by default of each by itself. None where the model is
        numerically not defined.
        """
        model = self._model(theta, scale)
        if model is None:
            return None
        D = self._jacobian(model, scale, inputs)
        D = D if directions is None else D @ directions
        D = (D - self.share @ D) * self.root[:, None]
        along = model.unit.T @ D
        result: Matrix = D.T @ D - along.T @ model.covariance @ along
        return model.precision * result

    def doubt(
        self, theta: Vector, scale: Vector, inputs: IndexArray, root: Matrix
    ) -> ScaleDoubt | None:
        """Return what is not known of the function because the scales are not.

        Parameters
        ----------
        theta, scale
            Where the model is; only for models whose atoms are all kernels.
        inputs : ndarray of int
            Inputs whose scale is not zero.
        root : ndarray
            Root of the covariance of their scales.
        """
        model = self._model(theta, scale)
        if model is None or self.others.shape[1]:
            return None
        D = self._jacobian(model, scale, inputs)
        middle = self.share @ D
        response = model.covariance @ (model.unit.T @ ((D - middle) * self.root[:, None]))
        return ScaleDoubt(
            self.kernel,
            inputs,
            scale[inputs],
            self.centers[:, inputs],
            model.mean / model.norm,
            middle,
            model.atom_mean,
            model.norm,
            response,
            root,
        )

    def _jacobian(self, model: _Model, scale: Vector, inputs: IndexArray | slice) -> Matrix:
        weights = (model.mean / model.norm)[: len(self.centers)]
        return scale_jacobian(
            self.kernel, scale[inputs], self.X[:, inputs], self.centers[:, inputs], weights
        )

    def _model(self, theta: Vector, scale: Vector) -> _Model | None:
        inputs = scaled_inputs(self.kernel, scale, self.X)
        raw = kernel_block(self.kernel, inputs, scaled_inputs(self.kernel, scale, self.centers))
        atoms = np.hstack([raw, self.others])
        atom_mean = self.share @ atoms
        centred = (atoms - atom_mean) * self.root[:, None]
        norm = np.sqrt(np.einsum("ij,ij->j", centred, centred))
        if not (norm > 1e-140).all():  # whose square is not zero
            return None
        unit = centred / norm
        correlation = unit.T @ self.target
        point = evaluate(unit.T @ unit, correlation, theta, self.objective)
        if point is None:
            return None
        n, noise = self.objective.n_effective, self.objective.noise_variance
        precision = n / point.quadratic if noise is None else 1.0 / noise
        covariance = point.covariance
        return _Model(point, unit, norm, atom_mean, covariance, covariance @ correlation, precision)
