"""One fitted model of latent functions: the active atoms, their posterior, and what widens it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Novelty, fit_label_novelty
from relvec.laplace.pairs import PairDesign, PairPosterior
from relvec.likelihoods import Likelihood, Prediction, SoftmaxPrediction
from relvec.moments.gram import SufficientStatistics
from relvec.posterior import Posterior, condition
from relvec.solvers import LatentProblem, LatentSolution

__all__ = ["FittedMachine", "finish_machine"]


@dataclass(frozen=True, eq=False)
class FittedMachine:
    """Everything needed to answer questions about the latent functions of one model."""

    likelihood: Likelihood
    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior | PairPosterior
    """Of one latent function, that of the regression that the model is at its mode, whose noise
    variance is one; or of several."""
    places: tuple[IndexArray, ...]
    """Which of the active atoms each latent function has."""
    shift: Vector
    """Taken off the atoms before they are multiplied by the weights of several functions."""
    coef: Matrix
    """Posterior mean of the weights, one row per latent function; zero where it has no such
    atom."""
    weight_precision: Matrix
    """Their prior precisions, shaped like `coef`; infinite where there is no such atom."""
    intercept: Vector
    """Latent functions where all atoms are zero, given or fitted."""
    log_evidence: float
    objective: float
    n_iter: int
    converged: bool
    trace: tuple[float, ...]
    certificate: tuple[float, float]
    given: Vector | None = None
    """Latent functions where all atoms are zero, if that was not fitted."""
    novelty: Novelty | None = None

    def mean(self, X: Any) -> Matrix:
        """Posterior mean of the latent functions, of the shape (n_rows,) if there is one."""
        atoms = self.atoms.at(X)
        if isinstance(self.posterior, PairPosterior):
            return self.posterior.latent(self._by_function(atoms))
        return self.posterior.predict(atoms) + self._offset

    def latent(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and variance of each latent function."""
        atoms = self.atoms.at(X)
        more = 0.0 if self.novelty is None else self.novelty.amplitude * self.novelty.share(X)
        if isinstance(self.posterior, PairPosterior):
            mean, covariance = self.posterior.moments(self._by_function(atoms))
            return mean, np.einsum("nkk->nk", covariance) + np.reshape(more, (-1, 1))
        mean = self.posterior.predict(atoms) + self._offset
        return mean, self.posterior.variance(atoms) + more

    def predict(self, X: Any, *, block_entries: int = 1_000_000) -> Prediction:
        """Distribution of new targets, averaged over the latent functions.

        A function that falls back to what was given is averaged already: what is not known far
        from the data would pull it from there.
        """
        atoms = self.atoms.at(X)
        novelty = self.novelty if self.given is None else None
        more = np.zeros(len(atoms)) if novelty is None else novelty.amplitude * novelty.share(X)
        posterior = self.posterior
        if isinstance(posterior, Posterior):
            mean = posterior.predict(atoms) + self._offset
            return self.likelihood.predict(mean, posterior.variance(atoms) + more)
        by_function, n_latent = self._by_function(atoms), len(self.places)
        size = max(getattr(self.likelihood, "n_points", 0), len(posterior.weights)) * n_latent
        step, parts = max(1, block_entries // size), []
        for start in range(0, len(atoms), step):
            rows = slice(start, start + step)
            mean, covariance = posterior.moments([each[rows] for each in by_function])
            covariance = covariance + more[rows, None, None] * np.eye(n_latent)
            parts.append(self.likelihood.predict(mean, covariance).mean)
        return SoftmaxPrediction(np.concatenate([np.empty((0, n_latent)), *parts]))

    @property
    def _offset(self) -> float:
        return 0.0 if self.given is None else float(self.given[0])

    def _by_function(self, atoms: Matrix) -> list[Matrix]:
        atoms = atoms - self.shift
        return [atoms[:, place] for place in self.places]


def finish_machine(
    problem: LatentProblem,
    solution: LatentSolution,
    bound: BoundBasis,
    X: Any,
    *,
    shift: Vector,
    given: Vector | None,
    error_bars: str,
) -> FittedMachine:
    """Keep what predictions need of a solution.

    The solver may have seen the atoms shifted, by `shift`. The intercepts `given` are the part of
    the offset that new rows have, too; offsets of training rows are their own.
    """
    state, likelihood = solution.state, problem.likelihood
    by_function = problem.split(state.active)
    active = np.unique(np.concatenate(by_function))
    posterior: Posterior | PairPosterior
    if problem.n_blocks == 1:
        posterior = _as_regression(problem, solution, bound)
        coefficients = [posterior.coef]
        intercept = np.array([posterior.intercept]) + (0.0 if given is None else given)
    else:
        mode = state.mode
        assert isinstance(mode.design, PairDesign)
        posterior = PairPosterior.of(mode.design, mode.hessian, mode.weights, given)
        coefficients, intercept = posterior.coefficients, posterior.intercepts
    coef = np.zeros((problem.n_blocks, len(active)))
    precision, places = np.full(coef.shape, np.inf), []
    values = np.split(np.exp(state.log_precision), np.cumsum([*map(len, by_function)])[:-1])
    for row, index in enumerate(by_function):
        places.append(np.searchsorted(active, index))
        coef[row, places[row]], precision[row, places[row]] = coefficients[row], values[row]
    if problem.n_blocks > 1:
        intercept = intercept - coef @ shift[active]
    kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
    novelty = None
    if kernel is not None and len(active):
        latent = (state.mode.latent - likelihood.given).reshape(-1, problem.n_blocks)
        novelty = fit_label_novelty(kernel, X, likelihood.weight, latent)
    return FittedMachine(
        likelihood=likelihood.recipe,
        active=active,
        atoms=bound.atoms.take(active),
        posterior=posterior,
        places=tuple(places),
        shift=shift[active],
        coef=coef,
        weight_precision=precision,
        intercept=intercept,
        log_evidence=state.mode.log_evidence,
        objective=state.objective,
        n_iter=solution.n_iter,
        converged=solution.converged,
        trace=solution.trace,
        certificate=(solution.certificate.gradient, solution.certificate.best_gain),
        given=given,
        novelty=novelty,
    )


def _as_regression(
    problem: LatentProblem, solution: LatentSolution, bound: BoundBasis
) -> Posterior:
    """Posterior of one latent function, as the regression that the model is at its mode."""
    state, k = solution.state, len(solution.state.active)
    curvature, response = problem.likelihood.responses(state.mode.latent)[0]
    statistics = SufficientStatistics(k)
    statistics.update(bound.dictionary.columns(state.active), response, curvature)
    moments = statistics.moments(centre=problem.has_intercept)
    return condition(
        moments,
        np.arange(k),
        state.log_precision - 2.0 * np.log(moments.column_norm),
        has_intercept=problem.has_intercept,
        noise_variance=1.0,
    )
