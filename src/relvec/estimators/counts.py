"""Sparse Bayesian regression of counts, with Poisson or negative binomial likelihood."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning

from relvec._checks import (
    check_bool,
    check_choice,
    check_counts,
    check_exposure,
    check_finite_input,
)
from relvec._typing import ArrayLike
from relvec.estimators._basis_options import BasisOptions
from relvec.estimators._count_plan import CountFit, CountPlan, make_count_data
from relvec.estimators._count_scores import CountScoreMixin
from relvec.estimators._count_warnings import explain_crowded_model, explain_improbable_count
from relvec.estimators._inputs import read_weight, validate_inputs, warn_about_weights
from relvec.estimators._length_scales import expose_length_scales
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_auto_or_bool, check_gain, option, with_options
from relvec.estimators._plan import make_monitor, resolve_common_options
from relvec.estimators._solvers import choose_precision, resolve_latent_solver
from relvec.likelihoods import Likelihood, NegativeBinomial, Poisson
from relvec.priors import FlatPrior, InverseGamma
from relvec.solvers import Monitor

__all__ = ["SparseBayesCountRegressor"]

LIKELIHOODS = ("poisson", "negative_binomial", "auto")


def _check_likelihood(name: str, value: Any) -> None:
    """Raise unless the value is the name of a likelihood of counts, or such a likelihood."""
    if isinstance(value, Poisson | NegativeBinomial):
        return
    if isinstance(value, Likelihood | type):
        raise TypeError(
            f"{name} must be one of {LIKELIHOODS}, Poisson() or NegativeBinomial(shape); got "
            f"{value!r}."
        )
    check_choice(name, value, LIKELIHOODS)


@with_options
class SparseBayesCountRegressor(
    BasisOptions, CountScoreMixin, CallbackSupportMixin, RegressorMixin, NotebookMixin
):
    """Sparse Bayesian regression of counts.

    The logarithm of the rate is a weighted sum of basis functions, also called atoms, and counts
    are Poisson or negative binomial with mean ``exposure * rate``. Every weight has a Gaussian
    prior with its own precision (Tipping 2001, eq. 5), or all kernels of one length-scale
    share a precision. The Laplace approximation of the evidence, also called the marginal
    likelihood, is maximised over the precisions and the shape of the negative binomial
    distribution.

    Parameters
    ----------
    basis : Basis, optional
        The basis functions: `KernelBasis`, `LinearBasis`, a sum of them, and others. By default,
        kernels centred on training inputs, whose length-scales are learnt from the counts by
        Anscombe's transform; with ``precision="tied"`` and one feature, kernels of several widths.
    length_scales : {"auto", "ard", "isotropic", "kernel"}, LengthScaleLearner or None, \
default="auto"
        Which length-scales to learn for the one `KernelBasis` in `basis`; see `RVMRegressor`.
        "auto" learns them if its `kernel` is a name and its `gamma` is the default. None uses the
        kernel as it is.
    likelihood : {"poisson", "negative_binomial", "auto"} or Likelihood, default="poisson"
        Distribution of a count given its rate. "negative_binomial" is for overdispersed counts,
        of variance ``mean + mean^2 / shape``; the shape is learnt by the evidence. "auto" is
        negative binomial if that gains more than 3 nats, else Poisson. `NegativeBinomial(shape)`
        has a given shape.
    precision : {"auto", "atom", "tied"}, default="auto"
        Whether each basis function has a prior precision of its own, which gives few of them, or
        all functions of one part of a sum of bases share one, which gives wider error bars that
        cover the true rate more often. "auto" is "tied" for bases with a prior spectrum, such as
        `SmoothBasis` and `PeriodicBasis`, else "atom".
    prior : {"flat", "gamma", "aic", "bic", "ric"} or Prior, default="flat"
        Prior of the weights and their precisions alpha, as in `RVMClassifier`. Effective degrees of
        freedom are counted at the curvature of a constant rate.
    solver : {"auto", "sequential", "exact", "mackay", "em"} or LatentSolver, default="auto"
        Algorithm that maximises the Laplace approximation of the evidence, as in `RVMClassifier`;
        "auto" with ``precision="tied"``.
    fit_intercept : bool, default=True
        Whether to fit an intercept of the log rate, with a flat prior.
    min_gain : float or "auto", default="auto"
        Minimum gain in log evidence, in nats, for a basis function to be kept: the log prior odds
        against its inclusion. "auto" is 0.001 for kernels. For explicit columns it is the
        logarithm of their number under the flat prior, else 0.001.
    error_bars : {"novelty", "plain"}, default="novelty"
        Predictions away from the training inputs. With "novelty" the log rate tends to its mean,
        with the standard deviation that it has over the training inputs. "plain" is the posterior
        of the weights alone, which is too certain there.
    low_memory : bool or "auto", default="auto"
        Whether to evaluate the basis functions at the training inputs again when needed instead
        of storing them. "auto" decides by their size.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of `centers`, where that is random.

    Attributes
    ----------
    likelihood_ : {"poisson", "negative_binomial"}
        Likelihood of the model, selected or given.
    shape_ : float
        Shape of the negative binomial distribution, learnt or given; infinite for Poisson counts.
    overdispersion_gain_ : float
        Gain in the objective by the negative binomial over the Poisson likelihood, in nats. Only
        with ``likelihood="auto"``.
    relevance_ : ndarray of shape (n_relevant,)
        Basis functions in the model: indices of the training rows on which they are centred, or,
        if some are not centred on training rows, their columns in the basis matrix.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        Relevance vectors: the centres of the kernels in the model. Only if the basis is a
        `KernelBasis`, as it is by default, except with ``precision="tied"`` and one feature.
    coef_ : ndarray of shape (n_relevant,)
        Most probable weights, the mode of the posterior. Predictions use another Gaussian, see
        Notes, so that ``intercept_ + atoms_.evaluate(X) @ coef_`` is not exactly
        `predict_log_rate`.
    intercept_ : float
        Log rate where all basis functions are zero; zero with ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_relevant,)
        Prior precision of each weight, alpha (Tipping 2001, eq. 5).
    weight_covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance of the weights by the Laplace approximation, at the mode `coef_`.
    atoms_ : Atoms
        Basis functions in the model: ``atoms_.evaluate(X)`` has a column for each weight.
    n_atoms_ : int
        Number of basis functions to choose from.
    count_model_ : FittedCountModel
        Fitted model with the posterior that predictions use.
    log_evidence_ : float
        Laplace approximation of the log evidence (marginal likelihood), in nats, with all constants
        of the likelihood, so that likelihoods can be compared.
    objective_ : float
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    trace_ : ndarray of shape (n_steps,)
        Objective after each accepted step. It never decreases, except with "mackay" and "em".
    converged_ : bool
        Whether the solver converged: no step that it can take increases the objective.
    certificate_ : Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum.
    n_iter_ : int
        Number of iterations of the solver.
    has_exposure_ : bool
        Whether `fit` was given exposures other than one unit, so that scores and reports need them.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.
    length_scale_, feature_relevance_, feature_gain_, model_kind_
        Results of learning length-scales, as in `RVMRegressor`; only if they are learnt.
    kernel_ : Kernel
        Kernel of the model, if the basis has exactly one.

    See Also
    --------
    SparseBayesRegressor : Targets with Gaussian noise.
    SparseBayesDensity : Density of points, or intensity of events: no counts to be given.
    relvec.plotting.RootogramDisplay : Observed and expected frequencies of counts.
    sklearn.linear_model.PoissonRegressor : Linear log rate with a ridge penalty to be chosen.

    Notes
    -----
    Precisions and basis functions are chosen by the Laplace approximation at the mode `coef_`. For
    predictions the posterior is the Gaussian of smallest Kullback-Leibler divergence from the
    exact one (Opper and Archambeau 2009), whose expected rates are unbiased. Its mean and
    covariance differ a little from `coef_` and `weight_covariance_`, most where events are few.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    F. J. Anscombe (1948), The transformation of Poisson, binomial and negative-binomial data,
    Biometrika 35.

    M. Opper, C. Archambeau (2009), The variational Gaussian approximation revisited, Neural
    Computation 21.

    C. E. Rasmussen, C. K. I. Williams (2006), Gaussian processes for machine learning, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesCountRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1))
    >>> rate = np.exp(1.0 + 1.5 * np.sin(2.0 * np.pi * X[:, 0]))
    >>> model = SparseBayesCountRegressor().fit(X, rng.poisson(rate))
    >>> len(model.relevance_) < 10, model.score(X, rate.round()) > 0.9
    (True, True)
    """

    length_scales: Any = option(default="auto")
    likelihood: Any = option(default="poisson", check=_check_likelihood)
    precision: str = option(
        default="auto", check=partial(check_choice, choices=("auto", "atom", "tied"))
    )
    prior: Any = option(default="flat")
    solver: Any = option(default="auto")
    fit_intercept: bool = option(default=True, check=check_bool)
    min_gain: float | str = option(default="auto", check=check_gain)
    error_bars: str = option(
        default="novelty", check=partial(check_choice, choices=("novelty", "plain"))
    )
    low_memory: bool | str = option(default="auto", check=check_auto_or_bool)
    random_state: Any = option(default=None)

    def _resolve(self, monitor: Monitor | None = None) -> CountPlan:
        """Resolve the options to objects, and raise if one is not valid."""
        shared = resolve_common_options(self, monitor)
        prior = shared["prior"]
        is_tied = choose_precision(self.precision, shared["basis"]) == "tied"
        if isinstance(prior.noise, InverseGamma) and (prior.noise.shape or prior.noise.rate):
            raise ValueError(
                f"{type(self).__name__} has no noise variance, but {prior!r} gives it a prior. "
                "Leave out `noise`; it is for regressors with Gaussian noise."
            )
        is_default = isinstance(self.solver, str) and self.solver == "auto"
        if is_tied and not (is_default and isinstance(prior, FlatPrior)):
            raise ValueError(
                'precision="tied" has a solver of its own and a flat prior of its few precisions; '
                f"got solver={self.solver!r} and prior={self.prior!r}. Leave them at their "
                'defaults, or use precision="atom".'
            )
        return CountPlan(
            **shared,
            solver=resolve_latent_solver(self.solver, needs_dense=prior.keeps_all_atoms),
            likelihood=self.likelihood,
            is_tied=is_tied,
            has_default_basis=self.basis is None,
            fit_intercept=bool(self.fit_intercept),
        )

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> SparseBayesCountRegressor:
        """Fit the model: select basis functions and estimate their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. `LinearBasis` accepts sparse matrices; kernels of texts or objects
            accept lists and arrays of them.
        y : array-like of shape (n_samples,)
            Counts: non-negative integers up to 1e12.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: weight 2 is the same as the row given twice, weight 0 as the row left
            out. Default, 1 for each row.
        exposure : float or array-like of shape (n_samples,), optional
            Time, area, population or number of trials in which the events of a row were counted,
            positive. The model is of the rate per unit of exposure. Default, 1 for each row.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        context = self._init_callback_context(max_subtasks=None)
        has_callbacks = hasattr(self, "_skl_callbacks")
        plan = self._resolve(make_monitor(self, context) if has_callbacks else None)
        check_finite_input(y, "y")
        X, y = validate_inputs(self, X, y, y_numeric=True)
        counts = check_counts("y", y)
        units = check_exposure(exposure, len(counts))
        weight = None if sample_weight is None else read_weight(sample_weight, X)
        warn_about_weights(weight, stacklevel=4)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        fit = plan.run(make_count_data(X, counts, np.log(units), weight))
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        self._set_attributes(fit)
        self.has_exposure_ = bool((units != 1.0).any())
        if not self.converged_ and not has_callbacks:  # callbacks may have stopped it
            gradient, gain = self.certificate_
            warnings.warn(
                f"{type(self).__name__} did not converge (gradient {gradient:.1e}, gain of another "
                f"basis function {gain:.1e} nats, {len(self.coef_)} active): better models may "
                'exist. Use solver="exact", or give the solver a larger max_iter.',
                ConvergenceWarning,
                stacklevel=3,
            )
        keeps_all = plan.is_tied or plan.prior.keeps_all_atoms
        message = explain_improbable_count(fit.model, X, counts, units, weight)
        if not message and not keeps_all:
            message = explain_crowded_model(len(self.coef_), X, weight)
        if message:
            warnings.warn(f"{type(self).__name__}: {message}", UserWarning, stacklevel=3)
        return self

    def _set_attributes(self, fit: CountFit) -> None:
        """Set the fitted attributes."""
        model, rows = fit.model, fit.bound.source_row
        expose_length_scales(self, fit.scaled)
        self.count_model_ = model
        self.likelihood_, self.shape_ = "poisson", np.inf
        if isinstance(model.likelihood, NegativeBinomial):
            self.likelihood_, self.shape_ = "negative_binomial", float(model.likelihood.shape)
        self.__dict__.pop("overdispersion_gain_", None)
        if fit.overdispersion_gain is not None:
            self.overdispersion_gain_ = fit.overdispersion_gain
        self.n_atoms_ = len(rows)
        self.relevance_ = rows[model.active] if (rows >= 0).all() else model.active
        self.atoms_ = model.atoms
        self.coef_ = model.coef[0]
        self.intercept_ = float(model.intercept[0])
        self.weight_precision_ = model.weight_precision[0]
        self.log_evidence_ = model.log_evidence
        self.objective_ = model.objective
        self.n_iter_ = max(1, model.n_iter)
        self.converged_ = bool(model.converged)
        self.trace_ = np.array(model.trace)

    def __sklearn_tags__(self) -> Any:
        """Declare that targets are not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
