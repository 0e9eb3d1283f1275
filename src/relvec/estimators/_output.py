"""One fitted target: the active atoms, their posterior, and what widens its error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_choice
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Augmentation, Novelty, fit_novelty
from relvec.likelihoods import GaussianPrediction
from relvec.posterior import Posterior, condition
from relvec.solvers import Problem, Solution

ERROR_BARS = ("novelty", "plain", "augmented")


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

    def predict_mean(self, X: Any) -> Vector:
        """Posterior mean of the function."""
        mean = self.posterior.predict(self.atoms.at(X))
        if self.augmentation is not None:
            mean = mean + self.augmentation.correction(X)[0]
        return mean

    def predict_target(self, X: Any) -> GaussianPrediction:
        """Predictive distribution of new targets."""
        atoms = self.atoms.at(X)
        mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms)
        if self.augmentation is not None:
            shift, extra = self.augmentation.correction(X)
            mean, variance = mean + shift, variance + extra
        elif self.novelty is not None:
            variance = variance + self.novelty.variance(X)
        return GaussianPrediction(mean, variance + self.posterior.noise_variance)

    def function_covariance(self, X: Any) -> Matrix:
        """Covariance of the function between all rows, noise excluded."""
        covariance = self.posterior.joint_covariance(self.atoms.at(X))
        if self.augmentation is not None:
            # Each test input gets an atom of its own: independent additions.
            covariance.flat[:: len(covariance) + 1] += self.augmentation.correction(X)[1]
        elif self.novelty is not None:
            covariance += self.novelty.covariance(X)
        return covariance

    def sample_functions(self, X: Any, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw functions, shape (n_samples, n_draws)."""
        draws = self.posterior.sample(self.atoms.at(X), n_draws, rng)
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
    check_choice("error_bars", error_bars, ERROR_BARS)
    columns = bound.dictionary.columns(solution.active)
    posterior = condition(
        columns,
        target,
        solution.log_lam,
        sample_weight=sample_weight,
        has_intercept=has_intercept,
        noise_variance=solution.noise_variance
        if problem.noise_variance is not None or problem.hyperprior.rate
        else None,
        noise_shape=problem.hyperprior.noise_shape,
        noise_rate=problem.hyperprior.noise_rate,
    )
    atoms = bound.atoms.take(solution.active)
    novelty = augmentation = None
    kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
    if kernel is not None and error_bars == "novelty":
        novelty = fit_novelty(kernel, X, columns, target, sample_weight, posterior)
    elif kernel is not None:
        root = np.ones(len(target)) if sample_weight is None else np.sqrt(sample_weight)
        centred = target - posterior.target_mean
        spread = float(root**2 @ centred**2) / max(posterior.n_effective, 1.0)
        residual = (target - posterior.predict(columns)) * root
        amplitude = max(spread - posterior.noise_variance, 1e-12 * spread)
        if amplitude > 0.0:
            augmentation = Augmentation(kernel, X, residual, root, atoms, posterior, amplitude)
    return FittedOutput(solution.active, atoms, posterior, solution, novelty, augmentation)
