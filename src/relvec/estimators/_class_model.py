"""Fitted models of two or more classes: binary, one-vs-rest, or joint (softmax)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

from relvec._typing import Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.error_bars import Novelty
from relvec.estimators._latent_model import FittedLatentModel
from relvec.likelihoods import BernoulliPrediction

__all__ = ["FALLBACK_POWER", "ClassModel", "ClassModelAverage"]

FALLBACK_POWER = 8
"""Exponent of ``rho`` in `ClassModel`. With 2 and 4 the log loss on the ionosphere data increases
by .016 and .006, with 8 by .001 (spec 14, section 3)."""


class ClassModel:
    """Fitted models of all classes, which are numbered from zero.

    There is one binary model for two classes, one for each class against the rest, or one joint
    model. Attributes combine those of these models: atoms used by any of them, one row of `coef`
    and `weight_precision` for each logit, the sum of log evidences. An intercept that was not
    fitted is the logit of the class prior, or zero.

    Let ``rho`` be the fraction of the prior variance that remains at an input given the training
    inputs (see `Novelty`). Probabilities, marginalised over the weights, become::

        (1 - g) p + g class_prior,   1 - g = (1 - shrinkage) (1 - rho^8)

    The power of ``rho`` is high because rows that differ a little from the others may belong to one
    class for that reason, as bad radar returns do.
    """

    class_prior: Vector | None = None
    """Class frequencies in the training data; None, as in release 0.1, not to use them."""
    shrinkage: float = 0.0
    """Weight of the class prior in all probabilities, wherever the input is."""

    def __init__(
        self,
        models: list[FittedLatentModel],
        bound: BoundBasis,
        *,
        intercept_is_fitted: bool,
        class_prior: Vector | None = None,
    ) -> None:
        self.models, self.intercept_is_fitted = models, intercept_is_fitted
        self.class_prior = class_prior
        self.is_joint = models[0].likelihood.n_latent > 1
        self.active = np.unique(np.concatenate([*map(attrgetter("active"), models)]))
        self.atoms = bound.atoms.subset(self.active)
        self.intercept = np.concatenate([*map(attrgetter("intercept"), models)])
        self.coef = np.zeros((len(self.intercept), len(self.active)))
        self.weight_precision = np.full(self.coef.shape, np.inf)
        first = 0
        for model in models:
            rows = slice(first, first + len(model.coef))
            where = np.searchsorted(self.active, model.active)
            self.coef[rows, where] = model.coef
            self.weight_precision[rows, where] = model.weight_precision
            first = rows.stop
        self.log_evidence = sum(map(attrgetter("log_evidence"), models))
        self.objective = sum(map(attrgetter("objective"), models))
        self.n_iter = max(map(attrgetter("n_iter"), models))
        self.converged = all(map(attrgetter("converged"), models))
        self.certificate = np.max([*map(attrgetter("certificate"), models)], axis=0).tolist()
        # the objective is the sum over models, which are fitted one after the other
        self.trace = np.array(models[0].trace)
        for model in models[1:]:
            before, increase = (
                self.trace + model.trace[0],
                np.subtract(model.trace, model.trace[0]),
            )
            self.trace = np.append(before, before[-1] + increase[1:])

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""
        means, variances = zip(*[model.latent(X) for model in self.models], strict=True)
        if len(means) == 1:
            return means[0], np.sqrt(variances[0])
        return np.column_stack(means), np.sqrt(np.column_stack(variances))

    @property
    def novelty(self) -> Novelty | None:
        """Novelty process of the inputs; the same for all models with atoms, None without."""
        known = [model.novelty for model in self.models]
        return next((each for each in known if each is not None), None)

    def with_shrinkage(self, shrinkage: float) -> ClassModel:
        """Return a copy whose probabilities are mixed with the class prior."""
        other = copy(self)
        other.shrinkage = shrinkage
        return other

    def fallback(self, X: Any) -> Vector:
        """Return ``g``, the weight of the class prior in the probabilities."""
        kept = np.full(X.shape[0], 1.0 - self.shrinkage)
        if self.novelty is not None:
            # High power: only inputs of which almost nothing is known fall back to the class prior.
            kept *= 1.0 - self.novelty.share(X) ** FALLBACK_POWER
        return 1.0 - kept

    def log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Logarithm of the probability of each class, shape (n_samples, n_classes)."""
        log = self._log_probability(X, marginalise=marginalise)
        if self.class_prior is None or not marginalise:
            return log
        g = self.fallback(X)[:, None]
        with np.errstate(divide="ignore"):
            # log((1 - g) p + g p_0) without leaving logarithms: small p would underflow. log(0) =
            # -inf for g = 0 or a class without rows is right here.
            mixed: Matrix = np.logaddexp(log + np.log1p(-g), np.log(g) + np.log(self.class_prior))
        return mixed

    def _log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        if self.is_joint and marginalise:
            probability = self.models[0].predict(X).mean
            return np.log(np.maximum(probability, np.finfo(np.float64).tiny))
        if self.is_joint:
            each = self.models[0].mean(X)
        else:
            odds = [compute_log_odds(model, X, marginalise) for model in self.models]
            if len(odds) == 1:
                return np.column_stack([log_expit(-odds[0]), log_expit(odds[0])])
            each = log_expit(np.column_stack(odds))
        # Softmax of joint logits; for one-vs-rest, probabilities that do not sum to one are
        # normalised.
        scaled: Matrix = each - logsumexp(each, axis=1, keepdims=True)
        return scaled


def compute_log_odds(model: FittedLatentModel, X: Any, marginalise: bool) -> Vector:
    """Return the log odds of a class against the other, or the rest, by one binary model."""
    if not marginalise:
        return model.mean(X)
    prediction = model.predict(X)
    assert isinstance(prediction, BernoulliPrediction)
    return prediction.log_odds


@dataclass(frozen=True, eq=False)
class ClassModelAverage:
    """Class models whose probabilities are averaged.

    The first is the best single model. It alone is used for predictions at the most probable
    weights (``marginalise=False``).
    """

    models: tuple[ClassModel, ...]
    weights: Vector
    """Weights of the models, with sum one."""

    def log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Logarithm of the probability of each class, shape (n_samples, n_classes)."""
        if not marginalise or len(self.models) == 1:
            return self.models[0].log_probability(X, marginalise=marginalise)
        each = [class_model.log_probability(X, marginalise=True) for class_model in self.models]
        # log sum_i weight_i p_i: probabilities are averaged, not logits.
        result: Matrix = logsumexp(np.array(each), axis=0, b=self.weights[:, None, None])
        return result

    def probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Probability of each class."""
        return np.exp(self.log_probability(X, marginalise=marginalise))

    def log_odds(self, X: Any, *, marginalise: bool) -> Vector | Matrix:
        """Return log odds: of class 1 for two classes, else of each class against the rest.

        Without marginalisation, the log odds of one-vs-rest models are those of the binary models.
        """
        class_model = self.models[0]
        if not class_model.is_joint and not marginalise:
            each = [compute_log_odds(model, X, marginalise=False) for model in class_model.models]
            return each[0] if len(each) == 1 else np.column_stack(each)
        log = self.log_probability(X, marginalise=marginalise)
        if log.shape[1] == 2:
            # log p / (1 - p), from both logarithms: 1 - p would cancel for p near one.
            return log[:, 1] - log[:, 0]
        rest = [logsumexp(np.delete(log, k, axis=1), axis=1) for k in range(log.shape[1])]
        return log - np.column_stack(rest)

    def extrapolation(self, X: Any) -> Vector | None:
        """Return how far inputs are beyond the training inputs, in [0, 1]; None if unknown."""
        known = [class_model.novelty for class_model in self.models]
        parts = [each.extrapolation(X) for each in known if each is not None]
        if len(parts) < len(known):
            return None
        return np.asarray(self.weights @ np.array(parts))
