"""Bernoulli likelihood with the logistic link: two classes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit
from sklearn.utils import check_random_state

from relvec._checks import check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import BoundLikelihood, Likelihood, check_classes, check_rows

__all__ = ["Bernoulli", "BernoulliPrediction", "BoundBernoulli", "marginalise_log_odds"]


def marginalise_log_odds(mean: Vector, variance: Vector) -> Vector:
    """Return the log odds of class 1, marginalised over a normally distributed logit.

    MacKay's (1992) approximation of a marginalised output: ``int sigmoid(a) N(a | m, v) da`` is
    approximately ``sigmoid(m / sqrt(1 + pi v / 8))`` (Bishop 2006, eq. 4.153).
    """
    odds: Vector = mean / np.sqrt(1.0 + np.pi * variance / 8.0)
    return odds


class BernoulliPrediction(NamedTuple):
    """Probabilities of class 1, one per row.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Bernoulli
    >>> Bernoulli().predict(np.array([2.0]), np.array([4.0])).mean.round(3)
    array([0.777])
    """

    log_odds: Vector
    """Log odds of class 1, marginalised over the logit."""

    @property
    def mean(self) -> Vector:
        """Probability of class 1."""
        result: Vector = expit(self.log_odds)
        return result

    @property
    def variance(self) -> Vector:
        """Variance of a label in {0, 1}."""
        # expit(-f) instead of 1 - expit(f), which is zero to rounding for large log odds.
        result: Vector = expit(self.log_odds) * expit(-self.log_odds)
        return result

    def quantile(self, level: float) -> Vector:
        """Return the quantile of the label: 0 if ``P(label = 0) >= level``, otherwise 1."""
        return np.where(expit(-self.log_odds) >= check_probability("level", level), 0.0, 1.0)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of the label, shape (n_rows, 2)."""
        coverage = check_probability("coverage", coverage)
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log probability of observed labels."""
        labels = check_classes(check_targets(target, self.log_odds.shape), 2)
        # log_expit does not underflow to log(0) where the probability does.
        return np.where(labels == 1, log_expit(self.log_odds), log_expit(-self.log_odds))

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw labels, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        draws = rng.uniform(size=(len(self.log_odds), n_samples))
        return (draws < self.mean[:, None]).astype(np.float64)


class BoundBernoulli(BoundLikelihood):
    """Bernoulli likelihood of labels ``t`` in {0, 1} as a function of the logits ``f``.

    With ``y = sigmoid(f)``: ``log p = t log y + (1 - t) log(1 - y)`` (Tipping 2001, eq. 23), slope
    ``t - y`` and curvature ``y (1 - y)`` (Rasmussen & Williams 2006, eq. 3.15).
    """

    max_curvature = 0.25

    def log_density(self, f: Vector) -> Vector:
        """Return ``t f - log(1 + exp(f))``."""
        # log(1 + exp(f)) as logaddexp(0, f): no overflow for large f.
        each: Vector = self.target * f - np.logaddexp(0.0, f)
        return each

    def slope(self, f: Vector) -> Vector:
        """Return ``t - y``."""
        return self.slope_and_curvature(f)[0]

    def curvature(self, f: Vector) -> Vector:
        """Return ``y (1 - y)``, the variance of the label."""
        return self.slope_and_curvature(f)[1]

    def slope_and_curvature(self, f: Vector) -> tuple[Vector, Vector]:
        """Return slope and curvature from one evaluation of the sigmoid."""
        probability = expit(f)
        # 1 - y loses digits for large f, but the floor of the curvature is reached first (f = 23).
        return self.target - probability, np.maximum(
            probability * (1.0 - probability), self.min_curvature
        )

    def curvature_slope(self, f: Vector) -> Vector:
        """Return ``y (1 - y) (1 - 2 y)``, the third central moment of the label."""
        probability = expit(f)
        curvature = np.maximum(probability * (1.0 - probability), self.min_curvature)
        result: Vector = curvature * (1.0 - 2.0 * probability)
        return result

    def reference_curvature(self) -> Vector:
        """Return Böhning's (1992) bound 1/4, which does not depend on the labels."""
        return np.full(len(self.target), self.max_curvature)

    def null_latent(self) -> float:
        """Return the logit of the frequency of class 1, finite also if there is only one class."""
        if self.offset is not None:
            return float(super().null_latent())
        # A single class would have an infinite logit; this bounds it by 13.8.
        smallest = 1e-6
        frequency = float(np.average(self.target, weights=self.weight))
        frequency = min(max(frequency, smallest), 1.0 - smallest)
        return math.log(frequency / (1.0 - frequency))


class Bernoulli(Likelihood):
    """Bernoulli likelihood of binary labels: ``P(t = 1) = sigmoid(f)``.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Bernoulli
    >>> bound = Bernoulli().bind([0, 1, 1])
    >>> np.exp(bound.log_density(np.zeros(3)))
    array([0.5, 0.5, 0.5])
    """

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundBernoulli:
        """Check the labels, coded 0 and 1, and return their likelihood."""
        rows = check_rows(target, sample_weight, offset)
        check_classes(rows[0], 2)
        return BoundBernoulli(self, *rows)

    def predict(self, mean: Vector, variance: Vector) -> BernoulliPrediction:
        """Return probabilities marginalised over the logit; see `marginalise_log_odds`."""
        return BernoulliPrediction(marginalise_log_odds(mean, variance))
