"""Gain in log predictive density over the null model, on held-out rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from relvec._typing import Vector
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["HeldOutGain", "compute_held_out_gain"]


class HeldOutGain(NamedTuple):
    """Log predictive density of held-out rows minus that of the null model, summed, in nats."""

    total: float
    std: float
    """Standard error of the sum, for independent rows."""

    @property
    def is_significant(self) -> bool:
        """Whether the gain exceeds two standard errors."""
        return self.total > 2.0 * self.std


def compute_held_out_gain(subject: Subject, evaluated: PredictionSet) -> HeldOutGain | None:
    """Compare a model with the null model on held-out rows.

    The evidence cannot replace this comparison: it was maximised on the training rows over models
    that include the null model, so it increases for pure noise as well. The null model is the
    normal distribution of the training targets, a Poisson distribution with their mean rate if
    they are counts, or the class frequencies; in a cross-validation
    it is fitted without the row. None for training rows, or if training targets are not given.
    """
    if evaluated.is_training or not subject.are_training or len(evaluated.y) < 2:
        return None
    if subject.counts_events:
        difference = _count_differences(subject, evaluated)
    elif subject.is_classifier:
        difference = _classification_differences(subject, evaluated)
    else:
        difference = _regression_differences(subject, evaluated)
    spread = float(np.std(difference, ddof=1)) * float(np.sqrt(len(difference)))
    return HeldOutGain(float(difference.sum()), spread)


def _regression_differences(subject: Subject, evaluated: PredictionSet) -> Vector:
    targets, n = np.asarray(subject.y, dtype=np.float64), float(subject.n_rows)
    mean, squares = (
        np.full(len(evaluated.y), targets.mean()),
        np.full(len(evaluated.y), n * targets.var()),
    )
    if evaluated.is_cross_validated:  # leave the row itself out
        deviation = evaluated.y - mean
        mean, squares = mean - deviation / (n - 1.0), squares - deviation**2 * n / (n - 1.0)
        n -= 1.0
    tiny = np.finfo(np.float64).tiny
    # The predictive variance includes the uncertainty of the mean, variance / n.
    variance = np.maximum(squares, tiny) / max(n - 1.0, 1.0) * (1.0 + 1.0 / n)
    return evaluated.log_predictive_density - _log_density(evaluated.y - mean, variance)


def _count_differences(subject: Subject, evaluated: PredictionSet) -> Vector:
    assert evaluated.exposure is not None
    exposures = np.ones(subject.n_rows) if subject.row_values is None else subject.row_values
    counts, units = float(subject.y.sum()), float(exposures.sum())
    own = evaluated.y if evaluated.is_cross_validated else 0.0
    own_units = evaluated.exposure if evaluated.is_cross_validated else 0.0
    # Half a count more keeps the rate positive (the posterior mean under Jeffreys' prior).
    mean = evaluated.exposure * (counts - own + 0.5) / (units - own_units)
    null = xlogy(evaluated.y, mean) - mean - gammaln(evaluated.y + 1.0)
    return np.asarray(evaluated.log_predictive_density - null)


def _log_density(error: Vector, variance: Vector) -> Vector:
    return -0.5 * (np.log(2.0 * np.pi * variance) + error**2 / variance)


def _classification_differences(subject: Subject, evaluated: PredictionSet) -> Vector:
    assert evaluated.probability is not None
    classes, n = subject.classes, float(subject.n_rows)
    index = np.searchsorted(classes, evaluated.y)
    counts = np.array([np.count_nonzero(subject.y == label) for label in classes], float)[index]
    if evaluated.is_cross_validated:  # leave the row itself out
        counts, n = counts - 1.0, n - 1.0
    # Laplace's rule of succession: no class has probability zero
    frequency = (counts + 1.0) / (n + len(classes))
    true_probability = evaluated.probability[np.arange(len(index)), index]
    return np.asarray(np.log(np.maximum(true_probability, 1e-15)) - np.log(frequency))
