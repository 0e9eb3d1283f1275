"""Sparse linear regression: the data, and the parameters of the priors of both sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = [
    "NOISE_RATE",
    "NOISE_SHAPE",
    "PROBLEMS",
    "SLAB_DF",
    "SLAB_SCALE",
    "Regression",
    "draw_regression",
    "find_global_scale",
]

WEIGHTS = (3.0, -2.0, 1.5, -1.0, 1.0, 0.5)
"""Coefficients that are not zero, for columns of unit variance and noise of unit variance."""
N_RELEVANT = 5
SLAB_SCALE = 20.0
"""For unit-norm columns, in noise standard deviations: 2 for columns of unit variance, N = 100."""
SLAB_DF = 4.0
NOISE_SHAPE, NOISE_RATE = 1.0, 0.1


class Regression(NamedTuple):
    """Columns of unit norm and a target; there is no intercept, on either side."""

    X: np.ndarray
    y: np.ndarray


PROBLEMS = {
    "independent": (100, 200, 0.0),
    "correlated": (100, 200, 0.7),
    "quick": (30, 20, 0.0),
}
"""Rows, columns, and the correlation of neighbouring columns."""


def draw_regression(name: str, seed: int) -> Regression:
    """Draw normal columns, a few of them with effects, and unit noise.

    The positions of the effects are random, so that correlated columns can stand in for them.
    """
    n_rows, n_columns, correlation = PROBLEMS[name]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    for j in range(1, n_columns):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    weights = np.zeros(n_columns)
    weights[rng.choice(n_columns, len(WEIGHTS), replace=False)] = WEIGHTS
    y = X @ weights + rng.normal(size=n_rows)
    return Regression(X / np.sqrt(n_rows), y - y.mean())


def find_global_scale(n_columns: int) -> float:
    """Return the prior scale of tau, for unit-norm columns in noise standard deviations."""
    return N_RELEVANT / (n_columns - N_RELEVANT)
