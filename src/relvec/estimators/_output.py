"""One fitted target: the active atoms, their posterior, and what widens its error bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Augmentation, Novelty, fit_novelty
from relvec.learning.scale_doubt import ScaleDoubt
from relvec.likelihoods import GaussianPrediction
from relvec.posterior import Posterior, TrainingBlock, condition
from relvec.solvers import Problem, Solution

ERROR_BARS = ("novelty", "plain", "augmented")
CONDITION_BYTES = 1 << 26
"""Active atoms at the training rows beyond this size are evaluated in blocks."""
NEGLIGIBLE = 1e-12
"""Below this share of the target's variance there is no signal to be uncertain about."""
UNRESOLVED = 1e-8
"""With less noise than this share of the signal the residuals are rounding errors, of which
augmentation would make a correction: novelty takes its place."""


@dataclass(frozen=True, eq=False)
class FittedOutput:
    """Everything needed to answer questions about one target."""

    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior
    solution: Solution
    novelty: Novelty | None = None
    augmentation: Augmentation | None = None
    scale_doubt: ScaleDoubt | None = None

    @property
    def objective(self) -> float:
        """What was maximised; for a constant target, of which nothing was, the evidence."""
        is_constant = self.posterior.target_variance == 0.0
        return self.posterior.log_evidence if is_constant else self.solution.objective

    @property
    def is_beyond_rounding(self) -> bool:
        """Whether the solver's noise was an artefact of rounding."""
        posterior, found = self.posterior, self.solution.noise_variance
        actual = posterior.quadratic / max(posterior.n_effective, 1.0)
        limit = 2.0 * found + 1e-9 * posterior.target_variance
        return posterior.target_variance > 0.0 and actual > limit

    def predict_mean(self, X: Any) -> Vector:
        """Posterior mean of the function."""
        mean = self.posterior.predict(self.atoms.at(X))
        if self.augmentation is not None:
            mean = mean + self.augmentation.correction(X)[0]
        return mean

    def predict_target(self, X: Any, include_noise: bool = True) -> GaussianPrediction:
        """Predictive distribution of new targets, or of the function without noise."""
        atoms = self.atoms.at(X)
        mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms)
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            mean, variance = mean + shift, variance + extra
        elif self.novelty is not None:
            variance = variance + self.novelty.variance(X)
        if self.scale_doubt is not None:
            variance = variance + np.square(self.scale_doubt.directions(X)).sum(axis=1)
        noise = self.posterior.noise_variance if include_noise else 0.0
        return GaussianPrediction(mean, variance + noise)

    def covariance(self, X: Any, include_noise: bool = True) -> Matrix:
        """Covariance of new targets, or of the function without noise, between all rows."""
        covariance = self.posterior.joint_covariance(self.atoms.at(X))
        if self.augmentation is not None:
            # Each test input gets an atom of its own: independent additions.
            covariance.flat[:: len(covariance) + 1] += self.augmentation.correction(X)[1]
        elif self.novelty is not None:
            covariance += self.novelty.covariance(X)
        if self.scale_doubt is not None:
            directions = self.scale_doubt.directions(X)
            covariance += directions @ directions.T
        if include_noise:
            covariance.flat[:: len(covariance) + 1] += self.posterior.noise_variance
        return covariance

    def sample_functions(self, X: Any, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions, shape (n_samples, n_draws)."""
        draws = self.posterior.sample(self.atoms.at(X), n_draws, rng)
        if self.scale_doubt is not None:
            directions = self.scale_doubt.directions(X)
            draws = draws + directions @ rng.standard_normal((directions.shape[1], n_draws))
        if self.augmentation is None and self.novelty is None:
            return draws
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            return (
                draws + shift[:, None] + np.sqrt(extra)[:, None] * rng.standard_normal(draws.shape)
            )
        assert self.novelty is not None
        values, vectors = np.linalg.eigh(self.novelty.covariance(X))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return draws + root @ rng.standard_normal(draws.shape)


def _training_blocks(
    bound: BoundBasis, active: IndexArray, X: Any, target: Vector, weight: Vector | None
) -> Iterator[TrainingBlock]:
    """Evaluate the active atoms at the training rows, in blocks if they are many."""
    n_samples = len(target)
    size = max(1, CONDITION_BYTES // (8 * max(len(active), 1)))
    if size >= n_samples:
        yield TrainingBlock(bound.dictionary.columns(active), target, weight)
        return
    atoms = bound.atoms.take(active)
    for start in range(0, n_samples, size):
        rows = slice(start, start + size)
        part = None if weight is None else weight[rows]
        yield TrainingBlock(atoms.at(X[rows]), target[rows], part)


def finish_output(
    problem: Problem,
    solution: Solution,
    bound: BoundBasis,
    X: Any,
    target: Vector,
    sample_weight: Vector | None,
    *,
    has_intercept: bool,
    error_bars: str,
) -> FittedOutput:
    """Condition on the data with the solver's precisions and prepare the error bars."""
    atoms = bound.atoms.take(solution.active)
    prior = problem.prior
    posterior = condition(
        problem.moments,
        solution.active,
        solution.log_lam,
        _training_blocks(bound, solution.active, X, target, sample_weight),
        has_intercept=has_intercept,
        # Under a Gamma prior of the weights the best noise given lam is the solver's to find.
        noise_variance=solution.noise_variance
        if problem.noise_variance is not None
        or (not prior.is_removable and solution.noise_variance > 0.0)
        else None,
        noise_shape=prior.noise.shape,
        noise_rate=prior.noise.rate,
    )
    kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
    amplitude = posterior.target_variance - posterior.noise_variance
    if kernel is None or not amplitude > NEGLIGIBLE * posterior.target_variance:
        return FittedOutput(solution.active, atoms, posterior, solution)
    if error_bars == "novelty" or posterior.noise_variance <= UNRESOLVED * amplitude:
        novelty = fit_novelty(kernel, X, atoms, target, sample_weight, posterior, amplitude)
        return FittedOutput(solution.active, atoms, posterior, solution, novelty)
    root = np.ones(len(target)) if sample_weight is None else np.sqrt(sample_weight)
    residual = (target - posterior.predict(atoms.at(X))) * root
    augmentation = Augmentation(kernel, X, residual, root, atoms, posterior, amplitude)
    return FittedOutput(solution.active, atoms, posterior, solution, None, augmentation)
