"""One fitted model of latent functions: the active atoms and the posterior of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.error_bars import Novelty, fit_label_novelty
from relvec.laplace.pairs import PairDesign, PairPosterior
from relvec.laplace.variational import find_nearest_gaussian
from relvec.likelihoods import Likelihood, Prediction, SoftmaxPrediction
from relvec.likelihoods.base import WorkingResponse
from relvec.likelihoods.softmax import BoundSoftmax
from relvec.moments import Storage
from relvec.moments.gram import SufficientStatistics
from relvec.posterior import Posterior, condition
from relvec.solvers import LatentProblem, LatentSolution

__all__ = ["FittedLatentModel", "build_latent_model", "store_atoms"]


@dataclass(frozen=True, eq=False)
class FittedLatentModel:
    """Fitted model of one or several latent functions, such as the logits of classes."""

    likelihood: Likelihood
    active: IndexArray
    """Atoms in the model, as columns of the dictionary it was fitted on."""
    atoms: Atoms
    posterior: Posterior | PairPosterior
    """Laplace approximation around the mode. For one latent function it is the posterior of the
    equivalent weighted least-squares regression with noise variance one (Tipping 2001, eqs. 25 to
    28); for several it is joint."""
    coef: Matrix
    """Posterior mean of the weights, one row per latent function; zero where it has no such
    atom."""
    weight_precision: Matrix
    """Their prior precisions, shaped like `coef`; infinite where there is no such atom."""
    intercept: Vector
    """Latent functions where all atoms are zero, fixed or fitted."""
    log_evidence: float
    objective: float
    n_iter: int
    converged: bool
    trace: tuple[float, ...]
    certificate: tuple[float, float]
    fixed_intercept: Vector | None = None
    """Intercepts that were not fitted; None if they were."""
    novelty: Novelty | None = None
    adds_novelty_variance: bool = True
    """Whether the variance of the novelty process is added to the logits over which predictions
    are marginalised, as in release 0.1; otherwise `ClassModel` mixes in the class prior."""
    variational_posterior: PairPosterior | None = None
    """For several latent functions, the Gaussian of least Kullback-Leibler divergence from the
    posterior, over which predictions are marginalised."""
    marginalises: bool = True
    """Whether predictions are marginalised over the weights. Not for `fit_linear_labels`, whose
    precision was chosen by the log loss at the mode."""

    def mean(self, X: Any) -> Matrix:
        """Posterior mean of the latent functions; of shape (n_rows,) if there is one."""
        return self.posterior.predict(self.atoms.evaluate(X)) + self._offset

    def latent(self, X: Any) -> tuple[Matrix, Matrix]:
        """Posterior mean and variance of each latent function."""
        atoms = self.atoms.evaluate(X)
        # rho amplitude (see `Novelty`): prior variance that the training inputs leave unexplained.
        extra = 0.0 if self.novelty is None else self.novelty.amplitude * self.novelty.share(X)
        if isinstance(self.posterior, PairPosterior):
            mean, covariance = self.posterior.moments(atoms)
            variance = np.einsum("nkk->nk", covariance) + np.reshape(extra, (-1, 1))
        else:
            mean, variance = self.posterior.predict(atoms), self.posterior.variance(atoms) + extra
        return mean + self._offset, variance

    def predict(self, X: Any, *, block_entries: int = 1_000_000) -> Prediction:
        """Predictive distribution of new targets, marginalised over the weights."""
        atoms = self.atoms.evaluate(X)
        posterior = (
            self.posterior if self.variational_posterior is None else self.variational_posterior
        )
        extra = np.zeros(len(atoms))
        if self.adds_novelty_variance and self.novelty is not None and self.fixed_intercept is None:
            extra = self.novelty.amplitude * self.novelty.share(X)
        if isinstance(posterior, Posterior):
            mean = posterior.predict(atoms) + self._offset
            known = posterior.variance(atoms) if self.marginalises else 0.0
            return self.likelihood.predict(mean, known + extra)
        n_latent = len(self.coef)
        size = max(getattr(self.likelihood, "n_points", 0), len(posterior.weights)) * n_latent
        step, parts = max(1, block_entries // size), [np.empty((0, n_latent))]
        for start in range(0, len(atoms), step):
            rows = slice(start, start + step)
            mean, covariance = posterior.moments(atoms[rows])
            # Independent logits: the novelty processes of the classes have the same variance.
            covariance = covariance + extra[rows, None, None] * np.eye(n_latent)
            parts.append(self.likelihood.predict(mean + self._offset, covariance).mean)
        return SoftmaxPrediction(np.concatenate(parts))

    @property
    def _offset(self) -> Vector | float:
        return 0.0 if self.fixed_intercept is None else self.fixed_intercept


def store_atoms(dictionary: Dictionary, X: Any, low_memory: bool | None) -> Dictionary:
    """Store the atoms at the training inputs if they fit into memory.

    With `low_memory` None this is decided by their size.
    """
    n_samples, n_atoms = dictionary.shape
    if low_memory is None:
        # kernels of up to 16 features are evaluated as fast as they are read from memory
        limit = Storage().store_bytes // (1 if X.shape[1] > 16 else 16)
        low_memory = 8 * n_samples * n_atoms > limit
    if low_memory or isinstance(dictionary, DenseDictionary | SparseDictionary):
        return dictionary
    return DenseDictionary(dictionary.columns(np.arange(n_atoms)))


def build_latent_model(
    problem: LatentProblem,
    solution: LatentSolution,
    bound: BoundBasis,
    X: Any,
    *,
    shift: Vector,
    fixed_intercept: Vector | None,
    error_bars: str,
    working: WorkingResponse | None = None,
) -> FittedLatentModel:
    """Build the fitted model from the solution of a solver.

    Parameters
    ----------
    problem : LatentProblem
        The problem that was solved.
    solution : LatentSolution
        Its solution.
    bound : BoundBasis
        All atoms.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    shift : ndarray of shape (n_atoms,)
        Constant that was subtracted from each atom before the fit.
    fixed_intercept : ndarray of shape (n_latent,) or None
        Intercepts that were not fitted; None if they were. Offsets of training rows are not part
        of them and are not kept.
    error_bars : {"novelty", "plain"}
        Whether to add a novelty process.
    working : WorkingResponse, optional
        For one latent function, the weighted regression whose posterior is that of the weights;
        default, that of the Laplace approximation.
    """
    state, mode, likelihood = solution.state, solution.state.mode, problem.likelihood
    # Pairs (latent function, atom) are numbered row by row.
    row, atom = np.divmod(state.active, max(problem.dictionary.shape[1], 1))
    active, place = np.unique(atom, return_inverse=True)
    posterior: Posterior | PairPosterior
    variational = None
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
        variational = replace(
            posterior, weights=weights, factor=hessian.factor, scale=hessian.scale
        )
    else:
        # At the mode the model is a weighted least-squares regression (iteratively reweighted
        # least squares) on the working responses, with noise variance one.
        if working is None:
            working = likelihood.working_responses(mode.latent)[0]
        curvature, response = working
        statistics = SufficientStatistics(len(active))
        statistics.update(bound.dictionary.columns(active), response, curvature)
        moments = statistics.moments(centre=problem.has_intercept)
        posterior = condition(
            moments,
            place,
            # lam = alpha sigma^2 / |phi|^2 for unit columns (docs/notation.md), with sigma^2 = 1.
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
        intercept=np.atleast_1d(posterior.intercept)
        + (0.0 if fixed_intercept is None else fixed_intercept),
        log_evidence=mode.log_evidence,
        objective=state.objective,
        n_iter=solution.n_iter,
        converged=solution.converged,
        trace=solution.trace,
        certificate=(solution.certificate.gradient, solution.certificate.best_gain),
        fixed_intercept=fixed_intercept,
        novelty=novelty,
        adds_novelty_variance=False,
        variational_posterior=variational,
    )
