"""How several classes are told apart: by one model, by one for each class, or jointly."""

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
"""Of ``rho``. With 2 and 4 the log loss on ionosphere rises by .016 and .006, with 8 by .001 (spec
14, section 3)."""


class ClassModel:
    """A fitted classifier without its labels: classes are numbered from zero.

    It has one model for two classes, one for every class, asked whether it is this one or
    another, or one of all classes jointly. Attributes are those of its models put together:
    atoms used by any of them, one row of `coef` and `weight_precision` for each logit, evidences
    added up. An intercept that was not fitted is the logit of the class shares, or zero.

    With ``rho`` the share of the variance at an input that nothing is known of (see `Novelty`),
    probabilities become, averaged over the weights::

        (1 - g) p + g shares,   1 - g = (1 - shrinkage) (1 - rho^8)

    Rows that are a little unlike the others may be of one class for this reason, as bad radar
    returns are, so that a low power of ``rho`` would cost more than it gains.
    """

    shares: Vector | None = None
    """Of the classes; None to leave probabilities as they are far away, as release 0.1 did."""
    shrinkage: float = 0.0
    """Probability that what the inputs say is left alone, wherever they are."""

    def __init__(
        self,
        models: list[FittedLatentModel],
        bound: BoundBasis,
        *,
        intercept_is_fitted: bool,
        shares: Vector | None = None,
    ) -> None:
        self.models, self.intercept_is_fitted = models, intercept_is_fitted
        self.shares = shares
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
        # models are fitted one after the other
        self.trace = np.array(models[0].trace)
        for model in models[1:]:
            before, rise = (
                self.trace + model.trace[0],
                np.subtract(model.trace, model.trace[0]),
            )
            self.trace = np.append(before, before[-1] + rise[1:])

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""
        means, variances = zip(*[model.latent(X) for model in self.models], strict=True)
        if len(means) == 1:
            return means[0], np.sqrt(variances[0])
        return np.column_stack(means), np.sqrt(np.column_stack(variances))

    @property
    def novelty(self) -> Novelty | None:
        """What tells inputs beyond the training inputs; the same for all models with atoms."""
        known = [model.novelty for model in self.models]
        return next((each for each in known if each is not None), None)

    def shrunk(self, shrinkage: float) -> ClassModel:
        """Return the same with probabilities that are nearer to the shares of the classes."""
        other = copy(self)
        other.shrinkage = shrinkage
        return other

    def fallback(self, X: Any) -> Vector:
        """``g``: the share of each probability that is the share of the class."""
        kept = np.full(X.shape[0], 1.0 - self.shrinkage)
        if self.novelty is not None:
            kept *= 1.0 - self.novelty.share(X) ** FALLBACK_POWER
        return 1.0 - kept

    def log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Logarithm of the probability of each class, shape (n, n_classes)."""
        log = self._log_probability(X, marginalise=marginalise)
        if self.shares is None or not marginalise:
            return log
        g = self.fallback(X)[:, None]
        with np.errstate(divide="ignore"):
            mixed: Matrix = np.logaddexp(log + np.log1p(-g), np.log(g) + np.log(self.shares))
        return mixed

    def _log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        if self.is_joint and marginalise:
            probability = self.models[0].predict(X).mean
            return np.log(np.maximum(probability, np.finfo(np.float64).tiny))
        if self.is_joint:
            each = self.models[0].mean(X)
        else:
            odds = [model_log_odds(model, X, marginalise) for model in self.models]
            if len(odds) == 1:
                return np.column_stack([log_expit(-odds[0]), log_expit(odds[0])])
            each = log_expit(np.column_stack(odds))
        scaled: Matrix = each - logsumexp(each, axis=1, keepdims=True)
        return scaled


def model_log_odds(model: FittedLatentModel, X: Any, marginalise: bool) -> Vector:
    """Log odds of a class against the other or the rest, by one model."""
    if not marginalise:
        return model.mean(X)
    prediction = model.predict(X)
    assert isinstance(prediction, BernoulliPrediction)
    return prediction.log_odds


@dataclass(frozen=True, eq=False)
class ClassModelAverage:
    """Panels whose probabilities are averaged.

    The first is the best by itself. It stands for all of them where weights are not averaged over.
    """

    models: tuple[ClassModel, ...]
    weights: Vector
    """Adding up to one."""

    def log_probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Logarithm of the probability of each class, shape (n, n_classes)."""
        if not marginalise or len(self.models) == 1:
            return self.models[0].log_probability(X, marginalise=marginalise)
        each = [class_model.log_probability(X, marginalise=True) for class_model in self.models]
        result: Matrix = logsumexp(np.array(each), axis=0, b=self.weights[:, None, None])
        return result

    def probability(self, X: Any, *, marginalise: bool) -> Matrix:
        """Probability of each class."""
        return np.exp(self.log_probability(X, marginalise=marginalise))

    def log_odds(self, X: Any, *, marginalise: bool) -> Vector | Matrix:
        """What decisions are made by: of class 1 for two classes, else of each against the rest.

        Without averages, those of models for single classes are their own.
        """
        class_model = self.models[0]
        if not class_model.is_joint and not marginalise:
            each = [model_log_odds(model, X, marginalise=False) for model in class_model.models]
            return each[0] if len(each) == 1 else np.column_stack(each)
        log = self.log_probability(X, marginalise=marginalise)
        if log.shape[1] == 2:
            return log[:, 1] - log[:, 0]
        rest = [logsumexp(np.delete(log, k, axis=1), axis=1) for k in range(log.shape[1])]
        return log - np.column_stack(rest)

    def extrapolation(self, X: Any) -> Vector | None:
        """How far inputs are beyond the training inputs; None if that is not known."""
        known = [class_model.novelty for class_model in self.models]
        parts = [each.extrapolation(X) for each in known if each is not None]
        if len(parts) < len(known):
            return None
        return np.asarray(self.weights @ np.array(parts))
