"""Densities with known truth: to draw from, and to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

__all__ = ["BOUNDED", "MARRON_WAND", "PROBLEMS", "TWO_VARIABLES", "DensityProblem"]

Array = np.ndarray


@dataclass(frozen=True)
class DensityProblem:
    """A true density, how to draw from it, and the support that a user would give."""

    name: str
    draw: Callable[[int, np.random.Generator], Array]
    log_density: Callable[[Array], Array]
    support: Any = None
    range: tuple[float, float] = (-4.0, 4.0)
    """Range of the integrated squared error."""
    n_variables: int = 1


def _mixture(name: str, parts: list[tuple[float, float, float]], **more: Any) -> DensityProblem:
    """Return a mixture of normal densities, of weight, mean and standard deviation each."""
    weight, mean, std = np.array(parts).T

    def draw(n: int, rng: np.random.Generator) -> Array:
        which = rng.choice(len(weight), n, p=weight / weight.sum())
        return mean[which] + std[which] * rng.normal(size=n)

    def log_density(x: Array) -> Array:
        z = (x[:, None] - mean) / std
        return logsumexp(-0.5 * z**2 + np.log(weight / std) - 0.5 * np.log(2 * np.pi), axis=1)

    return DensityProblem(name, draw, log_density, **more)


_SKEWED = [(1 / 8, 3 * ((2 / 3) ** k - 1), (2 / 3) ** k) for k in range(8)]
_CLAW = [(0.5, 0.0, 1.0), *((0.1, k / 2 - 1, 0.1) for k in range(5))]
# Marron and Wand (1992), Exact mean integrated squared error, Annals of Statistics 20, table 1.
MARRON_WAND = (
    _mixture("1 Gaussian", [(1, 0, 1)]),
    _mixture("2 skewed", [(1 / 5, 0, 1), (1 / 5, 1 / 2, 2 / 3), (3 / 5, 13 / 12, 5 / 9)]),
    _mixture("3 strongly skewed", _SKEWED),
    _mixture("4 kurtotic", [(2 / 3, 0, 1), (1 / 3, 0, 1 / 10)]),
    _mixture("5 outlier", [(1 / 10, 0, 1), (9 / 10, 0, 1 / 10)]),
    _mixture("6 bimodal", [(1 / 2, -1, 2 / 3), (1 / 2, 1, 2 / 3)]),
    _mixture("7 separated", [(1 / 2, -3 / 2, 1 / 2), (1 / 2, 3 / 2, 1 / 2)]),
    _mixture("8 skewed bimodal", [(3 / 4, 0, 1), (1 / 4, 3 / 2, 1 / 3)]),
    _mixture("9 trimodal", [(9 / 20, -6 / 5, 3 / 5), (9 / 20, 6 / 5, 3 / 5), (1 / 10, 0, 1 / 4)]),
    _mixture("10 claw", _CLAW),
)

_END = -np.expm1(-6.0)
"""Probability of an exponential variable below 6."""


def _draw_exponential(n: int, rng: np.random.Generator) -> Array:
    return -np.log1p(-_END * rng.random(n))


# A falling spectrum of events between 100 and 160, with a peak at 125.
_LOW, _HIGH, _FALL, _PEAK, _WIDTH, _SHARE = 100.0, 160.0, 20.0, 125.0, 2.0, 0.05
_FALLEN = -np.expm1(-(_HIGH - _LOW) / _FALL)


def _draw_spectrum(n: int, rng: np.random.Generator) -> Array:
    falling = _LOW - _FALL * np.log1p(-_FALLEN * rng.random(n))
    return np.where(rng.random(n) < _SHARE, rng.normal(_PEAK, _WIDTH, n), falling)


def _log_spectrum(x: Array) -> Array:
    falling = np.exp(-(x - _LOW) / _FALL) / (_FALL * _FALLEN)
    peak = np.exp(-0.5 * ((x - _PEAK) / _WIDTH) ** 2) / (_WIDTH * np.sqrt(2 * np.pi))
    return np.log((1 - _SHARE) * falling + _SHARE * peak)


BOUNDED = (
    DensityProblem(
        "exponential", _draw_exponential, lambda x: -x - np.log(_END), (0, 6), (0.0, 6.0)
    ),
    DensityProblem(
        "uniform",
        lambda n, rng: rng.random(n),
        lambda x: np.zeros(len(x)),
        (0, 1),
        (0.0, 1.0),
    ),
    DensityProblem("spectrum", _draw_spectrum, _log_spectrum, (_LOW, _HIGH), (_LOW, _HIGH)),
)

_MEANS = np.array([[0.0, 0.0], [3.0, -2.0], [-2.0, 3.0]])
_COVARIANCES = np.array([[[1, 0.8], [0.8, 1]], [[0.3, 0], [0, 0.5]], [[0.5, -0.3], [-0.3, 0.4]]])
_SHARES = np.array([0.4, 0.4, 0.2])


def _draw_two(n: int, rng: np.random.Generator) -> Array:
    which = rng.choice(3, n, p=_SHARES)
    roots = np.linalg.cholesky(_COVARIANCES)
    return _MEANS[which] + np.einsum("nij,nj->ni", roots[which], rng.normal(size=(n, 2)))


def _log_two(x: Array) -> Array:
    logs = []
    for share, mean, covariance in zip(_SHARES, _MEANS, _COVARIANCES, strict=True):
        away = x - mean
        squares = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
        norm = np.log(2 * np.pi) + 0.5 * np.log(np.linalg.det(covariance))
        logs.append(np.log(share) - 0.5 * squares - norm)
    return logsumexp(logs, axis=0)


TWO_VARIABLES = (DensityProblem("three components", _draw_two, _log_two, n_variables=2),)

PROBLEMS = {each.name: each for each in (*MARRON_WAND, *BOUNDED, *TWO_VARIABLES)}
