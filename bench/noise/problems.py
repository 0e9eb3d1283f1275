"""Sets with noise that varies, controls with constant noise, and published sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bench.classification.problems import read_set

__all__ = ["CONTROLS", "PROBLEMS", "PUBLISHED", "SYNTHETIC", "NoiseProblem", "Rows"]

N_TEST = 2000
ENGEL_TRAIN = 188


class Rows(NamedTuple):
    """Training and test rows, with the truth of the test rows if it is known."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    mean: np.ndarray | None = None
    std: np.ndarray | None = None


Sampler = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class NoiseProblem:
    """A set of rows for each seed."""

    name: str
    sample: Sampler | None = None
    """Draws inputs, means and noise standard deviations; None for a published set."""
    n: int = 200
    most: int | None = None
    """Training rows are a random sample of this size, if there are more."""

    def draw(self, seed: int) -> Rows:
        """Return the rows of a seed: a fresh sample, or a published split (its number)."""
        if self.sample is None:
            return _read_split(self.name, seed, self.most)
        # The number of the problem, so that problems do not share their random numbers.
        rng = np.random.default_rng([seed, list(PROBLEMS).index(self.name)])
        X, mean, std = self.sample(self.n + N_TEST, rng)
        y = mean + std * rng.normal(size=len(mean))
        n = self.n
        return Rows(X[:n], y[:n], X[n:], y[n:], mean[n:], std[n:])


def _goldberg(n: int, rng: np.random.Generator) -> Any:
    """Goldberg, Williams and Bishop (1998)."""
    x = rng.random(n)
    return x[:, None], 2.0 * np.sin(2.0 * np.pi * x), x + 0.5


def _yuan_wahba(n: int, rng: np.random.Generator) -> Any:
    """Yuan and Wahba (2004)."""
    x = rng.random(n)
    mean = 2.0 * (np.exp(-30.0 * (x - 0.25) ** 2) + np.sin(np.pi * x**2)) - 2.0
    return x[:, None], mean, np.exp(0.5 * np.sin(2.0 * np.pi * x))


def _williams(n: int, rng: np.random.Generator) -> Any:
    """Williams (1996)."""
    x = np.pi * rng.random(n)
    return (
        x[:, None],
        np.sin(2.5 * x) * np.sin(1.5 * x),
        0.01 + 0.25 * (1.0 - np.sin(2.5 * x)) ** 2,
    )


def _step(n: int, rng: np.random.Generator) -> Any:
    """A jump of the standard deviation from 0.1 to 0.5 in the middle of a sine."""
    x = rng.random(n)
    return x[:, None], np.sin(2.0 * np.pi * x), np.where(x < 0.5, 0.1, 0.5)


def _sinc(n: int, rng: np.random.Generator) -> Any:
    x = rng.uniform(-10.0, 10.0, n)
    return x[:, None], np.sinc(x / np.pi), np.full(n, 0.1)


def _sine(n: int, rng: np.random.Generator) -> Any:
    x = rng.random(n)
    return x[:, None], 2.0 * np.sin(2.0 * np.pi * x), np.full(n, 0.75)


def _two_features(n: int, rng: np.random.Generator) -> Any:
    X = rng.uniform(-2.0, 2.0, (n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2, np.full(n, 0.3)


def _friedman(n: int, rng: np.random.Generator) -> Any:
    """Friedman's first function with ten features, five of them relevant."""
    X = rng.random((n, 10))
    mean = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10.0 * X[:, 3] + 5.0 * X[:, 4], np.ones(n)


def _read_split(name: str, number: int, most: int | None) -> Rows:
    data = read_set(f"{name}.npz")
    if name == "engel":  # no published splits: random ones
        order = np.random.RandomState(number).permutation(len(data["income"]))
        X, y = data["income"][:, None], data["foodexp"]
        train, test = order[:ENGEL_TRAIN], order[ENGEL_TRAIN:]
    else:
        X, y, mask = data["X"], data["y"], data["train_mask"][number]
        train, test = np.flatnonzero(mask), np.flatnonzero(~mask)
    if most is not None and len(train) > most:
        train = np.random.RandomState(number).permutation(train)[:most]
    return Rows(X[train], y[train], X[test], y[test])


SYNTHETIC = (
    NoiseProblem("Goldberg", _goldberg),
    NoiseProblem("Yuan-Wahba", _yuan_wahba),
    NoiseProblem("Williams", _williams),
    NoiseProblem("step", _step),
)
CONTROLS = (
    NoiseProblem("sinc", _sinc),
    NoiseProblem("sine", _sine),
    NoiseProblem("two features", _two_features),
    NoiseProblem("Friedman 1", _friedman),
)
PUBLISHED = (
    NoiseProblem("engel"),
    NoiseProblem("uci_boston"),
    NoiseProblem("uci_yacht"),
    NoiseProblem("uci_energy"),
    NoiseProblem("uci_wine_red"),
    NoiseProblem("uci_power", most=3000),
)
PROBLEMS = {each.name: each for each in (*SYNTHETIC, *CONTROLS, *PUBLISHED)}
