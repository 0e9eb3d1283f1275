"""One fitted output: active atoms, posterior of the weights, and variance away from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.error_bars import Augmentation, Novelty
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._novelty_draws import add_novelty_draws
from relvec.learning.length_scale_uncertainty import ScaleUncertainty
from relvec.likelihoods import (
    GaussianPrediction,
    NoiseMixture,
    NoiseModel,
    ScaleMixturePrediction,
    TargetTransform,
    TransformedPrediction,
)
from relvec.posterior import Posterior
from relvec.solvers import Problem, Solution

if TYPE_CHECKING:
    pass

__all__ = ["FittedOutput", "RegressionFit", "is_noise_negligible"]


@dataclass(frozen=True, eq=False)
class FittedOutput:
    """Fitted model of one output (target)."""

    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior
    solution: Solution
    objective: float
    """Maximised objective in nats; for a constant target the log evidence."""
    novelty: Novelty | None = None
    augmentation: Augmentation | None = None
    scale_uncertainty: ScaleUncertainty | None = None
    calibration: float = 1.0
    """Factor of noise variance and posterior covariance in predictions, from held-out rows; of the
    posterior covariance alone if the noise is known."""
    is_noise_known: bool = False
    """Whether noise variances were given, not only up to a factor."""
    noise_unit: float = 1.0
    """Given noise variance of a row of average precision; one if the noise variance is constant."""
    noise: NoiseModel | None = None
    """Distribution of the noise; None for Gaussian noise of constant or given variance."""
    noise_gain: float = 0.0
    """Gain in log evidence by that distribution over constant Gaussian noise, in nats."""
    has_row_variance: bool = False
    """Whether the training rows had noise variances of their own."""
    transform: TargetTransform | None = None
    """Transform of the target that was modelled; None for the target itself."""
    log_jacobian: float = 0.0
    """Part of the log evidence, in nats, that is due to the slope of the transform."""
    transform_gain: float = 0.0
    """Gain in log evidence by a transform that was chosen, in nats; zero if none was compared."""

    @property
    def is_noise_rounding_error(self) -> bool:
        """Whether the noise variance of the solver is an artefact of rounding errors."""
        posterior, found = self.posterior, self.solution.noise_variance
        # R / N from the residuals; R = t't - q'mu, from the moments, cancels if the fit is close.
        actual = posterior.quadratic / max(posterior.n_effective, 1.0)
        limit = 2.0 * found + 1e-9 * posterior.target_variance
        return posterior.target_variance > 0.0 and actual > limit

    def predict_mean(self, X: Any) -> Vector:
        """Predictive mean of the target."""
        return self.predict_latent(X) if self.transform is None else self.predict_target(X).mean

    def predict_latent(self, X: Any) -> Vector:
        """Predictive mean of the function, in units of the transformed target."""
        mean = self.posterior.predict(self.atoms.evaluate(X))
        if self.augmentation is not None:
            mean = mean + self.augmentation.correction(X)[0]
        elif self.novelty is not None and self.novelty.centre is not None:
            mean = mean + self.novelty.fallback(X, mean).shift
        return mean

    def compute_mean_shrinkage(self, X: Any) -> Vector:
        """Fraction, in [0, 1], by which means are moved towards the mean of the targets."""
        if self.novelty is None:
            return np.zeros(X.shape[0])
        return self.novelty.fallback(X, self.posterior.predict(self.atoms.evaluate(X))).pull

    def moments(self, X: Any) -> tuple[Vector, Vector, Vector]:
        """Mean of the function, its posterior variance, and the variance added away from the data.

        Neither variance includes noise; the posterior variance is not multiplied by `calibration`.
        """
        atoms = self.atoms.evaluate(X)
        mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms)
        if self.scale_uncertainty is not None:
            # Directions are scaled by a root of the covariance of the scales: D Sigma D' = sum of
            # squares.
            variance = variance + np.square(self.scale_uncertainty.directions(X)).sum(axis=1)
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            return mean + shift, variance, extra
        if self.novelty is None:
            return mean, variance, np.zeros(len(mean))
        fallback = self.novelty.fallback(X, mean)
        return (
            mean + fallback.shift,
            fallback.kept * variance,
            fallback.spread**2 + fallback.process,
        )

    @property
    def noise_calibration(self) -> float:
        """Factor of the noise variance in predictions."""
        return 1.0 if self.is_noise_known else self.calibration

    @property
    def needs_row_variance(self) -> bool:
        """Whether noise variances were given in fit, so that those of new rows are not known."""
        return self.has_row_variance and self.noise is None

    def predict_noise(self, X: Any, row_variance: Vector | None = None) -> NoiseMixture:
        """Distribution of the noise of new targets, with calibration.

        With `row_variance`, in the units of the noise variances given in fit, the noise is Gaussian
        of these variances.
        """
        if row_variance is not None and not self.needs_row_variance:
            return NoiseMixture(row_variance[:, None], np.ones(1))
        common = self.noise_calibration * self.posterior.noise_variance / self.noise_unit
        if row_variance is not None:
            return NoiseMixture(common * row_variance[:, None], np.ones(1))
        if self.noise is not None:
            relative = self.noise.components(X)
            return NoiseMixture(common * relative.variance, relative.weight)
        # Without given variances nothing is known about the noise of new rows.
        common = 0.0 if self.needs_row_variance else common
        return NoiseMixture(np.full((X.shape[0], 1), common), np.ones(1))

    def predict_target(
        self, X: Any, include_noise: bool = True, row_variance: Vector | None = None
    ) -> GaussianPrediction | ScaleMixturePrediction | TransformedPrediction:
        """Predictive distribution of new targets or, without noise, of their mean."""
        base = self._predict_transformed(X, include_noise, row_variance)
        if self.transform is None:
            return base
        noise = None if include_noise else self.predict_noise(X, row_variance)
        return TransformedPrediction(base, self.transform, noise)

    def _predict_transformed(
        self, X: Any, include_noise: bool, row_variance: Vector | None
    ) -> GaussianPrediction | ScaleMixturePrediction:
        """Predictive distribution of the transformed target or, without noise, of the function."""
        mean, variance, extra = self.moments(X)
        latent = self.calibration * variance + extra
        if not include_noise:
            return GaussianPrediction(mean, latent)
        noise = self.predict_noise(X, row_variance)
        if noise.variance.shape[1] == 1:
            return GaussianPrediction(mean, latent + noise.variance[:, 0])
        return ScaleMixturePrediction(mean, latent[:, None] + noise.variance, noise.weight)

    def covariance(
        self, X: Any, include_noise: bool = True, row_variance: Vector | None = None
    ) -> Matrix:
        """Covariance of new targets or, without noise, of the function, between all rows."""
        atoms = self.atoms.evaluate(X)
        covariance = self.posterior.joint_covariance(atoms)
        if self.scale_uncertainty is not None:
            directions = self.scale_uncertainty.directions(X)
            covariance += directions @ directions.T
        covariance *= self.calibration
        if self.augmentation is not None:
            # one additional kernel at each test input: independent variances
            covariance.flat[:: len(covariance) + 1] += self.augmentation.correction(X)[1]
        elif self.novelty is not None:
            fallback = self.novelty.fallback(X, self.posterior.predict(atoms))
            # Mixture moments as in `Fallback.variance`, for pairs of inputs: products of the roots
            # of the factors keep the matrix positive semi-definite.
            root = np.sqrt(fallback.kept)
            covariance *= np.multiply.outer(root, root)
            covariance += np.multiply.outer(fallback.spread, fallback.spread)
            covariance += self.novelty.covariance(X)
        if include_noise:
            noise = self.predict_noise(X, row_variance)
            covariance.flat[:: len(covariance) + 1] += noise.total_variance
        return covariance

    def find_row_variance(
        self, X: Any, target: Vector, weight: Vector | None, given: Vector | None = None
    ) -> Vector | None:
        """Noise variances of all training rows in the fit, in any unit; None if constant.

        Parameters
        ----------
        X, target, weight
            All training rows, with their frequency weights.
        given
            Noise variances that were given in fit.
        """
        if self.noise is None:
            return given if self.needs_row_variance else None
        atoms, posterior = self.atoms.evaluate(X), self.posterior
        squared = (target - posterior.predict(atoms)) ** 2 + posterior.variance(atoms)
        return self.noise.row_variance(X, squared, weight)

    def leave_one_out(
        self, X: Any, target: Vector, weight: Vector, given: Vector | None = None
    ) -> tuple[Vector, Vector]:
        """Mean and variance of the function at each training row, fitted to the other rows."""
        row_variance = self.find_row_variance(X, target, weight, given)
        relative = 1.0 if row_variance is None else row_variance / self.noise_unit
        mean, variance = self.posterior.leave_one_out(
            self.atoms.evaluate(X), target, weight, relative
        )
        return mean, variance - self.posterior.noise_variance * relative

    def sample_targets(
        self,
        X: Any,
        n_draws: int,
        rng: np.random.Generator,
        include_noise: bool = True,
        row_variance: Vector | None = None,
    ) -> Matrix:
        """Draw new targets or, without noise, functions, shape (n_samples, n_draws)."""
        draws = self.sample_functions(X, n_draws, rng)
        if include_noise:
            draws = draws + self.predict_noise(X, row_variance).sample(n_draws, rng)
        known = self.predict_target(X, include_noise, row_variance)
        return known.find_target(draws) if isinstance(known, TransformedPrediction) else draws

    def sample_functions(self, X: Any, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions, in units of the transformed target, shape (n_samples, n_draws)."""
        atoms = self.atoms.evaluate(X)
        mean, draws = self.posterior.predict(atoms), self.posterior.sample(atoms, n_draws, rng)
        if self.scale_uncertainty is not None:
            directions = self.scale_uncertainty.directions(X)
            draws = draws + directions @ rng.standard_normal((directions.shape[1], n_draws))
        # Calibration multiplies variances: deviations from the mean by its root.
        draws = mean[:, None] + math.sqrt(self.calibration) * (draws - mean[:, None])
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            return (
                draws + shift[:, None] + np.sqrt(extra)[:, None] * rng.standard_normal(draws.shape)
            )
        if self.novelty is None:
            return draws
        return add_novelty_draws(self.novelty, X, mean, draws, rng)


def is_noise_negligible(noise_variance: float, signal_variance: float) -> bool:
    """Whether the noise variance is so small that residuals are rounding errors.

    RVM* and the refinement of length-scales would then fit rounding errors.
    """
    return noise_variance <= 1e-8 * signal_variance  # half of the significant digits


@dataclass(frozen=True, eq=False)
class RegressionFit:
    """A bound basis and the outputs fitted on it."""

    bound: BoundBasis
    outputs: tuple[FittedOutput, ...]
    problems: tuple[Problem, ...]
    """Optimisation problem of each output."""
    n_fetched: int
    """Number of columns of the basis matrix that the solver evaluated in full."""
    scaled: ScaledBasis | None = None
    """The basis with its learnt length-scales; None if they were not learnt."""
    relevance_std: Vector | None = None
    """Standard deviation of the relevance of each feature; None if it was not computed."""
    basis: Basis | None = None
    """The basis that was bound, with what was learnt; None if it was bound before."""
    n_copies: float = 1.0
    """Mean number of occurrences of a row with the same inputs and targets."""
    noise_attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Attributes of the estimator that describe the noise, with a value for each output."""

    @property
    def objective(self) -> float:
        """Maximised objective in nats, summed over outputs."""
        return sum(map(attrgetter("objective"), self.outputs))
