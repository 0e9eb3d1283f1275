"""Predictions of rows that were seen in the fit, and of rows that were not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from relvec._typing import IndexArray, Matrix, Vector
from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_extrapolation,
    get_final_estimator,
    transform_inputs,
)
from relvec.reporting.subject import Subject

__all__ = ["RefitError", "Sample", "cross_validated", "predict_rows", "refit"]


class RefitError(ValueError):
    """The model cannot be fitted to some of its rows, or with other weights."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their predictions.

    Of numbers `mean` and `std` are known, of classes `probability`.
    """

    name: str
    """Of the rows, as a heading."""
    is_seen: bool
    """Whether the model was fitted to these very rows."""
    y: np.ndarray
    row: IndexArray
    """Numbers of the rows in the table."""
    mean: Vector | None = None
    std: Vector | None = None
    probability: Matrix | None = None
    is_cross_validated: bool = False
    n_shared: int = 0
    """How many rows are also among those of the report, inputs and target alike."""
    beyond: Vector | None = None
    """How far each row is beyond the training rows, from 0 to 1; None where that is not told."""

    @property
    def n_beyond(self) -> int:
        """How many rows are more beyond the training rows than among them."""
        return (
            0
            if self.beyond is None
            else int(np.count_nonzero(self.beyond > EXTRAPOLATION_THRESHOLD))
        )


def predict_rows(estimator: Any, X: Any, y: Any, name: str, *, is_seen: bool) -> Sample:
    """Ask a model about rows."""
    rows = np.arange(len(y))
    if hasattr(estimator, "classes_"):
        probability = np.asarray(estimator.predict_proba(X))
        beyond = compute_extrapolation(estimator, X)
        return Sample(name, is_seen, y, rows, probability=probability, beyond=beyond)
    mean, std = _mean_std(estimator, X)
    return Sample(name, is_seen, y, rows, mean, std, beyond=compute_extrapolation(estimator, X))


def cross_validated(subject: Subject, n_folds: int, seed: int) -> Sample | None:
    """Predict every row by a model that was fitted, from the start, without it.

    None if there are too few rows, or too few of a class.

    Raises
    ------
    RefitError
        If the model cannot be fitted to a part of the rows: some bases need all of a grid.
    """
    y, n_rows = subject.y, subject.n_rows
    n_folds = min(n_folds, n_rows)
    splitter: Any = KFold(max(n_folds, 2), shuffle=True, random_state=seed)
    if subject.is_classifier:
        n_folds = min(n_folds, int(np.unique(y, return_counts=True)[1].min()))
        splitter = StratifiedKFold(max(n_folds, 2), shuffle=True, random_state=seed)
    if n_folds < 2 or n_rows < 5:
        return None
    mean, std = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
    classes = subject.classes if subject.is_classifier else np.empty(0)
    probability = np.zeros((n_rows, len(classes)))
    for train, test in splitter.split(np.zeros(n_rows), y):
        inputs, targets = _safe_split(subject.estimator, subject.X, y, train)
        new, _ = _safe_split(subject.estimator, subject.X, y, test, train)
        fold = refit(subject.estimator, inputs, targets)
        if subject.is_classifier:
            columns = np.searchsorted(classes, fold.classes_)
            probability[np.ix_(test, columns)] = fold.predict_proba(new)
        else:
            mean[test], std[test] = _mean_std(fold, new)
    name, rows = f"{n_folds}-fold cross-validation", np.arange(n_rows)
    if subject.is_classifier:
        return Sample(name, False, y, rows, probability=probability, is_cross_validated=True)
    return Sample(name, False, y, rows, mean, std, is_cross_validated=True)


def refit(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """Fit a copy; what the model itself warned of is in the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return clone(estimator).fit(X, y, **options)
        except ValueError as error:
            raise RefitError(str(error)) from error


def _mean_std(estimator: Any, X: Any) -> tuple[Vector, Vector]:
    mean, std = get_final_estimator(estimator).predict(
        transform_inputs(estimator, X), return_std=True
    )
    return np.asarray(mean), np.asarray(std)
