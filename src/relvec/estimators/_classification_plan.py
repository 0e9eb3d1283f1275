"""What a fit of classes does, resolved once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from relvec._linalg import fitting_threads
from relvec._typing import Vector
from relvec.bases import LinearBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.estimators._class_model import ClassModel, ClassModelAverage
from relvec.estimators._latent_model import finish_latent_model
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._locality import is_local, near_zero
from relvec.estimators._plan import Data, Plan
from relvec.estimators._stacking import stacked_with_shares
from relvec.learning.length_scale_uncertainty import measure_scale_uncertainty
from relvec.likelihoods import Bernoulli, Likelihood, Softmax
from relvec.moments import Storage
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
    least_weight: float = 0.02
    """Models of less weight are left out."""

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
        random_state = check_random_state(self.random_state)
        bound = basis.bind(data.X, sample_weight=data.weight, random_state=random_state)
        n_classes = max(2, data.targets.shape[1])
        with fitting_threads(float(math.prod(bound.dictionary.shape))):
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
        norms = None if self.prior.keeps_all else np.ones(dictionary.shape[1])
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

    def joined(self, fits: Sequence[ClassificationFit], net: Vector) -> ClassificationFit:
        """Return the best fit, which averages its probabilities with those of the others.

        Spec: the weight of a model is ``exp(net / temperature)``, up to a factor.
        """
        best = super().joined(fits, net)
        if not self.average or len(fits) == 1:
            return best
        weights = np.exp((net - net.max()) / self.class_tuning.temperature)
        weights = np.where(weights < self.class_tuning.least_weight * weights.sum(), 0.0, weights)
        order = np.argsort(-net, kind="stable")
        order = order[weights[order] > 0.0]
        models = tuple(fits[number].class_model for number in order)
        return replace(best, average=ClassModelAverage(models, weights[order] / weights.sum()))

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
            curvatures.append(rows.weighted(rows.curvature(model.mean(data.X))))
        std, _ = measure_scale_uncertainty(
            scaled.learnt, data.X, fit.class_model.models, curvatures
        )
        return replace(fit, relevance_std=std)
