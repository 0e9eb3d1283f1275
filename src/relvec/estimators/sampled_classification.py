"""Sparse Bayesian classification by sampling: all plausible models instead of the best one."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import ClassifierMixin, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from relvec._checks import check_choice
from relvec._typing import ArrayLike
from relvec.estimators._basis_options import BasisOptions, KernelOptions
from relvec.estimators._class_sampling_plan import ClassSamplingPlan
from relvec.estimators._classify import validate_class_data
from relvec.estimators._decide import DecisionMixin
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_auto_or_bool, check_options, option, with_options
from relvec.estimators._sampled import SampledMixin
from relvec.estimators._sampling_options import (
    SCALE_KINDS,
    SamplingOptions,
    resolve_sampling_options,
    resolve_scales,
)
from relvec.estimators.classification import RVMClassifier, SparseBayesClassifier
from relvec.estimators.fitted import fitted_basis

__all__ = ["SampledRVMClassifier", "SampledSparseBayesClassifier"]


@with_options
class SampledClassificationOptions(SamplingOptions):
    """Options of sampled classifiers.

    Parameters
    ----------
    sample_length_scales : {"auto", "shared", "ard", "fixed"}, default="auto"
        Whether length-scales of kernels are sampled, so that probabilities include their
        uncertainty. "shared" samples one factor of all length-scales, "ard" one for each feature,
        with a prior around the learnt or given ones; "fixed" keeps these. "auto" is "shared" if
        they were learnt, else "fixed".
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn: the sample weight of every row is multiplied
        by that of its class.
    error_bars : {"novelty", "plain"}, default="novelty"
        Predictions away from the training inputs, as in `RVMClassifier`.
    low_memory : bool or "auto", default="auto"
        Whether the model of highest evidence, from which the chains start, evaluates the basis
        functions again when needed. The sampler stores them.
    """

    sample_length_scales: str = option(
        default="auto", check=partial(check_choice, choices=SCALE_KINDS)
    )
    class_weight: Any = option(default=None)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain"))
    )
    low_memory: bool | str = option(default="auto", check=check_auto_or_bool)


class BaseSampledClassifier(
    SampledMixin, DecisionMixin, CallbackSupportMixin, ClassifierMixin, NotebookMixin
):
    """Base class of sampled classifiers; subclasses add options and the basis they describe."""

    def _make_evidence_model(self) -> Any:
        """Return the unfitted model of highest evidence with the same basis."""
        raise NotImplementedError

    @property
    def _average(self) -> Any:
        return self.class_model_

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSampledClassifier:
        """Sample the posterior: basis functions, their precisions and weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. `LinearBasis` accepts sparse matrices; kernels of texts or objects
            accept lists and arrays of them.
        y : array-like of shape (n_samples,)
            Class labels of at least two classes: numbers, booleans or strings.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: weight 2 is the same as the row given twice, weight 0 as the row left
            out. Default, 1 for each row.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._sample(X, y, sample_weight, None)

    def _sample(
        self, X: Any, y: Any, sample_weight: Any, evidence_model: Any
    ) -> BaseSampledClassifier:
        """Sample the posterior, starting from a fitted model of the same data or from a new one."""
        options: Any = self
        check_options(self)
        context = self._init_callback_context(max_subtasks=None)
        data, self.classes_ = validate_class_data(self, X, y, sample_weight, options.class_weight)
        context.call_on_fit_task_begin(estimator=self, X=data.X, y=y)
        if evidence_model is None:
            labels = self.classes_[data.groups]
            evidence_model = self._fit_evidence_model(
                self._make_evidence_model(), data.X, labels, data.weight
            )
        basis = fitted_basis(evidence_model)
        bound = basis.bind(
            data.X,
            sample_weight=data.weight,
            random_state=check_random_state(options.random_state),
        )
        model = evidence_model.class_model_
        chains = self.__dict__.get("chains_", ()) if options.warm_start else ()
        scales = resolve_scales(options.sample_length_scales, evidence_model)
        plan = ClassSamplingPlan(**resolve_sampling_options(options), scales=scales)
        novelty = model.novelty if options.error_bars == "novelty" else None
        monitor = self._make_monitor(context)
        fit = plan.run(bound, data, model.active, novelty, chains, monitor)
        context.call_on_fit_task_end(estimator=self, X=data.X, y=y)
        self.evidence_model_, self.basis_ = evidence_model, basis
        self.candidate_atoms_ = bound.atoms
        self._set_sampled_attributes(fit)
        self.class_model_ = fit.output
        self._judge_convergence(plan.chains, is_quiet=monitor is not None)
        return self


@with_options
class SampledSparseBayesClassifier(
    SampledClassificationOptions, BasisOptions, BaseSampledClassifier
):
    """Sparse Bayesian classification with any basis functions, by sampling."""

    def _make_evidence_model(self) -> Any:
        return SparseBayesClassifier(
            None if self.basis is None else clone(self.basis),
            length_scales=self.length_scales,
            error_bars=self.error_bars,
            average=False,
            low_memory=self.low_memory,
            random_state=self.random_state,
        )


@with_options
class SampledRVMClassifier(SampledClassificationOptions, KernelOptions, BaseSampledClassifier):
    """Relevance vector machine for classification, by sampling."""

    def _make_evidence_model(self) -> Any:
        names = ("gamma", "degree", "coef0", "length_scales", "centers", "center_method")
        shared = {name: getattr(self, name) for name in names}
        return RVMClassifier(
            self.kernel,
            **shared,
            error_bars=self.error_bars,
            average=False,
            low_memory=self.low_memory,
            random_state=self.random_state,
        )
