"""Predictions of training rows, out-of-fold predictions, and predictions of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from relvec._typing import IndexArray, Matrix, Vector
from relvec.assessing.refit import refit
from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_extrapolation,
    compute_quantile_residuals,
    models_counts,
    predict_distribution,
    transform_inputs,
)
from relvec.likelihoods import GaussianPrediction
from relvec.reporting.subject import Subject

__all__ = ["PredictionSet", "cross_validate", "predict_rows"]

LEAST_HISTORY = 8
"""Smallest number of rows from which a series is predicted."""


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """Rows with their predictions.

    A regressor gives `mean` and what follows from its predictive distributions, a classifier
    `probability`.
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
    interval: Matrix | None = None
    """Bounds of 95 % intervals; None if the predictions are Gaussian."""
    score: Vector | None = None
    """Quantile residuals; None if the predictions are Gaussian."""
    log_density: Vector | None = None
    """Log predictive density of the targets; None if the predictions are Gaussian."""
    exposure: Vector | None = None
    """Exposure of the rows, if the targets are counts."""
    probability: Matrix | None = None
    is_cross_validated: bool = False
    n_shared: int = 0
    """Number of rows that are also among the rows of the report, with the same target."""
    extrapolation: Vector | None = None
    """Degree of extrapolation of each row, from 0 to 1; None if not available."""

    def _gaussian(self) -> GaussianPrediction:
        assert self.mean is not None
        assert self.std is not None
        return GaussianPrediction(self.mean, np.maximum(self.std**2, np.finfo(np.float64).tiny))

    @property
    def standardised_residuals(self) -> Vector:
        """Residuals over predictive standard deviations or, if not Gaussian, quantile residuals."""
        if self.score is not None:
            return self.score
        return compute_quantile_residuals(self._gaussian(), self.y)

    @property
    def log_predictive_density(self) -> Vector:
        """Log predictive density of each target."""
        return (
            self._gaussian().log_density(self.y) if self.log_density is None else self.log_density
        )

    @property
    def bounds(self) -> Matrix:
        """Lower and upper bounds of 95 % intervals."""
        return self._gaussian().interval(0.95) if self.interval is None else self.interval

    @property
    def n_extrapolated(self) -> int:
        """Number of rows that count as extrapolations."""
        return (
            0
            if self.extrapolation is None
            else int(np.count_nonzero(self.extrapolation > EXTRAPOLATION_THRESHOLD))
        )


def predict_rows(
    estimator: Any,
    X: Any,
    y: Any,
    name: str,
    *,
    is_training: bool,
    row_values: Vector | None = None,
) -> PredictionSet:
    """Predict rows with a fitted model."""
    rows = np.arange(len(y))
    if hasattr(estimator, "classes_"):
        probability = np.asarray(estimator.predict_proba(X))
        extrapolation = compute_extrapolation(estimator, X)
        return PredictionSet(
            name, is_training, y, rows, probability=probability, extrapolation=extrapolation
        )
    return PredictionSet(
        name,
        is_training,
        y,
        rows,
        **_predict_targets(estimator, X, y, row_values),
        extrapolation=compute_extrapolation(estimator, X),
    )


def cross_validate(subject: Subject, n_folds: int, seed: int) -> PredictionSet | None:
    """Compute out-of-fold predictions; the model is refitted from scratch in each fold.

    A series is predicted in parts, each from all rows before it. None if there are too few rows, or
    too few of a class.

    Raises
    ------
    RefitError
        If the model cannot be fitted to a subset of the rows: some bases need a complete grid.
    """
    if subject.is_series:
        return _predict_rolling(subject, n_folds)
    y, n_rows = subject.y, subject.n_rows
    n_folds = min(n_folds, n_rows)
    splitter: Any = KFold(max(n_folds, 2), shuffle=True, random_state=seed)
    if subject.is_classifier:
        n_folds = min(n_folds, int(np.unique(y, return_counts=True)[1].min()))
        splitter = StratifiedKFold(max(n_folds, 2), shuffle=True, random_state=seed)
    if n_folds < 2 or n_rows < 5:
        return None
    splits = list(splitter.split(np.zeros(n_rows), y))
    answers = _predict_splits(subject, splits)
    name, rows = f"{n_folds}-fold cross-validation", np.arange(n_rows)
    return PredictionSet(name, False, y, rows, **answers, is_cross_validated=True)


def _predict_rolling(subject: Subject, n_origins: int) -> PredictionSet | None:
    """Predict the second half of a series in parts, each from all rows before it."""
    inputs = subject.model.convert_inputs(transform_inputs(subject.estimator, subject.X))
    order = np.argsort(inputs[:, 0], kind="stable")
    half = len(order) // 2
    n_origins = min(n_origins, len(order) - half)
    if half < LEAST_HISTORY or n_origins < 1:
        return None
    parts = np.array_split(np.arange(half, len(order)), n_origins)
    answers = _predict_splits(subject, [(order[: part[0]], order[part]) for part in parts])
    rows = np.sort(order[half:])
    found = {key: values[rows] for key, values in answers.items()}
    name = f"{n_origins} rolling origins"
    return PredictionSet(name, False, subject.y[rows], rows, **found, is_cross_validated=True)


def _predict_splits(
    subject: Subject, splits: Sequence[tuple[IndexArray, IndexArray]]
) -> dict[str, Any]:
    """Refit the model to each training part and predict the rows held out."""
    y, n_rows = subject.y, subject.n_rows
    answers: dict[str, Any] = {}
    if subject.is_classifier:
        answers["probability"] = np.zeros((n_rows, len(subject.classes)))
    for train, test in splits:
        inputs, targets = _safe_split(subject.estimator, subject.X, y, train)
        new, _ = _safe_split(subject.estimator, subject.X, y, test, train)
        fold = refit(subject.estimator, inputs, targets, **subject.fit_options(train))
        if subject.is_classifier:
            columns = np.searchsorted(subject.classes, fold.classes_)
            answers["probability"][np.ix_(test, columns)] = fold.predict_proba(new)
        else:
            found = _predict_targets(fold, new, y[test], subject.select_row_values(test))
            for key, values in found.items():
                answers.setdefault(key, np.full((n_rows, *values.shape[1:]), np.nan))[test] = values
    return answers


def _predict_targets(
    estimator: Any, X: Any, y: Vector, row_values: Vector | None
) -> dict[str, Any]:
    """Return the predictions of a regressor, and how they compare with the targets."""
    distribution = predict_distribution(estimator, X, row_values)
    found: dict[str, Any] = {
        "mean": np.asarray(distribution.mean),
        "std": np.sqrt(distribution.variance),
    }
    if isinstance(distribution, GaussianPrediction):
        return found
    found["interval"] = np.asarray(distribution.interval(0.95))
    found["score"] = compute_quantile_residuals(distribution, y)
    found["log_density"] = np.asarray(distribution.log_density(y))
    if models_counts(estimator):
        found["exposure"] = np.ones(len(y)) if row_values is None else row_values
    return found
