"""How good predictions are: one line of a table for each figure, with what it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from relvec._typing import Vector
from relvec.describing import ReliabilityCurve, compute_critical_value
from relvec.reporting.predictions import Sample

__all__ = ["COVERAGES", "OF_NUMBERS", "Metric", "class_measures", "coverage_at", "reliability"]

COVERAGES = (0.5, 0.8, 0.95)


class Metric(NamedTuple):
    """One figure of the quality of predictions."""

    key: str
    name: str
    meaning: str
    of: Callable[[Sample], float]
    is_share: bool = False


def coverage_at(sample: Sample, level: float) -> float:
    """Share of rows whose interval of that probability holds the target."""
    return float(np.mean(np.abs(_scores(sample)) <= compute_critical_value(level)))


def reliability(sample: Sample, classes: np.ndarray) -> ReliabilityCurve:
    """Probabilities against frequencies: of the second of two classes, or of the likeliest."""
    probability, index = _chances(sample, classes)
    if probability.shape[1] == 2:
        return ReliabilityCurve.from_events(sample.name, probability[:, 1], index == 1)
    best = probability.argmax(axis=1)
    return ReliabilityCurve.from_events(sample.name, probability.max(axis=1), best == index)


def _errors(sample: Sample) -> Vector:
    assert sample.mean is not None
    return np.asarray(sample.y - sample.mean, dtype=np.float64)


def _scores(sample: Sample) -> Vector:
    assert sample.std is not None
    return _errors(sample) / np.maximum(sample.std, np.finfo(np.float64).tiny)


def _r_squared(sample: Sample) -> float:
    spread = float(np.var(sample.y))
    return 1.0 - float(np.mean(_errors(sample) ** 2)) / spread if spread > 0.0 else float("nan")


def _log_density(sample: Sample) -> float:
    assert sample.std is not None
    scores = _scores(sample)
    return float(np.mean(-0.5 * scores**2 - np.log(sample.std) - 0.5 * np.log(2.0 * np.pi)))


def _mean_error(sample: Sample) -> float:
    mean = float(np.mean(_errors(sample)))
    is_rounding = abs(mean) < 1e-12 * float(np.abs(sample.y).max(initial=0.0))
    return 0.0 if is_rounding else mean


def _coverage(level: float) -> Metric:
    return Metric(
        f"coverage_{round(100 * level)}",
        f"inside {round(100 * level)} % intervals",
        f"should be close to {round(100 * level)} %",
        lambda sample: coverage_at(sample, level),
        is_share=True,
    )


OF_NUMBERS = (
    Metric("mse", "MSE", "mean squared error", lambda s: float(np.mean(_errors(s) ** 2))),
    Metric(
        "rmse",
        "RMSE",
        "its root, in units of the target",
        lambda s: float(np.sqrt(np.mean(_errors(s) ** 2))),
    ),
    Metric("mae", "MAE", "mean absolute error", lambda s: float(np.mean(np.abs(_errors(s))))),
    Metric("r2", "R²", "share of the variance that is explained; 1 is perfect", _r_squared),
    Metric(
        "bias",
        "mean error",
        "observed less predicted; zero if predictions are right on average",
        _mean_error,
    ),
    Metric(
        "log_density",
        "log predictive density",
        "mean over rows, in nats; larger is better, and counts error bars",
        _log_density,
    ),
    *map(_coverage, COVERAGES),
)


def _chances(sample: Sample, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and the column of the class that came true."""
    assert sample.probability is not None
    return sample.probability, np.searchsorted(classes, sample.y)


def class_measures(classes: np.ndarray) -> tuple[Metric, ...]:
    """Figures of predictions of these classes."""

    def error(sample: Sample) -> float:
        probability, index = _chances(sample, classes)
        return float(np.mean(probability.argmax(axis=1) != index))

    def log_loss(sample: Sample) -> float:
        probability, index = _chances(sample, classes)
        given = probability[np.arange(len(index)), index]
        # the least probability keeps the loss of a sure mistake finite
        return float(-np.mean(np.log(np.maximum(given, 1e-15))))

    def brier(sample: Sample) -> float:
        probability, index = _chances(sample, classes)
        target = np.eye(probability.shape[1])[index]
        total = float(np.mean(((probability - target) ** 2).sum(axis=1)))
        return 0.5 * total if len(classes) == 2 else total

    def area(sample: Sample) -> float:
        probability, index = _chances(sample, classes)
        if len(np.unique(index)) < len(classes):
            return float("nan")  # not defined without rows of every class
        if len(classes) == 2:
            return float(roc_auc_score(index, probability[:, 1]))
        scaled = probability / probability.sum(axis=1, keepdims=True)
        return float(roc_auc_score(index, scaled, multi_class="ovr"))

    several = "" if len(classes) == 2 else "; mean over classes, each against the rest"
    return (
        Metric("error", "error", "share of rows put in a wrong class", error, is_share=True),
        Metric(
            "log_loss", "log loss", "mean −log probability of what came true, in nats", log_loss
        ),
        Metric("brier", "Brier score", "mean squared error of probabilities", brier),
        Metric(
            "calibration_error",
            "calibration error",
            "mean distance of probabilities from frequencies, in ten bins",
            lambda sample: reliability(sample, classes).expected_error,
        ),
        Metric("roc_auc", "ROC AUC", f"chance to rank a pair rightly{several}", area),
    )
