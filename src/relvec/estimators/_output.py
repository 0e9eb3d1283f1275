"""One fitted target: the active atoms, their posterior, and what widens its error bars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Augmentation, Covers, Novelty, fit_novelty
from relvec.estimators._length_scales import ScaledBasis
from relvec.kernels.definition import decays
from relvec.learning import LearntLengthScales
from relvec.learning.length_scale_uncertainty import ScaleUncertainty
from relvec.learning.prior_process import PriorProcess, fit_prior_process
from relvec.likelihoods import GaussianPrediction
from relvec.posterior import Posterior, TrainingBlock, condition
from relvec.solvers import Problem, Solution

if TYPE_CHECKING:
    from relvec.estimators._plan import Data

__all__ = ["FittedOutput", "RegressionFit", "finish_output", "is_rounding", "widened"]


@dataclass(frozen=True, eq=False)
class FittedOutput:
    """Everything needed to answer questions about one target."""

    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior
    solution: Solution
    objective: float
    """What was maximised; for a constant target, of which nothing was, the evidence."""
    novelty: Novelty | None = None
    augmentation: Augmentation | None = None
    scale_uncertainty: ScaleUncertainty | None = None
    calibration: float = 1.0
    """Factor of noise and posterior covariance in predictions, from held-out rows."""

    @property
    def is_beyond_rounding(self) -> bool:
        """Whether the solver's noise was an artefact of rounding."""
        posterior, found = self.posterior, self.solution.noise_variance
        actual = posterior.quadratic / max(posterior.n_effective, 1.0)
        limit = 2.0 * found + 1e-9 * posterior.target_variance
        return posterior.target_variance > 0.0 and actual > limit

    def predict_mean(self, X: Any) -> Vector:
        """Posterior mean of the function."""
        mean = self.posterior.predict(self.atoms.evaluate(X))
        if self.augmentation is not None:
            mean = mean + self.augmentation.correction(X)[0]
        elif self.novelty is not None and self.novelty.centre is not None:
            mean = mean + self.novelty.fallback(X, mean).shift
        return mean

    def pull(self, X: Any) -> Vector:
        """Share of the way from the sparse model to the mean of the targets that means go."""
        if self.novelty is None:
            return np.zeros(X.shape[0])
        return self.novelty.fallback(X, self.posterior.predict(self.atoms.evaluate(X))).pull

    def moments(self, X: Any) -> tuple[Vector, Vector, Vector]:
        """Mean of the function, its posterior variance, and what is added away from the data.

        Neither variance contains noise, nor the first its `calibration`.
        """
        atoms = self.atoms.evaluate(X)
        mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms)
        if self.scale_uncertainty is not None:
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
    def target_noise(self) -> float:
        """Variance of the noise of new targets."""
        return self.calibration * self.posterior.noise_variance

    def predict_target(self, X: Any, include_noise: bool = True) -> GaussianPrediction:
        """Predictive distribution of new targets, or of the function without noise."""
        mean, variance, extra = self.moments(X)
        noise = self.target_noise if include_noise else 0.0
        return GaussianPrediction(mean, self.calibration * variance + extra + noise)

    def covariance(self, X: Any, include_noise: bool = True) -> Matrix:
        """Covariance of new targets, or of the function without noise, between all rows."""
        atoms = self.atoms.evaluate(X)
        covariance = self.posterior.joint_covariance(atoms)
        if self.scale_uncertainty is not None:
            directions = self.scale_uncertainty.directions(X)
            covariance += directions @ directions.T
        covariance *= self.calibration
        if self.augmentation is not None:
            # Each test input gets an atom of its own: independent additions.
            covariance.flat[:: len(covariance) + 1] += self.augmentation.correction(X)[1]
        elif self.novelty is not None:
            fallback = self.novelty.fallback(X, self.posterior.predict(atoms))
            root = np.sqrt(fallback.kept)
            covariance *= np.multiply.outer(root, root)
            covariance += np.multiply.outer(fallback.spread, fallback.spread)
            covariance += self.novelty.covariance(X)
        if include_noise:
            covariance.flat[:: len(covariance) + 1] += self.target_noise
        return covariance

    def sample_functions(self, X: Any, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions, shape (n_samples, n_draws)."""
        atoms = self.atoms.evaluate(X)
        mean, draws = self.posterior.predict(atoms), self.posterior.sample(atoms, n_draws, rng)
        if self.scale_uncertainty is not None:
            directions = self.scale_uncertainty.directions(X)
            draws = draws + directions @ rng.standard_normal((directions.shape[1], n_draws))
        draws = mean[:, None] + math.sqrt(self.calibration) * (draws - mean[:, None])
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            return (
                draws + shift[:, None] + np.sqrt(extra)[:, None] * rng.standard_normal(draws.shape)
            )
        if self.novelty is None:
            return draws
        values, vectors = np.linalg.eigh(self.novelty.covariance(X))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        process = root @ rng.standard_normal(draws.shape)
        fallback = self.novelty.fallback(X, mean)
        own = np.sqrt(fallback.kept)[:, None] * (draws - mean[:, None])
        between = np.multiply.outer(fallback.spread, rng.standard_normal(n_draws))
        return (mean + fallback.shift)[:, None] + own + between + process


def _training_blocks(
    bound: BoundBasis, active: IndexArray, X: Any, target: Vector, weight: Vector | None
) -> Iterator[TrainingBlock]:
    """Evaluate the active atoms at the training rows, in blocks if they are many."""
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


def finish_output(
    problem: Problem,
    solution: Solution,
    bound: BoundBasis,
    X: Any,
    target: Vector | None,
    sample_weight: Vector | None,
    *,
    has_intercept: bool,
) -> FittedOutput:
    """Condition on the data with the solver's precisions.

    Without `target` the moments are all that is known, and `X` are inputs that stand for the data.
    """
    atoms, prior = bound.atoms.subset(solution.active), problem.prior
    blocks = None
    if target is not None:
        blocks = _training_blocks(bound, solution.active, X, target, sample_weight)
    # under Gamma and Laplace priors of the weights the noise is the solver's to find
    is_own = not prior.is_removable or prior.rate_hyperprior is not None
    is_found = is_own and solution.noise_variance > 0.0
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
    return FittedOutput(solution.active, atoms, posterior, solution, objective)


def widened(
    fit: RegressionFit,
    data: Data,
    number: int,
    error_bars: str,
    process: PriorProcess | None = None,
    covers: Covers | None = None,
) -> FittedOutput:
    """Return an output of a fit with what widens its error bars away from the training inputs.

    Parameters
    ----------
    fit : RegressionFit
        Of outputs as they come from `finish_output`.
    data : Data
        What it was fitted to; with statistics in place of targets, inputs that stand for the data.
    number : int
        Of the output.
    error_bars : {"novelty", "plain", "augmented"}
        How.
    process : PriorProcess or None
        What stands for the unknown away from the data, if it was found already; else it is fitted
        to these.
    covers : dict, optional
        What other fits to the same inputs have in common; see `relvec.error_bars.fit_novelty`.
    """
    output = fit.outputs[number]
    kernel, learnt, falls_back = _away_from(fit, data)
    # below this share of its variance the target holds no signal to be uncertain about
    posterior = output.posterior
    amplitude = posterior.target_variance - posterior.noise_variance
    has_signal = amplitude > 1e-12 * posterior.target_variance
    if error_bars == "plain" or kernel is None or not has_signal:
        return output
    target = data.targets[:, number] if data.statistics is None else None
    if error_bars == "augmented" and not is_rounding(posterior.noise_variance, amplitude):
        assert target is not None  # estimators see to it
        return _augmented(output, kernel, amplitude, data, target)
    if process is None and target is not None:
        process = fit_prior_process(kernel, data.X, target, data.weight, learnt)
    if process is not None:
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
    )
    return replace(output, novelty=novelty)


def _away_from(fit: RegressionFit, data: Data) -> tuple[Any, LearntLengthScales | None, bool]:
    """Return the kernel that tells what is far from the data, its scales, and who falls back.

    A null model says the same everywhere: it has none. The line of a linear model goes on, and the
    kernels that it replaced tell what is far away.
    """
    learnt, atoms = None if fit.scaled is None else fit.scaled.learnt, fit.bound.atoms
    if learnt is not None and learnt.kind == "null":
        return None, learnt, False
    if learnt is not None and learnt.replaced is not None:
        kernel = learnt.replaced.kernel
        return kernel if decays(kernel, data.X[:1]) else None, learnt.replaced, False
    return atoms.decaying_kernel(), learnt, atoms.is_known_to_decay()


def _augmented(
    output: FittedOutput, kernel: Any, amplitude: float, data: Data, target: Vector
) -> FittedOutput:
    """Return the output with an atom of its own for every input that is predicted."""
    root = np.ones(len(target)) if data.weight is None else np.sqrt(data.weight)
    residual = (target - output.posterior.predict(output.atoms.evaluate(data.X))) * root
    augmentation = Augmentation(
        kernel, data.X, residual, root, output.atoms, output.posterior, amplitude
    )
    return replace(output, augmentation=augmentation)


def is_rounding(noise_variance: float, signal_variance: float) -> bool:
    """Whether there is so little noise that the residuals are rounding errors.

    Augmentation would make a correction of them, and scales would follow them.
    """
    return noise_variance <= 1e-8 * signal_variance  # half the digits


@dataclass(frozen=True, eq=False)
class RegressionFit:
    """One fitted dictionary and its targets."""

    bound: BoundBasis
    outputs: tuple[FittedOutput, ...]
    problems: tuple[Problem, ...]
    """What the solver was given of each target."""
    n_fetched: int
    """Columns of the dictionary that the search took a closer look at."""
    scaled: ScaledBasis | None = None
    """The basis with its learnt scales, if any were."""
    relevance_std: Vector | None = None
    """Standard deviation of the relevance of each input, if that was asked."""
    n_copies: float = 1.0
    """How often a row with the same inputs and targets was given, on average."""

    @property
    def objective(self) -> float:
        """What was maximised, over all targets."""
        return sum(map(attrgetter("objective"), self.outputs))
