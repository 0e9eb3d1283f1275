"""The plan of a classification fit: options resolved to objects, and the steps of the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray, Vector
from relvec.bases import KernelBasis, LinearBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.estimators._atom_location import centre_offset_atoms, has_local_atoms
from relvec.estimators._class_model import ClassModel, ClassModelAverage
from relvec.estimators._latent_model import build_latent_model, store_atoms
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._linear_labels import fit_linear_labels
from relvec.estimators._plan import Data, Plan
from relvec.estimators._solvers import bind_groups
from relvec.estimators._stacking import compute_stacking_weights, mix_with_class_prior
from relvec.learning.length_scale_uncertainty import measure_scale_uncertainty
from relvec.learning.rows import row_key
from relvec.likelihoods import Bernoulli, Likelihood, Softmax
from relvec.priors import FlatPrior
from relvec.solvers import LatentProblem, LatentSolver

__all__ = ["ClassificationFit", "ClassificationPlan"]


@dataclass(frozen=True)
class ClassTuning:
    """Constants of classification fits that are not options, tuned on 23 data sets."""

    max_binary_logit: float = 10.0
    """Largest prior standard deviation of the contribution of an atom to the logit of two classes.
    The evidence hardly depends on it below 100, but larger values give over-confident
    probabilities."""
    max_multiclass_logit: float = 5.0
    """The same for each of the logits of several classes."""
    temperature: float = 5.0
    """Divisor of differences in log evidence between models that are averaged. With 1 (plain
    Bayesian model averaging) one model has nearly all the weight; equal weights (infinity) are
    worse where one model is clearly better."""
    decisive_gain: float = 30.0
    """Gain in log evidence over the class-prior baseline, in nats, above which a linear model is
    not mixed with that baseline: held-out rows would give it a few per cent at most."""
    min_weight: float = 0.02
    """Models of smaller weight in the average are dropped."""
    n_pseudo_rows: float = 2.0
    """Pseudo-rows that support all models equally where held-out rows determine the weights of an
    average."""
    min_stacking_gain: float = math.log(10.0)
    """Gain in log probability of all held-out rows, in nats, over the null model below which the
    null model is used alone: odds of ten to one. On noise the average gained at most 1 nat."""

    def max_logit(self, n_latent: int) -> float:
        """Bound on the prior standard deviation of the contribution of an atom to a logit."""
        return self.max_binary_logit if n_latent == 1 else self.max_multiclass_logit


def compute_class_prior(data: Data) -> Vector:
    """Class prior: the weighted frequency of each class."""
    counts = np.bincount(data.groups, data.weight, minlength=max(2, data.targets.shape[1]))
    result: Vector = counts / counts.sum()
    return result


@dataclass(frozen=True, eq=False)
class ClassificationFit:
    """A bound basis and the classification model fitted on it."""

    bound: BoundBasis
    class_model: ClassModel
    scaled: ScaledBasis | None = None
    """The basis with its learnt length-scales; None if they were not learnt."""
    relevance_std: Vector | None = None
    """Standard deviation of the relevance of each feature; None if it was not computed."""
    average: ClassModelAverage | None = None
    """Models whose probabilities are averaged, `class_model` first; None if there is one model."""

    @property
    def objective(self) -> float:
        """Maximised objective in nats, summed over binary models."""
        return self.class_model.objective


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationPlan(Plan[ClassificationFit]):
    """Plan of a classification fit, with the Laplace approximation of the evidence."""

    solver: LatentSolver
    fit_intercept: bool | None
    """None to fit it unless all atoms decay within the range of the data."""
    multi_class: str = "one_vs_rest"
    counts_at_bound: bool
    """Whether effective degrees of freedom are counted at the upper bound of the curvature."""
    largest_latent: float | None
    """Value of `largest_logit`; None for the default by the number of classes."""
    average: bool = False
    """Whether to average the models of several candidate length-scales."""
    class_tuning: ClassTuning = ClassTuning()
    is_signed: bool = False
    """Whether each weight has the sign of the class of its centre (PFCVM)."""
    measures_length_scales: bool = False
    """Whether to compute standard deviations of the learnt length-scales."""
    are_labels: ClassVar[bool] = True

    def fit(self, basis: Basis, data: Data) -> ClassificationFit:
        """Fit one model of all classes, or one for each class against the rest."""
        bound = self.bind_basis(basis, data)
        n_classes = max(2, data.targets.shape[1])
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            dictionary = store_atoms(bound.dictionary, data.X, self.low_memory)
            is_fixed = self.fit_intercept is None and has_local_atoms(
                bound, dictionary, data.weight
            )
            has_intercept = self.fit_intercept is not False and not is_fixed
            shift = np.zeros(dictionary.shape[1])
            if has_intercept:  # the intercept absorbs the shift
                dictionary, shift = centre_offset_atoms(dictionary, data.weight)
            jointly = n_classes > 2 and self.multi_class != "one_vs_rest"
            recipe: Likelihood = Softmax(n_classes) if jointly else Bernoulli()
            targets = data.groups[None]
            if not jointly:
                targets = targets == np.arange(n_classes == 2, n_classes)[:, None]
            models = []
            for target in targets:
                problem, fixed_intercept = self.make_problem(
                    recipe, target, bound, dictionary, data.weight, has_intercept, is_fixed
                )
                solver = bind_groups(self.solver, bound)
                solution = solver.solve(problem, monitor=self.monitor)
                models.append(
                    build_latent_model(
                        problem,
                        solution,
                        bound,
                        data.X,
                        shift=shift,
                        fixed_intercept=fixed_intercept,
                        error_bars=self.error_bars,
                    )
                )
        class_model = ClassModel(
            models, bound, intercept_is_fitted=has_intercept, class_prior=compute_class_prior(data)
        )
        return ClassificationFit(bound, class_model)

    def make_problem(
        self,
        recipe: Likelihood,
        target: np.ndarray,
        bound: BoundBasis,
        dictionary: Dictionary,
        weight: Vector | None,
        has_intercept: bool,
        is_fixed: bool,
    ) -> tuple[LatentProblem, Vector | None]:
        """Return the problem of one model, and its intercepts if they are not fitted."""
        likelihood, fixed_intercept = recipe.bind(target, weight), None
        if is_fixed:
            # the logit of the class prior, as an offset of all rows
            fixed_intercept = np.atleast_1d(likelihood.null_latent())
            offset = np.tile(fixed_intercept, (len(target), 1))
            likelihood = recipe.bind(
                target, weight, offset if len(fixed_intercept) > 1 else offset[:, 0]
            )
        # Precisions refer to the atoms without normalisation. A Gamma prior needs no norms; other
        # priors are given one for each atom.
        norms = None if self.prior.keeps_all_atoms else np.ones(dictionary.shape[1])
        prior = self.prior.bind(likelihood.total_weight, norms, bound.groups)
        rows = bound.source_row
        penalties = self.inclusion_penalties(bound, prior.is_penalised)
        if weight is not None:  # rows of weight zero must not be centres either
            penalties[(rows >= 0) & (weight[rows] == 0.0)] = np.inf
        signs = None
        if self.is_signed:
            signs = np.where(rows >= 0, 2.0 * likelihood.target[rows] - 1.0, 0.0)
        problem = LatentProblem(
            dictionary,
            likelihood,
            has_intercept,
            signs=signs,
            shared=recipe.n_latent > 1 and self.multi_class == "shared",
            min_gain=penalties,
            prior=prior,
            is_penalty_prior=self.counts_at_bound,
            largest_latent=self.largest_latent or self.class_tuning.max_logit(recipe.n_latent),
        )
        return problem, fixed_intercept

    def fit_candidate(self, scaled: ScaledBasis, data: Data) -> ClassificationFit:
        """Fit a candidate: kernels, a linear model of all features, or the null model."""
        if scaled.learnt.kind == "linear":
            return fit_linear_labels(self, scaled.learnt, data)
        return super().fit_candidate(scaled, data)

    def make_fold_plan(self) -> Self:
        """Return the plan for fits to training folds."""
        return replace(self, measures_length_scales=False)

    def make_baseline_candidates(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return the null model and, if length-scales are learnt by default, a linear model."""
        assert self.learner is not None
        first, candidates = kernels[0], super().make_baseline_candidates(kernels)
        is_default = self.learner.kind == "auto" and isinstance(self.basis, KernelBasis)
        allows_linear = isinstance(self.prior, FlatPrior) and self.fit_intercept is not False
        if is_default and allows_linear and first.learnt.spread.any():
            candidates.append(first._replace(learnt=first.learnt.as_linear()))
        return candidates

    def order_rows(self, data: Data) -> IndexArray:
        """Return the rows of each class together, in a reproducible order.

        The order depends on the contents of the rows, not on the order of rows and features, nor
        on the names of classes.
        """
        weight = np.ones(len(data.groups)) if data.weight is None else data.weight
        key, sizes = row_key(data.X, data.targets, weight), np.bincount(data.groups, weight)
        middle = np.bincount(data.groups, weight * key) / np.maximum(sizes, 1e-300)
        place = np.argsort(np.lexsort([middle, sizes]))
        return np.lexsort([key, place[data.groups]])

    def evidence_weights(self, net: Vector) -> Vector:
        """Return the weights of models that are averaged: tempered Bayesian model averaging.

        ``exp(net / temperature)``, normalised.
        """
        if not self.average:
            return super().evidence_weights(net)
        return self._drop_small_weights(np.exp((net - net.max()) / self.class_tuning.temperature))

    def stacking_weights(
        self, held_out: Sequence[Sequence[tuple[Vector, Vector]]], scores: Vector
    ) -> Vector:
        """Return the weights that minimise the log loss of the average on held-out rows.

        The null model, the first, has all weight unless the average gains enough over it.
        """
        if not (self.average and held_out):
            return super().stacking_weights(held_out, scores)
        log_probabilities = np.array(
            [np.concatenate([fold[0] for fold in each]) for each in held_out]
        )
        counts = np.concatenate([fold[1] for fold in held_out[0]])
        weights = compute_stacking_weights(
            log_probabilities, counts, self.class_tuning.n_pseudo_rows
        )
        weights = self._drop_small_weights(weights)
        gain = counts @ (np.log(weights @ np.exp(log_probabilities)) - log_probabilities[0])
        is_null = gain < self.class_tuning.min_stacking_gain
        return np.eye(len(weights))[0] if is_null else weights

    def _drop_small_weights(self, weights: Vector) -> Vector:
        weights = np.where(weights < self.class_tuning.min_weight * weights.sum(), 0.0, weights)
        return weights / weights.sum()

    def combine_fits(self, fits: Sequence[ClassificationFit], weights: Vector) -> ClassificationFit:
        """Return the best fit, with the average over all fits."""
        if len(fits) == 1:
            return fits[0]
        models = tuple(fit.class_model for fit in fits)
        return replace(fits[0], average=ClassModelAverage(models, weights))

    def predict_held_out(self, fit: ClassificationFit, data: Data) -> tuple[Vector, Vector]:
        """Log probabilities of the classes of held-out rows, and their weights."""
        log_probabilities = fit.class_model.log_probability(data.X, marginalise=True)
        weight = np.ones(len(data.groups)) if data.weight is None else data.weight
        return log_probabilities[np.arange(len(data.groups)), data.groups], weight

    def score(self, held_out: Sequence[tuple[Vector, Vector]]) -> float:
        """Mean log predictive probability of the classes of held-out rows."""
        log_probabilities, weight = map(np.concatenate, zip(*held_out, strict=True))
        return float(np.average(log_probabilities, weights=weight))

    def adjust_by_held_out_rows(
        self, fit: ClassificationFit, data: Data, held_out: Any = None
    ) -> ClassificationFit:
        """Mix weak models with the class prior, so that they are not worse on held-out rows.

        These are linear models, and kernels with length-scales that show no relation to the labels.
        """
        basis = self.basis if fit.scaled is None else fit.scaled.basis
        is_empty = fit.scaled is not None and fit.scaled.learnt.kind == "none"
        is_mixed = self.average and (is_empty or isinstance(basis, LinearBasis))
        return mix_with_class_prior(self, fit, data, basis) if is_mixed else fit

    def attach_length_scales(
        self, scaled: ScaledBasis, fit: ClassificationFit, data: Data
    ) -> ClassificationFit:
        """Add the length-scales to a fit, with standard deviations if they are to be computed."""
        fit = replace(fit, scaled=scaled)
        if not self.measures_length_scales:
            return fit
        curvatures = []
        for model in fit.class_model.models:
            rows = model.likelihood.bind(np.zeros(len(data.groups)), data.weight)
            curvatures.append(rows.apply_weights(rows.curvature(model.mean(data.X))))
        std, _ = measure_scale_uncertainty(
            scaled.learnt, data.X, fit.class_model.models, curvatures
        )
        return replace(fit, relevance_std=std)
