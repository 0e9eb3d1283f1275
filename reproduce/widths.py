"""Choice of the width of a Gaussian kernel by cross-validation on training rows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from relvec import RVMClassifier
from reproduce.label_sets import Split

__all__ = ["FACTORS", "Curve", "Outcome", "cross_validate", "judge", "scale_of"]

FACTORS = tuple(2.0 ** (step / 2) for step in range(-4, 7))
"""Candidates: the width over the root of the summed variances of the inputs."""
N_FOLDS = 5


class Curve(NamedTuple):
    """What cross-validation finds at each of the widths."""

    error: np.ndarray
    log_loss: np.ndarray


class Outcome(NamedTuple):
    """A machine on rows it has not seen."""

    error: float
    """Percent."""
    log_loss: float
    n_vectors: float
    seconds: float
    """CPU time of the fit."""
    converged: bool


def scale_of(X: np.ndarray) -> float:
    """Return the width that the factors multiply."""
    return math.sqrt(float(X.var(axis=0).sum()))


def judge(split: Split, width: float, **options: Any) -> Outcome:
    """Fit kernels ``exp(-|x - z|^2 / width^2)`` and look at the test rows.

    Parameters
    ----------
    split : Split
        Data.
    width : float
        Tipping's r.
    **options
        Of `RVMClassifier`.
    """
    start = time.process_time()
    model = RVMClassifier(kernel="rbf", gamma=width**-2, **options)
    model.fit(split.X, split.y)
    seconds = time.process_time() - start
    probability = model.predict_proba(split.X_test)
    wrong = model.classes_[probability.argmax(axis=1)] != split.y_test
    return Outcome(
        error=100.0 * float(wrong.mean()),
        log_loss=float(log_loss(split.y_test, probability, labels=model.classes_)),
        n_vectors=len(model.relevance_),
        seconds=seconds,
        converged=bool(model.converged_),
    )


def cross_validate(
    X: np.ndarray, y: np.ndarray, seed: int, factors: Sequence[float], **options: Any
) -> Curve:
    """Return error and log loss at every width, over the same five folds of the training rows."""
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))
    parts = [Split(X[fit], y[fit], X[held], y[held]) for fit, held in folds]
    share = np.array([len(part.y_test) for part in parts]) / len(y)
    scale = scale_of(X)
    errors, losses = [], []
    for factor in factors:
        outcomes = [judge(part, factor * scale, **options) for part in parts]
        errors.append(share @ np.array([outcome.error for outcome in outcomes]))
        losses.append(share @ np.array([outcome.log_loss for outcome in outcomes]))
    return Curve(np.array(errors), np.array(losses))
