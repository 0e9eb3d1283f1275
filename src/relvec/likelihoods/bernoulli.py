"""Two classes: the logistic likelihood of a logit."""

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
    """Log odds of class 1 when the logit is normal, by the approximation of MacKay (1992)."""
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
    """Of class 1, the uncertainty of the logit taken into account."""

    @property
    def mean(self) -> Vector:
        """Probability of class 1."""
        result: Vector = expit(self.log_odds)
        return result

    @property
    def variance(self) -> Vector:
        """Variance of a label in {0, 1}."""
        result: Vector = expit(self.log_odds) * expit(-self.log_odds)
        return result

    def quantile(self, level: float) -> Vector:
        """Return the smallest label that a new one does not exceed with probability `level`."""
        return np.where(expit(-self.log_odds) >= check_probability("level", level), 0.0, 1.0)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of a new label, (n_rows, 2)."""
        coverage = check_probability("coverage", coverage)
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Log probability of labels."""
        labels = check_classes(check_targets(target, self.log_odds.shape), 2)
        return np.where(labels == 1, log_expit(self.log_odds), log_expit(-self.log_odds))

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw labels, shape (n_rows, n_samples)."""
        rng = check_random_state(random_state)
        draws = rng.uniform(size=(len(self.log_odds), n_samples))
        return (draws < self.mean[:, None]).astype(np.float64)


class BoundBernoulli(BoundLikelihood):
    """Labels in {0, 1} and their logits."""

    max_curvature = 0.25

    def log_density(self, f: Vector) -> Vector:
        """Log probability of each label."""
        each: Vector = self.target * f - np.logaddexp(0.0, f)
        return each

    def slope(self, f: Vector) -> Vector:
        """Label less probability."""
        return self.slope_and_curvature(f)[0]

    def curvature(self, f: Vector) -> Vector:
        """Variance of the label."""
        return self.slope_and_curvature(f)[1]

    def slope_and_curvature(self, f: Vector) -> tuple[Vector, Vector]:
        """Slope and curvature."""
        probability = expit(f)
        return self.target - probability, np.maximum(
            probability * (1.0 - probability), self.min_curvature
        )

    def curvature_slope(self, f: Vector) -> Vector:
        """Skewness of the label."""
        probability = expit(f)
        curvature = np.maximum(probability * (1.0 - probability), self.min_curvature)
        result: Vector = curvature * (1.0 - 2.0 * probability)
        return result

    def reference_curvature(self) -> Vector:
        """Return Böhning's bound, which depends on no labels."""
        return np.full(len(self.target), self.max_curvature)

    def null_latent(self) -> float:
        """Logit of the share of class 1, kept finite when there is only one class."""
        if self.offset is not None:
            return float(super().null_latent())
        rarest = 1e-6
        share = float(np.average(self.target, weights=self.weight))
        share = min(max(share, rarest), 1.0 - rarest)
        return math.log(share / (1.0 - share))


class Bernoulli(Likelihood):
    """Labels of two classes, 0 and 1, whose log odds are the latent function.

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
        """Check labels and return the likelihood of their logits."""
        rows = check_rows(target, sample_weight, offset)
        check_classes(rows[0], 2)
        return BoundBernoulli(self, *rows)

    def predict(self, mean: Vector, variance: Vector) -> BernoulliPrediction:
        """Average over the logit, by the approximation of MacKay (1992)."""
        return BernoulliPrediction(marginalise_log_odds(mean, variance))
