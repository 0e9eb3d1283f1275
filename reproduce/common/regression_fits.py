"""Choice of r of a Gaussian kernel, and of C and epsilon, by cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVR

from relvec import RVMRegressor
from reproduce.common.class_datasets import Split

__all__ = [
    "RVM_FACTORS",
    "SVM_FACTORS",
    "SVM_POINTS",
    "Fit",
    "compute_r",
    "cross_validate_rvm",
    "cross_validate_svm",
    "fit_rvm",
    "fit_svm",
]

RVM_FACTORS = tuple(2.0 ** (step / 2) for step in range(-4, 9))
"""Candidates: r divided by the square root of the number of (standardised) features."""
SVM_FACTORS = RVM_FACTORS[:11:2]
SVM_POINTS = tuple((c, e) for c in (1.0, 10.0, 100.0) for e in (0.1, 0.2, 0.3, 0.4))
"""C and epsilon, both over the standard deviation of the targets."""
MAX_ITER = 200_000


class Fit(NamedTuple):
    """Results of a model on test rows."""

    error: float
    """Mean squared error."""
    n_vectors: int
    converged: bool


def compute_r(factor: float, X: np.ndarray) -> float:
    """Return r for standardised features."""
    return factor * math.sqrt(X.shape[1])


def fit_rvm(split: Split, factor: float) -> Fit:
    """Fit kernels ``exp(-|x - z|^2 / r^2)``."""
    model = RVMRegressor(kernel="rbf", gamma=compute_r(factor, split.X) ** -2, calibrate=False)
    model.fit(split.X, split.y)
    error = float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    return Fit(error, len(model.relevance_), bool(model.converged_))


def fit_svm(split: Split, factor: float, c: float, e: float) -> Fit:
    """Fit a support vector machine with the same kernels; `c` and `e` as in `SVM_POINTS`."""
    scale = float(split.y.std())
    gamma = compute_r(factor, split.X) ** -2
    model = SVR(gamma=gamma, C=c * scale, epsilon=e * scale, max_iter=MAX_ITER)
    model.fit(split.X, split.y)
    error = float(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    return Fit(error, len(model.support_), model.fit_status_ == 0)


def _parts(split: Split, n_folds: int, seed: int) -> Iterator[tuple[float, Split]]:
    """Yield folds of the training rows, each with the fraction of held-out rows."""
    X, y = split.X, split.y
    for fit, held in KFold(n_folds, shuffle=True, random_state=seed).split(X):
        yield len(held) / len(y), Split(X[fit], y[fit], X[held], y[held])


def cross_validate_rvm(split: Split, factor: float, n_folds: int, seed: int) -> float:
    """Return the cross-validated mean squared error; test rows are not used.

    Parameters
    ----------
    split : Split
        Data.
    factor : float
        One of `RVM_FACTORS`.
    n_folds, seed : int
        Number and seed of the folds.
    """
    with warnings.catch_warnings():
        # far too narrow kernels give a warning that the noise is not identifiable
        warnings.simplefilter("ignore", ConvergenceWarning)
        parts = _parts(split, n_folds, seed)
        return sum(share * fit_rvm(part, factor).error for share, part in parts)


def cross_validate_svm(
    split: Split, factor: float, points: Sequence[tuple[float, float]], n_folds: int, seed: int
) -> list[float]:
    """Return the cross-validated mean squared error for each C and epsilon.

    Parameters
    ----------
    split : Split
        Data.
    factor : float
        One of `SVM_FACTORS`.
    points : sequence of pairs
        As `SVM_POINTS`.
    n_folds, seed : int
        Number and seed of the folds.
    """
    errors = np.zeros(len(points))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for share, part in _parts(split, n_folds, seed):
            errors += [share * fit_svm(part, factor, c, e).error for c, e in points]
    return errors.tolist()
