"""What a model says of rows it has not seen, next to a model without inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = ["HeldOutGain", "held_out_gain"]


class HeldOutGain(NamedTuple):
    """Log density of held-out rows above that of the null model, summed over them, in nats."""

    total: float
    std: float
    """Standard error of the sum, rows taken to be independent."""

    @property
    def is_shown(self) -> bool:
        """Whether the rows show that the model knows more than the null model."""
        return self.total > 2.0 * self.std


def held_out_gain(subject: Subject, judged: Sample) -> HeldOutGain | None:
    """Compare a model with the targets alone, on rows that neither has seen.

    Evidence cannot tell this: it was maximised on the rows of the fit over models of which the null
    model is one, so it rises for pure noise as well. The null model is the normal distribution of
    the training targets, or the shares of their classes; in a cross-validation each row is left
    out of it. None if all rows were seen, or the training targets are not known.
    """
    if judged.is_seen or not subject.are_training or len(judged.y) < 2:
        return None
    if subject.is_classifier:
        difference = _class_differences(subject, judged)
    else:
        difference = _number_differences(subject, judged)
    spread = float(np.std(difference, ddof=1)) * float(np.sqrt(len(difference)))
    return HeldOutGain(float(difference.sum()), spread)


def _number_differences(subject: Subject, judged: Sample) -> Vector:
    assert judged.mean is not None
    assert judged.std is not None
    known, n = np.asarray(subject.y, dtype=np.float64), float(subject.n_rows)
    mean, squares = np.full(len(judged.y), known.mean()), np.full(len(judged.y), n * known.var())
    if judged.is_cross_validated:  # without the row itself
        away = judged.y - mean
        mean, squares = mean - away / (n - 1.0), squares - away**2 * n / (n - 1.0)
        n -= 1.0
    tiny = np.finfo(np.float64).tiny
    # the mean is known to 1/n of the variance, as in the error bars of the model
    variance = np.maximum(squares, tiny) / max(n - 1.0, 1.0) * (1.0 + 1.0 / n)
    return _log_density(judged.y - judged.mean, np.maximum(judged.std**2, tiny)) - _log_density(
        judged.y - mean, variance
    )


def _log_density(error: Vector, variance: Vector) -> Vector:
    return -0.5 * (np.log(2.0 * np.pi * variance) + error**2 / variance)


def _class_differences(subject: Subject, judged: Sample) -> Vector:
    assert judged.probability is not None
    classes, n = subject.classes, float(subject.n_rows)
    index = np.searchsorted(classes, judged.y)
    counts = np.array([np.count_nonzero(subject.y == label) for label in classes], float)[index]
    if judged.is_cross_validated:  # without the row itself
        counts, n = counts - 1.0, n - 1.0
    share = (counts + 1.0) / (n + len(classes))  # Laplace's rule: no class is impossible
    given = judged.probability[np.arange(len(index)), index]
    return np.asarray(np.log(np.maximum(given, 1e-15)) - np.log(share))
