"""The plan of a regression of counts: options resolved to objects, and the steps of the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse

from relvec._linalg import limit_blas_threads
from relvec._typing import Vector
from relvec.bases import KernelBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.estimators._atom_location import centre_offset_atoms
from relvec.estimators._count_basis import WidthTuning, find_groups, make_width_union
from relvec.estimators._count_model import FittedCountModel
from relvec.estimators._count_shape import CountSolution, fit_shape, search_twice
from relvec.estimators._latent_model import build_latent_model, store_atoms
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._plan import Data, Plan
from relvec.estimators._solvers import without_flat
from relvec.laplace import find_mode
from relvec.laplace.nearest import find_nearest_regression
from relvec.likelihoods import Likelihood, Poisson
from relvec.solvers import (
    Certificate,
    LatentProblem,
    LatentSolution,
    LatentSolver,
    TiedLaplaceSolver,
)
from relvec.solvers.latent.problem import LatentState

__all__ = ["CountFit", "CountPlan", "CountTuning", "make_count_data", "stabilise_counts"]


@dataclass(frozen=True)
class CountTuning:
    """Constants of fits to counts that are not options."""

    max_log_rate: float = 10.0
    """Largest prior standard deviation of the contribution of a basis function to the log rate,
    over the training rows. Where no events are observed the evidence may grow with it without
    limit. One of these standard deviations is a factor of twenty thousand."""
    min_overdispersion_gain: float = 3.0
    """Gain in log evidence, in nats, above which ``likelihood="auto"`` is negative binomial. That
    model contains the Poisson model (infinite shape), so it never has a lower maximum. Twice the
    gain on Poisson counts is zero or chi-squared with one degree of freedom, with equal
    probabilities (Self & Liang 1987), so 3 nats are exceeded with probability .007."""


def make_count_data(
    X: np.ndarray, counts: Vector, log_exposure: Vector | None, weight: Vector | None
) -> Data:
    """Return training data whose targets have two columns: counts and log exposures."""
    offset = np.zeros(len(counts)) if log_exposure is None else log_exposure
    groups = np.zeros(len(counts), dtype=np.intp)
    return Data(X, np.column_stack([counts, offset]), weight, groups)


def has_events(data: Data) -> bool:
    """Whether a count of positive weight is positive."""
    counts = data.targets[:, 0] if data.weight is None else data.weight * data.targets[:, 0]
    return bool(counts.any())


def stabilise_counts(data: Data) -> Data:
    """Return the data of a regression with Gaussian noise from which length-scales are learnt.

    Anscombe's transform ``2 ((y + 3/8) / E)^(1/2)`` of a Poisson count with exposure ``E`` has mean
    about twice the root of the rate and variance about ``1 / E`` (Anscombe 1948), whatever the
    rate. So it is the noise variance of a row up to a common factor, which is estimated with the
    length-scales and also covers overdispersion. Units of the exposure have no effect.
    """
    counts, log_exposure = data.targets.T
    # In units of the largest exposure, so that the root neither overflows nor underflows.
    exposure = np.exp(log_exposure - log_exposure.max())
    target = 2.0 * np.sqrt((counts + 0.375) / exposure)
    target -= target.min()  # constant counts become exact zeros; the regression has an intercept
    variance = None if np.ptp(log_exposure) == 0.0 else 1.0 / exposure[:, None]
    return data._replace(targets=target[:, None], row_variance=variance)


@dataclass(frozen=True, eq=False)
class CountFit:
    """A bound basis and the model of the log rate fitted on it."""

    bound: BoundBasis
    model: FittedCountModel
    overdispersion_gain: float | None
    """Gain in the objective of the negative binomial over the Poisson likelihood, in nats; None if
    they were not compared."""
    scaled: ScaledBasis | None = None
    """The basis with its learnt length-scales; None if they were not learnt."""

    @property
    def objective(self) -> float:
        """Maximised objective in nats."""
        return self.model.objective


@dataclass(frozen=True, kw_only=True, eq=False)
class CountPlan(Plan[CountFit]):
    """Plan of a regression of counts, with the Laplace approximation of the evidence."""

    solver: LatentSolver
    likelihood: str | Likelihood
    """"poisson", "negative_binomial", "auto", or a likelihood with a given shape."""
    is_tied: bool
    """Whether all atoms of one basis of a union share a precision."""
    has_default_basis: bool = False
    """Whether no basis was given."""
    fit_intercept: bool
    count_tuning: CountTuning = CountTuning()

    def run(self, data: Data) -> CountFit:
        """Fit the basis as it is, or with learnt length-scales; of one feature, several widths."""
        plan = self
        if self.is_tied and self.has_default_basis and not issparse(data.X):
            widths = make_width_union(data.X, data.weight) if data.X.shape[1] == 1 else None
            if widths is not None:
                plan = replace(self, basis=widths, learner=None)
            elif data.X.shape[0] > WidthTuning.max_centers:
                plan = replace(self, basis=KernelBasis(centers=WidthTuning.max_centers))
        return Plan.run(plan, data)

    def fit(self, basis: Basis, data: Data) -> CountFit:
        """Fit the log rate with one likelihood, or with the better of two."""
        bound = self.bind_basis(basis, data)
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            dictionary = store_atoms(bound.dictionary, data.X, self.low_memory)
            shift = np.zeros(dictionary.shape[1])
            if self.fit_intercept:  # the intercept absorbs the shift
                dictionary, shift = centre_offset_atoms(dictionary, data.weight)
            found, gain = self._solve(bound, dictionary, data)
            mode, likelihood = found.solution.state.mode, found.problem.likelihood
            working = find_nearest_regression(mode, likelihood) if has_events(data) else None
            model = build_latent_model(
                found.problem,
                found.solution,
                bound,
                data.X,
                shift=shift,
                fixed_intercept=None,
                error_bars=self.error_bars,
                working=working,
            )
            model = FittedCountModel.from_latent(model, data.X, data.weight)
        return CountFit(bound, model, gain)

    def _solve(
        self, bound: BoundBasis, dictionary: Dictionary, data: Data
    ) -> tuple[CountSolution, float | None]:
        """Return the best solution and, if both likelihoods were fitted, the gain by the second."""

        def make_problem(recipe: Likelihood) -> LatentProblem:
            return self.make_problem(recipe, bound, dictionary, data)

        solver = (
            TiedLaplaceSolver(without_flat(find_groups(bound), bound))
            if self.is_tied
            else self.solver
        )
        is_empty = not has_events(data)
        if not isinstance(self.likelihood, str):
            problem = make_problem(self.likelihood)
            return CountSolution(problem, self._solve_fixed(solver, problem, is_empty)), None
        problem = make_problem(Poisson())
        poisson = CountSolution(problem, self._solve_fixed(solver, problem, is_empty))
        if self.likelihood == "poisson" or is_empty:
            return poisson, None if self.likelihood == "poisson" else 0.0
        overdispersed = fit_shape(solver, make_problem, poisson, self.monitor)
        if self.likelihood == "negative_binomial":
            return overdispersed, None
        gain = overdispersed.objective - poisson.objective
        is_overdispersed = gain > self.count_tuning.min_overdispersion_gain
        return overdispersed if is_overdispersed else poisson, gain

    def _solve_fixed(
        self, solver: LatentSolver, problem: LatentProblem, is_empty: bool
    ) -> LatentSolution:
        """Solve the problem of a likelihood without free parameters."""
        if not (is_empty and problem.has_intercept):
            return search_twice(solver, problem, self.monitor)
        # Without events the likelihood rises as the rate falls to zero, so an intercept with a flat
        # prior has no mode. The rate is that of half an event (`null_latent`), where the Gaussian
        # approximation has a standard deviation of the log rate of the root of two.
        n_rows = problem.dictionary.shape[0]
        mode = find_mode(np.empty((n_rows, 0)), np.empty(0), problem.likelihood, max_steps=0)
        state = LatentState(
            np.empty(0, dtype=np.intp), np.empty(0), mode, objective=mode.log_evidence
        )
        return LatentSolution(state, 1, True, Certificate(0.0, 0.0), (mode.log_evidence,))

    def make_problem(
        self, recipe: Likelihood, bound: BoundBasis, dictionary: Dictionary, data: Data
    ) -> LatentProblem:
        """Return the optimisation problem with one likelihood."""
        counts, log_exposure = data.targets.T
        likelihood = recipe.bind(counts, data.weight, log_exposure)
        # Precisions refer to the atoms without normalisation. A Gamma prior needs no norms; other
        # priors are given one for each atom.
        norms = None if self.prior.keeps_all_atoms else np.ones(dictionary.shape[1])
        prior = self.prior.bind(likelihood.total_weight, norms, bound.groups)
        penalties = self.inclusion_penalties(bound, prior.is_penalised)
        if self.is_tied:  # whole groups enter, without penalties of single atoms
            penalties = np.zeros(len(penalties))
        elif data.weight is not None:  # rows of weight zero must not be centres either
            rows = bound.source_row
            penalties[(rows >= 0) & (data.weight[rows] == 0.0)] = np.inf
        return LatentProblem(
            dictionary,
            likelihood,
            self.fit_intercept,
            min_gain=penalties,
            prior=prior,
            largest_latent=self.count_tuning.max_log_rate,
        )

    def learn_length_scales(self, data: Data) -> list[ScaledBasis]:
        """Return the basis with candidate length-scales, learnt from stabilised counts."""
        return super().learn_length_scales(stabilise_counts(data))

    def attach_length_scales(self, scaled: ScaledBasis, fit: CountFit, data: Data) -> CountFit:
        """Add the length-scales to a fit."""
        return replace(fit, scaled=scaled)

    def predict_held_out(self, fit: CountFit, data: Data) -> tuple[Vector, Vector]:
        """Log predictive probabilities of held-out counts, and their weights."""
        mean, variance = fit.model.latent(data.X)
        prediction = fit.model.likelihood.predict(mean + data.targets[:, 1], variance)
        weight = np.ones(len(mean)) if data.weight is None else data.weight
        return prediction.log_density(data.targets[:, 0]), weight

    def score(self, held_out: Sequence[tuple[Vector, Vector]]) -> float:
        """Mean log predictive probability of held-out counts."""
        log_probability, weight = map(np.concatenate, zip(*held_out, strict=True))
        return float(np.average(log_probability, weights=weight))
