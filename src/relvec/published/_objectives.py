"""Log posteriors of feature weights and of kernel weights, with derivatives (Heimsæter 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from relvec._typing import BoolArray, Matrix, Vector
from relvec.likelihoods import BoundLikelihood
from relvec.published._algebra import kernel_curvature, kernel_jacobian, scaled_kernel


class Trial(NamedTuple):
    """An objective at one point."""

    x: Vector
    fit: float
    """Log likelihood."""
    prior: float
    """Log prior, up to constants."""
    output: Vector
    """Latent function at each sample."""
    kernel: Matrix
    """Kernel or design matrix."""

    @property
    def value(self) -> float:
        """The objective."""
        return self.fit + self.prior


@dataclass(frozen=True)
class TruncatedPrior:
    """Independent normal priors; `truncated` coordinates are restricted to x >= 0.

    With a `scale` the indicator of x >= 0 is smoothed to the logistic function
    ``1 / (1 + exp(-scale x))``; with None it is exact, and the optimiser enforces it by projection.
    """

    precision: Vector
    truncated: BoolArray
    scale: float | None

    def value(self, x: Vector) -> float:
        """Return the log density, up to constants."""
        result = -0.5 * float(self.precision @ x**2)
        if self.scale is not None:
            # log of the logistic function, without overflow for large negative x.
            result -= float(np.logaddexp(0.0, -self.scale * x[self.truncated]).sum())
        return result

    def gradient(self, x: Vector) -> Vector:
        """Return the gradient of the log density; the smoothed part is k of eq. 3.11."""
        result = -self.precision * x
        if self.scale is not None:
            # d log sigmoid(scale x) / dx = scale (1 - sigmoid) = scale sigmoid(-scale x).
            result[self.truncated] += self.scale * expit(-self.scale * x[self.truncated])
        return result

    def curvature(self, x: Vector) -> Vector:
        """Return the diagonal of the negative Hessian; the smoothed part is O of eq. 3.16."""
        result = self.precision.copy()
        if self.scale is not None:
            # Minus the second derivative, scale^2 sigmoid (1 - sigmoid): positive, since log
            # sigmoid is concave.
            at = self.scale * x[self.truncated]
            result[self.truncated] += self.scale**2 * expit(at) * expit(-at)
        return result

    @property
    def bounded(self) -> BoolArray:
        """Coordinates that the optimiser must keep non-negative."""
        return self.truncated & (self.scale is None)


@dataclass(frozen=True)
class FeatureObjective:
    """Log posterior of the feature weights given the kernel weights (thesis, eqs. 3.10, 4.4)."""

    X: Matrix
    centres: Matrix
    weight: Vector
    """Weights of the kernels, times the sign of their sample."""
    intercept: float
    likelihood: BoundLikelihood
    prior: TruncatedPrior
    form: str = "full"
    """Negative Hessian in use: "diagonal", "gauss_newton" or "full"."""

    def evaluate(self, x: Vector) -> Trial:
        """Return the log posterior at the feature weights `x`."""
        kernel = scaled_kernel(self.X, self.centres, x)
        output = kernel @ self.weight + self.intercept
        return Trial(
            x, self.likelihood.total_log_density(output), self.prior.value(x), output, kernel
        )

    def derivatives(self, trial: Trial) -> tuple[Vector, Matrix]:
        """Return the gradient (eq. 4.5) and the negative Hessian (eq. 4.7), or its part in use."""
        score, curvatures = self.likelihood.slope_and_curvature(trial.output)
        slopes = kernel_jacobian(self.X, self.centres, trial.kernel, self.weight)
        gradient = slopes.T @ score + self.prior.gradient(trial.x)
        diagonal = self.prior.curvature(trial.x)
        if self.form == "diagonal":
            # Diagonal of D'BD plus that of the prior: a vector instead of a matrix.
            return gradient, diagonal + curvatures @ slopes**2
        # Gauss-Newton: D' B D; the exact matrix has the second derivatives E of the kernel as well.
        curvature = (slopes.T * curvatures) @ slopes
        if self.form == "full":
            # Negative Hessian: second derivatives of the outputs, weighted by the score, are
            # subtracted. The result need not be positive definite.
            curvature -= kernel_curvature(self.X, self.centres, trial.kernel, self.weight, score)
        curvature.flat[:: len(diagonal) + 1] += diagonal
        return gradient, curvature


@dataclass(frozen=True)
class WeightObjective:
    """Log posterior of the weights of given columns (thesis, eqs. 2.47-2.49, 3.19-3.22)."""

    design: Matrix
    likelihood: BoundLikelihood
    prior: TruncatedPrior

    def evaluate(self, x: Vector) -> Trial:
        """Return the log posterior at the weights `x`."""
        output = self.design @ x
        return Trial(
            x, self.likelihood.total_log_density(output), self.prior.value(x), output, self.design
        )

    def derivatives(self, trial: Trial) -> tuple[Vector, Matrix]:
        """Return the gradient and the negative Hessian, which is positive definite."""
        score, curvatures = self.likelihood.slope_and_curvature(trial.output)
        curvature = (self.design.T * curvatures) @ self.design
        diagonal = self.prior.curvature(trial.x)
        curvature.flat[:: len(diagonal) + 1] += diagonal
        return self.design.T @ score + self.prior.gradient(trial.x), curvature


Objective = FeatureObjective | WeightObjective
"""An objective of the Newton ascent."""
