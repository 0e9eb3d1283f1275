"""Predictions for a table, and metrics of their quality."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec.describing.predictions import find_transform, predict_transformed

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
    transform: Any = None
    """Transform of the target that the model is of; None for the target itself."""
    transformed_mean: np.ndarray | None = None
    transformed_std: np.ndarray | None = None
    """Mean and standard deviation of the transformed target."""

    def compute_limits(self, coverage: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of central intervals."""
        if self.transform is None:
            assert self.mean is not None
            assert self.std is not None
            half = _quantile(coverage) * self.std
            return self.mean - half, self.mean + half
        assert self.transformed_mean is not None
        assert self.transformed_std is not None
        half = _quantile(coverage) * self.transformed_std
        low, high = self.transformed_mean - half, self.transformed_mean + half
        return self.transform.inverse(low), self.transform.inverse(high)

    def compute_log_density(self, target: np.ndarray) -> np.ndarray:
        """Return the log predictive density of each target."""
        if self.transform is None:
            assert self.mean is not None
            assert self.std is not None
            return _gaussian_log_density(target, self.mean, self.std)
        assert self.transformed_mean is not None
        assert self.transformed_std is not None
        is_possible = self.transform.supports(target)
        inside = np.where(is_possible, target, self.transform.inverse(self.transformed_mean))
        density = _gaussian_log_density(
            self.transform.forward(inside), self.transformed_mean, self.transformed_std
        )
        return np.where(is_possible, density + self.transform.log_slope(inside), -np.inf)

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
        prediction = Prediction(mean=mean, std=std, extrapolating=extrapolating)
        transform = find_transform(model)
        if transform is None:
            return prediction
        latent = predict_transformed(model, features)
        return replace(
            prediction,
            transform=transform,
            transformed_mean=latent[0],
            transformed_std=latent[1],
        )
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
        metrics["mlpd"] = float(np.mean(prediction.compute_log_density(target)))
        low, high = prediction.compute_limits(0.95)
        metrics["coverage"] = float(np.mean((low <= target) & (target <= high)))
    return metrics


def _gaussian_log_density(target: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    density = -0.5 * ((target - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2.0 * np.pi)
    return np.asarray(density)


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
