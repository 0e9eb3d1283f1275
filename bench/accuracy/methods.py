"""What a candidate is, and the parts that several candidates share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.accuracy.forecasts import Forecast

__all__ = [
    "FOLDS",
    "MOST_TUNED",
    "OURS",
    "STRENGTHS",
    "Classified",
    "Method",
    "Regressed",
    "few_rows",
    "folds_of",
    "one_vs_rest",
    "widths",
]

OURS = "relvec"
FOLDS = 5
MOST_TUNED = 500
"""Rows on which kernel methods are tuned by cross-validation; they are then fitted to all."""
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""Candidates for C of support vector machines, on standardised columns and targets."""
GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0)
"""Candidates for gamma times the number of features, on standardised columns."""


@dataclass(frozen=True)
class Regressed:
    """A fitted regressor: its predictive distributions, and how many kernels these evaluate."""

    forecast: Callable[[np.ndarray], Forecast]
    n_vectors: int | None = None
    is_cut_short: bool = False


@dataclass(frozen=True)
class Classified:
    """A fitted classifier of the classes 0, 1, ...; how many kernels a prediction evaluates."""

    decide: Callable[[np.ndarray], np.ndarray]
    probability: Callable[[np.ndarray], np.ndarray]
    n_vectors: int | None = None
    is_cut_short: bool = False


@dataclass(frozen=True)
class Method:
    """A candidate. What `fit` does is timed: tuning and everything else a user waits for."""

    name: str
    part: str
    package: str
    """Module that must be there."""
    fit: Callable[[np.ndarray, np.ndarray], Any]
    """Training rows to a `Regressed` or a `Classified`."""
    note: str

    @property
    def is_installed(self) -> bool:
        """Whether the library is there to be measured."""
        return importlib.util.find_spec(self.package) is not None


def widths(n_features: int) -> list[float]:
    """Return the candidates for gamma."""
    return [factor / n_features for factor in GAMMAS]


def folds_of(y: np.ndarray, part: str) -> Any:
    """Return the folds of all cross-validations; stratified by class."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if part == "regression" else StratifiedKFold
    return kind(FOLDS, shuffle=True, random_state=0)


def few_rows(y: np.ndarray, most: int, part: str) -> np.ndarray:
    """Return the numbers of all rows, or of so many at random if there are more."""
    if len(y) <= most:
        return np.arange(len(y))
    from sklearn.model_selection import train_test_split

    classes = None if part == "regression" else y
    kept, _ = train_test_split(np.arange(len(y)), train_size=most, random_state=0, stratify=classes)
    return np.asarray(kept)


def one_vs_rest(
    positive: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]], label: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return probabilities of all classes from models of one class against the others.

    Parameters
    ----------
    positive : callable
        Takes classes 0 and 1 of the training rows, fits, and returns the function that gives the
        probability of 1.
    label : ndarray of shape (n_samples,)
        Classes 0, 1, ...; two of them need one model only.
    """
    n_classes = int(label.max()) + 1
    if n_classes == 2:
        single = positive(label)

        def of_two(X: np.ndarray) -> np.ndarray:
            p = single(X)
            return np.column_stack([1.0 - p, p])

        return of_two
    models = [positive((label == number).astype(int)) for number in range(n_classes)]

    def of_many(X: np.ndarray) -> np.ndarray:
        p = np.maximum(np.column_stack([model(X) for model in models]), 1e-300)
        return p / p.sum(axis=1, keepdims=True)

    return of_many
