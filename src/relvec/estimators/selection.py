"""Sparse models that choose samples and inputs together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relvec._checks import check_bool
from relvec._typing import Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._fronts import KernelMixin
from relvec.estimators._refine import SparseFit
from relvec.estimators._scales import ScaledBasis
from relvec.estimators._select import FeatureSelectionMixin
from relvec.learning.label_information import label_information

__all__ = ["DRVMRegressor", "PFCVMClassifier"]


class DRVMRegressor(FeatureSelectionMixin, KernelMixin, BaseSparseBayesRegressor):
    """Relevance vector machine that chooses samples and inputs together.

    A regression on few kernels, each of few inputs, every input on a scale of its own. Which inputs
    matter, and how much, is learnt by the evidence of a Gaussian process; a few steps of the
    evidence of the sparse model itself follow, in which inputs are taken out and in by the same
    rule as weights. Where a choice does not pay for itself, because all inputs matter a little,
    they begin with one width and none is left out. It is a scikit-learn feature selector as well.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        A kernel by name, or a kernel object that is a covariance.
    select : {"auto", "always", "never"}, default="auto"
        Whether inputs are chosen: if the evidence of the sparse model for scales of their own
        exceeds that for one width by more than a nat for each, or `min_feature_gain` if that is
        more; always; or never. Of more than 100 inputs cross-validation decides, which takes
        several times as long. This is decided before the refinement.
    min_feature_gain : float or "auto", default="auto"
        Log evidence that an input must bring to be kept. "auto" asks so much that of inputs that
        do not matter one or two stay next to those that do, however many there are. If no input
        matters, none is selected. A high price makes "auto" keep all inputs sooner; to have few,
        give it together with ``select="always"``.
    refine : int, default=3
        How often to go on with the evidence of the sparse model, if there is one target. Where
        inputs were not chosen their widths move apart then, and none is taken out.
    propagate : bool, default=False
        Whether error bars contain that the scales are not known exactly.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Where kernels may be centred.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen.
    prior : {"ric", "bic", "aic", "flat", "laplace"} or Prior, default="ric"
        "ric" gives small models; "flat" larger ones that predict better where there is little
        noise; "laplace" is the feature-selective Bayesian lasso.
    solver, effort, noise_variance, fit_intercept, min_gain, error_bars, low_memory, random_state
        As in `RVMRegressor`.

    Attributes
    ----------
    inputs_chosen_ : bool
        What was decided: whether inputs were chosen. Otherwise all that vary are kept (some of
        more than 100), or none is selected if no input says anything.
    feature_relevance_ : ndarray of shape (n_features,)
        Inverse squared widths of the kernels, in units of the standard deviation of each input;
        zero for inputs that were left out.
    feature_relevance_std_ : ndarray of shape (n_features,)
        Their posterior standard deviations; zero for inputs that were left out.
    feature_inclusion_probability_ : ndarray of shape (n_features,)
        How sure it is that each input matters; one half is where inputs are left out. One that
        brings nothing is not at zero but at ``1 / (1 + exp(price))``. Not a number where inputs
        were not chosen.
    feature_gain_ : ndarray of shape (n_features,)
        Log evidence that each input brings to the Gaussian process.
    input_scale_, scale_kind_, scale_path_, scale_path_objective_
        As in `RVMRegressor`. `scale_kind_` is "ard" also where one width moved apart.
    relevance_, relevance_vectors_, coef_, intercept_, weight_precision_, weight_covariance_, \
noise_variance_, log_evidence_, objective_, effective_dof_, prior_rate_, well_determined_, \
converged_, n_iter_, n_features_in_, feature_names_in_
        As in `SparseBayesRegressor`.

    See Also
    --------
    RVMRegressor : With ``scales="ard"``, scales without the refinement.
    relvec.published.AlternatingDRVM : The algorithm as published.

    References
    ----------
    I. Heimsæter (2021), A dimensionality reducing extension of Bayesian relevance learning,
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

    gamma = "scale"
    degree = 3
    coef0 = 1.0
    warm_start = False

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        select: str = "auto",
        min_feature_gain: float | str = "auto",
        refine: int = 3,
        propagate: bool = False,
        centers: Any = "all",
        center_method: str = "kmeans++",
        prior: Any = "ric",
        solver: Any = "auto",
        effort: str = "balanced",
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        min_gain: float | str = "auto",
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.select = select
        self.min_feature_gain = min_feature_gain
        self.refine = refine
        self.propagate = propagate
        self.centers = centers
        self.center_method = center_method
        self.prior = prior
        self.solver = solver
        self.effort = effort
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state

    def _check_options(self) -> None:
        check_bool("propagate", self.propagate)
        super()._check_options()

    def _refine_scales(
        self,
        scaled: ScaledBasis,
        fit: SparseFit,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
        context: Any,
    ) -> SparseFit:
        fit = super()._refine_scales(scaled, fit, X, targets, weight, context)
        learnt = self.learnt_scales_
        kept, directions = np.flatnonzero(learnt.scale), self._directions()
        curvature = np.zeros((directions.shape[1], directions.shape[1]))
        models, thetas = self._models(scaled._replace(learnt=learnt), fit, X, targets, weight)
        for model, theta in zip(models, thetas, strict=True):
            if len(theta):
                more = model.information(theta, learnt.scale, kept, directions)
                curvature += 0.0 if more is None else more
        root = self._expose_deviations(curvature)
        if not self.propagate or learnt.kind == "none":
            return fit
        outputs = [
            replace(output, scale_doubt=model.doubt(theta, learnt.scale, kept, root))
            if len(theta)
            else output
            for output, model, theta in zip(fit.outputs, models, thetas, strict=True)
        ]
        return fit._replace(outputs=outputs)


class PFCVMClassifier(FeatureSelectionMixin, KernelMixin, BaseSparseBayesClassifier):
    """Probabilistic classification vector machine that chooses samples and inputs together.

    Weights of kernels carry the sign of the class of their centre, so every vector speaks for its
    own class. Inputs have scales of their own, learnt by the evidence of a Gaussian
    process; where these do not pay for themselves, because all inputs matter alike, they share one
    width and none is left out. It is a scikit-learn feature selector as well.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        A kernel by name, or a kernel object that is a covariance.
    select : {"auto", "always", "never"}, default="auto"
        Whether inputs are chosen, as in `DRVMRegressor`. "never" is the classification vector
        machine of Chen et al. (2009).
    min_feature_gain : float or "auto", default="auto"
        Log evidence that an input must bring to be kept; see `DRVMRegressor`.
    signed : bool, default=True
        Whether weights have the signs of the classes of their centres.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Where kernels may be centred. Centres that are not training rows have free signs.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen.
    prior : {"flat", "aic", "bic", "ric"} or Prior, default="flat"
        As in `RVMClassifier`.
    class_weight, solver, price_curvature, fit_intercept, min_gain, largest_logit, error_bars, \
low_memory, random_state
        As in `RVMClassifier`. Several classes are told apart one against the rest; the solver is
        "auto", "sequential" or "exact".

    Attributes
    ----------
    inputs_chosen_, feature_relevance_, feature_relevance_std_, feature_inclusion_probability_, \
feature_gain_, input_scale_, scale_kind_, scale_path_, scale_path_objective_
        As in `DRVMRegressor`. `scale_kind_` is "ard" only if inputs were chosen.
    classes_, relevance_, relevance_vectors_, coef_, intercept_, weight_precision_, log_evidence_, \
objective_, trace_, converged_, n_iter_, n_features_in_, feature_names_in_
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

    gamma = "scale"
    degree = 3
    coef0 = 1.0
    multi_class = "one_vs_rest"
    refine = 0

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        select: str = "auto",
        min_feature_gain: float | str = "auto",
        signed: bool = True,
        centers: Any = "all",
        center_method: str = "kmeans++",
        prior: Any = "flat",
        class_weight: Any = None,
        solver: Any = "auto",
        price_curvature: str = "bound",
        fit_intercept: bool | str = "auto",
        min_gain: float | str = "auto",
        largest_logit: float = 100.0,
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.select = select
        self.min_feature_gain = min_feature_gain
        self.signed = signed
        self.centers = centers
        self.center_method = center_method
        self.prior = prior
        self.class_weight = class_weight
        self.solver = solver
        self.price_curvature = price_curvature
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.largest_logit = largest_logit
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state

    def _check_options(self) -> None:
        check_bool("signed", self.signed)
        super()._check_options()
        if self.signed and self.solver in ("mackay", "em"):
            raise ValueError(
                f'solver={self.solver!r} knows no signs. Use "auto" or "exact", or signed=False.'
            )

    def _signs(self, bound: BoundBasis, target: Vector) -> Vector | None:
        if not self.signed:
            return None
        rows = bound.source_row
        return np.where(rows >= 0, 2.0 * target[rows] - 1.0, 0.0)

    def _weigh_scales(self, scaled: ScaledBasis, X: Any, weight: Vector | None) -> None:
        learnt = self.learnt_scales_
        kept, directions = np.flatnonzero(learnt.scale), self._directions()
        curvature = np.zeros((directions.shape[1], directions.shape[1]))
        for machine in self.panel_.machines:
            if not len(machine.active):
                continue
            rows = machine.likelihood.bind(np.zeros(len(X)), weight)
            atoms: Any = machine.atoms
            curvature += label_information(
                scaled.kernel,
                learnt.scale[kept],
                X[:, kept],
                atoms.centers[:, kept],
                machine.coef[0],
                machine.weight_precision[0],
                rows.weighted(rows.curvature(machine.mean(X))),
                directions,
                has_intercept=self.intercept_is_fitted_,
            )
        self._expose_deviations(curvature)
