"""Sparse models that choose samples and inputs together."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from relvec._checks import check_bool, check_integer
from relvec.bases.base import Basis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._classification_plan import ClassificationPlan
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._options import (
    ClassificationOptions,
    RegressionOptions,
    option,
    with_options,
)
from relvec.estimators._plan import RegressionPlan
from relvec.estimators._select import SelectionFront
from relvec.learning import LengthScaleLearner
from relvec.solvers import Monitor

__all__ = ["DRVMRegressor", "PFCVMClassifier"]


@with_options
class DRVMRegressor(RegressionOptions, SelectionFront, BaseSparseBayesRegressor):
    """Relevance vector machine that chooses samples and inputs together.

    A regression on few kernels, each of few inputs, every input on a scale of its own. Which inputs
    matter, and how much, is learnt by the evidence of a Gaussian process; a few steps of the
    evidence of the sparse model itself follow, in which inputs are taken out and in by the same
    rule as weights. Where a choice does not pay for itself, because all inputs matter a little,
    they begin with one width and none is left out. It is a scikit-learn feature selector as well.

    Parameters
    ----------
    n_refinements : int, default=3
        How often to go on with the evidence of the sparse model, if there is one target. Where
        inputs were not chosen their widths move apart then, and none is taken out.
    length_scale_uncertainty : bool, default=False
        Whether error bars contain that the scales are not known exactly.
    prior : {"ric", "bic", "aic", "flat", "laplace"} or Prior, default="ric"
        "ric" gives small models; "flat" larger ones that predict better where there is little
        noise; "laplace" is the feature-selective Bayesian lasso, which gives way to "flat", with
        a warning, where left-out rows are predicted worse: with kernels it mostly does.

    Attributes
    ----------
    features_selected_ : bool
        What was decided: whether inputs were chosen. Otherwise all that vary are kept (some of
        more than 100), and `transform` returns them all; or none is selected if no input says
        anything.
    feature_relevance_ : ndarray of shape (n_features,)
        Inverse squared widths of the kernels, in units of the standard deviation of each input;
        zero for inputs that were left out.
    feature_relevance_std_ : ndarray of shape (n_features,)
        Their posterior standard deviations; zero for inputs that were left out.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        How sure it is that each input matters; one half is where inputs are left out. One that
        brings nothing is not at zero but at ``1 / (1 + exp(penalty))``. Not a number where inputs
        were not chosen.
    feature_gain_ : ndarray of shape (n_features,)
        Log evidence that each input brings to the Gaussian process, or to the linear model where
        `model_kind_` is "linear" and inputs were chosen.
    length_scale_, kernel_, model_kind_, feature_relevance_path_, feature_relevance_path_objective_
        As in `RVMRegressor`. `model_kind_` is "ard" also where one width moved apart.
    relevance_, relevance_vectors_, coef_, intercept_, weight_precision_, weight_covariance_, \
noise_variance_, log_evidence_, objective_, effective_dof_, prior_rate_, well_determined_, \
converged_, certificate_, n_iter_, n_features_in_, feature_names_in_
        As in `SparseBayesRegressor`.

    See Also
    --------
    RVMRegressor : With ``length_scales="ard"``, scales without the refinement.
    relvec.published.AlternatingDRVM : The algorithm as published.

    References
    ----------
    S. Heimsæter (2021), A dimensionality reducing extension of Bayesian relevance learning,
    master's thesis, University of Bergen.

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
                f"DRVMRegressor chooses samples, and prior={self.prior!r} keeps them all. Use "
                '"ric", "bic", "aic", "flat" or "laplace".'
            )
        return plan


@with_options
class PFCVMClassifier(ClassificationOptions, SelectionFront, BaseSparseBayesClassifier):
    """Probabilistic classification vector machine that chooses samples and inputs together.

    Weights of kernels carry the sign of the class of their centre, so every vector speaks for its
    own class. Inputs have scales of their own, learnt by the evidence of a Gaussian
    process; where these do not pay for themselves, because all inputs matter alike, they share one
    width and none is left out. It is a scikit-learn feature selector as well.

    Parameters
    ----------
    signed : bool, default=True
        Whether weights have the signs of the classes of their centres.

    Attributes
    ----------
    features_selected_, feature_relevance_, feature_relevance_std_, \
feature_inclusion_probability_, feature_gain_, length_scale_, model_kind_, \
feature_relevance_path_, feature_relevance_path_objective_
        As in `DRVMRegressor`. `model_kind_` is "ard" only if inputs were chosen.
    classes_, relevance_, relevance_vectors_, coef_, intercept_, weight_precision_, log_evidence_, \
objective_, trace_, converged_, certificate_, kernel_, n_iter_, n_features_in_, feature_names_in_
        As in `RVMClassifier`.

    References
    ----------
    H. Chen, P. Tino, X. Yao (2009), Probabilistic classification vector machines, IEEE
    Transactions on Neural Networks 20. B. Jiang et al. (2019), Probabilistic feature selection
    and classification vector machine, ACM Transactions on Knowledge Discovery from Data 13.

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
                f'solver={self.solver!r} knows no signs. Use "auto" or "exact", or signed=False.'
            )
        return replace(plan, is_signed=bool(self.signed), measures_scales=True)
