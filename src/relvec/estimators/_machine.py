"""One fitted two-class machine: the active atoms, their posterior, and what widens its doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Novelty, fit_label_novelty
from relvec.likelihoods.bernoulli import moderate
from relvec.moments.gram import SufficientStatistics
from relvec.posterior import Posterior, condition
from relvec.solvers.latent.labels import LabelProblem, LabelSolution

__all__ = ["FittedMachine", "finish_machine"]


@dataclass(frozen=True, eq=False)
class FittedMachine:
    """Everything needed to answer questions about one logit."""

    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior
    """Of the regression that the model is at its mode; its noise variance is one."""
    log_precision: Vector
    log_evidence: float
    objective: float
    n_iter: int
    converged: bool
    trace: tuple[float, ...]
    certificate: tuple[float, float]
    given: float | None = None
    """Logit where all atoms are zero, if it is that of the class shares and was not fitted."""
    novelty: Novelty | None = None

    @property
    def intercept(self) -> float:
        """Logit where all atoms are zero, given or fitted."""
        return self.posterior.intercept + (self.given or 0.0)

    def logit(self, X: Any) -> tuple[Vector, Vector]:
        """Posterior mean and variance of the logit."""
        mean, variance = self._plain_logit(X)
        return mean, variance if self.novelty is None else variance + self.novelty.variance(X)

    def moderated_logit(self, X: Any) -> Vector:
        """Mean logit, pulled towards zero by its own uncertainty."""
        # A logit that falls back to the class shares is averaged already: what is not known far
        # from the data would pull it from there to even odds.
        mean, variance = self._plain_logit(X) if self.given is not None else self.logit(X)
        return moderate(mean, variance)

    def _plain_logit(self, X: Any) -> tuple[Vector, Vector]:
        atoms = self.atoms.at(X)
        mean = self.posterior.predict(atoms) + (self.given or 0.0)
        return mean, self.posterior.variance(atoms)


def finish_machine(
    problem: LabelProblem,
    solution: LabelSolution,
    bound: BoundBasis,
    X: Any,
    *,
    error_bars: str,
) -> FittedMachine:
    """Keep what predictions need of a solution."""
    state, labels = solution.state, problem.labels
    mode, k = state.mode, len(state.active)
    statistics = SufficientStatistics(k)
    # the solver may have seen them shifted
    atoms = bound.dictionary.columns(state.active)
    statistics.update(atoms, mode.response, mode.curvature)
    moments = statistics.moments(centre=labels.has_intercept)
    posterior = condition(
        moments,
        np.arange(k),
        state.log_precision - 2.0 * np.log(moments.column_norm),
        has_intercept=labels.has_intercept,
        noise_variance=1.0,
    )
    kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
    novelty = None
    if kernel is not None and k:
        novelty = fit_label_novelty(kernel, X, labels.weight, mode.logit[:, None])
    return FittedMachine(
        active=state.active,
        atoms=bound.atoms.take(state.active),
        posterior=posterior,
        log_precision=state.log_precision,
        log_evidence=mode.log_evidence,
        objective=state.objective,
        n_iter=solution.n_iter,
        converged=solution.converged,
        trace=solution.trace,
        certificate=(solution.certificate.gradient, solution.certificate.best_gain),
        given=None if labels.offset is None else float(labels.offset[0]),
        novelty=novelty,
    )
