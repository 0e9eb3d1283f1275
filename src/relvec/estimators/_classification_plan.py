"""What a fit of classes does, resolved once."""

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
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.estimators._class_model import ClassModel, ClassModelAverage
from relvec.estimators._latent_model import finish_latent_model
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._linear_labels import fit_linear_labels
from relvec.estimators._locality import is_local, near_zero
from relvec.estimators._plan import Data, Plan
from relvec.estimators._stacking import stacked_weights, stacked_with_shares
from relvec.learning.length_scale_uncertainty import measure_scale_uncertainty
from relvec.learning.rows import row_key
from relvec.likelihoods import Bernoulli, Likelihood, Softmax
from relvec.moments import Storage
from relvec.priors import FlatPrior
from relvec.solvers import LatentProblem, LatentSolver

__all__ = ["ClassificationFit", "ClassificationPlan"]


@dataclass(frozen=True)
class ClassTuning:
    """Numbers of a fit of classes that are not options, compared on 23 sets of data."""

    largest_of_two: float = 10.0
    """Largest prior standard deviation of what an atom adds to the logit of two classes. The
    evidence takes no notice of it below 100, but probabilities are over-confident."""
    largest_of_several: float = 5.0
    """The same for each of the logits of several classes."""
    temperature: float = 5.0
    """Divisor of differences of log evidence between models that are averaged. By their evidence
    alone (1) one model would have nearly all the weight; equal weights (infinite) lose where one is
    clearly better."""
    certain_gain: float = 30.0
    """Log evidence, over that of the class shares, with which a linear model is not mixed with
    them: held-out rows would ask for a few per cent at most."""
    least_weight: float = 0.02
    """Models of less weight are left out."""
    pseudo_rows: float = 2.0
    """Rows that speak for all models alike before held-out rows do, where these say how models
    are averaged."""

    def largest(self, n_latent: int) -> float:
        """Bound on the prior standard deviation of what an atom adds to a logit."""
        return self.largest_of_two if n_latent == 1 else self.largest_of_several


def class_shares(data: Data) -> Vector:
    """Share of each class, by the weights of the rows."""
    counts = np.bincount(data.groups, data.weight, minlength=max(2, data.targets.shape[1]))
    result: Vector = counts / counts.sum()
    return result


@dataclass(frozen=True, eq=False)
class ClassificationFit:
    """One fitted dictionary and how it tells classes apart."""

    bound: BoundBasis
    class_model: ClassModel
    scaled: ScaledBasis | None = None
    """The basis with its learnt scales, if any were."""
    relevance_std: Vector | None = None
    """Standard deviation of the relevance of each input, if that was asked."""
    average: ClassModelAverage | None = None
    """The class_model and others whose probabilities are averaged; None if it is alone."""

    @property
    def objective(self) -> float:
        """What was maximised, over all models."""
        return self.class_model.objective


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationPlan(Plan[ClassificationFit]):
    """A fit of classes, in Laplace's approximation."""

    solver: LatentSolver
    fit_intercept: bool | None
    """None to fit it unless all atoms decay within the data."""
    multi_class: str = "one_vs_rest"
    counts_at_bound: bool
    """Whether degrees of freedom are counted at the largest curvature of the likelihood."""
    largest_latent: float | None
    """None for a default by the number of classes."""
    average: bool = False
    """Whether to average the models of several proposals of scales."""
    class_tuning: ClassTuning = ClassTuning()
    is_signed: bool = False
    """Whether weights have the signs of the classes of their centres."""
    measures_scales: bool = False
    """Whether to say how uncertain learnt scales are."""
    are_labels: ClassVar[bool] = True

    def fit(self, basis: Basis, data: Data) -> ClassificationFit:
        """Fit one model for two classes or for all, or one for each class against the rest."""
        bound = self.bound(basis, data)
        n_classes = max(2, data.targets.shape[1])
        with limit_blas_threads(float(math.prod(bound.dictionary.shape))):
            dictionary = self._stored(bound.dictionary, data.X)
            is_given = self.fit_intercept is None and is_local(bound, dictionary, data.weight)
            has_intercept = self.fit_intercept is not False and not is_given
            shift = np.zeros(dictionary.shape[1])
            if has_intercept:  # which takes up the shift
                dictionary, shift = near_zero(dictionary, data.weight)
            jointly = n_classes > 2 and self.multi_class != "one_vs_rest"
            recipe: Likelihood = Softmax(n_classes) if jointly else Bernoulli()
            targets = data.groups[None]
            if not jointly:
                targets = targets == np.arange(n_classes == 2, n_classes)[:, None]
            models = []
            for target in targets:
                problem, given = self.problem(
                    recipe, target, bound, dictionary, data.weight, has_intercept, is_given
                )
                solution = self.solver.solve(problem, monitor=self.monitor)
                models.append(
                    finish_latent_model(
                        problem,
                        solution,
                        bound,
                        data.X,
                        shift=shift,
                        given=given,
                        error_bars=self.error_bars,
                    )
                )
        class_model = ClassModel(
            models, bound, intercept_is_fitted=has_intercept, shares=class_shares(data)
        )
        return ClassificationFit(bound, class_model)

    def problem(
        self,
        recipe: Likelihood,
        target: np.ndarray,
        bound: BoundBasis,
        dictionary: Dictionary,
        weight: Vector | None,
        has_intercept: bool,
        is_given: bool,
    ) -> tuple[LatentProblem, Vector | None]:
        """Return what the solver is given of one model, and its given intercepts."""
        likelihood, given = recipe.bind(target, weight), None
        if is_given:
            given = np.atleast_1d(likelihood.null_latent())
            offset = np.tile(given, (len(target), 1))
            likelihood = recipe.bind(target, weight, offset if len(given) > 1 else offset[:, 0])
        # precisions are those of the atoms as they are: a Gamma prior needs no norms, and what is
        # given for each atom of others must fit the number of them
        norms = None if self.prior.keeps_all_atoms else np.ones(dictionary.shape[1])
        prior = self.prior.bind(likelihood.total_weight, norms, bound.groups)
        rows = bound.source_row
        penalties = self.inclusion_penalties(bound, prior.is_penalised)
        if weight is not None:  # a row of no weight must not lend its atom either
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
            largest_latent=self.largest_latent or self.class_tuning.largest(recipe.n_latent),
        )
        return problem, given

    def _stored(self, dictionary: Dictionary, X: Any) -> Dictionary:
        """Keep the atoms at the training inputs in memory if they fit."""
        n_samples, n_atoms = dictionary.shape
        low_memory = self.low_memory
        if low_memory is None:
            # kernels of up to 16 inputs are computed as fast as they are read
            limit = Storage().store_bytes // (1 if X.shape[1] > 16 else 16)
            low_memory = 8 * n_samples * n_atoms > limit
        if low_memory or isinstance(dictionary, DenseDictionary | SparseDictionary):
            return dictionary
        return DenseDictionary(dictionary.columns(np.arange(n_atoms)))

    def fit_scaled(self, scaled: ScaledBasis, data: Data) -> ClassificationFit:
        """Fit a proposal: kernels, a linear model of all inputs alike, or none at all."""
        if scaled.learnt.kind == "linear":
            return fit_linear_labels(self, scaled.learnt, data)
        return super().fit_scaled(scaled, data)

    def quickened(self) -> Self:
        """Return the plan of the same model for fits to some of the rows."""
        return replace(self, measures_scales=False)

    def simple_proposals(self, kernels: Sequence[ScaledBasis]) -> list[ScaledBasis]:
        """Return the null model and, next to kernels of learnt scales by default, a linear one."""
        assert self.learner is not None
        first, proposals = kernels[0], super().simple_proposals(kernels)
        is_asked = self.learner.kind == "auto" and isinstance(self.basis, KernelBasis)
        is_open = isinstance(self.prior, FlatPrior) and self.fit_intercept is not False
        if is_asked and is_open and first.learnt.spread.any():
            proposals.append(first._replace(learnt=first.learnt.as_linear()))
        return proposals

    def ordered_rows(self, data: Data) -> IndexArray:
        """Return the rows of each class together, in an order that is their own.

        It depends on what is in the rows, not on the order of rows and inputs, nor on the names
        of classes.
        """
        weight = np.ones(len(data.groups)) if data.weight is None else data.weight
        key, sizes = row_key(data.X, data.targets, weight), np.bincount(data.groups, weight)
        middle = np.bincount(data.groups, weight * key) / np.maximum(sizes, 1e-300)
        place = np.argsort(np.lexsort([middle, sizes]))
        return np.lexsort([key, place[data.groups]])

    def evidence_weights(self, net: Vector) -> Vector:
        """Return the weights of models that are averaged.

        Spec: ``exp(net / temperature)``, up to a factor.
        """
        if not self.average:
            return super().evidence_weights(net)
        return self._without_small(np.exp((net - net.max()) / self.class_tuning.temperature))

    def stacking_weights(
        self, held_out: Sequence[Sequence[tuple[Vector, Vector]]], scores: Vector
    ) -> Vector:
        """Return the weights whose average of probabilities is best on held-out rows."""
        if not (self.average and held_out):
            return super().stacking_weights(held_out, scores)
        chances = np.array([np.concatenate([fold[0] for fold in each]) for each in held_out])
        counts = np.concatenate([fold[1] for fold in held_out[0]])
        weights = stacked_weights(chances, counts, self.class_tuning.pseudo_rows)
        return self._without_small(weights)

    def _without_small(self, weights: Vector) -> Vector:
        weights = np.where(weights < self.class_tuning.least_weight * weights.sum(), 0.0, weights)
        return weights / weights.sum()

    def joined(self, fits: Sequence[ClassificationFit], weights: Vector) -> ClassificationFit:
        """Return the best fit, which averages its probabilities with those of the others."""
        if len(fits) == 1:
            return fits[0]
        models = tuple(fit.class_model for fit in fits)
        return replace(fits[0], average=ClassModelAverage(models, weights))

    def predict_held_out(self, fit: ClassificationFit, data: Data) -> tuple[Vector, Vector]:
        """Log probabilities of the classes of other rows, and how often these count."""
        chances = fit.class_model.log_probability(data.X, marginalise=True)
        weight = np.ones(len(data.groups)) if data.weight is None else data.weight
        return chances[np.arange(len(data.groups)), data.groups], weight

    def score(self, held_out: Sequence[tuple[Vector, Vector]]) -> float:
        """Mean log probability of the classes of held-out rows."""
        chances, weight = map(np.concatenate, zip(*held_out, strict=True))
        return float(np.average(chances, weights=weight))

    def conclude(
        self, fit: ClassificationFit, data: Data, held_out: Any = None
    ) -> ClassificationFit:
        """Return a model that may be weak so that it is no worse on its folds than the shares.

        That is a linear one, or one of kernels whose scales say nothing of the labels.
        """
        basis = self.basis if fit.scaled is None else fit.scaled.basis
        is_empty = fit.scaled is not None and fit.scaled.learnt.kind == "none"
        is_mixed = self.average and (is_empty or isinstance(basis, LinearBasis))
        return stacked_with_shares(self, fit, data, basis) if is_mixed else fit

    def finish_scales(
        self, scaled: ScaledBasis, fit: ClassificationFit, data: Data
    ) -> ClassificationFit:
        """Say how uncertain the scales are, if that is asked."""
        fit = replace(fit, scaled=scaled)
        if not self.measures_scales:
            return fit
        curvatures = []
        for model in fit.class_model.models:
            rows = model.likelihood.bind(np.zeros(len(data.groups)), data.weight)
            curvatures.append(rows.apply_weights(rows.curvature(model.mean(data.X))))
        std, _ = measure_scale_uncertainty(
            scaled.learnt, data.X, fit.class_model.models, curvatures
        )
        return replace(fit, relevance_std=std)
