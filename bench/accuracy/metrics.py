"""What is measured of a fit, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.accuracy.forecasts import Forecast
from bench.classification.metrics import N_BINS, SMALLEST

__all__ = ["COVERAGES", "METRICS", "Metric", "calibration_rows", "class_rows", "judge_regression"]

COVERAGES = (50, 90, 95)
"""Probabilities of central intervals, in percent."""


@dataclass(frozen=True)
class Metric:
    """One figure of a fit that is compared between methods."""

    key: str
    name: str
    is_more_better: bool = False
    is_ratio: bool = False
    """Whether two methods are compared by the logarithm of the ratio; else by the difference."""
    factor: float = 1.0
    """By which the figure is multiplied where it is shown."""
    is_quality: bool = True
    """Whether it says how good predictions are, not what they cost."""


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
        Metric("error", "error", factor=100.0),
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
        share = float(np.mean((low <= y) & (y <= high)))
        result[f"coverage_{percent}"] = share
        distances.append(abs(share - percent / 100))
    return {**result, "coverage_error": float(np.mean(distances))}


def calibration_rows(probability: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return what each row contributes to the expected calibration error.

    Rows are put into ten equal bins of their highest probability. A row contributes the distance
    of that probability from whether it was right, with the sign of the sum over its bin, so that
    the mean over rows is the error of `bench.classification.metrics.calibration_error`.
    """
    confidence = probability.max(axis=1)
    distance = confidence - (np.argmax(probability, axis=1) == label)
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    sign = np.sign(np.bincount(bins, distance, minlength=N_BINS))
    return sign[bins] * distance


def class_rows(
    decision: np.ndarray, probability: np.ndarray, label: np.ndarray
) -> dict[str, np.ndarray]:
    """Return contributions of test rows to the metrics of a classifier: these are their means.

    Parameters
    ----------
    decision : ndarray of shape (n_samples,)
        Predicted classes.
    probability : ndarray of shape (n_samples, n_classes)
        Probabilities of the classes 0, 1, ...
    label : ndarray of shape (n_samples,)
        True classes.
    """
    own = np.clip(probability[np.arange(len(label)), label], SMALLEST, 1.0)
    truth = np.eye(probability.shape[1])[label]
    return {
        "error": (decision != label).astype(float),
        "log_loss": -np.log(own),
        "brier": np.sum((probability - truth) ** 2, axis=1),
        "ece": calibration_rows(probability, label),
    }
