"""Brute-force oracles: the model by explicit dense matrices, sharing no algebra with relvec."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.moments.base import Moments
from relvec.priors import GammaPrior
from relvec.solvers.base import Problem, Solution
from tests.helpers_priors import gamma_prior, posed

FLAT = gamma_prior()


class DenseMoments(Moments):
    """Moments of an explicit design by the shortest possible code."""

    def __init__(
        self,
        Phi: ArrayLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        fit_intercept: bool = True,
    ) -> None:
        Phi, t = np.asarray(Phi, dtype=float), np.asarray(t, dtype=float)
        weight = np.ones(len(t)) if sample_weight is None else np.asarray(sample_weight, float)
        total = weight.sum()
        self.n_effective = float(total - fit_intercept)
        self.column_mean = (weight @ Phi / total) if fit_intercept else np.zeros(Phi.shape[1])
        self.target_mean = float(weight @ t / total) if fit_intercept else 0.0
        root = np.sqrt(weight)
        centred = root[:, None] * (Phi - self.column_mean)
        target = root * (t - self.target_mean)
        if target @ target <= 1e-26 * (weight @ t**2):
            target = np.zeros_like(target)
        raw_norm = np.linalg.norm(root[:, None] * Phi, axis=0)
        norm = np.linalg.norm(centred, axis=0)
        self.usable = np.isfinite(norm) & (norm > 1e-12 * raw_norm) & (norm > 0)
        self.column_norm = np.where(self.usable, norm, 1.0)
        unit = np.where(self.usable, centred / self.column_norm, 0.0)
        ratio = raw_norm / self.column_norm
        self.resolution = np.maximum(1e-9, 100 * np.finfo(float).eps * ratio)
        self.target_ss = float(target @ target)
        self.correlation = unit.T @ target
        self._gram = unit.T @ unit

    def fetch(self, index: IndexArray) -> None:
        """Nothing to do: the whole Gram matrix is there."""

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return the Gram rows of `index`."""
        return self._gram[index]

    def gram(self, index: IndexArray) -> Matrix:
        """Return the Gram block of `index`."""
        return self._gram[np.ix_(index, index)]


def contrasts(
    Phi: Matrix, t: Vector, sample_weight: Vector | None, fit_intercept: bool
) -> tuple[Matrix, Vector, float]:
    """Return design, target and number of contrasts that are free of the intercept."""
    weight = np.ones(len(t)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    root = np.sqrt(weight)
    basis = null_space(root[None, :]).T if fit_intercept else np.eye(len(t))
    return (
        basis @ (root[:, None] * Phi),
        basis @ (root * t),
        float(weight.sum() - fit_intercept),
    )


def dense_log_evidence(
    Phi: ArrayLike,
    t: ArrayLike,
    alpha: ArrayLike,
    noise: float,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
) -> float:
    """Log density of the target, or of its contrasts, from the covariance matrix itself.

    `alpha` are precisions of raw weights (infinite: atom absent); weights are frequencies,
    so repeated observations contribute contrasts of pure noise, all zero.
    """
    Phi, t = np.asarray(Phi, dtype=float), np.asarray(t, dtype=float)
    design, target, n = contrasts(Phi, t, sample_weight, fit_intercept)
    covariance = noise * np.eye(len(target)) + (design / np.asarray(alpha, float)) @ design.T
    _, log_det = np.linalg.slogdet(covariance)
    quadratic = target @ np.linalg.solve(covariance, target)
    repeated = (n - len(target)) * np.log(2 * np.pi * noise)
    return float(-0.5 * (len(target) * np.log(2 * np.pi) + log_det + quadratic + repeated))


def dense_penalised(
    Phi: ArrayLike,
    t: ArrayLike,
    alpha: ArrayLike,
    noise: float,
    *,
    smoothness: float = 0.0,
    hyperprior: GammaPrior = FLAT,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
) -> float:
    """Log evidence, less the penalty of the effective degrees of freedom, plus Gamma terms."""
    Phi, t, alpha = (np.asarray(each, dtype=float) for each in (Phi, t, alpha))
    design, _, _ = contrasts(Phi, t, sample_weight, fit_intercept)
    scaled = np.eye(len(design)) + (design / (noise * alpha)) @ design.T
    value = dense_log_evidence(Phi, t, alpha, noise, sample_weight, fit_intercept)
    value -= smoothness * np.trace(np.eye(len(design)) - np.linalg.inv(scaled))
    present = alpha[np.isfinite(alpha)]
    value += np.sum(hyperprior.shape * np.log(present) - hyperprior.rate * present)
    value -= hyperprior.noise.shape * np.log(noise) + hyperprior.noise.rate / noise
    return float(value)


def dense_problem(
    Phi: ArrayLike,
    t: ArrayLike,
    *,
    charge: float = 0.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    **options: object,
) -> Problem:
    """Pose a problem on `DenseMoments`, with the same `charge` as every atom's min_gain."""
    moments = DenseMoments(Phi, t, sample_weight, fit_intercept)
    return posed(moments, np.full(moments.n_atoms, charge), **options)


def raw_precisions(problem: Problem, solution: Solution) -> Vector:
    """Precisions of the raw weights of all atoms, infinite for those not in the model."""
    alpha = np.full(problem.moments.n_atoms, np.inf)
    norm = problem.moments.column_norm[solution.active]
    alpha[solution.active] = np.exp(solution.log_lam) * norm**2 / solution.noise_variance
    return alpha


def posterior_mean(problem: Problem, solution: Solution) -> Vector:
    """Posterior mean of the raw weights of all atoms."""
    active, moments = solution.active, problem.moments
    matrix = moments.gram(active) + np.diag(np.exp(solution.log_lam))
    mean = np.zeros(moments.n_atoms)
    mean[active] = np.linalg.solve(matrix, moments.correlation[active])
    return mean / moments.column_norm


def sparse_design(
    n: int = 60, m: int = 12, noise: float = 0.3, seed: int = 0
) -> tuple[Matrix, Vector]:
    """Draw an explicit design, every fourth column of which matters."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, m)) * rng.uniform(0.2, 5.0, m) + rng.standard_normal(m)
    weights = np.where(np.arange(m) % 4 == 0, 1.0 / Phi.std(axis=0), 0.0)
    return Phi, 2.0 + Phi @ weights + noise * rng.standard_normal(n)


def sinc(n: int = 60, noise: float = 0.1, width: float = 3.0) -> tuple[Matrix, Vector]:
    """Draw noisy samples of sinc, with Gaussian kernels at the samples."""
    rng = np.random.default_rng(3)
    x = np.linspace(-10, 10, n)
    t = np.sinc(x / np.pi) + noise * rng.standard_normal(n)
    return np.exp(-(((x[:, None] - x) / width) ** 2)), t
