"""Gaussian likelihood, and Gaussian predictive distributions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from relvec._checks import check_positive, check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import BoundLikelihood, Likelihood, check_rows

__all__ = ["BoundGaussian", "Gaussian", "GaussianPrediction"]


class GaussianPrediction(NamedTuple):
    """Gaussian predictive distributions of new targets, one per entry.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import GaussianPrediction
    >>> prediction = GaussianPrediction(mean=np.array([1.0]), variance=np.array([4.0]))
    >>> prediction.std
    array([2.])
    >>> prediction.interval(0.95).round(2)
    array([[-2.92,  4.92]])
    """

    mean: Vector
    variance: Vector
    """Predictive variance, noise included."""

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return np.sqrt(self.variance)

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target at probability `level`."""
        return self.mean + float(ndtri(check_probability("level", level))) * self.std

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (..., 2)."""
        # Symmetric: the upper quantile of probability (1 + coverage) / 2.
        half = float(ndtri(0.5 + 0.5 * check_probability("coverage", coverage))) * self.std
        return np.stack([self.mean - half, self.mean + half], axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density of observed targets."""
        # log N(t | mean, variance) = -(log(2 pi variance) + (t - mean)^2 / variance) / 2.
        squared = (check_targets(target, np.shape(self.mean)) - self.mean) ** 2 / self.variance
        return -0.5 * (np.log(2.0 * np.pi * self.variance) + squared)

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        normal = check_random_state(random_state).normal(size=(len(self.mean), n_samples))
        draws: Matrix = self.mean[:, None] + self.std[:, None] * normal
        return draws


class BoundGaussian(BoundLikelihood):
    """Gaussian likelihood ``N(t | f, sigma^2)`` of targets as a function of ``f``."""

    recipe: Gaussian

    @property
    def largest_latent(self) -> float:  # type: ignore[override]  # a constant for other links
        """Return a hundred standard deviations of the targets."""
        # Of the targets around the null model, in their own units; a constant target has none,
        # hence the fallback of one.
        residual = self.target - self.offset_or_zero - self.null_latent()
        return 100.0 * float(np.sqrt(np.average(residual**2, weights=self.weight))) or 1.0

    def log_density(self, f: Vector) -> Vector:
        """Return ``log N(t | f, sigma^2)`` of each row."""
        noise = np.full(len(f), float(self.recipe.noise_variance))
        return GaussianPrediction(f, noise).log_density(self.target)

    def slope(self, f: Vector) -> Vector:
        """Return ``(t - f) / sigma^2``."""
        return (self.target - f) / float(self.recipe.noise_variance)

    def curvature(self, f: Vector) -> Vector:
        """Return ``1 / sigma^2``."""
        return np.full(len(f), 1.0 / float(self.recipe.noise_variance))

    def curvature_slope(self, f: Vector) -> Vector:
        """Return zero: the log density is quadratic in ``f``."""
        return np.zeros(len(f))

    def null_latent(self) -> float:
        """Return the weighted mean of the targets minus the offset."""
        return float(np.average(self.target - self.offset_or_zero, weights=self.weight))


class Gaussian(Likelihood):
    """Gaussian likelihood with a known noise variance.

    Regressors estimate the noise variance instead; they use `relvec.solvers.SequentialSolver`.

    Parameters
    ----------
    noise_variance : float, default=1.0
        Noise variance ``sigma^2``, in squared units of the target.

    Examples
    --------
    >>> from relvec.likelihoods import Gaussian
    >>> bound = Gaussian(noise_variance=0.5).bind([1.0, 2.0, 3.0])
    >>> bound.null_latent(), bound.recipe.is_conjugate
    (2.0, True)
    """

    is_conjugate = True

    def __init__(self, noise_variance: float = 1.0) -> None:
        self.noise_variance = noise_variance

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundGaussian:
        """Check the targets and return their likelihood."""
        check_positive("noise_variance", self.noise_variance)
        return BoundGaussian(self, *check_rows(target, sample_weight, offset))

    def predict(self, mean: Vector, variance: Vector) -> GaussianPrediction:
        """Return Gaussians of variance ``variance + sigma^2``."""
        # Sum of independent normals: posterior variance of f plus noise (Tipping 2001, eq. 22).
        return GaussianPrediction(mean, variance + float(self.noise_variance))
