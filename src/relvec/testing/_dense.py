"""The objective of a solver from dense matrices: slow, short, and independent of the library.

Nothing here uses the algebra of `relvec.evidence` or `relvec.posterior`. The N x N covariance of
the target, ``C = Phi A^-1 Phi' + sigma^2 I`` (Tipping 2001, eq. 15), is formed and factorised.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space

from relvec._typing import BoolArray, Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import compute_moments
from relvec.solvers import Problem, Solution

LOG_LAM = np.linspace(-25.0, 25.0, 1001)
"""Log precisions tried for an atom outside the model."""


class DenseProblem(NamedTuple):
    """A problem together with its data."""

    name: str
    atoms: Matrix
    """Raw columns, shape (n_samples, n_atoms)."""
    target: Vector
    problem: Problem

    def objective(self, log_alpha: Vector, noise: float) -> float:
        """Return the penalised log evidence at log precisions of the raw weights.

        Infinite log precisions mark atoms outside the model. The intercept is integrated out by
        projecting on the orthogonal complement of the constant.
        """
        problem = self.problem
        present = np.isfinite(log_alpha)
        contrasts = null_space(np.ones((1, len(self.target))))
        design, target = contrasts.T @ self.atoms[:, present], contrasts.T @ self.target
        identity = np.eye(len(target))
        signal = (design * np.exp(-log_alpha[present])) @ design.T
        covariance = signal + noise * identity
        _, log_det = np.linalg.slogdet(2.0 * math.pi * covariance)
        value = -0.5 * (log_det + target @ np.linalg.solve(covariance, target))
        value -= problem.min_gain[present].sum()
        # effective degrees of freedom gamma_i = 1 - alpha_i Sigma_ii
        prior = problem.prior.subset(np.flatnonzero(present))
        alpha = np.exp(log_alpha[present])
        posterior = np.linalg.inv(design.T @ design / noise + np.diag(alpha))
        value -= (prior.penalty * (1.0 - alpha * posterior.diagonal())).sum()
        # precisions of weights of unit-norm columns, in units of the noise
        log_lam = log_alpha[present] + math.log(noise) - np.log((design**2).sum(axis=0))
        value += prior.log_density(log_lam, noise).sum()
        return float(value + prior.noise.log_density(noise))

    def log_alpha(self, solution: Solution) -> Vector:
        """Return log precisions of the raw weights, infinite for atoms outside the model."""
        result = np.full(self.atoms.shape[1], np.inf)
        norm = np.linalg.norm(self.atoms - self.atoms.mean(axis=0), axis=0)[solution.active]
        result[solution.active] = (
            solution.log_lam + 2.0 * np.log(norm) - math.log(solution.noise_variance)
        )
        return result

    def gradient(self, solution: Solution) -> tuple[Vector, float]:
        """Return central differences in log precisions, and in log noise at fixed ``lam``."""
        step = 1e-4
        here = self.log_alpha(solution)

        def slope(move: Vector, noise_move: float) -> float:
            above, below = (
                self.objective(
                    here + sign * move, solution.noise_variance * math.exp(sign * noise_move)
                )
                for sign in (1.0, -1.0)
            )
            return (above - below) / (2.0 * step)

        shifts = np.eye(len(here))[solution.active] * step
        noise_slope = slope(np.full(len(here), -step), step)
        return np.array([slope(shift, 0.0) for shift in shifts]), noise_slope

    def best_entry(self, solution: Solution) -> tuple[int, float]:
        """Return the atom outside the model that raises the objective most, and its gain.

        Every atom is tried at every precision of a grid; the noise is profiled out unless it is
        held. Not for Gamma priors with a positive rate, which leave no atom outside.
        """
        problem, n_atoms = self.problem, self.atoms.shape[1]
        contrasts = null_space(np.ones((1, len(self.target))))
        target = contrasts.T @ self.target
        unit, usable = _unit_columns(contrasts.T @ self.atoms)
        active = solution.active
        inverse = np.linalg.inv(
            np.eye(len(target)) + (unit[:, active] * np.exp(-solution.log_lam)) @ unit[:, active].T
        )
        s = np.einsum("ij,ik,kj->j", unit, inverse, unit)
        q = unit.T @ (inverse @ target)
        back = np.linalg.solve(
            unit[:, active].T @ unit[:, active] + np.diag(np.exp(solution.log_lam)),
            unit[:, active].T @ unit,
        )
        quadratic = float(target @ inverse @ target)
        outside = usable & (s > problem.moments.resolution)
        outside[active] = False
        if not outside.any():
            return -1, -math.inf
        lam = np.exp(LOG_LAM)[:, None]
        after = quadratic - q**2 / (lam + s)
        prior, noise = problem.prior, problem.prior.noise
        count = len(target) + 2.0 * noise.shape
        before, after = quadratic + 2.0 * noise.rate, after + 2.0 * noise.rate
        if problem.noise_variance is None:
            fit = count * np.log(after / before)
        else:
            fit = (after - before) / problem.noise_variance
        penalty = np.broadcast_to(prior.penalty, (n_atoms,))
        w = penalty * s - (penalty[active] * np.exp(solution.log_lam)) @ back**2
        change = -0.5 * (fit + np.log1p(s / lam)) - w / (lam + s)
        log_lam = np.repeat(LOG_LAM[:, None], n_atoms, axis=1)
        change = change + prior.log_density(log_lam, problem.noise_variance)
        gain = np.where(outside, change.max(axis=0) - problem.min_gain, -np.inf)
        best = int(np.argmax(gain))
        assert 0 <= best < n_atoms
        return best, float(gain[best])


def _unit_columns(columns: Matrix) -> tuple[Matrix, BoolArray]:
    norm = np.linalg.norm(columns, axis=0)
    usable = norm > 1e-10
    return columns / np.where(usable, norm, 1.0), usable


def make_problem(name: str, atoms: Matrix, target: Vector, **options: Any) -> DenseProblem:
    """Return a problem with an intercept; `min_gain` may be one number for all atoms."""
    moments = compute_moments(DenseDictionary(atoms), target[:, None], None, centre=True)[0]
    penalty = np.broadcast_to(options.pop("min_gain", 0.0), atoms.shape[1]).astype(np.float64)
    return DenseProblem(name, atoms, target, Problem(moments, penalty, **options))


def columns_and_target() -> tuple[Matrix, Vector]:
    """Return eight columns of different scales and a target; one is constant, one is zero."""
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(40, 8)) * rng.uniform(0.2, 5.0, 8) + rng.normal(size=8)
    weights = np.array([1.0, 0.0, -0.6, 0.0, 0.3, 0.0, 0.0, 0.0]) / atoms.std(axis=0)
    atoms[:, 6], atoms[:, 7] = 3.0, 0.0
    return atoms, 2.0 + atoms @ weights + 0.3 * rng.normal(size=40)


def kernels_and_target() -> tuple[Matrix, Vector]:
    """Return a Gaussian kernel matrix and noisy samples of the sinc function."""
    rng = np.random.default_rng(3)
    x = np.linspace(-10.0, 10.0, 40)
    target = np.sinc(x / math.pi) + 0.1 * rng.normal(size=40)
    return np.exp(-((x[:, None] - x) ** 2) / 9.0), target
