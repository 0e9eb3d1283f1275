"""Log noise variance as a function of the inputs, fitted to squared residuals.

The noise variance is ``exp(g(x))``, and ``g`` has a Gaussian posterior. With the weights of the
mean integrated out, the derivative of the evidence in ``g_n`` is ``(exp(-g_n) q_n - 1) / 2`` with
the leverage-corrected squares ``q = residual^2 + posterior variance``: the likelihood of `relvec.
likelihoods.LogVariance`. Precisions of groups of basis functions maximise its Laplace evidence; the
posterior given them is the variational Gaussian of Lázaro-Gredilla and Titsias (2011), Variational
heteroscedastic Gaussian process regression, ICML.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from relvec._linalg import inverse_from_cholesky, log_det_cholesky, robust_cholesky, solve_cholesky
from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.learning.noise_dictionary import NoiseDictionary
from relvec.likelihoods import LogVariance, NoiseMixture
from relvec.solvers import LatentProblem, TiedLaplaceSolver

__all__ = ["HeteroscedasticNoise", "NoiseFit", "fit_noise_variance"]

N_NODES = 15
"""Nodes of the Gauss-Hermite quadrature over the log noise variance. Log densities within six
standard deviations are then right to 1e-4 if the standard deviation of ``g`` is 0.5, to 0.002 if it
is one and to 0.01 if it is 1.5."""


class NoiseFit(NamedTuple):
    """A noise model and what it says about the training rows."""

    model: HeteroscedasticNoise
    variance: Vector
    """Noise variance of each training row, ``1 / E[exp(-g)]``, which weights the regression. Like
    ``g`` itself it is relative to the mean square: regressions estimate the common factor."""
    divergence: float
    """Terms of the variational bound that do not depend on the regression, with the sign of a
    loss."""


@dataclass(frozen=True, eq=False)
class HeteroscedasticNoise:
    """Gaussian noise whose log variance is a function of the inputs.

    Beyond the range of the training inputs ``g`` moves from its value at the nearest limit to its
    mean over the training rows, and its variance to that over the training rows: what is known
    about the noise at an input that is like none of them.
    """

    dictionary: NoiseDictionary
    active: IndexArray
    """Columns of the dictionary in the model."""
    log_precision: Vector
    """Their log prior precisions."""
    weights: Vector
    """Posterior mean of their weights, and of the intercept (last)."""
    covariance: Matrix
    """Posterior covariance of the weights."""
    far_mean: float = 0.0
    far_variance: float = 0.0
    """Mean and variance of ``g`` far away from the training inputs."""

    def log_variance(self, X: Any) -> tuple[Vector, Vector]:
        """Return mean and variance of ``g`` at inputs."""
        mean, variance = self._evaluate(self.dictionary.evaluate(X))
        # Moments of a mixture: with probability `far` the input is like none of the training rows.
        far = self.dictionary.extrapolation(X)
        between = far * (1.0 - far) * (mean - self.far_mean) ** 2
        mean = (1.0 - far) * mean + far * self.far_mean
        return mean, (1.0 - far) * variance + far * self.far_variance + between

    def row_variance(
        self, X: Any, squared: Vector | None = None, weight: Vector | None = None
    ) -> Vector:
        """Return the noise variance of each training row in the regression, given all of them.

        It is ``1 / E[1 / variance]``, not the variance of a prediction, and does not depend on the
        errors `squared`.
        """
        return _row_noise(*self._evaluate(self.dictionary.evaluate(X)), weight)

    def components(self, X: Any) -> NoiseMixture:
        """Return the noise at inputs, mixed over ``g`` by Gauss-Hermite quadrature."""
        nodes, mass = np.polynomial.hermite_e.hermegauss(N_NODES)
        mean, variance = self.log_variance(X)
        each = mean[:, None] + np.sqrt(variance)[:, None] * nodes
        return NoiseMixture(np.exp(np.clip(each, -600.0, 600.0)), mass / mass.sum())

    def _evaluate(self, columns: Matrix) -> tuple[Vector, Vector]:
        design = _with_intercept(columns[:, self.active])
        return design @ self.weights, _row_variances(design, self.covariance)


def _with_intercept(columns: Matrix) -> Matrix:
    return np.column_stack([columns, np.ones(len(columns))])


def _row_variances(design: Matrix, covariance: Matrix) -> Vector:
    return np.asarray(((design @ covariance) * design).sum(axis=1))


def fit_noise_variance(
    dictionary: NoiseDictionary,
    columns: Matrix,
    groups: IndexArray,
    square: Vector,
    weight: Vector | None = None,
    warm: HeteroscedasticNoise | None = None,
) -> NoiseFit | None:
    """Fit the log noise variance to squares.

    Parameters
    ----------
    dictionary : NoiseDictionary
        Basis functions.
    columns : ndarray of shape (n_samples, n_columns)
        Their values at the training rows.
    groups : ndarray of int of shape (n_columns,)
        Columns that share a precision.
    square : ndarray of shape (n_samples,)
        Leverage-corrected squared residuals.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights.
    warm : HeteroscedasticNoise, optional
        An earlier fit, to start from. Only precisions of its groups are used.

    Returns
    -------
    fit : NoiseFit or None
        None if no basis function is in the model: the noise is constant.
    """
    unit = float(np.average(square, weights=weight))
    if not unit > 0.0:
        return None
    square = square / unit
    problem = LatentProblem(DenseDictionary(columns), LogVariance().bind(square, weight))
    start = None if warm is None else (warm.active, warm.log_precision)
    # Precisions matter to a few per cent only: a coarse tolerance halves the time.
    state = TiedLaplaceSolver(groups, tol=0.02).solve(problem, warm_start=start).state
    if not len(state.active):
        return None
    design, k = _with_intercept(columns[:, state.active]), len(state.active)
    precision = np.exp(state.log_precision)
    rows = np.ones(len(square)) if weight is None else weight
    mean, covariance = _find_variational(
        design, precision, square, rows, state.mode.weights, state.mode.hessian.covariance
    )
    latent, variance = design @ mean, _row_variances(design, covariance)
    # KL(q || p) of the weights without the intercept, whose prior is flat; the last term is that
    # of E[log N(t | f, exp(g))] which the regression with variances exp(g - s / 2) lacks.
    block = robust_cholesky(covariance[:k, :k])
    divergence = 0.5 * float(precision @ (mean[:k] ** 2 + covariance.diagonal()[:k])) - 0.5 * k
    divergence -= 0.5 * float(state.log_precision.sum()) + 0.5 * log_det_cholesky(block)
    divergence += 0.25 * float(rows @ variance)
    # The regression estimates the common factor of all variances, so the intercept is arbitrary.
    # It is such that predictions, N(g, s), have the variances of the training rows on average.
    mean[-1] -= 0.5 * float(np.average(variance, weights=weight))
    latent = design @ mean
    model = HeteroscedasticNoise(dictionary, state.active, state.log_precision, mean, covariance)
    centre = float(np.average(latent, weights=weight))
    spread = float(np.average((latent - centre) ** 2 + variance, weights=weight))
    model = replace(model, far_mean=centre, far_variance=spread)
    return NoiseFit(model, _row_noise(latent, variance, weight), divergence)


def _row_noise(mean: Vector, variance: Vector, weight: Vector | None) -> Vector:
    """Return ``1 / E[exp(-g)]`` of rows, up to the factor that the intercept has absorbed."""
    # E[exp(-g)] = exp(-mean + variance / 2); the intercept is lower by the average of the second.
    return np.exp(mean - 0.5 * (variance - float(np.average(variance, weights=weight))))


def _find_variational(
    design: Matrix,
    precision: Vector,
    square: Vector,
    rows: Vector,
    mean: Vector,
    covariance: Matrix,
    max_steps: int = 50,
) -> tuple[Vector, Matrix]:
    """Find the Gaussian of the weights that maximises ``E[log likelihood] - KL``.

    At the maximum the gradient ``D'(rate - 1/2) - A w`` vanishes and the inverse covariance is
    ``D' diag(rate) D + A``, with ``rate = q E[exp(-g)] / 2`` (Opper & Archambeau 2009). Steps of
    the covariance are halved, because the rates fall as it shrinks.
    """
    flat = np.append(precision, 0.0)  # the intercept has a flat prior
    for _ in range(max_steps):
        variance = _row_variances(design, covariance)
        exponent = np.clip(0.5 * variance - design @ mean, -600.0, 600.0)
        # Rates above a hundred only occur far from the maximum, where they would stop the steps.
        rate = 0.5 * rows * np.minimum(square * np.exp(exponent), 200.0)
        curved = robust_cholesky(_add_diagonal(_gram(design, rate), flat))
        covariance = 0.5 * (covariance + inverse_from_cholesky(curved))
        # At least the expected curvature 1/2: Newton steps where squares are small overshoot.
        safe = robust_cholesky(_add_diagonal(_gram(design, np.maximum(rate, 0.5 * rows)), flat))
        step = solve_cholesky(safe, design.T @ (rate - 0.5 * rows) - flat * mean)
        mean = mean + step
        moved = float(np.abs(design @ step).max())
        if (
            moved < 1e-3
            and float(np.abs(_row_variances(design, covariance) - variance).max()) < 1e-3
        ):
            break
    return mean, covariance


def _gram(design: Matrix, rows: Vector) -> Matrix:
    return design.T @ (design * rows[:, None])


def _add_diagonal(matrix: Matrix, diagonal: Vector) -> Matrix:
    matrix.flat[:: len(diagonal) + 1] += diagonal
    return matrix
