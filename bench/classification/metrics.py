"""How wrong the decisions are, and how wrong the probabilities."""

from __future__ import annotations

import numpy as np

__all__ = ["N_BINS", "calibration_error", "error_rate", "find_gaps", "judge", "log_loss"]

N_BINS = 10
SMALLEST = 1e-12
"""Probabilities are cut off here: one certain mistake must not make a mean infinite."""


def error_rate(probability: np.ndarray, label: np.ndarray) -> float:
    """Return the error rate: the fraction of rows whose most probable class is not the true one."""
    return float(np.mean(np.argmax(probability, axis=1) != label))


def log_loss(probability: np.ndarray, label: np.ndarray) -> float:
    """Return the mean negative log probability of the true class, in nats."""
    own = probability[np.arange(len(label)), label]
    return float(-np.mean(np.log(np.clip(own, SMALLEST, 1.0))))


def calibration_error(probability: np.ndarray, label: np.ndarray) -> float:
    """Return the expected calibration error of the most probable class.

    Rows are put into ten equal bins of their highest probability; the distances between mean
    probability and accuracy in the bins are averaged, each row counting once.
    """
    return float(np.abs(find_gaps(probability, label)).sum() / len(label))


def find_gaps(probability: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the sum of highest probability minus number of hits, in each of ten bins."""
    confidence = probability.max(axis=1)
    is_hit = np.argmax(probability, axis=1) == label
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    return np.bincount(bins, confidence - is_hit, minlength=N_BINS)


def judge(probability: np.ndarray, label: np.ndarray) -> dict[str, float]:
    """Return all three."""
    return {
        "error": error_rate(probability, label),
        "log_loss": log_loss(probability, label),
        "ece": calibration_error(probability, label),
    }
