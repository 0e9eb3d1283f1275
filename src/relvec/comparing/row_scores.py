"""Scores of single held-out rows: log predictive density and error."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from relvec._checks import check_mean_and_std, check_predictions
from relvec._typing import Vector
from relvec.comparing.statistics import FoldScores
from relvec.describing import get_final_estimator, transform_inputs

__all__ = ["compute_class_log_probability", "compute_normal_log_density", "score_rows"]

LEAST_PROBABILITY = 1e-15
"""Smallest probability of a class in a log loss, which would be infinite for zero."""


def score_rows(estimator: Any, X: Any, y: np.ndarray) -> FoldScores:
    """Compute the scores of rows that were not used to fit the estimator.

    The log density is that of the predictive distribution of the model: of
    `log_predictive_density` if it has this method, else of a normal distribution with the mean and
    standard deviation of ``predict(X, return_std=True)``. A model with neither has none.

    Parameters
    ----------
    estimator : regressor, classifier or pipeline
        Fitted estimator.
    X : array-like or data frame of shape (n_samples, n_features)
        Inputs.
    y : ndarray of shape (n_samples,)
        Targets or classes.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> score_rows(model, [[2.0]], np.array([1.0]))
    FoldScores(log_density=None, error=array([1.]))
    """
    model = get_final_estimator(estimator)
    if is_classifier(estimator):
        wrong = (np.asarray(estimator.predict(X)) != y).astype(np.float64)
        if not hasattr(estimator, "predict_proba"):
            return FoldScores(None, wrong)
        proba = estimator.predict_proba(X)
        return FoldScores(compute_class_log_probability(y, proba, estimator.classes_), wrong)
    if hasattr(model, "log_predictive_density"):
        inputs = transform_inputs(estimator, X)
        density = np.asarray(model.log_predictive_density(inputs, y))
        return FoldScores(density, (y - np.asarray(model.predict(inputs))) ** 2)
    owner = type(model).__name__
    if "return_std" not in inspect.signature(model.predict).parameters:
        mean = check_predictions(owner, "mean", estimator.predict(X), len(y))
        return FoldScores(None, (y - mean) ** 2)
    mean, std = check_mean_and_std(owner, estimator.predict(X, return_std=True), len(y))
    return FoldScores(compute_normal_log_density(y, mean, std), (y - mean) ** 2)


def compute_normal_log_density(target: Vector, mean: Vector, std: Vector) -> Vector:
    """Compute the log density of targets under normal distributions.

    Examples
    --------
    >>> compute_normal_log_density(np.array([1.0]), np.array([1.0]), np.array([2.0]))
    array([-1.612...])
    """
    # a model that interpolates may state a standard deviation of zero
    std = np.maximum(std, np.finfo(np.float64).tiny)
    with np.errstate(over="ignore"):  # a density of zero
        z = (target - mean) / std
        return np.asarray(-0.5 * z**2 - np.log(std) - 0.5 * np.log(2.0 * np.pi))


def compute_class_log_probability(target: np.ndarray, proba: Any, classes: Any) -> Vector:
    """Compute the log probability of the true classes.

    Classes that are absent from the training rows have probability zero, which counts as 1e-15.

    Examples
    --------
    >>> compute_class_log_probability(np.array(["b", "c"]), [[0.5, 0.5], [1.0, 0.0]], ["a", "b"])
    array([ -0.69..., -34.5...])
    """
    column_of = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    column = np.array([column_of.get(label, -1) for label in target.tolist()], dtype=np.intp)
    true = np.where(column >= 0, np.asarray(proba)[np.arange(len(target)), column], 0.0)
    return np.asarray(np.log(np.maximum(true, LEAST_PROBABILITY)))
