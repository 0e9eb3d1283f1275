"""Classifiers with Gaussian kernels ``exp(-|x - z|^2 / r^2)``, and cross-validation of r."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from relvec import RVMClassifier
from reproduce.common.class_datasets import Split, read_split

__all__ = [
    "C_VALUES",
    "FACTORS",
    "N_FOLDS",
    "compute_reference_r",
    "cross_validate",
    "cross_validate_r",
    "evaluate_rvm",
    "evaluate_svm",
    "fit_split",
    "folds",
]

FACTORS = tuple(2.0 ** (step / 2) for step in range(-4, 7))
"""Candidates: r divided by the square root of the summed variances of the features."""
N_FOLDS = 5
C_VALUES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Candidates for C of a support vector machine."""
SEED = 20011


def compute_reference_r(X: np.ndarray) -> float:
    """Return the r that the factors multiply: the root of the summed variances."""
    return math.sqrt(float(X.var(axis=0).sum()))


def evaluate_rvm(split: Split, r: float, **options: Any) -> dict[str, float]:
    """Fit kernels ``exp(-|x - z|^2 / r^2)`` and evaluate the test rows; error rates in percent.

    Parameters
    ----------
    split : Split
        Data.
    r : float
        Tipping's r.
    **options
        Of `RVMClassifier`.
    """
    model = RVMClassifier(kernel="rbf", gamma=r**-2, **options).fit(split.X, split.y)
    probability = model.predict_proba(split.X_test)
    wrong = model.classes_[probability.argmax(axis=1)] != split.y_test
    return {
        "error": 100.0 * float(wrong.mean()),
        "log_loss": float(log_loss(split.y_test, probability, labels=model.classes_)),
        "n_vectors": len(model.relevance_),
        "converged": float(model.converged_),
    }


def evaluate_svm(split: Split, r: float, penalty: float) -> dict[str, float]:
    """Evaluate a support vector machine with the same kernels; `penalty` is its C."""
    model = SVC(C=penalty, gamma=r**-2).fit(split.X, split.y)
    wrong = model.predict(split.X_test) != split.y_test
    return {"error": 100.0 * float(wrong.mean()), "n_vectors": len(model.support_)}


def folds(X: np.ndarray, y: np.ndarray, seed: int) -> list[Split]:
    """Split the training rows into five folds."""
    cuts = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)
    return [Split(X[fit], y[fit], X[held], y[held]) for fit, held in cuts]


def cross_validate(
    X: np.ndarray, y: np.ndarray, seed: int, judge: Callable[[Split], dict[str, float]]
) -> dict[str, float]:
    """Return the cross-validated means of the quantities that `judge` returns."""
    parts = folds(X, y, seed)
    found = [judge(part) for part in parts]
    share = np.array([len(part.y_test) for part in parts]) / len(y)
    return {name: float(share @ [each[name] for each in found]) for name in found[0]}


def cross_validate_r(
    folder: Path | None, model: str, name: str, place: int, factor: float
) -> dict[str, Any]:
    """Cross-validate one r on one training set; for the SVM, with every C."""
    split = read_split(folder, name, place)
    r, seed = factor * compute_reference_r(split.X), SEED + place
    if model == "RVM":
        return cross_validate(split.X, split.y, seed, lambda part: evaluate_rvm(part, r))
    errors = [
        cross_validate(split.X, split.y, seed, lambda part, C=penalty: evaluate_svm(part, r, C))
        for penalty in C_VALUES
    ]
    return {"errors": [each["error"] for each in errors]}


def fit_split(
    folder: Path | None, model: str, name: str, place: int, factor: float, penalty: float | None
) -> dict[str, Any]:
    """Fit the training rows of a split and evaluate the test rows."""
    split = read_split(folder, name, place)
    r = factor * compute_reference_r(split.X)
    if model == "RVM":
        found = evaluate_rvm(split, r)
    else:
        found = evaluate_svm(split, r, float(penalty or 1.0))
    return found | {"n_test": len(split.y_test), "r": r}
