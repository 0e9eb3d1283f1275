"""Predictions of training rows, out-of-fold predictions, and predictions of held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from relvec._typing import IndexArray, Matrix, Vector
from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_critical_value,
    compute_extrapolation,
    find_transform,
    get_final_estimator,
    predict_transformed,
    transform_inputs,
)
from relvec.reporting.subject import Subject

__all__ = ["PredictionSet", "RefitError", "cross_validate", "predict_rows", "refit"]


class RefitError(ValueError):
    """The model cannot be fitted to a subset of its rows, or with other sample weights."""


class TransformedPredictions(NamedTuple):
    """Predictions of rows by a model of a transformed target."""

    score: Vector
    """Standardised residuals of the transformed target."""
    low: Vector
    """Lower limits of 95 % intervals of the target."""
    high: Vector
    log_density: Vector
    """Log predictive density of each target, in its own units."""

    @classmethod
    def predict(cls, estimator: Any, X: Any, y: np.ndarray) -> TransformedPredictions | None:
        """Predict rows; None if the model is that of the target itself."""
        transform = find_transform(estimator)
        if transform is None:
            return None
        inputs, model = transform_inputs(estimator, X), get_final_estimator(estimator)
        mean, std = predict_transformed(estimator, X)
        is_possible = transform.supports(y)
        z = transform.forward(np.where(is_possible, y, transform.inverse(mean)))
        # Targets that the model excludes are beyond all quantiles that doubles can represent.
        score = np.where(is_possible, (z - mean) / std, -40.0)
        limits = model.predict_interval(inputs, coverage=0.95)
        density = model.log_predictive_density(inputs, np.asarray(y, dtype=np.float64))
        return cls(score, limits[:, 0], limits[:, 1], density)


@dataclass(frozen=True, eq=False)
class PredictionSet:
    """Rows with their predictions.

    A regressor gives `mean` and `std`, a classifier `probability`. Predictive distributions are
    Gaussian unless `transformed` is given.
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
    transformed: TransformedPredictions | None = None
    """Predictions of a transformed target; None if the target was not transformed."""

    @property
    def score(self) -> Vector:
        """Standardised residuals, of the transformed target if the model is that of one."""
        if self.transformed is not None:
            return self.transformed.score
        assert self.mean is not None
        assert self.std is not None
        residual = np.asarray(self.y - self.mean, dtype=np.float64)
        return residual / np.maximum(self.std, np.finfo(np.float64).tiny)

    @property
    def interval(self) -> tuple[Vector, Vector]:
        """Lower and upper limits of 95 % intervals."""
        if self.transformed is not None:
            return self.transformed.low, self.transformed.high
        assert self.mean is not None
        assert self.std is not None
        half = compute_critical_value(0.95) * self.std
        return self.mean - half, self.mean + half

    @property
    def log_density(self) -> Vector:
        """Log predictive density of each target."""
        if self.transformed is not None:
            return self.transformed.log_density
        assert self.std is not None
        variance = np.maximum(self.std**2, np.finfo(np.float64).tiny)
        return -0.5 * (self.score**2 + np.log(2.0 * np.pi * variance))

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
        name,
        is_training,
        y,
        rows,
        mean,
        std,
        extrapolation=compute_extrapolation(estimator, X),
        transformed=TransformedPredictions.predict(estimator, X, y),
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
    transformed = TransformedPredictions(*np.full((4, n_rows), np.nan))
    has_transform = False
    for train, test in splitter.split(np.zeros(n_rows), y):
        inputs, targets = _safe_split(subject.estimator, subject.X, y, train)
        new, _ = _safe_split(subject.estimator, subject.X, y, test, train)
        fold = refit(subject.estimator, inputs, targets)
        if subject.is_classifier:
            columns = np.searchsorted(classes, fold.classes_)
            probability[np.ix_(test, columns)] = fold.predict_proba(new)
        else:
            mean[test], std[test] = _mean_std(fold, new)
            known = TransformedPredictions.predict(fold, new, y[test])
            has_transform |= known is not None
            part = PredictionSet("", False, y[test], test, mean[test], std[test], transformed=known)
            for every, some in zip(
                transformed, (part.score, *part.interval, part.log_density), strict=True
            ):
                every[test] = some
    name, rows = f"{n_folds}-fold cross-validation", np.arange(n_rows)
    if subject.is_classifier:
        return PredictionSet(name, False, y, rows, probability=probability, is_cross_validated=True)
    return PredictionSet(
        name,
        False,
        y,
        rows,
        mean,
        std,
        is_cross_validated=True,
        transformed=transformed if has_transform else None,
    )


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
