"""One fitted model of latent functions: the active atoms, their posterior, and what widens it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.error_bars import Novelty, fit_label_novelty
from relvec.laplace.pairs import PairDesign, PairPosterior
from relvec.laplace.variational import find_nearest_gaussian
from relvec.likelihoods import Likelihood, Prediction, SoftmaxPrediction
from relvec.likelihoods.softmax import BoundSoftmax
from relvec.moments.gram import SufficientStatistics
from relvec.posterior import Posterior, condition
from relvec.solvers import LatentProblem, LatentSolution

__all__ = ["FittedLatentModel", "finish_latent_model"]


@dataclass(frozen=True, eq=False)
class FittedLatentModel:
    """Everything needed to answer questions about the latent functions of one model."""

    likelihood: Likelihood
    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior | PairPosterior
    """Around the mode. Of one latent function, that of the regression that the model is there,
    whose noise variance is one; or of several."""
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
    widens: bool = True
    """Whether what is not known far from the data widens the logits that predictions are averaged
    over, as in release 0.1; otherwise `ClassModel` says what becomes of predictions there."""
    nearest: PairPosterior | None = None
    """Of several latent functions, the Gaussian nearest to the posterior, over which predictions
    are averaged."""
    averages: bool = True
    """Whether predictions are averaged over the weights; if not, those at the mode are calibrated,
    as the precision was chosen by them."""

    def mean(self, X: Any) -> Matrix:
        """Posterior mean of the latent functions, of the shape (n_rows,) if there is one."""
        return self.posterior.predict(self.atoms.evaluate(X)) + self._offset

    def latent(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and variance of each latent function."""
        atoms = self.atoms.evaluate(X)
        more = 0.0 if self.novelty is None else self.novelty.amplitude * self.novelty.share(X)
        if isinstance(self.posterior, PairPosterior):
            mean, covariance = self.posterior.moments(atoms)
            variance = np.einsum("nkk->nk", covariance) + np.reshape(more, (-1, 1))
        else:
            mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms) + more
        return mean + self._offset, variance

    def predict(self, X: Any, *, block_entries: int = 1_000_000) -> Prediction:
        """Distribution of new targets, averaged over the latent functions."""
        atoms = self.atoms.evaluate(X)
        posterior = self.posterior if self.nearest is None else self.nearest
        more = np.zeros(len(atoms))
        if self.widens and self.novelty is not None and self.given is None:
            more = self.novelty.amplitude * self.novelty.share(X)
        if isinstance(posterior, Posterior):
            mean = posterior.predict(atoms) + self._offset
            known = posterior.variance(atoms) if self.averages else 0.0
            return self.likelihood.predict(mean, known + more)
        n_latent = len(self.coef)
        size = max(getattr(self.likelihood, "n_points", 0), len(posterior.weights)) * n_latent
        step, parts = max(1, block_entries // size), [np.empty((0, n_latent))]
        for start in range(0, len(atoms), step):
            rows = slice(start, start + step)
            mean, covariance = posterior.moments(atoms[rows])
            covariance = covariance + more[rows, None, None] * np.eye(n_latent)
            parts.append(self.likelihood.predict(mean + self._offset, covariance).mean)
        return SoftmaxPrediction(np.concatenate(parts))

    @property
    def _offset(self) -> Vector | float:
        return 0.0 if self.given is None else self.given


def finish_latent_model(
    problem: LatentProblem,
    solution: LatentSolution,
    bound: BoundBasis,
    X: Any,
    *,
    shift: Vector,
    given: Vector | None,
    error_bars: str,
) -> FittedLatentModel:
    """Keep what predictions need of a solution.

    The solver may have seen the atoms shifted, by `shift`. The intercepts `given` are the part of
    the offset that new rows have, too; offsets of training rows are their own.
    """
    state, mode, likelihood = solution.state, solution.state.mode, problem.likelihood
    row, atom = np.divmod(state.active, max(problem.dictionary.shape[1], 1))
    active, place = np.unique(atom, return_inverse=True)
    posterior: Posterior | PairPosterior
    nearest = None
    if isinstance(mode.design, PairDesign):
        posterior = PairPosterior(
            mode.weights,
            mode.design.sizes,
            place,
            shift[active],
            mode.design.contrast,
            mode.hessian.factor,
            mode.hessian.scale,
        )
        assert isinstance(likelihood, BoundSoftmax)
        weights, hessian = find_nearest_gaussian(mode, likelihood)
        nearest = replace(posterior, weights=weights, factor=hessian.factor, scale=hessian.scale)
    else:  # that of the regression that the model is at its mode
        curvature, response = likelihood.working_responses(mode.latent)[0]
        statistics = SufficientStatistics(len(active))
        statistics.update(bound.dictionary.columns(active), response, curvature)
        moments = statistics.moments(centre=problem.has_intercept)
        posterior = condition(
            moments,
            place,
            state.log_precision - 2.0 * np.log(moments.column_norm),
            has_intercept=problem.has_intercept,
            noise_variance=1.0,
        )
    precision = np.full((problem.n_blocks, len(active)), np.inf)
    precision[row, place] = np.exp(state.log_precision)
    kernel = None if error_bars == "plain" else bound.atoms.decaying_kernel()
    novelty = None
    if kernel is not None and len(active):
        latent = (mode.latent - likelihood.offset_or_zero).reshape(-1, problem.n_blocks)
        novelty = fit_label_novelty(kernel, X, likelihood.weight, latent)
    return FittedLatentModel(
        likelihood=likelihood.recipe,
        active=active,
        atoms=bound.atoms.subset(active),
        posterior=posterior,
        coef=np.atleast_2d(posterior.coef),
        weight_precision=precision,
        intercept=np.atleast_1d(posterior.intercept) + (0.0 if given is None else given),
        log_evidence=mode.log_evidence,
        objective=state.objective,
        n_iter=solution.n_iter,
        converged=solution.converged,
        trace=solution.trace,
        certificate=(solution.certificate.gradient, solution.certificate.best_gain),
        given=given,
        novelty=novelty,
        widens=False,
        nearest=nearest,
    )
