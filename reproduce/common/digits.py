"""The digits of the U.S. Postal Service: ten binary classifiers, one for every digit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.svm import SVC

from bench.report import Table
from relvec import RVMClassifier
from reproduce.common.class_datasets import Split, read_digits
from reproduce.common.classification_fits import (
    FACTORS,
    N_FOLDS,
    compute_reference_r,
    evaluate_rvm,
    folds,
)
from reproduce.engine import Results, Settings, Task

__all__ = [
    "READINGS",
    "Combined",
    "combine",
    "fit_digit",
    "fit_tasks",
    "search_fold",
    "search_tasks",
    "smoothed",
    "table",
]

NAME = "usps"
DIGITS = tuple(range(10))
SEED = 20020
N_SEARCHED = 1500
"""Number of random training rows on which r is chosen."""
N_QUICK = 300
"""Number of training rows of a quick run."""
SEARCHED = FACTORS[3:9]
"""Candidates; narrower kernels see no digit but their own."""
SIDE = 16
PAPER = -1.0
"""Value of pixels without ink, as around the images."""
READINGS = {"smoothed": 0.75, "as they are": 0.0}
"""Standard deviation in pixels of the Gaussian that the images are smoothed with; the first is
taken to be that of the paper."""
MAIN = "smoothed"
C_VALUES = (1.0, 10.0, 100.0)
"""Candidates for C."""


class Combined(NamedTuple):
    """Combined results of the ten binary classifiers."""

    error: float
    """Percent."""
    n_vectors: int
    """Sum over the classifiers."""
    n_distinct: int
    """Training rows that any of them uses."""
    n_test: int


def smoothed(X: np.ndarray, deviation: float) -> np.ndarray:
    """Return images, a row of pixels each, smoothed with a Gaussian."""
    images = X.reshape(-1, SIDE, SIDE)
    spread = (0.0, deviation, deviation)
    soft: np.ndarray = gaussian_filter(images, spread, mode="constant", cval=PAPER)
    return soft.reshape(X.shape)


def _rows(folder: Path | None, reading: str, n_rows: int | None) -> Split:
    """Return the digits, or only so many training rows drawn at random."""
    split = read_digits(folder)
    if n_rows is not None:
        rows = np.random.default_rng(SEED).permutation(len(split.y))[:n_rows]
        split = split._replace(X=split.X[rows], y=split.y[rows])
    deviation = READINGS[reading]
    if not deviation:
        return split
    return split._replace(X=smoothed(split.X, deviation), X_test=smoothed(split.X_test, deviation))


def _svm(X: np.ndarray, y: np.ndarray, digit: int, r: float, penalty: float) -> SVC:
    return SVC(C=penalty, gamma=r**-2, cache_size=500).fit(X, y == digit)


def search_fold(
    folder: Path | None, reading: str, model: str, factor: float, fold: int, n_rows: int
) -> dict[str, Any]:
    """Return the loss of one fold for one r.

    For the RVM it is the log loss, for the SVM the error rate for each C.
    """
    split = _rows(folder, reading, n_rows)
    r = factor * compute_reference_r(split.X)
    part = folds(split.X, split.y, SEED)[fold]
    if model == "RVM":
        return {"losses": [evaluate_rvm(part, r, multi_class="one_vs_rest")["log_loss"]]}
    losses = []
    for penalty in C_VALUES:
        classifiers = [_svm(part.X, part.y, digit, r, penalty) for digit in DIGITS]
        output = np.array([classifier.decision_function(part.X_test) for classifier in classifiers])
        losses.append(float(np.mean(output.argmax(axis=0) != part.y_test)))
    return {"losses": losses}


def fit_digit(
    folder: Path | None,
    reading: str,
    model: str,
    digit: int,
    factor: float,
    penalty: float | None,
    n_rows: int | None,
) -> dict[str, Any]:
    """Fit a binary classifier of one digit; return its outputs on the test rows and its vectors."""
    split = _rows(folder, reading, n_rows)
    r = factor * compute_reference_r(split.X)
    if model == "RVM":
        classifier = RVMClassifier(gamma=r**-2).fit(split.X, split.y == digit)
        vectors, is_done = classifier.relevance_, bool(classifier.converged_)
    else:
        classifier = _svm(split.X, split.y, digit, r, float(penalty or 1.0))
        vectors, is_done = classifier.support_, True
    output = classifier.decision_function(split.X_test)
    return {"output": output.round(5), "vectors": np.asarray(vectors), "converged": is_done}


def _readings(settings: Settings) -> tuple[str, ...]:
    return (MAIN,) if settings.is_quick else tuple(READINGS)


def _factors(settings: Settings) -> tuple[float, ...]:
    return (2.0, 1.0) if settings.is_quick else SEARCHED[::-1]


def search_tasks(settings: Settings) -> list[Task]:
    """Return the tasks that cross-validate r."""
    n_rows = N_QUICK // 2 if settings.is_quick else N_SEARCHED
    return [
        Task(
            f"search/{model}/{NAME}/{reading}/{factor:.3g}/{fold}",
            search_fold,
            (reading, model, factor, fold, n_rows),
        )
        for reading in _readings(settings)
        for model in ("RVM", "SVM")
        for factor in _factors(settings)
        for fold in range(N_FOLDS)
    ]


def _chosen(
    settings: Settings, results: Results, reading: str, model: str
) -> tuple[float, float | None]:
    """Return the factor of r, and C, chosen by cross-validation."""
    penalties: Sequence[float | None] = (None,) if model == "RVM" else C_VALUES
    found: dict[tuple[float, float | None], float] = {}
    for factor in _factors(settings):
        prefix = f"search/{model}/{NAME}/{reading}/{factor:.3g}"
        losses = np.mean(results.column(prefix, "losses"), axis=0)
        found |= {(factor, penalty): loss for penalty, loss in zip(penalties, losses, strict=True)}
    return min(found, key=lambda pair: found[pair])


def fit_tasks(settings: Settings, results: Results) -> list[Task]:
    """Return the tasks that fit the ten classifiers of both models."""
    n_rows = N_QUICK if settings.is_quick else None
    return [
        Task(
            f"fit/{model}/{NAME}/{reading}/{digit}",
            fit_digit,
            (reading, model, digit, *_chosen(settings, results, reading, model), n_rows),
        )
        for reading in _readings(settings)
        for model in ("RVM", "SVM")
        for digit in DIGITS
    ]


def combine(folder: Path | None, results: Results, model: str, reading: str = MAIN) -> Combined:
    """Predict the digit of the classifier with the largest output."""
    y = read_digits(folder).y_test
    prefix = f"fit/{model}/{NAME}/{reading}"
    output, vectors = (results.column(prefix, name) for name in ("output", "vectors"))
    return Combined(
        error=100.0 * float(np.mean(np.argmax(output, axis=0) != y)),
        n_vectors=sum(len(rows) for rows in vectors),
        n_distinct=len({row for rows in vectors for row in rows}),
        n_test=len(y),
    )


def table(folder: Path | None, results: Results, settings: Settings) -> Table:
    """Return what the digits give smoothed and as they are."""
    rows = []
    for reading in _readings(settings):
        for model in ("RVM", "SVM"):
            found = combine(folder, results, model, reading)
            counts = str(found.n_vectors), str(found.n_distinct)
            rows.append([f"{reading}, {model}", f"{found.error:.2f}", *counts])
    head = ["", "error %", "vectors, summed", "vectors, distinct"]
    return Table("U.S.P.S. digits: smoothed and not smoothed", head, rows)
