"""Small posteriors over models by brute force, sharing no algebra with `relvec.sampling`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from relvec._typing import Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import Moments, compute_moments
from relvec.sampling.collapsed import make_target
from relvec.sampling.target import KnownNoise, Target


def make_moments(
    Phi: Matrix, t: Vector, weight: Vector | None = None, centre: bool = True
) -> Moments:
    [moments] = compute_moments(DenseDictionary(Phi), t[:, np.newaxis], weight, centre=centre)
    return moments


def prepare(
    Phi: Matrix, t: Vector, weight: Vector | None = None, centre: bool = True
) -> tuple[Matrix, Vector]:
    """Return weighted, centred columns of unit norm, and the target likewise."""
    weight = np.ones(len(t)) if weight is None else weight
    root, total = np.sqrt(weight), weight.sum()
    if centre:
        Phi, t = Phi - weight @ Phi / total, t - weight @ t / total
    Phi, t = root[:, np.newaxis] * Phi, root * t
    norm = np.linalg.norm(Phi, axis=0)
    return Phi / np.where(norm > 1e-10, norm, np.inf), t


def dense_log_likelihood(Phi: Matrix, t: Vector, d: Vector, target: Target) -> float:
    """Return the log likelihood by the covariance of the target, ``I + Phi D^-1 Phi'``."""
    C = np.eye(len(t)) + (Phi / d) @ Phi.T
    error = target.rate + 0.5 * float(t @ np.linalg.solve(C, t))
    noise = target.noise
    fit = (
        -error / noise.variance if isinstance(noise, KnownNoise) else -noise.shape * math.log(error)
    )
    return float(-0.5 * np.linalg.slogdet(C)[1] + fit)


def dense_log_odds(Phi: Matrix, t: Vector, active: Vector, level: Vector, target: Target) -> Vector:
    """Return the log odds of every usable atom by sums over the grid."""
    n_fixed, grid = len(target.fixed), target.precision
    precision = np.concatenate([target.fixed, grid[level[n_fixed:]]])
    result = np.full(Phi.shape[1], -np.inf)
    for atom in np.flatnonzero(target.movable):
        rest = active != atom
        inside, d = active[rest], precision[rest]
        without = dense_log_likelihood(Phi[:, inside], t, d, target)
        gains = [
            dense_log_likelihood(Phi[:, [*inside, atom]], t, np.append(d, each), target) - without
            for each in grid
        ]
        size = len(inside) - n_fixed
        prior = target.size_prior.log_odds(size, int(target.movable.sum()))
        result[atom] = prior + logsumexp(target.power * np.array(gains)) - math.log(len(grid))
    return result


def fix_last(target: Target, *precision: float) -> Target:
    """Return the target with the last atoms always in the model."""
    movable = target.movable.copy()
    movable[-len(precision) :] = False
    return replace(target, fixed=np.array(precision), movable=movable)


def small_problem(
    n: int = 12, n_atoms: int = 6, seed: int = 0, **options: object
) -> tuple[Matrix, Vector, Target]:
    """Return prepared columns and target, and the posterior of a model of two of the columns."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, n_atoms)) * rng.uniform(0.2, 5.0, n_atoms)
    t = Phi[:, 0] / Phi[:, 0].std() - 0.8 * Phi[:, 1] / Phi[:, 1].std() + rng.normal(size=n)
    return *prepare(Phi, t), make_target(make_moments(Phi, t), **options)
