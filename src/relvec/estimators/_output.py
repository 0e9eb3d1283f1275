"""One fitted output: active atoms, posterior of the weights, and variance away from the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Augmentation, Covers, Novelty, fit_novelty
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._novelty_draws import add_novelty_draws
from relvec.kernels.definition import decays
from relvec.learning import LearntLengthScales
from relvec.learning.length_scale_uncertainty import ScaleUncertainty
from relvec.learning.prior_process import PriorProcess, fit_prior_process
from relvec.likelihoods import (
    GaussianPrediction,
    NoiseMixture,
    NoiseModel,
    ScaleMixturePrediction,
    TargetTransform,
    TransformedPrediction,
)
from relvec.posterior import Posterior, TrainingBlock, condition
from relvec.solvers import Problem, Solution

if TYPE_CHECKING:
    from relvec.estimators._plan import Data

__all__ = [
    "FittedOutput",
    "RegressionFit",
    "add_far_uncertainty",
    "build_output",
    "is_noise_negligible",
]


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


def _training_blocks(
    bound: BoundBasis, active: IndexArray, data: Data, number: int
) -> Iterator[TrainingBlock]:
    """Evaluate the active atoms at the training rows, in blocks if they are many."""
    X, target, weight = data.X, data.targets[:, number], data.regression_weight(number)
    n_samples = len(target)
    size = max(1, (1 << 23) // max(len(active), 1))  # blocks of 64 megabytes
    if size >= n_samples:
        yield TrainingBlock(bound.dictionary.columns(active), target, weight)
        return
    atoms = bound.atoms.subset(active)
    for start in range(0, n_samples, size):
        rows = slice(start, start + size)
        part = None if weight is None else weight[rows]
        yield TrainingBlock(atoms.evaluate(X[rows]), target[rows], part)


def build_output(
    problem: Problem,
    solution: Solution,
    bound: BoundBasis,
    data: Data,
    number: int,
    *,
    has_intercept: bool,
) -> FittedOutput:
    """Compute the posterior of the weights of an output with the precisions of the solver.

    From statistics in place of targets the posterior is computed from the moments.
    """
    atoms, prior = bound.atoms.subset(solution.active), problem.prior
    blocks = None
    if data.statistics is None:
        blocks = _training_blocks(bound, solution.active, data, number)
    # Under Gamma and Laplace priors the solver estimates the noise variance jointly. Otherwise it
    # is recomputed from the residuals.
    is_joint = not prior.is_removable or prior.rate_hyperprior is not None
    is_found = is_joint and solution.noise_variance > 0.0
    is_held = is_found or problem.noise_variance is not None
    posterior = condition(
        problem.moments,
        solution.active,
        solution.log_lam,
        blocks,
        has_intercept=has_intercept,
        noise_variance=solution.noise_variance if is_held else None,
        noise_shape=prior.noise.shape,
        noise_rate=prior.noise.rate,
    )
    is_constant = posterior.target_variance == 0.0
    objective = posterior.log_evidence if is_constant else solution.objective
    output = FittedOutput(solution.active, atoms, posterior, solution, objective)
    if data.row_variance is None:
        return output
    log_precision = data.log_precision(number)
    return replace(
        output,
        posterior=replace(posterior, log_evidence=posterior.log_evidence + log_precision),
        objective=objective + log_precision,
        noise_unit=data.find_noise_unit(number),
        has_row_variance=True,
        is_noise_known=problem.noise_variance is not None,
    )


def add_far_uncertainty(
    fit: RegressionFit,
    data: Data,
    number: int,
    error_bars: str,
    process: PriorProcess | None = None,
    covers: Covers | None = None,
) -> FittedOutput:
    """Return an output of a fit with the variance that is added away from the training inputs.

    Parameters
    ----------
    fit : RegressionFit
        Fit with outputs made by `build_output`.
    data : Data
        Training data; with statistics in place of targets, a sample of the training inputs.
    number : int
        Index of the output.
    error_bars : {"novelty", "plain", "augmented"}
        Kind of error bars.
    process : PriorProcess or None
        Gaussian process whose variance is added, if it is known; otherwise it is fitted to the
        data.
    covers : dict, optional
        Cache that fits to the same inputs share; see `relvec.error_bars.fit_novelty`.
    """
    output = fit.outputs[number]
    kernel, learnt, falls_back = _find_far_kernel(fit, data)
    # no signal: nothing to be uncertain about
    posterior = output.posterior
    amplitude = posterior.target_variance - posterior.noise_variance
    # A difference of two variances: below 1e-12 it is rounding error.
    has_signal = amplitude > 1e-12 * posterior.target_variance
    if error_bars == "plain" or kernel is None or not has_signal:
        return output
    target = data.targets[:, number] if data.statistics is None else None
    if error_bars == "augmented" and not is_noise_negligible(posterior.noise_variance, amplitude):
        assert target is not None  # checked by estimators
        return _augment_output(output, kernel, amplitude, data, number)
    if process is None and target is not None:
        process = fit_prior_process(
            kernel,
            data.X,
            target,
            data.weight,
            learnt,
            relative_precision=data.relative_precision(number),
        )
    if process is not None:
        # At least the variance that the noise does not explain: error bars away from the data
        # should not be narrower than the spread of the targets.
        kernel, amplitude = process.kernel, max(process.variance, amplitude)
    novelty = fit_novelty(
        kernel,
        data.X,
        output.atoms,
        target,
        data.weight,
        posterior,
        amplitude,
        falls_back=falls_back,
        covers=covers,
        relative_precision=data.relative_precision(number),
    )
    return replace(output, novelty=novelty)


def _find_far_kernel(fit: RegressionFit, data: Data) -> tuple[Any, LearntLengthScales | None, bool]:
    """Return the kernel of the added variance, its length-scales, and whether means shrink.

    A null model predicts a constant and has no kernel. A linear model extrapolates linearly, and
    the kernels that it replaced determine the added variance.
    """
    learnt, atoms = None if fit.scaled is None else fit.scaled.learnt, fit.bound.atoms
    if learnt is not None and learnt.kind == "null":
        return None, learnt, False
    if learnt is not None and learnt.replaced is not None:
        kernel = learnt.replaced.kernel
        return kernel if decays(kernel, data.X[:1]) else None, learnt.replaced, False
    return atoms.decaying_kernel(), learnt, atoms.is_known_to_decay()


def _augment_output(
    output: FittedOutput, kernel: Any, amplitude: float, data: Data, number: int
) -> FittedOutput:
    """Return the output with a kernel added at each test input (RVM*).

    Rasmussen & Quiñonero-Candela (2005), Healing the relevance vector machine through augmentation.
    """
    target, weight = data.targets[:, number], data.regression_weight(number)
    root = np.ones(len(target)) if weight is None else np.sqrt(weight)
    # C^-1 t sigma^2 = t - Phi mu, times root weights; see `Augmentation.correction`.
    residual = (target - output.posterior.predict(output.atoms.evaluate(data.X))) * root
    augmentation = Augmentation(
        kernel, data.X, residual, root, output.atoms, output.posterior, amplitude
    )
    return replace(output, augmentation=augmentation)


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
    n_copies: float = 1.0
    """Mean number of occurrences of a row with the same inputs and targets."""
    noise_attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Attributes of the estimator that describe the noise, with a value for each output."""

    @property
    def objective(self) -> float:
        """Maximised objective in nats, summed over outputs."""
        return sum(map(attrgetter("objective"), self.outputs))
