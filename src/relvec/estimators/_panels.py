"""How several classes are told apart: by one machine, by one for each class, or jointly."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

from relvec._typing import Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.estimators._machine import FittedMachine
from relvec.likelihoods import BernoulliPrediction

__all__ = ["Panel"]


class Panel:
    """A fitted classifier without its labels: classes are numbered from zero.

    It has one machine for two classes, one for every class, asked whether it is this one or
    another, or one of all classes jointly. Attributes are those of its machines put together:
    atoms used by any of them, one row of `coef` and `weight_precision` for each logit, evidences
    added up. An intercept that was not fitted is the logit of the class shares, or zero.
    """

    def __init__(
        self, machines: list[FittedMachine], bound: BoundBasis, *, intercept_is_fitted: bool
    ) -> None:
        self.machines, self.intercept_is_fitted = machines, intercept_is_fitted
        self.is_joint = machines[0].likelihood.n_latent > 1
        self.active = np.unique(np.concatenate([*map(attrgetter("active"), machines)]))
        self.atoms = bound.atoms.take(self.active)
        self.intercept = np.concatenate([*map(attrgetter("intercept"), machines)])
        self.coef = np.zeros((len(self.intercept), len(self.active)))
        self.weight_precision = np.full(self.coef.shape, np.inf)
        first = 0
        for machine in machines:
            rows = slice(first, first + len(machine.coef))
            where = np.searchsorted(self.active, machine.active)
            self.coef[rows, where] = machine.coef
            self.weight_precision[rows, where] = machine.weight_precision
            first = rows.stop
        self.log_evidence = sum(map(attrgetter("log_evidence"), machines))
        self.objective = sum(map(attrgetter("objective"), machines))
        self.n_iter = max(map(attrgetter("n_iter"), machines))
        self.converged = all(map(attrgetter("converged"), machines))
        self.certificate = np.max([*map(attrgetter("certificate"), machines)], axis=0).tolist()
        # machines are fitted one after the other
        self.trace = np.array(machines[0].trace)
        for machine in machines[1:]:
            before, rise = (
                self.trace + machine.trace[0],
                np.subtract(machine.trace, machine.trace[0]),
            )
            self.trace = np.append(before, before[-1] + rise[1:])

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""
        means, variances = zip(*[machine.latent(X) for machine in self.machines], strict=True)
        if len(means) == 1:
            return means[0], np.sqrt(variances[0])
        return np.column_stack(means), np.sqrt(np.column_stack(variances))

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class, shape (n, n_classes)."""
        return np.exp(self.log_probability(X, moderated=moderated))

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of `probability`, also where that is too small for a number."""
        if self.is_joint and moderated:
            probability = self.machines[0].predict(X).mean
            return np.log(np.maximum(probability, np.finfo(np.float64).tiny))
        if self.is_joint:
            each = self.machines[0].mean(X)
        else:
            odds = self.log_odds(X, moderated=moderated)
            if len(self.machines) == 1:
                return np.column_stack([log_expit(-odds), log_expit(odds)])
            each = log_expit(odds)
        scaled: Matrix = each - logsumexp(each, axis=1, keepdims=True)
        return scaled

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """What decisions are made by: of class 1 for two classes, else one column per class.

        Of a class against the rest or, in a joint model, its log probability.
        """
        if self.is_joint:
            return self.log_probability(X, moderated=moderated)
        each = []
        for machine in self.machines:
            if moderated:
                prediction = machine.predict(X)
                assert isinstance(prediction, BernoulliPrediction)
                each.append(prediction.log_odds)
            else:
                each.append(machine.mean(X))
        return each[0] if len(each) == 1 else np.column_stack(each)
