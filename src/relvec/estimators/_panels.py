"""How several classes are told apart: by one machine, by one for each class, or jointly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_expit, logsumexp

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import fit_label_novelty
from relvec.estimators._machine import FittedMachine
from relvec.solvers.latent.softmax_problem import SoftmaxProblem, SoftmaxSolution

__all__ = ["OneVersusRest", "Panel", "Softmax", "TwoClasses"]

POINTS = 1024
"""Values of the logits over which probabilities of several classes are averaged."""


class Panel(ABC):
    """A fitted classifier without its labels: classes are numbered from zero."""

    active: IndexArray
    """Atoms used by any class, as columns of the dictionary the panel was fitted on."""
    atoms: Atoms
    """The same atoms as functions of the input."""
    coef: Matrix
    """Posterior mean of their weights, one row per logit; zero where a class does not use one."""
    weight_precision: Matrix
    """Their prior precisions, shaped like `coef`; infinite where a class does not use one."""
    intercept: Vector
    intercept_is_fitted: bool
    """Whether it was; else it is the logit of the class shares, or zero."""
    log_evidence: float
    objective: float
    n_iter: int
    converged: bool
    trace: tuple[float, ...]
    certificate: tuple[float, float]

    @abstractmethod
    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class, shape (n, n_classes)."""

    @abstractmethod
    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of `probability`, also where that is too small for a number."""

    @abstractmethod
    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """What decisions are made by: of class 1 for two classes, else one column per class."""

    @abstractmethod
    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of every logit."""


class TwoClasses(Panel):
    """One logit for two classes."""

    def __init__(self, machine: FittedMachine) -> None:
        self.machine = machine
        self.active, self.atoms = machine.active, machine.atoms
        posterior = machine.posterior
        self.coef = posterior.coef[None]
        self.weight_precision = np.exp(machine.log_precision)[None]
        self.intercept = np.array([machine.intercept])
        self.log_evidence, self.objective = machine.log_evidence, machine.objective
        self.n_iter, self.converged = machine.n_iter, machine.converged
        self.trace, self.certificate = machine.trace, machine.certificate

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of the logit of class 1."""
        mean, variance = self.machine.logit(X)
        return mean, np.sqrt(variance)

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log odds of class 1."""
        return _log_odds(self.machine, X, moderated)

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class."""
        return np.exp(self.log_probability(X, moderated=moderated))

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class."""
        odds = _log_odds(self.machine, X, moderated)
        return np.column_stack([log_expit(-odds), log_expit(odds)])


class OneVersusRest(Panel):
    """A machine for every class, asked whether it is this one or another."""

    def __init__(self, machines: list[FittedMachine], bound: BoundBasis) -> None:
        self.machines = machines
        self.active = np.unique(np.concatenate([machine.active for machine in machines]))
        self.atoms = bound.atoms.take(self.active)
        self.coef = np.zeros((len(machines), len(self.active)))
        self.weight_precision = np.full(self.coef.shape, np.inf)
        for row, machine in enumerate(machines):
            where = np.searchsorted(self.active, machine.active)
            self.coef[row, where] = machine.posterior.coef
            self.weight_precision[row, where] = np.exp(machine.log_precision)
        self.intercept = np.array([machine.intercept for machine in machines])
        self.log_evidence = sum(machine.log_evidence for machine in machines)
        self.objective = sum(machine.objective for machine in machines)
        self.n_iter = max(machine.n_iter for machine in machines)
        self.converged = all(machine.converged for machine in machines)
        self.trace = _added_up([machine.trace for machine in machines])
        self.certificate = (
            max(machine.certificate[0] for machine in machines),
            max(machine.certificate[1] for machine in machines),
        )

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of each class against the rest."""
        answers = [machine.logit(X) for machine in self.machines]
        means = np.column_stack([mean for mean, _ in answers])
        return means, np.sqrt(np.column_stack([variance for _, variance in answers]))

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log odds of each class against the rest."""
        return np.column_stack([_log_odds(each, X, moderated) for each in self.machines])

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class, made to sum to one."""
        return np.exp(self.log_probability(X, moderated=moderated))

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class, made to sum to one."""
        positive = log_expit(self.log_odds(X, moderated=moderated))
        scaled: Matrix = positive - logsumexp(positive, axis=1, keepdims=True)
        return scaled


def _added_up(traces: list[tuple[float, ...]]) -> tuple[float, ...]:
    """Sum of the objectives of machines that are fitted one after the other."""
    total = sum(trace[0] for trace in traces)
    result = [total]
    for trace in traces:
        result.extend(total + value - trace[0] for value in trace[1:])
        total = result[-1]
    return tuple(result)


def _log_odds(machine: FittedMachine, X: Any, moderated: bool) -> Vector:
    return machine.moderated_logit(X) if moderated else machine.logit(X)[0]


class Softmax(Panel):
    """One model of all classes."""

    def __init__(
        self,
        problem: SoftmaxProblem,
        solution: SoftmaxSolution,
        bound: BoundBasis,
        X: Any,
        shift: Vector,
        *,
        error_bars: str,
    ) -> None:
        state = solution.state
        kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
        self.novelty = None
        if kernel is not None and len(state.active):
            logits, weight = state.mode.logits, problem.labels.weight
            self.novelty = fit_label_novelty(kernel, X, weight, logits)
        by_class = problem.atoms_by_class(state.active)
        offset = problem.labels.offset
        # as for two classes, logits that fall back to the class shares are averaged already
        self.is_given = offset is not None
        self.posterior = state.mode.posterior(None if offset is None else offset[0])
        self.active = np.unique(np.concatenate(by_class))
        self.atoms = bound.atoms.take(self.active)
        self.places = [np.searchsorted(self.active, index) for index in by_class]
        self.coef = np.zeros((problem.n_blocks, len(self.active)))
        self.weight_precision = np.full(self.coef.shape, np.inf)
        ends = np.cumsum([0, *(len(index) for index in by_class)])
        for row, (place, weights) in enumerate(
            zip(self.places, self.posterior.coefficients, strict=True)
        ):
            self.coef[row, place] = weights
            precision = state.log_precision[ends[row] : ends[row + 1]]
            self.weight_precision[row, place] = np.exp(precision)
        self.shift = shift[self.active]
        self.intercept = self.posterior.intercepts - self.coef @ self.shift
        self.log_evidence, self.objective = state.mode.log_evidence, state.objective
        self.n_iter, self.converged = solution.n_iter, solution.converged
        self.trace = solution.trace
        self.certificate = (solution.certificate.gradient, solution.certificate.best_gain)

    def _by_class(self, X: Any) -> list[Matrix]:
        atoms = self.atoms.at(X) - self.shift
        return [atoms[:, place] for place in self.places]

    def logit(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and standard deviation of the logit of each class."""
        mean, covariance = self.posterior.logit_moments(self._by_class(X))
        variance = np.einsum("nkk->nk", covariance)
        if self.novelty is not None:
            variance = variance + self.novelty.variance(X)[:, None]
        return mean, np.sqrt(variance)

    def log_odds(self, X: Any, *, moderated: bool) -> Vector | Matrix:
        """Log probability of each class."""
        return self.log_probability(X, moderated=moderated)

    def log_probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Logarithm of the probability of each class."""
        if moderated:
            probability = self.probability(X, moderated=True)
            return np.log(np.maximum(probability, np.finfo(np.float64).tiny))
        logits = self.posterior.logits(self._by_class(X))
        scaled: Matrix = logits - logsumexp(logits, axis=1, keepdims=True)
        return scaled

    def probability(self, X: Any, *, moderated: bool) -> Matrix:
        """Probability of each class."""
        by_class = self._by_class(X)
        if not moderated:
            return self.posterior.plug_in(by_class)
        more = None
        if self.novelty is not None and not self.is_given:
            more = self.novelty.variance(X)
        return self.posterior.probabilities(by_class, POINTS, more)
