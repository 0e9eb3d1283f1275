"""Performance metrics of predictions, with their descriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import roc_auc_score

from relvec._typing import Vector
from relvec.describing import ReliabilityCurve, compute_critical_value
from relvec.reporting.predictions import PredictionSet

__all__ = [
    "COUNT_METRICS",
    "COVERAGES",
    "REGRESSION_METRICS",
    "Metric",
    "compute_coverage",
    "compute_reliability",
    "make_classification_metrics",
]

COVERAGES = (0.5, 0.8, 0.95)


class Metric(NamedTuple):
    """A performance metric: key, name, description and how it is computed."""

    key: str
    name: str
    meaning: str
    compute: Callable[[PredictionSet], float]
    is_percentage: bool = False


def compute_coverage(sample: PredictionSet, level: float) -> float:
    """Compute the fraction of targets inside central intervals of probability `level`."""
    score = sample.standardised_residuals
    return float(np.mean(np.abs(score) <= compute_critical_value(level)))


def compute_reliability(sample: PredictionSet, classes: np.ndarray) -> ReliabilityCurve:
    """Compute the reliability curve of the second of two classes, or of the most probable class."""
    probability, index = _class_probabilities(sample, classes)
    if probability.shape[1] == 2:
        return ReliabilityCurve.from_events(sample.name, probability[:, 1], index == 1)
    best = probability.argmax(axis=1)
    return ReliabilityCurve.from_events(sample.name, probability.max(axis=1), best == index)


def _residuals(sample: PredictionSet) -> Vector:
    assert sample.mean is not None
    return np.asarray(sample.y - sample.mean, dtype=np.float64)


def _r_squared(sample: PredictionSet) -> float:
    spread = float(np.var(sample.y))
    return 1.0 - float(np.mean(_residuals(sample) ** 2)) / spread if spread > 0.0 else float("nan")


def _mlpd(sample: PredictionSet) -> float:
    return float(np.mean(sample.log_predictive_density))


def _mean_error(sample: PredictionSet) -> float:
    mean = float(np.mean(_residuals(sample)))
    is_rounding = abs(mean) < 1e-12 * float(np.abs(sample.y).max(initial=0.0))
    return 0.0 if is_rounding else mean


def _coverage_metric(level: float) -> Metric:
    return Metric(
        f"coverage_{round(100 * level)}",
        f"coverage of {round(100 * level)} % intervals",
        f"fraction of targets inside; should be close to {round(100 * level)} %",
        lambda sample: compute_coverage(sample, level),
        is_percentage=True,
    )


REGRESSION_METRICS = (
    Metric("mse", "MSE", "mean squared error", lambda s: float(np.mean(_residuals(s) ** 2))),
    Metric(
        "rmse",
        "RMSE",
        "root mean squared error, in units of the target",
        lambda s: float(np.sqrt(np.mean(_residuals(s) ** 2))),
    ),
    Metric("mae", "MAE", "mean absolute error", lambda s: float(np.mean(np.abs(_residuals(s))))),
    Metric(
        "r2",
        "R²",
        "coefficient of determination: fraction of the variance explained; at most 1",
        _r_squared,
    ),
    Metric(
        "mean_error",
        "mean error",
        "mean of observed minus predicted; zero for unbiased predictions",
        _mean_error,
    ),
    Metric(
        "mlpd",
        "MLPD",
        "mean log predictive density, in nats; larger is better",
        _mlpd,
    ),
    *map(_coverage_metric, COVERAGES),
)


def _count_deviance(counts: Vector, mean: Vector) -> float:
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    return 2.0 * float(np.mean(xlogy(counts, counts / mean) - counts + mean))


def _explained_deviance(sample: PredictionSet) -> float:
    assert sample.mean is not None
    assert sample.exposure is not None
    rate = float(sample.y.sum()) / float(sample.exposure.sum())
    null = _count_deviance(sample.y, rate * sample.exposure)
    return 1.0 - _count_deviance(sample.y, sample.mean) / null if null > 0.0 else float("nan")


def _dispersion(sample: PredictionSet) -> float:
    """Compute the mean squared Pearson residual, with the variance of the predictions."""
    assert sample.std is not None
    return float(np.mean((_residuals(sample) / sample.std) ** 2))


def _interval_coverage(sample: PredictionSet) -> float:
    low, high = sample.bounds.T
    return float(np.mean((low <= sample.y) & (sample.y <= high)))


COUNT_METRICS = (
    Metric(
        "deviance",
        "Poisson deviance",
        "mean unit deviance; smaller is better, about 1 for Poisson counts that are not small",
        lambda s: _count_deviance(s.y, np.asarray(s.mean)),
    ),
    Metric("d2", "D²", "fraction of the deviance explained; at most 1", _explained_deviance),
    Metric(
        "dispersion",
        "dispersion",
        "mean squared residual over predictive variance; about 1 if the spread of the counts is "
        "as predicted, larger if they are overdispersed",
        _dispersion,
    ),
    Metric(
        "rmse",
        "RMSE",
        "root mean squared error, in counts",
        lambda s: float(np.sqrt(np.mean(_residuals(s) ** 2))),
    ),
    Metric("mlpd", "MLPD", "mean log predictive probability, in nats; larger is better", _mlpd),
    Metric(
        "coverage_95",
        "coverage of 95 % intervals",
        "fraction of counts inside; at least 95 %, more for small counts, which are whole numbers",
        _interval_coverage,
        is_percentage=True,
    ),
)


def _class_probabilities(
    sample: PredictionSet, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted probabilities and the column of the true class of each row."""
    assert sample.probability is not None
    return sample.probability, np.searchsorted(classes, sample.y)


def make_classification_metrics(classes: np.ndarray) -> tuple[Metric, ...]:
    """Make the metrics of a classifier with these classes."""

    def error_rate(sample: PredictionSet) -> float:
        probability, index = _class_probabilities(sample, classes)
        return float(np.mean(probability.argmax(axis=1) != index))

    def log_loss(sample: PredictionSet) -> float:
        probability, index = _class_probabilities(sample, classes)
        true_probability = probability[np.arange(len(index)), index]
        # The lower bound keeps the loss finite where the true class has probability zero.
        return float(-np.mean(np.log(np.maximum(true_probability, 1e-15))))

    def brier(sample: PredictionSet) -> float:
        probability, index = _class_probabilities(sample, classes)
        target = np.eye(probability.shape[1])[index]
        total = float(np.mean(((probability - target) ** 2).sum(axis=1)))
        return 0.5 * total if len(classes) == 2 else total

    def roc_auc(sample: PredictionSet) -> float:
        probability, index = _class_probabilities(sample, classes)
        if len(np.unique(index)) < len(classes):
            return float("nan")  # not defined without rows of every class
        if len(classes) == 2:
            return float(roc_auc_score(index, probability[:, 1]))
        scaled = probability / probability.sum(axis=1, keepdims=True)
        return float(roc_auc_score(index, scaled, multi_class="ovr"))

    average = "" if len(classes) == 2 else "; mean over classes, one-vs-rest"
    return (
        Metric(
            "error_rate", "error rate", "fraction misclassified", error_rate, is_percentage=True
        ),
        Metric(
            "log_loss",
            "log loss",
            "mean negative log probability of the true class, in nats",
            log_loss,
        ),
        Metric("brier", "Brier score", "mean squared error of the probabilities", brier),
        Metric(
            "calibration_error",
            "calibration error (ECE)",
            "expected calibration error: mean distance of predicted probability and observed "
            "frequency, in ten bins",
            lambda sample: compute_reliability(sample, classes).expected_error,
        ),
        Metric("roc_auc", "ROC AUC", f"area under the ROC curve{average}", roc_auc),
    )
