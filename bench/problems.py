"""Test problems with a known noise-free target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Draw(NamedTuple):
    """One training set, and test inputs with the target before noise."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    target_test: np.ndarray


Sampler = Callable[[int, np.random.Generator], Draw]


@dataclass(frozen=True)
class Problem:
    """A generator of draws, and the gamma of ``exp(-gamma |x - z|^2)`` for all methods."""

    name: str
    n_samples: int
    gamma: float
    sampler: Sampler

    def draw(self, seed: int, n_samples: int | None = None) -> Draw:
        """Return a fresh data set, a function of the seed and the size alone."""
        return self.sampler(n_samples or self.n_samples, np.random.default_rng(seed))


def sinc(n_samples: int, rng: np.random.Generator) -> Draw:
    """Return ``sin(x)/x`` on [-10, 10] with noise of standard deviation 0.1."""
    X = rng.uniform(-10, 10, (n_samples, 1))
    X_test = np.linspace(-10, 10, 1000)[:, None]
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(n_samples)
    return Draw(X, y, X_test, np.sinc(X_test[:, 0] / np.pi))


def friedman(n_samples: int, rng: np.random.Generator) -> Draw:
    """Return Friedman's first problem: 10 uniform features, 5 of them relevant, unit noise."""

    def target(X: np.ndarray) -> np.ndarray:
        return (
            10 * np.sin(np.pi * X[:, 0] * X[:, 1])
            + 20 * (X[:, 2] - 0.5) ** 2
            + 10 * X[:, 3]
            + 5 * X[:, 4]
        )

    X, X_test = rng.uniform(size=(n_samples, 10)), rng.uniform(size=(1000, 10))
    return Draw(X, target(X) + rng.standard_normal(n_samples), X_test, target(X_test))


def eight_features(n_samples: int, rng: np.random.Generator) -> Draw:
    """Return a smooth function of 8 Gaussian features with noise of standard deviation 0.5."""

    def target(X: np.ndarray) -> np.ndarray:
        return (
            3 * np.sin(X[:, 0])
            + X[:, 1] * X[:, 2]
            + 0.5 * X[:, 3] ** 2
            + np.cos(2 * X[:, 4])
            + X[:, 5]
            - 0.3 * X[:, 6]
        )

    X, X_test = rng.standard_normal((n_samples, 8)), rng.standard_normal((2000, 8))
    return Draw(X, target(X) + 0.5 * rng.standard_normal(n_samples), X_test, target(X_test))


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("sinc100", 100, 1 / 9, sinc),
        Problem("friedman240", 240, 0.5, friedman),
        Problem("sinc1000", 1000, 1 / 9, sinc),
        Problem("friedman1000", 1000, 0.5, friedman),
        Problem("friedman2000", 2000, 0.5, friedman),
        Problem("reg5000", 5000, 0.05, eight_features),
    )
}

QUICK = ("sinc100", "friedman240", "sinc1000")
