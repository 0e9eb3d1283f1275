"""Sampled model of two or more classes: logits drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

from relvec._typing import Matrix, Vector
from relvec.error_bars import Novelty
from relvec.estimators._class_model import FALLBACK_POWER
from relvec.estimators._drawn_functions import DrawnFunctions

__all__ = ["SampledClassModel"]


@dataclass(frozen=True, eq=False)
class SampledClassModel:
    """Logits of the classes as draws; it answers what `ClassModelAverage` is asked.

    Far from the training inputs probabilities are those of the class prior, as in `ClassModel`.
    """

    functions: tuple[DrawnFunctions, ...]
    """Logit of the second of two classes, or one for each of several classes."""
    class_prior: Vector
    novelty: Novelty | None = None

    def log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Logarithm of the probability of each class, shape (n_samples, n_classes).

        Averaged over the draws or, without marginalisation, at the mean of the logits.
        """
        if not marginalise:
            return compute_log_probability(np.stack([each.mean(X) for each in self.functions]))
        parts = [np.empty((0, len(self.class_prior)))]
        for rows, first in self.functions[0].blocks(X):
            others = [each.evaluate(X[rows]) for each in self.functions[1:]]
            each = compute_log_probability(np.stack([first, *others]))
            parts.append(logsumexp(each, axis=1) - np.log(each.shape[1]))
        log = np.concatenate(parts)
        if self.novelty is None:
            return log
        g = self.novelty.share(X)[:, None] ** FALLBACK_POWER
        with np.errstate(divide="ignore"):  # log(0) is right for g = 0 or 1
            mixed: Matrix = np.logaddexp(log + np.log1p(-g), np.log(g) + np.log(self.class_prior))
        return mixed

    def probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Probability of each class."""
        return np.exp(self.log_probability(X, marginalise=marginalise))

    def log_odds(self, X: Any, *, marginalise: bool) -> Vector | Matrix:
        """Log odds: of the second of two classes, else of each class against all others."""
        log = self.log_probability(X, marginalise=marginalise)
        if log.shape[1] == 2:
            return log[:, 1] - log[:, 0]
        rest = [logsumexp(np.delete(log, k, axis=1), axis=1) for k in range(log.shape[1])]
        return log - np.column_stack(rest)

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""
        values = [each.evaluate(X) for each in self.functions]
        means = np.stack([each.mean(axis=1) for each in values], axis=-1)
        deviations = np.stack([each.std(axis=1) for each in values], axis=-1)
        if len(values) == 1:
            return means[:, 0], deviations[:, 0]
        return means, deviations

    def extrapolation(self, X: Any) -> Vector | None:
        """Return how far inputs are beyond the training inputs, in [0, 1]; None if unknown."""
        return None if self.novelty is None else self.novelty.extrapolation(X)


def compute_log_probability(logits: np.ndarray) -> np.ndarray:
    """Return log probabilities of classes, the last axis, from logits along the first axis."""
    if len(logits) == 1:
        return np.stack([log_expit(-logits[0]), log_expit(logits[0])], axis=-1)
    log: np.ndarray = np.moveaxis(logits - logsumexp(logits, axis=0), 0, -1)
    return log
