"""The probabilistic feature selection classification vector machine, as published (PFCVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from relvec._checks import (
    check_bool,
    check_choice,
    check_finite_input,
    check_integer,
    check_positive,
)
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.likelihoods import bernoulli
from relvec.published._algebra import scaled_kernel, updated_precision
from relvec.published._inputs import (
    at_least_one,
    per_feature,
    positive_or_inf,
    read_inputs,
)
from relvec.published._newton import NewtonRules, ascend, inverse_curvature
from relvec.published._objectives import (
    CURVATURES,
    BernoulliTarget,
    FeatureObjective,
    TruncatedPrior,
    WeightObjective,
)

__all__ = ["LiteralPFCVM"]

LARGEST_PRECISION = float(np.finfo(np.float64).max) ** 0.25
"""Stands for infinity where the last weight of its kind stays above its threshold."""


@dataclass
class _State:
    """Everything that changes from one iteration to the next."""

    rows: IndexArray
    features: IndexArray
    alpha: Vector
    """Precision of the intercept first, if it is in the model."""
    weight: Vector
    """In the order of `alpha`; those of kernels before the sign of their column."""
    has_intercept: bool
    theta: Vector
    beta: Vector
    trace: list[float]


class LiteralPFCVM(ClassifierMixin, BaseEstimator):
    """PFCVM for two classes: truncated priors on sample weights and on feature weights.

    A reference to compare with, not a method to use. The log odds are a sum of kernels
    ``exp(-sum_k theta_k (x_k - z_k)^2)`` whose weights may not be negative, times the label of
    their centre. Each iteration maximises the posterior of the weights by Newton steps, prunes,
    does the same for the feature weights, and re-estimates the precisions of both by MacKay's
    rule from the Laplace approximation. Inputs are used as they are.

    The thesis gives no values for the constants; the defaults are ours. When a threshold would
    remove all samples, or all features, the one of smallest precision stays.

    Parameters
    ----------
    initial_theta : float or array-like of shape (n_features,), optional
        Feature weights to start from. Default, ``1 / (2 n_features)``, for inputs of unit variance.
    initial_weight : float, default=0.1
        Weights of the kernels to start from; the intercept starts at zero.
    initial_alpha : float, default=1.0
        Precisions of all weights to start from.
    initial_beta : float or array-like of shape (n_features,), default=1.0
        Precisions of the feature weights to start from.
    indicator_scale : float, default=5.0
        Lambda of the smoothed indicators of ``w >= 0`` and ``theta >= 0``.
    alpha_max, beta_max : float, default=1e4
        Weights and features of larger precision leave.
    min_change : float, default=1e-3
        Largest change of weights and feature weights that counts as none.
    gradient_stop : float, default=1e-6
        Newton steps end when the norm of the gradient over its length is smaller.
    weight_steps, feature_steps : int, default=25 and 5
        Most Newton steps in one iteration.
    max_iter : int, default=100
        Most iterations.
    warm_up : int, default=5
        Iterations before convergence is looked for.
    initial_step : float, default=1.0
        Fraction of a Newton step that is tried first.
    smallest_step : float, default=2**-10
        Fractions are halved while they are larger than this.
    curvature : {"diagonal", "gauss_newton", "full"}, default="full"
        Negative Hessian for the feature weights. "full" is equation 3.17, which may be
        indefinite; its eigenvalues are then replaced by their absolute values.
    truncation : {"smoothed", "exact"}, default="smoothed"
        Whether priors are cut off at zero by a logistic function or exactly. Smoothed, hardly any
        sample is pruned; exact, weights that reach zero leave.
    signed : bool, default=True
        Multiply each kernel by the label (-1 or 1) of its centre, as in Chen et al. (2009).
        Without, as equation 3.1 reads, only the intercept can be negative.
    learn_features : bool, default=True
        Without, the feature weights stay as they start: PCVM, with a logistic link.
    fit_intercept : bool, default=True
        Include a constant column, with a precision like all others but no truncation.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    relevance_ : ndarray of shape (n_relevant,)
        Training rows that are kept.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
    features_ : ndarray of shape (n_features_kept,)
    feature_weights_ : ndarray of shape (n_features,)
        Theta; zero for features that were dropped. May be negative if smoothed.
    feature_precision_ : ndarray of shape (n_features,)
        Beta; infinite for features that were dropped.
    weight_precision_ : ndarray of shape (n_relevant,)
    coef_ : ndarray of shape (1, n_relevant)
        Weights of the kernels in the log odds, their signs included.
    intercept_ : ndarray of shape (1,)
        Zero if the constant was pruned.
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray of shape (n_iter,)
        Log joint density of labels and weights, up to constants, in the hyper-parameters of each
        iteration; it is not one function, and may fall.

    References
    ----------
    S. Heimsæter (2021), *A dimensionality reducing extension of Bayesian relevance learning*, MSc
    thesis, University of Bergen: Algorithm 3, equations 3.1-3.30.

    B. Jiang, C. Li, M. de Rijke, X. Yao and H. Chen (2019), *Probabilistic feature selection and
    classification vector machine*, ACM Transactions on Knowledge Discovery from Data 13.

    H. Chen, P. Tino and X. Yao (2009), *Probabilistic classification vector machines*, IEEE
    Transactions on Neural Networks 20.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 3))
    >>> y = np.where(np.hypot(X[:, 0], X[:, 1]) < 1.2, "in", "out")
    >>> model = LiteralPFCVM(truncation="exact").fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> int(np.argmin(model.feature_weights_))
    2
    """

    def __init__(
        self,
        *,
        initial_theta: Any = None,
        initial_weight: float = 0.1,
        initial_alpha: float = 1.0,
        initial_beta: Any = 1.0,
        indicator_scale: float = 5.0,
        alpha_max: float = 1e4,
        beta_max: float = 1e4,
        min_change: float = 1e-3,
        gradient_stop: float = 1e-6,
        weight_steps: int = 25,
        feature_steps: int = 5,
        max_iter: int = 100,
        warm_up: int = 5,
        initial_step: float = 1.0,
        smallest_step: float = 2.0**-10,
        curvature: str = "full",
        truncation: str = "smoothed",
        signed: bool = True,
        learn_features: bool = True,
        fit_intercept: bool = True,
    ) -> None:
        self.initial_theta = initial_theta
        self.initial_weight = initial_weight
        self.initial_alpha = initial_alpha
        self.initial_beta = initial_beta
        self.indicator_scale = indicator_scale
        self.alpha_max = alpha_max
        self.beta_max = beta_max
        self.min_change = min_change
        self.gradient_stop = gradient_stop
        self.weight_steps = weight_steps
        self.feature_steps = feature_steps
        self.max_iter = max_iter
        self.warm_up = warm_up
        self.initial_step = initial_step
        self.smallest_step = smallest_step
        self.curvature = curvature
        self.truncation = truncation
        self.signed = signed
        self.learn_features = learn_features
        self.fit_intercept = fit_intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Alternate until neither kind of weight changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they are.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : LiteralPFCVM
        """
        check_finite_input(X, "X")
        inputs: Matrix
        inputs, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            # the first words are those scikit-learn's own checks look for
            raise ValueError(
                "Only binary classification is supported: LiteralPFCVM tells two classes apart; "
                f"y has {len(self.classes_)} class{'es' * (len(self.classes_) > 1)}."
            )
        self._check_constants()
        target = coded.astype(np.float64)
        sign = 2.0 * target - 1.0 if self.signed else np.ones(len(target))
        state = self._start(inputs)
        self.converged_, self.n_iter_ = False, 0
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            change = self._update_weights(state, inputs, target, sign)
            if self.learn_features:
                change = max(change, self._update_features(state, inputs, target, sign))
            self.converged_ = self.n_iter_ > self.warm_up and change < self.min_change
        self._finish(state, inputs, target, sign)
        return self

    def _check_constants(self) -> None:
        for name in ("indicator_scale", "min_change", "initial_step", "smallest_step"):
            check_positive(name, getattr(self, name))
        for name in ("gradient_stop", "initial_weight"):
            check_positive(name, getattr(self, name), allow_zero=True)
        check_positive("initial_alpha", self.initial_alpha)
        for name in ("alpha_max", "beta_max"):
            positive_or_inf(name, getattr(self, name))
        if not self.smallest_step < self.initial_step <= 1.0:
            raise ValueError(
                "initial_step must be larger than smallest_step and at most 1; "
                f"got {self.initial_step!r} and {self.smallest_step!r}."
            )
        for name in ("weight_steps", "feature_steps", "max_iter"):
            check_integer(name, getattr(self, name), minimum=1)
        check_integer("warm_up", self.warm_up, minimum=0)
        check_choice("curvature", self.curvature, CURVATURES)
        check_choice("truncation", self.truncation, ("smoothed", "exact"))
        for name in ("signed", "learn_features", "fit_intercept"):
            check_bool(name, getattr(self, name))

    def _start(self, X: Matrix) -> _State:
        n, n_features = X.shape
        first = int(self.fit_intercept)
        weight = np.full(n + first, float(self.initial_weight))
        weight[:first] = 0.0
        theta = 0.5 / n_features if self.initial_theta is None else self.initial_theta
        return _State(
            rows=np.arange(n),
            features=np.arange(n_features),
            alpha=np.full(n + first, float(self.initial_alpha)),
            weight=weight,
            has_intercept=bool(first),
            theta=per_feature("initial_theta", theta, n_features),
            beta=per_feature("initial_beta", self.initial_beta, n_features, positive=True),
            trace=[],
        )

    def _prior(self, precision: Vector, first: int) -> TruncatedPrior:
        """Prior of weights of which those before `first` are not truncated."""
        truncated = np.arange(len(precision)) >= first
        scale = self.indicator_scale if self.truncation == "smoothed" else None
        return TruncatedPrior(precision, truncated, scale)

    def _rules(self, steps: int, size: int) -> NewtonRules:
        return NewtonRules(steps, self.gradient_stop, size, self.initial_step, self.smallest_step)

    def _weight_objective(
        self, state: _State, X: Matrix, target: Vector, sign: Vector
    ) -> WeightObjective:
        used = X[:, state.features]
        design = scaled_kernel(used, used[state.rows], state.theta) * sign[state.rows]
        if state.has_intercept:
            design = np.column_stack([np.ones(len(X)), design])
        prior = self._prior(state.alpha, int(state.has_intercept))
        return WeightObjective(design, BernoulliTarget(target), prior)

    def _update_weights(self, state: _State, X: Matrix, target: Vector, sign: Vector) -> float:
        """Newton steps, new precisions and pruning; return the largest change of a kept weight."""
        objective = self._weight_objective(state, X, target, sign)
        rules = self._rules(self.weight_steps, len(state.weight))
        ascent = ascend(objective, state.weight, rules, objective.prior.bounded)
        weight = ascent.trial.x
        alpha = updated_precision(1.0 - state.alpha * ascent.variance, weight)
        first = int(state.has_intercept)
        keep = alpha < self.alpha_max
        keep[first:] = at_least_one(keep[first:], alpha[first:])
        change = float(np.max(np.abs(weight - state.weight)[keep]))
        state.has_intercept = bool(first and keep[0])
        state.rows, state.weight = state.rows[keep[first:]], weight[keep]
        state.alpha = np.minimum(alpha[keep], LARGEST_PRECISION)
        state.trace.append(ascent.trial.value)
        return change

    def _update_features(self, state: _State, X: Matrix, target: Vector, sign: Vector) -> float:
        """The same for the feature weights."""
        used, first = X[:, state.features], int(state.has_intercept)
        prior = self._prior(state.beta, 0)
        objective = FeatureObjective(
            X=used,
            centres=used[state.rows],
            weight=state.weight[first:] * sign[state.rows],
            intercept=float(state.weight[:first].sum()),
            target=BernoulliTarget(target),
            prior=prior,
            form=self.curvature,
        )
        rules = self._rules(self.feature_steps, len(state.theta))
        ascent = ascend(objective, state.theta, rules, prior.bounded)
        theta = ascent.trial.x
        beta = updated_precision(1.0 - state.beta * ascent.variance, theta)
        keep = at_least_one(beta < self.beta_max, beta)
        change = float(np.max(np.abs(theta - state.theta)[keep]))
        state.features, state.theta = state.features[keep], theta[keep]
        state.beta = np.minimum(beta[keep], LARGEST_PRECISION)
        # joint with the prior of the sample weights, in their present precisions
        weights = self._prior(state.alpha, first).value(state.weight)
        state.trace[-1] = ascent.trial.value + weights
        return change

    def _finish(self, state: _State, X: Matrix, target: Vector, sign: Vector) -> None:
        objective = self._weight_objective(state, X, target, sign)
        _, curvature = objective.derivatives(objective.evaluate(state.weight))
        first = int(state.has_intercept)
        signs = np.concatenate([np.ones(first), sign[state.rows]])
        self.relevance_ = state.rows
        self.relevance_vectors_ = X[state.rows]
        self.features_ = state.features
        self.feature_weights_ = np.zeros(X.shape[1])
        self.feature_weights_[state.features] = state.theta
        self.feature_precision_ = np.full(X.shape[1], np.inf)
        self.feature_precision_[state.features] = state.beta
        self.weight_precision_ = state.alpha[first:]
        self.coef_ = (state.weight * signs)[None, first:]
        self.intercept_ = np.array([float(state.weight[:first].sum())])
        self.trace_ = np.array(state.trace)
        self._has_intercept = state.has_intercept
        self._covariance = inverse_curvature(curvature) * np.outer(signs, signs)

    def _kernel(self, X: ArrayLike) -> Matrix:
        inputs = read_inputs(self, X)
        return scaled_kernel(inputs, self.relevance_vectors_, self.feature_weights_)

    def decision_function(self, X: ArrayLike) -> Vector:
        """Log odds of the second class at the most probable weights, shape (n_samples,)."""
        result: Vector = self._kernel(X) @ self.coef_[0] + self.intercept_[0]
        return result

    def predict(self, X: ArrayLike) -> Any:
        """Return the more probable class of each row."""
        second = self.decision_function(X) > 0.0
        return self.classes_[second.astype(np.intp)]

    def predict_proba(self, X: ArrayLike, *, moderation: str = "plug_in") -> Matrix:
        """Return the probability of each class, shape (n_samples, 2).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        moderation : {"plug_in", "mackay", "probit"}, default="plug_in"
            "plug_in" takes the most probable weights for certain, as the published code does. The
            others average over their Laplace posterior: "mackay" by scaling the log odds,
            "probit" by the normal distribution function of equation 3.30. Labels are the same.
        """
        check_choice("moderation", moderation, ("plug_in", "mackay", "probit"))
        kernel = self._kernel(X)
        mean = kernel @ self.coef_[0] + self.intercept_[0]
        if moderation == "plug_in":
            second = expit(mean)
        else:
            design = (
                np.column_stack([np.ones(len(kernel)), kernel]) if self._has_intercept else kernel
            )
            variance = np.einsum("ij,ij->i", design @ self._covariance, design)
            second = (
                expit(bernoulli.moderate(mean, variance))
                if moderation == "mackay"
                else ndtr(mean / np.sqrt(8.0 / np.pi + variance))
            )
        return np.column_stack([1.0 - second, second])
