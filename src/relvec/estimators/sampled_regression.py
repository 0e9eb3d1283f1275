"""Sparse Bayesian regression by sampling: all plausible models instead of the best one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_choice, check_finite_input, check_positive
from relvec._typing import ArrayLike
from relvec.estimators._basis_options import BasisOptions, KernelOptions
from relvec.estimators._drawn_functions import DrawnFunctions
from relvec.estimators._inputs import check_range, read_weight, validate_inputs, warn_about_weights
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_auto_or_bool, check_options, option, with_options
from relvec.estimators._plan import Data
from relvec.estimators._predict import PredictionMixin
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
from relvec.estimators._sampling_plan import RegressionSamplingPlan, SampledFit
from relvec.estimators._student_sampling_plan import StudentSamplingPlan
from relvec.estimators.fitted import fitted_basis
from relvec.estimators.regression import RVMRegressor, SparseBayesRegressor
from relvec.priors import InverseGamma
from relvec.sampling import ChainTuning

__all__ = ["SampledRVMRegressor", "SampledSparseBayesRegressor"]


def _check_noise_prior(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, InverseGamma):
        raise TypeError(f"{name} must be an InverseGamma(shape, rate) or None; got {value!r}.")
    if value is not None:
        value.checked()


def _check_noise(name: str, value: Any) -> None:
    if value is not None:
        check_positive(name, value, also="or None to sample it")


@with_options
class SampledRegressionOptions(SamplingOptions):
    """Options of sampled regressors.

    Parameters
    ----------
    sample_length_scales : {"auto", "shared", "ard", "fixed"}, default="auto"
        Whether length-scales of kernels are sampled, so that error bars include their uncertainty.
        "shared" samples one factor of all length-scales, "ard" one for each feature, with a prior
        around the learnt or given ones; "fixed" keeps these. "auto" is "shared" if they were
        learnt, else "fixed". With many rows and kernels they are fixed in any case.
    weight_prior : {"inclusion", "horseshoe"}, default="inclusion"
        Prior of the weights. With "inclusion" every basis function is in the model or not, and its
        weight has a precision from `precision_grid`. "horseshoe" keeps all of them and shrinks
        their weights by local and global scales (Carvalho, Polson & Scott 2010); `size_prior`,
        `precision_grid` and `sample_length_scales` then have no effect, and
        instead of `inclusion_probability_` there is `kept_share_`.
    noise : {"gaussian", "student_t"}, default="gaussian"
        Distribution of the noise. Student-t noise has heavy tails, whose degrees of freedom are
        sampled; it needs ``weight_prior="inclusion"``, and length-scales are fixed.
    noise_variance : float, optional
        Known variance of the noise, in squared units of the target; by default it is sampled.
    noise_prior : InverseGamma, optional
        Prior of the noise variance; default, uniform over its logarithm.
    fit_intercept : bool, default=True
        Whether to fit an intercept, with a flat prior.
    error_bars : {"novelty", "plain"}, default="novelty"
        Predictive variance away from the training inputs, as in `RVMRegressor`.
    low_memory : bool or "auto", default="auto"
        Whether to evaluate the basis functions at the training inputs again when needed instead
        of storing them.
    """

    sample_length_scales: str = option(
        default="auto", check=partial(check_choice, choices=SCALE_KINDS)
    )
    weight_prior: str = option(
        default="inclusion", check=partial(check_choice, choices=("inclusion", "horseshoe"))
    )
    noise: str = option(
        default="gaussian", check=partial(check_choice, choices=("gaussian", "student_t"))
    )
    noise_variance: float | None = option(default=None, check=_check_noise)
    noise_prior: Any = option(default=None, check=_check_noise_prior)
    fit_intercept: bool = option(default=True, check=check_bool)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain"))
    )
    low_memory: bool | str = option(default="auto", check=check_auto_or_bool)


class BaseSampledRegressor(
    SampledMixin, PredictionMixin, CallbackSupportMixin, RegressorMixin, NotebookMixin
):
    """Base class of sampled regressors; subclasses add options and the basis they describe."""

    _single = True

    def _make_evidence_model(self) -> Any:
        """Return the unfitted model of highest evidence with the same basis."""
        raise NotImplementedError

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSampledRegressor:
        """Sample the posterior: basis functions, their precisions and weights, and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. `LinearBasis` accepts sparse matrices; kernels of texts or objects
            accept lists and arrays of them.
        y : array-like of shape (n_samples,)
            Targets.
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
    ) -> BaseSampledRegressor:
        """Sample the posterior, starting from a fitted model of the same data or from a new one."""
        options: Any = self
        check_options(self)
        check_single_precision(self)
        context = self._init_callback_context(max_subtasks=None)
        check_finite_input(y, "y")
        X, y = validate_inputs(self, X, y, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range("y", y)
        weight = None if sample_weight is None else read_weight(sample_weight, X)
        warn_about_weights(weight, stacklevel=5)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        is_given = evidence_model is not None
        if not is_given:
            evidence_model = self._fit_evidence_model(self._make_evidence_model(), X, y, weight)
        data = Data(X, y[:, None], weight, np.zeros(len(y), dtype=np.intp))
        output = evidence_model.outputs_[0]
        chosen = ChosenBasis(fitted_basis(evidence_model), output.active)
        if not is_given:
            chosen = self._choose_basis(evidence_model, output.active)
        bound = chosen.basis.bind(
            X, sample_weight=weight, random_state=check_random_state(options.random_state)
        )
        chains = self._find_previous_chains(X, y, weight)
        plan = self._resolve_sampling(evidence_model)
        novelty = output.novelty if options.error_bars == "novelty" else None

        monitor = self._make_monitor(context)
        fit = plan.run(bound, data, chosen.start, novelty, chains, monitor)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        self.evidence_model_, self.basis_, self.candidate_atoms_ = (
            evidence_model,
            chosen.basis,
            bound.atoms,
        )
        self._set_attributes(fit)
        self._judge_convergence(plan.chains, is_quiet=monitor is not None)
        return self

    def _resolve_sampling(
        self, evidence_model: Any
    ) -> RegressionSamplingPlan | StudentSamplingPlan:
        """Resolve the options to objects."""
        options: Any = self
        low_memory = options.low_memory
        # two steps of the horseshoe are a pair of draws; one of them would be lost
        first_thin = 1 if options.weight_prior == "horseshoe" else ChainTuning.thin
        shared = resolve_sampling_options(options, first_thin)
        is_special = options.noise == "student_t" or options.weight_prior == "horseshoe"
        if is_special and options.noise_variance is not None:
            raise ValueError(
                f"noise_variance={options.noise_variance!r} is for Gaussian noise with "
                'weight_prior="inclusion". Leave it at None.'
            )
        if options.noise == "student_t":
            if options.sample_length_scales in ("shared", "ard"):
                raise ValueError(
                    'noise="student_t" needs fixed length-scales; got sample_length_scales='
                    f'{options.sample_length_scales!r}. Use "fixed".'
                )
            if options.weight_prior == "horseshoe":
                raise ValueError(
                    'noise="student_t" needs weight_prior="inclusion"; got "horseshoe".'
                )
            return StudentSamplingPlan(
                **shared,
                noise_prior=options.noise_prior,
                fit_intercept=bool(options.fit_intercept),
            )
        return RegressionSamplingPlan(
            **shared,
            weight_prior=options.weight_prior,
            noise_prior=options.noise_prior,
            noise_variance=options.noise_variance,
            fit_intercept=bool(options.fit_intercept),
            low_memory=None if isinstance(low_memory, str) else bool(low_memory),
            scales=resolve_scales(options.sample_length_scales, evidence_model),
        )

    def _list_functions(self) -> Sequence[DrawnFunctions]:
        outputs: Any = self.outputs_
        return [outputs[0].functions]

    def _set_attributes(self, fit: SampledFit) -> None:
        """Set the fitted attributes."""
        output = fit.output
        self._set_sampled_attributes(fit)
        self.outputs_, self.atoms_ = (output,), output.functions.atoms
        self.noise_variance_ = float(output.noise_variance.mean())
        self.__dict__.pop("df_", None)
        if output.df is not None:
            self.df_ = float(np.median(output.df))


@with_options
class SampledSparseBayesRegressor(SampledRegressionOptions, BasisOptions, BaseSampledRegressor):
    """Sparse Bayesian regression with any basis functions, by sampling.

    Basis functions and likelihood are those of `SparseBayesRegressor`, with a spike-and-slab prior:
    a weight is exactly zero, or normal. Instead of the basis functions, precisions and noise
    variance of highest evidence, Markov chains draw them from their posterior distribution, with
    weights and noise integrated out. Predictions are averages over the models drawn, so that
    error bars include the uncertainty of the selection. For columns, `LinearBasis`, the inclusion
    probabilities say which ones matter, and `rival_models` which explanations compete.

    Attributes
    ----------
    inclusion_probability_ : ndarray of shape (n_atoms,)
        Posterior probability that each basis function is in the model: its share of the draws.
        Not with ``weight_prior="horseshoe"``, nor the next two.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that a basis function of the model depends on each feature. A kernel
        depends on all features of finite length-scale, so that with kernels this is no test of the
        relevance of single features.
    models_ : tuple of (ndarray, float)
        Sets of basis functions of highest posterior probability, at most 100, with their shares of
        the draws; `rival_models` names them.
    kept_share_ : ndarray of shape (n_atoms,)
        Mean share ``1 - kappa`` of its weight that each basis function keeps if it is orthogonal to
        the others (Carvalho, Polson & Scott 2010). Only with ``weight_prior="horseshoe"``.
    noise_variance_ : float
        Posterior mean of the noise variance, or the given value; with ``noise="student_t"``, of
        the squared scale, which is smaller than the variance.
    df_ : float
        Posterior median of the degrees of freedom. Only with ``noise="student_t"``.
    converged_ : bool
        Whether R-hat is at most 1.01, and the effective sample sizes of bulk and tails are at least
        400 (Vehtari et al. 2021), of the noise and of the function at up to 25 training rows and
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
        Draws of the monitored quantities: standard deviation of the noise, number of basis
        functions, log posterior, logarithms of length-scale factors, of the global scale or of the
        degrees of freedom, and the function at up to 25 training rows (``f[0]`` and so on) and at
        10 new inputs (``f[new 0]``).
    n_iter_ : int
        Steps of each chain, warm-up included.
    chains_ : tuple of dict
        State of each chain and of its random numbers, which ``warm_start=True`` continues.
    evidence_model_ : SparseBayesRegressor
        Model of highest evidence with the same basis, from which the first chain starts.
    basis_ : Basis
        Basis, with the length-scales of `evidence_model_`.
    candidate_atoms_ : Atoms
        All basis functions, in the order of `inclusion_probability_`.
    atoms_ : Atoms
        Basis functions that are in the model of at least one draw.
    n_atoms_ : int
        Number of candidate basis functions.
    outputs_ : tuple of SampledOutput
        The draws.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had column names.

    See Also
    --------
    SparseBayesRegressor : One model, that of highest evidence: faster, and small.
    relvec.sampling.CollapsedSampler : The Markov chain.

    References
    ----------
    Schmolck (2008), Smooth relevance vector machines, thesis, University of Exeter, section 2.7.

    Zanella (2020), Informed proposals for local MCMC in discrete spaces, Journal of the American
    Statistical Association 115.

    Examples
    --------
    Two of four columns matter:

    >>> import numpy as np
    >>> from relvec.bases import LinearBasis
    >>> from relvec import SampledSparseBayesRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=60)
    >>> model = SampledSparseBayesRegressor(LinearBasis(), random_state=0).fit(X, y)
    >>> model.converged_, model.inclusion_probability_.round(0)
    (True, array([1., 0., 1., 0.]))
    >>> mean, std = model.predict([[1.0, 0.0, 0.0, 0.0]], return_std=True)
    >>> mean.round(1), std.round(1)
    (array([1.]), array([0.3]))
    """

    def _make_evidence_model(self) -> Any:
        return SparseBayesRegressor(
            None if self.basis is None else clone(self.basis),
            length_scales=self.length_scales,
            noise_variance=self.noise_variance,
            fit_intercept=self.fit_intercept,
            error_bars=self.error_bars,
            calibrate=False,
            low_memory=self.low_memory,
            random_state=self.random_state,
        )


@with_options
class SampledRVMRegressor(
    SampledRegressionOptions, KernelOptions, SampledKernelMixin, BaseSampledRegressor
):
    """Relevance vector machine for regression, by sampling.

    Basis functions and likelihood are those of `RVMRegressor`, with a spike-and-slab prior: a
    weight is exactly zero, or normal. Where length-scales are learnt by default, the features
    themselves are basis functions too, next to the kernels. Instead of the relevance vectors,
    precisions and noise variance of highest evidence, Markov chains draw them from their posterior
    distribution, with weights and noise integrated out; a factor of the learnt length-scales is
    drawn as well. Predictions are averages over the models drawn, so that error bars of the
    function include the uncertainty of the choice. Neighbouring kernels can replace one another:
    single inclusion probabilities are small, and there is no short list of relevance vectors.

    Attributes
    ----------
    inclusion_probability_ : ndarray of shape (n_atoms,)
        Posterior probability that each basis function is in the model: its share of the draws.
        Not with ``weight_prior="horseshoe"``, nor the next two.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that a basis function of the model depends on each feature. A kernel
        depends on all features of finite length-scale, so that with kernels this is no test of the
        relevance of single features.
    models_ : tuple of (ndarray, float)
        Sets of basis functions of highest posterior probability, at most 100, with their shares of
        the draws; `rival_models` names them.
    kept_share_ : ndarray of shape (n_atoms,)
        Mean share ``1 - kappa`` of its weight that each basis function keeps if it is orthogonal to
        the others (Carvalho, Polson & Scott 2010). Only with ``weight_prior="horseshoe"``.
    noise_variance_ : float
        Posterior mean of the noise variance, or the given value; with ``noise="student_t"``, of
        the squared scale, which is smaller than the variance.
    df_ : float
        Posterior median of the degrees of freedom. Only with ``noise="student_t"``.
    converged_ : bool
        Whether R-hat is at most 1.01, and the effective sample sizes of bulk and tails are at least
        400 (Vehtari et al. 2021), of the noise and of the function at up to 25 training rows and
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
        Draws of the monitored quantities: standard deviation of the noise, number of basis
        functions, log posterior, logarithms of length-scale factors, of the global scale or of the
        degrees of freedom, and the function at up to 25 training rows (``f[0]`` and so on) and at
        10 new inputs (``f[new 0]``).
    n_iter_ : int
        Steps of each chain, warm-up included.
    chains_ : tuple of dict
        State of each chain and of its random numbers, which ``warm_start=True`` continues.
    evidence_model_ : RVMRegressor
        Model of highest evidence with the same basis, from which the first chain starts.
    basis_ : Basis
        Basis, with the length-scales of `evidence_model_`.
    candidate_atoms_ : Atoms
        All basis functions, in the order of `inclusion_probability_`.
    atoms_ : Atoms
        Basis functions that are in the model of at least one draw.
    n_atoms_ : int
        Number of candidate basis functions.
    kernel_ : kernel
        Kernel, with the length-scales of `evidence_model_`.
    relevance_vectors_ : ndarray of shape (n_used, n_features)
        Centres of the kernels that are in the model of at least one draw.
    outputs_ : tuple of SampledOutput
        The draws.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had column names.

    See Also
    --------
    RVMRegressor : One model, that of highest evidence: faster, and small.
    relvec.sampling.LengthScaleSampler : The Markov chain.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Schmolck (2008), Smooth relevance vector machines, thesis, University of Exeter, section 2.7.

    Examples
    --------
    Short chains, which warn that they have not converged:

    >>> import warnings
    >>> import numpy as np
    >>> from relvec import SampledRVMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(40, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=40)
    >>> model = SampledRVMRegressor(n_draws=50, n_chains=2, max_doublings=0, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X, y)
    >>> model.converged_
    False
    >>> mean, std = model.predict([[0.0], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 3 * std[0]), bool(std[1] > 2 * std[0])
    (True, True)
    """

    def _make_evidence_model(self) -> Any:
        names = ("gamma", "degree", "coef0", "length_scales", "centers", "center_method")
        shared = {name: getattr(self, name) for name in names}
        return RVMRegressor(
            self.kernel,
            **shared,
            noise_variance=self.noise_variance,
            fit_intercept=self.fit_intercept,
            error_bars=self.error_bars,
            calibrate=False,
            low_memory=self.low_memory,
            random_state=self.random_state,
        )
