"""Predictions for a table, and metrics of their quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Prediction", "compute_metrics", "predict_table"]


@dataclass(frozen=True)
class Prediction:
    """Predictions for rows: mean and standard deviation, or class probabilities."""

    mean: np.ndarray | None = None
    std: np.ndarray | None = None
    proba: np.ndarray | None = None
    classes: np.ndarray | None = None
    extrapolating: np.ndarray | None = None
    """Degree of extrapolation of each row: 0 among the training rows, 1 far from them."""

    @property
    def labels(self) -> np.ndarray:
        """Most probable class of each row."""
        assert self.proba is not None
        assert self.classes is not None
        return self.classes[np.argmax(self.proba, axis=1)]


def predict_table(
    pipeline: Any, table: Any, *, with_std: bool = True, with_extrapolation: bool = False
) -> Prediction:
    """Predict a table with a fitted pipeline, or with a bare model."""
    steps = getattr(pipeline, "steps", None)
    features = pipeline[:-1].transform(table) if steps and len(steps) > 1 else table
    model = steps[-1][1] if steps else pipeline
    extrapolating = model.extrapolating(features) if with_extrapolation else None
    if hasattr(model, "classes_"):
        proba = model.predict_proba(features)
        return Prediction(proba=proba, classes=model.classes_, extrapolating=extrapolating)
    if with_std and hasattr(model, "noise_variance_"):
        mean, std = model.predict(features, return_std=True)
        return Prediction(mean=mean, std=std, extrapolating=extrapolating)
    return Prediction(mean=model.predict(features), extrapolating=extrapolating)


def compute_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    """Compute the metrics of predictions whose targets are known.

    Regression: RMSE, MAE, R² and, with standard deviations, the mean log predictive density (MLPD)
    and the coverage of 95 % intervals. Classification: error rate, log loss, accuracy and the mean
    confidence, which is the mean probability of the predicted class.

    Examples
    --------
    >>> prediction = Prediction(mean=np.array([1.0, 2.0]), std=np.array([1.0, 1.0]))
    >>> metrics = compute_metrics(np.array([1.0, 3.0]), prediction)
    >>> metrics["rmse"], metrics["coverage"]
    (0.707..., 1.0)
    """
    return (
        _regression_metrics(target, prediction)
        if prediction.proba is None
        else _classification_metrics(target, prediction)
    )


def _regression_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    assert prediction.mean is not None
    residual = target - prediction.mean
    variance = float(np.var(target))
    metrics = {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "r2": 1.0 - float(np.mean(residual**2)) / variance if variance > 0.0 else float("nan"),
    }
    if prediction.std is not None:
        z = residual / prediction.std
        # log density of the Gaussian predictive distribution
        density = -0.5 * z**2 - np.log(prediction.std) - 0.5 * np.log(2.0 * np.pi)
        metrics["mlpd"] = float(np.mean(density))
        metrics["coverage"] = float(np.mean(np.abs(z) <= _quantile(0.95)))
    return metrics


def _quantile(coverage: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 * (1.0 + coverage)))


def _classification_metrics(target: np.ndarray, prediction: Prediction) -> dict[str, float]:
    assert prediction.proba is not None
    assert prediction.classes is not None
    column_of = {label: i for i, label in enumerate(prediction.classes.tolist())}
    column = np.array([column_of.get(label, -1) for label in target.tolist()])
    # classes absent from the training rows have probability 0; the floor of 1e-15 below keeps the
    # log loss finite
    true_proba = np.where(column >= 0, prediction.proba[np.arange(len(target)), column], 0.0)
    is_correct = prediction.labels == target
    return {
        "error_rate": float(np.mean(~is_correct)),
        "log_loss": float(-np.mean(np.log(np.maximum(true_proba, 1e-15)))),
        "accuracy": float(np.mean(is_correct)),
        "confidence": float(np.mean(prediction.proba.max(axis=1))),
    }
