"""Sparse Bayesian classification by sampling: all plausible models instead of the best one."""

from __future__ import annotations

from collections.abc import Sequence
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
from relvec.estimators._drawn_functions import DrawnFunctions
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_auto_or_bool, check_options, option, with_options
from relvec.estimators._sampled import (
    ChosenBasis,
    SampledKernelMixin,
    SampledMixin,
    check_single_precision,
)
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

    def _list_functions(self) -> Sequence[DrawnFunctions]:
        return list(self._average.functions)

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
        check_single_precision(self)
        context = self._init_callback_context(max_subtasks=None)
        data, self.classes_ = validate_class_data(self, X, y, sample_weight, options.class_weight)
        context.call_on_fit_task_begin(estimator=self, X=data.X, y=y)
        is_given = evidence_model is not None
        if not is_given:
            labels = self.classes_[data.groups]
            evidence_model = self._fit_evidence_model(
                self._make_evidence_model(), data.X, labels, data.weight
            )
        model = evidence_model.class_model_
        chosen = ChosenBasis(fitted_basis(evidence_model), model.active)
        if not is_given:
            chosen = self._choose_basis(evidence_model, model.active)
        bound = chosen.basis.bind(
            data.X,
            sample_weight=data.weight,
            random_state=check_random_state(options.random_state),
        )
        chains = self._find_previous_chains(data.X, data.groups, data.weight)
        scales = resolve_scales(options.sample_length_scales, evidence_model)
        # one step is a sweep of several moves
        shared = resolve_sampling_options(options, first_thin=1)
        plan = ClassSamplingPlan(**shared, scales=scales)
        novelty = model.novelty if options.error_bars == "novelty" else None
        monitor = self._make_monitor(context)
        fit = plan.run(bound, data, chosen.start, novelty, chains, monitor)
        context.call_on_fit_task_end(estimator=self, X=data.X, y=y)
        self.evidence_model_, self.basis_ = evidence_model, chosen.basis
        self.candidate_atoms_ = bound.atoms
        self._set_sampled_attributes(fit)
        self.class_model_ = fit.output
        self._judge_convergence(plan.chains, is_quiet=monitor is not None)
        return self


@with_options
class SampledSparseBayesClassifier(
    SampledClassificationOptions, BasisOptions, BaseSampledClassifier
):
    """Sparse Bayesian classification with any basis functions, by sampling.

    Basis functions and likelihood are those of `SparseBayesClassifier`, with a spike-and-slab
    prior: a weight is exactly zero, or normal. Instead of the basis functions and precisions of
    highest evidence, Markov chains draw them from their posterior distribution; the logistic
    likelihood is exact, by Pólya-Gamma auxiliary variables, not a Laplace approximation.
    Probabilities are averages over the models drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    inclusion_probability_ : ndarray of shape (n_atoms,) or (n_classes, n_atoms)
        Posterior probability that each basis function is in the logit: its share of the draws. One
        row for each class if there are more than two.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that a basis function of the model depends on each feature. A kernel
        depends on all features of finite length-scale, so that with kernels this is no test of the
        relevance of single features.
    models_ : tuple of (ndarray, float)
        Sets of basis functions of highest posterior probability, at most 100, with their shares of
        the draws; `rival_models` names them.
    converged_ : bool
        Whether R-hat is at most 1.01, and the effective sample sizes of bulk and tails are at least
        400 (Vehtari et al. 2021), of log odds or log probabilities at up to 25 training rows and
        10 new inputs; of the number of basis functions and the log posterior as well, unless most
        basis functions are kernels, which can replace one another. Length-scale factors are
        monitored, but do not count: see `diagnostics_`.
    checked_quantities_ : tuple of str
        Names of the quantities that count.
    r_hat_ : float
        Largest rank-normalised split R-hat of these quantities.
    ess_ : float
        Smallest effective sample size of these quantities.
    traces_ : dict of str to ndarray of shape (n_chains, n_draws)
        Draws of the monitored quantities: number of basis functions, log posterior, logarithms of
        length-scale factors, and log odds or log probabilities at rows and at new inputs.
    n_iter_ : int
        Sweeps of each chain, warm-up included.
    chains_ : tuple of dict
        State of each chain and of its random numbers, which ``warm_start=True`` continues.
    evidence_model_ : SparseBayesClassifier
        Model of highest evidence, from which the first chain starts.
    basis_ : Basis
        Basis, with the length-scales of `evidence_model_`.
    candidate_atoms_ : Atoms
        All basis functions, in the order of `inclusion_probability_`.
    n_atoms_ : int
        Number of candidate basis functions.
    class_model_ : SampledClassModel
        The draws.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had column names.

    See Also
    --------
    SparseBayesClassifier : One model, that of highest evidence: faster, and small.
    relvec.sampling.AugmentedSampler : The Markov chain.

    References
    ----------
    N. G. Polson, J. G. Scott, J. Windle (2013), Bayesian inference for logistic models using
    Pólya-Gamma latent variables, Journal of the American Statistical Association 108.

    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    The label depends on one of three features:

    >>> import warnings
    >>> import numpy as np
    >>> from relvec import SampledSparseBayesClassifier
    >>> from relvec.bases import LinearBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 1] + 0.3 * rng.normal(size=60) > 0
    >>> model = SampledSparseBayesClassifier(
    ...     LinearBasis(), n_draws=100, n_chains=2, max_doublings=0, random_state=0
    ... )
    >>> with warnings.catch_warnings():  # short chains have not converged
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X, y)
    >>> int(model.inclusion_probability_.argmax())
    1
    >>> model.predict([[0.0, 1.0, 0.0]])
    array([ True])
    """

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
class SampledRVMClassifier(
    SampledClassificationOptions, KernelOptions, SampledKernelMixin, BaseSampledClassifier
):
    """Relevance vector machine for classification, by sampling.

    Basis functions and likelihood are those of `RVMClassifier`, with a spike-and-slab prior: a
    weight is exactly zero, or normal. Where length-scales are learnt by default, the features
    themselves are basis functions too, next to the kernels. Instead of the relevance vectors and
    precisions of highest evidence, Markov chains draw them from their posterior distribution; the
    logistic likelihood is exact, by Pólya-Gamma auxiliary variables, not a Laplace approximation.
    Probabilities are averages over the models and length-scale factors drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    inclusion_probability_ : ndarray of shape (n_atoms,) or (n_classes, n_atoms)
        Posterior probability that each basis function is in the logit: its share of the draws. One
        row for each class if there are more than two.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that a basis function of the model depends on each feature. A kernel
        depends on all features of finite length-scale, so that with kernels this is no test of the
        relevance of single features.
    models_ : tuple of (ndarray, float)
        Sets of basis functions of highest posterior probability, at most 100, with their shares of
        the draws; `rival_models` names them.
    converged_ : bool
        Whether R-hat is at most 1.01, and the effective sample sizes of bulk and tails are at least
        400 (Vehtari et al. 2021), of log odds or log probabilities at up to 25 training rows and
        10 new inputs; of the number of basis functions and the log posterior as well, unless most
        basis functions are kernels, which can replace one another. Length-scale factors are
        monitored, but do not count: see `diagnostics_`.
    checked_quantities_ : tuple of str
        Names of the quantities that count.
    r_hat_ : float
        Largest rank-normalised split R-hat of these quantities.
    ess_ : float
        Smallest effective sample size of these quantities.
    traces_ : dict of str to ndarray of shape (n_chains, n_draws)
        Draws of the monitored quantities: number of basis functions, log posterior, logarithms of
        length-scale factors, and log odds or log probabilities at rows and at new inputs.
    n_iter_ : int
        Sweeps of each chain, warm-up included.
    chains_ : tuple of dict
        State of each chain and of its random numbers, which ``warm_start=True`` continues.
    evidence_model_ : RVMClassifier
        Model of highest evidence, from which the first chain starts.
    basis_ : Basis
        Basis, with the length-scales of `evidence_model_`.
    candidate_atoms_ : Atoms
        All basis functions, in the order of `inclusion_probability_`.
    n_atoms_ : int
        Number of candidate basis functions.
    class_model_ : SampledClassModel
        The draws.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had column names.

    See Also
    --------
    RVMClassifier : One model, that of highest evidence: faster, and small.
    relvec.sampling.AugmentedSampler : The Markov chain.

    References
    ----------
    N. G. Polson, J. G. Scott, J. Windle (2013), Bayesian inference for logistic models using
    Pólya-Gamma latent variables, Journal of the American Statistical Association 108.

    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    >>> import warnings
    >>> from relvec import SampledRVMClassifier
    >>> from relvec.datasets import make_snake
    >>> X, y = make_snake(60, random_state=0)
    >>> model = SampledRVMClassifier(
    ...     gamma=1.0, n_draws=50, n_chains=2, max_doublings=0, random_state=0
    ... )
    >>> with warnings.catch_warnings():  # short chains have not converged
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X, y)
    >>> model.predict_proba(X).shape, model.score(X, y) > 0.8
    ((60, 2), True)
    """

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
