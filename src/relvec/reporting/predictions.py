"""Predictions of training rows, out-of-fold predictions, and predictions of held-out rows."""

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

__all__ = ["PredictionSet", "RefitError", "cross_validate", "predict_rows", "refit"]


class RefitError(ValueError):
    """The model cannot be fitted to a subset of its rows, or with other sample weights."""


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """Rows with their predictions.

    A regressor gives `mean` and `std`, a classifier `probability`.
    """

    name: str
    """Name of the rows, for headings."""
    is_training: bool
    """Whether the model was fitted to these rows."""
    y: np.ndarray
    row: IndexArray
    """Indices of the rows in the data."""
    mean: Vector | None = None
    std: Vector | None = None
    probability: Matrix | None = None
    is_cross_validated: bool = False
    n_shared: int = 0
    """Number of rows that are also among the rows of the report, with the same target."""
    extrapolation: Vector | None = None
    """Degree of extrapolation of each row, from 0 to 1; None if not available."""

    @property
    def n_extrapolated(self) -> int:
        """Number of rows that count as extrapolations."""
        return (
            0
            if self.extrapolation is None
            else int(np.count_nonzero(self.extrapolation > EXTRAPOLATION_THRESHOLD))
        )


def predict_rows(estimator: Any, X: Any, y: Any, name: str, *, is_training: bool) -> PredictionSet:
    """Predict rows with a fitted model."""
    rows = np.arange(len(y))
    if hasattr(estimator, "classes_"):
        probability = np.asarray(estimator.predict_proba(X))
        extrapolation = compute_extrapolation(estimator, X)
        return PredictionSet(
            name, is_training, y, rows, probability=probability, extrapolation=extrapolation
        )
    mean, std = _mean_std(estimator, X)
    return PredictionSet(
        name, is_training, y, rows, mean, std, extrapolation=compute_extrapolation(estimator, X)
    )


def cross_validate(subject: Subject, n_folds: int, seed: int) -> PredictionSet | None:
    """Compute out-of-fold predictions; the model is refitted from scratch in each fold.

    None if there are too few rows, or too few of a class.

    Raises
    ------
    RefitError
        If the model cannot be fitted to a subset of the rows: some bases need a complete grid.
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
        return PredictionSet(name, False, y, rows, probability=probability, is_cross_validated=True)
    return PredictionSet(name, False, y, rows, mean, std, is_cross_validated=True)


def refit(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """Fit a clone without its warnings, which the report covers for the model itself."""
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
