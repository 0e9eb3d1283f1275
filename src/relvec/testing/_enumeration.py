"""Posteriors over models by enumeration: slow, short, and independent of `relvec.sampling.state`.

Of every set of atoms and every choice of their precisions, the posterior probability and the
conditional moments of weights and noise variance are computed by dense linear algebra from the
columns themselves.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, logsumexp, polygamma

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import Moments, compute_moments
from relvec.sampling.target import KnownNoise, Target


class SampledProblem(NamedTuple):
    """Columns and a target for a sampler."""

    name: str
    atoms: Matrix
    """Raw columns, shape (n_samples, n_atoms)."""
    target: Vector

    @property
    def moments(self) -> Moments:
        """Moments of a model with an intercept."""
        [moments] = compute_moments(
            DenseDictionary(self.atoms), self.target[:, np.newaxis], None, centre=True
        )
        return moments

    def prepare(self) -> tuple[Matrix, Vector]:
        """Return centred columns of unit norm, and the centred target."""
        atoms = self.atoms - self.atoms.mean(axis=0)
        norm = np.linalg.norm(atoms, axis=0)
        return atoms / np.where(norm > 1e-10, norm, np.inf), self.target - self.target.mean()


class Enumeration:
    """All models of a problem with their posterior probabilities.

    Parameters
    ----------
    atoms : ndarray of shape (n_samples, n_atoms)
        Prepared columns: of unit norm, or zero if they are never in the model.
    t : ndarray of shape (n_samples,)
        Prepared target.
    target : Target
        Gives the grid of precisions, the priors, and the power of the likelihood.
    """

    def __init__(self, atoms: Matrix, t: Vector, target: Target) -> None:
        self.target, self.atoms = target, atoms
        self._gram, self._correlation, self._ss = atoms.T @ atoms, atoms.T @ t, float(t @ t)
        usable = np.flatnonzero(np.linalg.norm(atoms, axis=0) > 0.5)
        n_levels = len(target.precision)
        self.inside: list[tuple[int, ...]] = []
        """Atoms of each model, in ascending order."""
        self.levels: list[tuple[int, ...]] = []
        """Positions of their precisions in the grid."""
        parts = []
        for size in range(len(usable) + 1):
            levels = list(itertools.product(range(n_levels), repeat=size))
            prior = target.size_prior.log_probability(size, len(usable))
            for inside in itertools.combinations(usable.tolist(), size):
                self.inside += [inside] * len(levels)
                self.levels += levels
                part = self._solve(inside, target.precision[np.array(levels, dtype=int)])
                part[:, 0] += prior - size * math.log(n_levels)
                parts.append(part)
        joined = np.concatenate(parts)
        log_joint, self.error = joined[:, 0], joined[:, 1]
        self.probability = np.exp(log_joint - logsumexp(log_joint))
        """Posterior probability of each model."""
        self._mean, self._variance = np.split(joined[:, 2:], 2, axis=1)

    def _solve(self, inside: tuple[int, ...], precision: Matrix) -> Matrix:
        """Return log likelihood and ``E`` of each model, and mean and variance of its fit."""
        target, index = self.target, list(inside)
        columns, n = self.atoms[:, index], len(self.atoms)
        b = self._correlation[index]
        hessian = self._gram[np.ix_(index, index)] + precision[:, :, np.newaxis] * np.eye(len(b))
        inverse = np.linalg.inv(hessian)
        mean = inverse @ b
        error = target.rate + 0.5 * (self._ss - mean @ b)
        noise = target.noise
        fit = (
            -error / noise.variance if isinstance(noise, KnownNoise) else -self._nu * np.log(error)
        )
        evidence = 0.5 * np.log(precision).sum(axis=1) - 0.5 * np.linalg.slogdet(hessian)[1] + fit
        result = np.empty((len(precision), 2 + 2 * n))
        result[:, 0], result[:, 1] = target.power * evidence, error
        result[:, 2 : 2 + n] = mean @ columns.T
        result[:, 2 + n :] = np.einsum("ni,kij,nj->kn", columns, inverse, columns)
        return result

    @property
    def _nu(self) -> float:
        shape: float = getattr(self.target.noise, "shape", math.inf)
        return shape

    @cached_property
    def index(self) -> dict[tuple[tuple[int, ...], tuple[int, ...]], int]:
        """Position of each model, by its atoms and levels."""
        pairs = zip(self.inside, self.levels, strict=True)
        return {pair: position for position, pair in enumerate(pairs)}

    def find(self, active: IndexArray, level: IndexArray) -> int:
        """Return the position of the model with atoms and levels in any order."""
        order = np.argsort(active)
        return self.index[tuple(active[order].tolist()), tuple(level[order].tolist())]

    @property
    def inclusion(self) -> Vector:
        """Probability that each atom is in the model."""
        result = np.zeros(len(self._gram))
        for inside, probability in zip(self.inside, self.probability, strict=True):
            result[list(inside)] += probability
        return result

    @property
    def fit(self) -> tuple[Vector, Vector]:
        """Posterior means of ``Phi w``, and of its squares, at each sample.

        Weights themselves have rare and huge values where columns are equal.
        """
        noise = self.target.noise
        if isinstance(noise, KnownNoise):
            variance = np.full(len(self.error), noise.variance)
        else:  # the mean of IG(nu, E)
            variance = self.error / (self._nu - 1.0)
        square = self._mean**2 + variance[:, np.newaxis] * self._variance
        return self.probability @ self._mean, self.probability @ square

    @property
    def log_noise(self) -> tuple[float, float]:
        """Posterior mean of the log noise variance and of its square."""
        noise = self.target.noise
        if isinstance(noise, KnownNoise):
            return math.log(noise.variance), math.log(noise.variance) ** 2
        # 1 / sigma^2 ~ Gamma(nu, E), whose logarithm has mean digamma(nu) - log E
        mean = np.log(self.error) - digamma(self._nu)
        square = mean**2 + polygamma(1, self._nu)
        return float(self.probability @ mean), float(self.probability @ square)


def sampled_problems() -> tuple[SampledProblem, ...]:
    """Return problems with at most four usable atoms, in or out of the model by a narrow margin."""
    rng = np.random.default_rng(7)
    plain = rng.normal(size=(14, 4))
    plain[:, 3] = plain[:, 0] + 0.3 * plain[:, 3]
    noise = rng.normal(size=14)
    twins = np.column_stack([plain[:, :2], plain[:, 0], np.full(14, 2.0), plain[:, 2]])
    short = rng.normal(size=(4, 6))
    short[:, 4:] = 1.0
    return (
        SampledProblem("correlated columns", plain, 1.0 + plain @ [1.0, 0.8, 0.0, 0.0] + noise),
        SampledProblem(
            "columns of which two are equal and one is constant",
            twins,
            twins @ [1.2, -0.7, 0.0, 0.0, 0.4] + noise,
        ),
        SampledProblem("fewer samples than columns", short, short[:, 0] + 0.5 * noise[:4]),
    )
