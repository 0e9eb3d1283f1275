"""How several classes are told apart: by one machine, by one for each class, or jointly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

from relvec._typing import Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.estimators._machine import FittedMachine
from relvec.likelihoods import BernoulliPrediction

__all__ = ["OneVersusRest", "Panel", "Softmax", "TwoClasses"]


class Panel(ABC):
    """A fitted classifier without its labels: classes are numbered from zero.

    Attributes are those of its machines put together: atoms used by any of them, one row of
    `coef` and `weight_precision` for each logit, evidences added up. An intercept that was not
    fitted is the logit of the class shares, or zero.
    """

    def __init__(
        self, machines: list[FittedMachine], bound: BoundBasis, *, intercept_is_fitted: bool
    ) -> None:
        self.machines, self.intercept_is_fitted = machines, intercept_is_fitted
        self.active = np.unique(np.concatenate([*map(attrgetter("active"), machines)]))
        self.atoms = bound.atoms.take(self.active)
        n_logits = sum(map(len, map(attrgetter("coef"), machines)))
        self.coef = np.zeros((n_logits, len(self.active)))
        self.weight_precision = np.full(self.coef.shape, np.inf)
        first = 0
        for machine in machines:
            rows = slice(first, first + len(machine.coef))
            where = np.searchsorted(self.active, machine.active)
            self.coef[rows, where] = machine.coef
            self.weight_precision[rows, where] = machine.weight_precision
            first = rows.stop
        self.intercept = np.concatenate([*map(attrgetter("intercept"), machines)])
        self.log_evidence = sum(map(attrgetter("log_evidence"), machines))
        self.objective = sum(map(attrgetter("objective"), machines))
        self.n_iter = max(map(attrgetter("n_iter"), machines))
        self.converged = all(map(attrgetter("converged"), machines))
        self.trace = machines[0].trace
        if len(machines) > 1:
            self.trace = _added_up([*map(attrgetter("trace"), machines)])
        gradients, gains = zip(*map(attrgetter("certificate"), machines), strict=True)
        self.certificate = (max(gradients), max(gains))

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""
        answers = [machine.latent(X) for machine in self.machines]
        if len(answers) == 1:
            return answers[0][0], np.sqrt(answers[0][1])
        means, variances = zip(*answers, strict=True)
        return np.column_stack(means), np.sqrt(np.column_stack(variances))

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class, shape (n, n_classes)."""
        return np.exp(self.log_probability(X, moderated=moderated))

    @abstractmethod
    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of `probability`, also where that is too small for a number."""

    @abstractmethod
    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """What decisions are made by: of class 1 for two classes, else one column per class."""


class TwoClasses(Panel):
    """One logit for two classes."""

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log odds of class 1."""
        return _log_odds(self.machines[0], X, moderated)

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class."""
        odds = _log_odds(self.machines[0], X, moderated)
        return np.column_stack([log_expit(-odds), log_expit(odds)])


class OneVersusRest(Panel):
    """A machine for every class, asked whether it is this one or another."""

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log odds of each class against the rest."""
        return np.column_stack([_log_odds(each, X, moderated) for each in self.machines])

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class, made to sum to one."""
        positive = log_expit(self.log_odds(X, moderated=moderated))
        scaled: Matrix = positive - logsumexp(positive, axis=1, keepdims=True)
        return scaled


class Softmax(Panel):
    """One model of all classes."""

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log probability of each class."""
        return self.log_probability(X, moderated=moderated)

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class."""
        if moderated:
            probability = self.probability(X, moderated=True)
            return np.log(np.maximum(probability, np.finfo(np.float64).tiny))
        logits = self.machines[0].mean(X)
        scaled: Matrix = logits - logsumexp(logits, axis=1, keepdims=True)
        return scaled

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class."""
        if moderated:
            return self.machines[0].predict(X).mean
        return np.exp(self.log_probability(X, moderated=False))


def _log_odds(machine: FittedMachine, X: Any, moderated: bool) -> Vector:
    if not moderated:
        return machine.mean(X)
    prediction = machine.predict(X)
    assert isinstance(prediction, BernoulliPrediction)
    return prediction.log_odds


def _added_up(traces: list[tuple[float, ...]]) -> tuple[float, ...]:
    """Sum of the objectives of machines that are fitted one after the other."""
    total = sum(trace[0] for trace in traces)
    result = [total]
    for trace in traces:
        result.extend(total + value - trace[0] for value in trace[1:])
        total = result[-1]
    return tuple(result)
