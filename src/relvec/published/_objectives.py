"""Log posteriors of feature weights and of sample weights, with their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from relvec._typing import BoolArray, Matrix, Vector
from relvec.likelihoods import BoundLikelihood
from relvec.published._algebra import kernel_curvature, kernel_slopes, scaled_kernel


class Trial(NamedTuple):
    """An objective at one point."""

    x: Vector
    fit: float
    """Log likelihood."""
    prior: float
    """Log prior, up to constants."""
    output: Vector
    """What the likelihood sees at each sample."""
    kernel: Matrix

    @property
    def value(self) -> float:
        """The objective."""
        return self.fit + self.prior


@dataclass(frozen=True)
class TruncatedPrior:
    """Independent normal priors, those of `truncated` coordinates restricted to x >= 0.

    With `scale` the restriction is smoothed to the logistic function ``1 / (1 + exp(-scale x))``;
    without, it is exact and left to the optimiser.
    """

    precision: Vector
    truncated: BoolArray
    scale: float | None

    def value(self, x: Vector) -> float:
        """Log density, up to constants."""
        result = -0.5 * float(self.precision @ x**2)
        if self.scale is not None:
            result -= float(np.logaddexp(0.0, -self.scale * x[self.truncated]).sum())
        return result

    def gradient(self, x: Vector) -> Vector:
        """Derivative of the log density; the smoothed part is k of eq. 3.11."""
        result = -self.precision * x
        if self.scale is not None:
            result[self.truncated] += self.scale * expit(-self.scale * x[self.truncated])
        return result

    def curvature(self, x: Vector) -> Vector:
        """Diagonal of minus the second derivative; the smoothed part is O of eq. 3.16."""
        result = self.precision.copy()
        if self.scale is not None:
            at = self.scale * x[self.truncated]
            result[self.truncated] += self.scale**2 * expit(at) * expit(-at)
        return result

    @property
    def bounded(self) -> BoolArray:
        """Coordinates the optimiser must keep from being negative."""
        return self.truncated & (self.scale is None)


@dataclass(frozen=True)
class FeatureObjective:
    """Log posterior of the feature weights given the sample weights (thesis, eqs. 3.10, 4.4)."""

    X: Matrix
    centres: Matrix
    weight: Vector
    """Weights of the kernels, times the sign of their column."""
    intercept: float
    likelihood: BoundLikelihood
    prior: TruncatedPrior
    form: str = "full"
    """Which part of the curvature is used: "diagonal", "gauss_newton" or "full"."""

    def evaluate(self, x: Vector) -> Trial:
        """Value at the feature weights `x`."""
        kernel = scaled_kernel(self.X, self.centres, x)
        output = kernel @ self.weight + self.intercept
        return Trial(
            x, self.likelihood.total_log_density(output), self.prior.value(x), output, kernel
        )

    def derivatives(self, trial: Trial) -> tuple[Vector, Matrix]:
        """Gradient (eq. 4.5) and negative Hessian (eq. 4.7), or the part of it in use."""
        score, bend = self.likelihood.slope_and_curvature(trial.output)
        slopes = kernel_slopes(self.X, self.centres, trial.kernel, self.weight)
        gradient = slopes.T @ score + self.prior.gradient(trial.x)
        diagonal = self.prior.curvature(trial.x)
        if self.form == "diagonal":
            return gradient, diagonal + bend @ slopes**2
        curvature = (slopes.T * bend) @ slopes
        if self.form == "full":
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
        """Value at the weights `x`."""
        output = self.design @ x
        return Trial(
            x, self.likelihood.total_log_density(output), self.prior.value(x), output, self.design
        )

    def derivatives(self, trial: Trial) -> tuple[Vector, Matrix]:
        """Gradient and negative Hessian, which is positive definite."""
        score, bend = self.likelihood.slope_and_curvature(trial.output)
        curvature = (self.design.T * bend) @ self.design
        diagonal = self.prior.curvature(trial.x)
        curvature.flat[:: len(diagonal) + 1] += diagonal
        return self.design.T @ score + self.prior.gradient(trial.x), curvature


Objective = FeatureObjective | WeightObjective
"""Something to maximise."""
