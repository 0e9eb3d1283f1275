"""Sparse models with feature selection: they select relevance vectors and features together."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from relvec._checks import check_bool, check_integer
from relvec.bases.base import Basis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._classification_plan import ClassificationPlan
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._feature_selection import FeatureSelectionOptions
from relvec.estimators._options import (
    ClassificationOptions,
    RegressionOptions,
    option,
    with_options,
)
from relvec.estimators._regression_plan import RegressionPlan
from relvec.learning import LengthScaleLearner
from relvec.solvers import Monitor

__all__ = ["DRVMRegressor", "PFCVMClassifier"]


@with_options
class DRVMRegressor(RegressionOptions, FeatureSelectionOptions, BaseSparseBayesRegressor):
    """Relevance vector machine for regression with feature selection (DRVM).

    The target is a weighted sum of few kernels centred on training inputs, the relevance vectors.
    The kernels have a length-scale for each relevant feature. The length-scales are learnt by the
    evidence (marginal likelihood) of a Gaussian process, then refined by a few steps on the
    evidence of the sparse model, in which features are removed and added by the same rule as
    weights. Where the gain by feature selection does not exceed its penalty, the search begins
    with one length-scale for all features and no feature is removed. The estimator is also a
    scikit-learn feature selector, with `transform` and `get_support`.

    Parameters
    ----------
    n_refinements : int, default=3
        Number of rounds of refinement by the evidence of the sparse model; only for a single
        target. Where features are not selected, length-scales become different and no feature is
        removed.
    length_scale_uncertainty : bool, default=False
        Whether error bars include the posterior uncertainty of the length-scales.
    prior : {"ric", "bic", "aic", "flat", "laplace"} or Prior, default="ric"
        Prior of the weights and their precisions. "ric", "bic" and "aic" put a penalty on every
        effective degree of freedom (Schmolck 2008) and give small models; "flat" gives larger
        models, which predict better at low noise; "laplace" is the feature-selective Bayesian
        lasso. If "laplace" predicts held-out rows worse than "flat", which is usual with kernels,
        "flat" is used and a warning is issued.

    Attributes
    ----------
    features_selected_ : bool
        Whether features were selected. If not, all features that vary are kept (or a subset, of
        more than 100), or none if no feature is found to be related to the target.
    length_scale_ : ndarray of shape (n_features,)
        Learnt length-scale of each feature, in its own units, as in ``RBF(length_scale_)``;
        infinite for features that were removed.
    feature_relevance_ : ndarray of shape (n_features,)
        Input scale (eta of Tipping 2001, eq. 52; ``1 / (2 length_scale_^2)`` for an RBF kernel)
        times the variance of the feature; zero for features that were removed.
    feature_relevance_std_ : ndarray of shape (n_features,)
        Posterior standard deviation of `feature_relevance_`; zero for features that were removed.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that each feature is relevant; features below one half are removed. A
        feature without any gain has ``1 / (1 + exp(penalty))``, not zero. NaN where features were
        not selected.
    feature_gain_ : ndarray of shape (n_features,)
        Gain in log evidence by each feature, in nats: that of the Gaussian process, or of the
        linear model where `model_kind_` is "linear" and features were selected.
    kernel_ : Kernel
        Kernel of the model; not available with ``kernel="precomputed"``.
    model_kind_ : {"ard", "isotropic", "linear", "none", "null"}
        Model that was selected, as in `RVMRegressor`. It is "ard" also where one length-scale for
        all features was refined to different ones.
    feature_relevance_path_ : ndarray of shape (n_steps, n_features)
        `feature_relevance_` after each step of the search for length-scales.
    feature_relevance_path_objective_ : ndarray of shape (n_steps,)
        Objective of the search after each step, in nats; NaN where it is not comparable.
    relevance_ : ndarray of shape (n_relevant,)
        Indices of the training rows that are relevance vectors; columns of X if `model_kind_` is
        "linear".
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        Relevance vectors: the centres of the kernels in the model.
    coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior mean of the weights (Tipping 2001, eq. 13).
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept, in units of the (transformed) target; zero with ``fit_intercept=False``.
    weight_precision_ : ndarray of the shape of `coef_`
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where an output does
        not use a basis function.
    weight_covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance of the weights (Tipping 2001, eq. 12); a list for several outputs.
    well_determined_ : ndarray of shape (n_relevant,)
        ``gamma = 1 - alpha Sigma_ii`` in [0, 1]: how far the data, rather than the prior,
        determine each weight (MacKay 1992; Tipping 2001, eq. 17); a list for several outputs.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise, in squared units of the (transformed) target, estimated or given. If
        it depends on the inputs, the harmonic mean over the training rows (see `predict_noise`); of
        Student-t noise the squared scale, of contaminated normal noise the variance of ordinary
        rows.
    noise_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of the noise model over constant Gaussian noise, in nats; 0 if the
        noise was found to be constant and Gaussian.
    calibration_ : float or ndarray of shape (n_outputs,)
        Factor, at least 1, of the noise variance and posterior variance in predictions, from the
        squared errors of held-out rows; 1 with ``calibrate=False``.
    log_evidence_ : float or ndarray of shape (n_outputs,)
        Logarithm of the evidence, also called marginal likelihood, in nats (Tipping 2001, eq. 15);
        with an intercept, that of the n - 1 contrasts that do not depend on it. With noise that
        varies or has heavy tails a lower bound of it. It is a density of the target itself: with a
        transform it contains the logarithm of its derivative.
    objective_ : float or ndarray of shape (n_outputs,)
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom: the sum of `well_determined_`, and 1 for the intercept.
    prior_rate_ : float or ndarray of shape (n_outputs,)
        Rate of a Laplace prior, learnt or given; zero for other priors.
    reached_max_active_ : bool or ndarray of shape (n_outputs,)
        Whether the cap on the number of active basis functions was reached; the noise variance is
        then not identifiable.
    converged_ : bool or ndarray of shape (n_outputs,)
        Whether the solver converged to its tolerance.
    certificate_ : Certificate or list of Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    candidates_ : tuple of Candidate
        Local maxima that the solver compared, best first.
    outlier_probability_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Posterior probability that a training row is an outlier: that its noise variance is at
        least 9 times `noise_variance_`. This attribute and the next three exist only with `noise`
        "student_t", "contaminated" or "robust".
    row_weight_ : ndarray of the shape of `outlier_probability_`
        Weight of each training row: posterior mean of its noise precision, relative to that of
        `noise_variance_`.
    df_ : float or ndarray of shape (n_outputs,)
        Degrees of freedom of Student-t noise, from 1 to 200; infinite for other noise.
    contamination_ : ndarray of shape (2,) or (2, n_outputs)
        Contaminated normal noise: fraction of outliers, and their noise variance relative to
        `noise_variance_`; 0 and 1 for other noise.
    target_transform_ : TargetTransform or list of TargetTransform
        Transform of the target that was modelled. With one, `coef_`, `intercept_`,
        `noise_variance_` and `predict_noise` are in units of the transformed target.
    target_transform_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of a transform chosen by "auto" over none, in nats; otherwise 0.
    noise_scale_ : float or ndarray of shape (n_outputs,)
        Factor of the noise variances given in fit: 1, or estimated with ``scale_noise=True``. It
        exists only if they were given.
    n_iter_ : int
        Number of iterations of the solver; the largest of several outputs.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.

    See Also
    --------
    RVMRegressor : With ``length_scales="ard"``, learnt length-scales without the refinement.
    relvec.published.AlternatingDRVM : The published algorithm.

    References
    ----------
    S. Heimsæter (2021), A dimensionality reducing extension of Bayesian relevance learning,
    master's thesis, University of Bergen.

    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

    Examples
    --------
    >>> from relvec import DRVMRegressor
    >>> from relvec.datasets import make_friedman
    >>> X, y = make_friedman(1, n_samples=240, random_state=0)
    >>> model = DRVMRegressor().fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    >>> model.transform(X).shape
    (240, 5)
    """

    n_refinements: int = option(default=3, check=partial(check_integer, minimum=0))
    length_scale_uncertainty: bool = option(default=False, check=check_bool)
    prior: Any = option(default="ric")

    def _resolve_learner(self, basis: Basis) -> LengthScaleLearner:
        return super()._resolve_learner(basis).set_params(n_refinements=self.n_refinements)

    def _resolve(self, monitor: Monitor | None = None) -> RegressionPlan:
        plan = replace(
            super()._resolve(monitor), length_scale_uncertainty=self.length_scale_uncertainty
        )
        if plan.prior.keeps_all_atoms:
            raise ValueError(
                f"DRVMRegressor selects relevance vectors, but prior={self.prior!r} keeps all "
                'kernels. Use "ric", "bic", "aic", "flat" or "laplace".'
            )
        return plan


@with_options
class PFCVMClassifier(ClassificationOptions, FeatureSelectionOptions, BaseSparseBayesClassifier):
    """Probabilistic classification vector machine with feature selection (PFCVM).

    The logit of a class is a weighted sum of few kernels centred on training inputs, the relevance
    vectors. Each weight has the sign of the class of its relevance vector. The kernels have a
    length-scale for each relevant feature, learnt by the evidence (marginal likelihood) of a
    Gaussian process. Where the gain by feature selection does not exceed its penalty, all features
    share one length-scale and none is removed. The estimator is also a scikit-learn feature
    selector, with `transform` and `get_support`. For more than two classes it fits one binary
    model for each class against the rest.

    Parameters
    ----------
    signed : bool, default=True
        Whether to constrain the sign of each weight to the class of its relevance vector.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    features_selected_ : bool
        Whether features were selected. If not, all features that vary are kept (or a subset, of
        more than 100), or none if no feature is found to be related to the classes.
    length_scale_ : ndarray of shape (n_features,)
        Learnt length-scale of each feature, in its own units, as in ``RBF(length_scale_)``;
        infinite for features that were removed.
    feature_relevance_ : ndarray of shape (n_features,)
        Input scale (eta of Tipping 2001, eq. 52; ``1 / (2 length_scale_^2)`` for an RBF kernel)
        times the variance of the feature; zero for features that were removed.
    feature_relevance_std_ : ndarray of shape (n_features,)
        Posterior standard deviation of `feature_relevance_`; zero for features that were removed.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that each feature is relevant; features below one half are removed. A
        feature without any gain has ``1 / (1 + exp(penalty))``, not zero. NaN where features were
        not selected.
    feature_gain_ : ndarray of shape (n_features,)
        Gain in log evidence by each feature, in nats: that of the Gaussian process.
    kernel_ : Kernel
        Kernel of the model; not available with ``kernel="precomputed"``.
    model_kind_ : {"ard", "isotropic", "linear", "none", "null"}
        Model that was selected, as in `RVMClassifier`. It is "ard" only if features were selected.
    feature_relevance_path_ : ndarray of shape (n_steps, n_features)
        `feature_relevance_` after each step of the search for length-scales.
    feature_relevance_path_objective_ : ndarray of shape (n_steps,)
        Objective of the search after each step, in nats; NaN where it is not comparable.
    relevance_ : ndarray of shape (n_relevant,)
        Indices of the training rows that are relevance vectors.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        Relevance vectors: the centres of the kernels in the model.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Most probable weights, the mode of the posterior. There is one logit for two classes, else
        one for each class.
    intercept_ : ndarray of shape (n_logits,)
        Intercept of each logit.
    intercept_is_fitted_ : bool
        Whether the intercept was fitted. If not, it is the logit of the class prior, or zero with
        ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where a logit does
        not use a basis function.
    log_evidence_ : float
        Laplace approximation of the log evidence (marginal likelihood), in nats; the sum over
        binary models with "one_vs_rest".
    objective_ : float
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    trace_ : ndarray of shape (n_steps,)
        Objective after each accepted step. It never decreases, except with "mackay" and "em".
    converged_ : bool
        Whether the solver converged: no step that it can take increases the objective.
    certificate_ : Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    n_iter_ : int
        Number of iterations of the solver.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.

    See Also
    --------
    RVMClassifier : Without sign constraints.

    References
    ----------
    H. Chen, P. Tino, X. Yao (2009), Probabilistic classification vector machines, IEEE
    Transactions on Neural Networks 20.

    B. Jiang et al. (2019), Probabilistic feature selection and classification vector machine, ACM
    Transactions on Knowledge Discovery from Data 13.

    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

    Examples
    --------
    >>> from relvec import PFCVMClassifier
    >>> from relvec.datasets import make_ring
    >>> X, y = make_ring(150, n_features=10, random_state=0)
    >>> model = PFCVMClassifier().fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1])
    """

    signed: bool = option(default=True, check=check_bool)

    def _resolve(self, monitor: Monitor | None = None) -> ClassificationPlan:
        plan = super()._resolve(monitor)
        if self.signed and self.solver in ("mackay", "em"):
            raise ValueError(
                f"solver={self.solver!r} cannot constrain the signs of weights. Use "
                'solver="auto" or "exact", or signed=False.'
            )
        return replace(plan, is_signed=bool(self.signed), measures_length_scales=True)
