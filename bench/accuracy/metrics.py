"""Metrics of a fit, and whether more or less is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.accuracy.forecasts import Forecast
from bench.classification.metrics import calibration_error, log_loss

__all__ = ["COVERAGES", "METRICS", "Metric", "judge_classes", "judge_regression"]

COVERAGES = (50, 90, 95)
"""Probabilities of central intervals, in percent."""


@dataclass(frozen=True)
class Metric:
    """A metric of a fit that is compared between methods."""

    key: str
    name: str
    is_more_better: bool = False
    is_ratio: bool = False
    """Whether two methods are compared by the logarithm of the ratio; else by the difference."""
    factor: float = 1.0
    """Factor of the displayed number."""
    is_quality: bool = True
    """Whether it measures the quality of predictions, not their cost."""


CPU = Metric("cpu", "CPU", is_ratio=True, is_quality=False)
VECTORS = Metric("n_vectors", "vectors", is_ratio=True, is_quality=False)
METRICS: dict[str, tuple[Metric, ...]] = {
    "regression": (
        Metric("rmse", "RMSE"),
        Metric("mlpd", "MLPD", is_more_better=True),
        Metric("crps", "CRPS"),
        Metric("coverage_error", "coverage", factor=100.0),
        VECTORS,
        CPU,
    ),
    "classification": (
        Metric("error", "error rate", factor=100.0),
        Metric("log_loss", "log loss"),
        Metric("brier", "Brier"),
        Metric("ece", "calibration"),
        VECTORS,
        CPU,
    ),
}
"""By part, in the order of tables."""


def judge_regression(forecast: Forecast, y: np.ndarray) -> dict[str, float]:
    """Return the metrics of predictive distributions on test targets."""
    result = {
        "rmse": float(np.sqrt(np.mean((forecast.mean - y) ** 2))),
        "mlpd": float(np.mean(forecast.log_density(y))),
        "crps": float(np.mean(forecast.crps(y))),
    }
    distances = []
    for percent in COVERAGES:
        low, high = forecast.interval(percent / 100).T
        coverage = float(np.mean((low <= y) & (y <= high)))
        result[f"coverage_{percent}"] = coverage
        distances.append(abs(coverage - percent / 100))
    return {**result, "coverage_error": float(np.mean(distances))}


def judge_classes(
    decision: np.ndarray, probability: np.ndarray, label: np.ndarray
) -> dict[str, float]:
    """Return the metrics of a classifier.

    Parameters
    ----------
    decision : ndarray of shape (n_samples,)
        Predicted classes.
    probability : ndarray of shape (n_samples, n_classes)
        Probabilities of the classes 0, 1, ...
    label : ndarray of shape (n_samples,)
        True classes.
    """
    truth = np.eye(probability.shape[1])[label]
    return {
        "error": float(np.mean(decision != label)),
        "log_loss": log_loss(probability, label),
        "brier": float(np.mean(np.sum((probability - truth) ** 2, axis=1))),
        "ece": calibration_error(probability, label),
    }
