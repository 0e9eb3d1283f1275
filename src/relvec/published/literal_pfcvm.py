"""Probabilistic feature selection and classification vector machine (PFCVM), as published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, ndtr
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from relvec._checks import check_choice, check_finite_input, check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.bernoulli import Bernoulli, BoundBernoulli, marginalise_log_odds
from relvec.published._algebra import function_variance
from relvec.published._alternating import AlternatingEstimator, State
from relvec.published._inputs import check_constants, validate_inputs
from relvec.published._newton import ascend, inverse_curvature
from relvec.published._objectives import WeightObjective

__all__ = ["LiteralPFCVM"]


class _BernoulliWithoutFloor(BoundBernoulli):
    """Bernoulli likelihood whose curvature is not bounded away from zero, as published."""

    min_curvature = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class LiteralPFCVM(ClassifierMixin, AlternatingEstimator):
    """PFCVM for two classes: truncated priors on sample weights and on feature weights.

    A reference for comparisons, not recommended for applications. The log odds are a sum of kernels
    ``exp(-sum_k theta_k (x_k - z_k)^2)`` with non-negative weights, each multiplied by the label
    (-1 or 1) of its centre. Each iteration maximises the posterior of the weights by Newton steps
    and prunes, does the same for the feature weights, and re-estimates the precisions of both by
    MacKay's rule from the Laplace approximation. Features are not standardised.

    The thesis gives no values for the constants; the defaults are ours. If a threshold would remove
    all samples, or all features, the one of smallest precision is kept.

    Parameters
    ----------
    initial_theta : float or array-like of shape (n_features,), optional
        Initial feature weights. Default, ``1 / (2 n_features)``, for features of unit variance.
    initial_weight : float, default=0.1
        Initial weight of all kernels; that of the intercept is zero.
    initial_alpha : float, default=1.0
        Initial precision of all weights.
    initial_beta : float or array-like of shape (n_features,), default=1.0
        Initial precisions of the feature weights.
    indicator_scale : float, default=5.0
        Lambda of the smoothed indicators of ``w >= 0`` and ``theta >= 0``.
    alpha_max, beta_max : float, default=1e4
        Samples and features of larger precision are removed.
    min_change : float, default=1e-3
        Convergence threshold on the largest change of weights and feature weights.
    gradient_stop : float, default=1e-6
        Newton steps stop if the norm of the gradient, divided by its length, is smaller.
    weight_steps, feature_steps : int, default=25 and 5
        Maximum numbers of Newton steps per iteration.
    max_iter : int, default=100
        Maximum number of iterations.
    warm_up : int, default=5
        Number of iterations before convergence is checked.
    initial_step : float, default=1.0
        Fraction of a Newton step that is tried first.
    smallest_step : float, default=2**-10
        Smallest fraction: it is halved while larger than this.
    curvature : {"diagonal", "gauss_newton", "full"}, default="full"
        Negative Hessian for the feature weights. "full" is eq. 3.17; if it is indefinite, its
        eigenvalues are replaced by their absolute values.
    truncation : {"smoothed", "exact"}, default="smoothed"
        Whether priors are truncated at zero by a logistic function or exactly. If smoothed, hardly
        any sample is pruned; if exact, samples whose weight reaches zero are removed.
    signed : bool, default=True
        Multiply each kernel by the label (-1 or 1) of its centre, as in Chen et al. (2009).
        If False, as in eq. 3.1, only the intercept can be negative.
    learn_features : bool, default=True
        If False, the feature weights keep their initial values: PCVM, with a logistic link.
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
        Theta; zero for removed features. May be negative if truncation is smoothed.
    feature_precision_ : ndarray of shape (n_features,)
        Beta; infinite for removed features.
    weight_precision_ : ndarray of shape (n_relevant,)
    coef_ : ndarray of shape (1, n_relevant)
        Weights of the kernels in the log odds, their signs included.
    intercept_ : ndarray of shape (1,)
        Zero if the constant was pruned.
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray of shape (n_iter,)
        Log joint density of labels and weights, up to constants. It depends on the
        hyper-parameters of the iteration, so it may fall.

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

    initial_weight: float = 0.1
    initial_alpha: float = 1.0
    alpha_max: float = 1e4
    beta_max: float = 1e4
    weight_steps: int = 25
    feature_steps: int = 5
    max_iter: int = 100
    initial_step: float = 1.0
    curvature: str = "full"
    signed: bool = True
    learn_features: bool = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Alternate until neither kind of weight changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, not standardised.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : LiteralPFCVM
        """
        check_constants(self)
        check_positive("initial_alpha", self.initial_alpha)
        check_finite_input(X, "X")
        inputs: Matrix
        inputs, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            # scikit-learn's estimator checks look for the first words.
            raise ValueError(
                "Only binary classification is supported: LiteralPFCVM needs two classes; "
                f"y has {len(self.classes_)} class{'es' * (len(self.classes_) > 1)}."
            )
        target = coded.astype(np.float64)
        sign = 2.0 * target - 1.0 if self.signed else np.ones(len(target))
        state = self._initial_state(inputs, target, sign, self.initial_alpha, self.initial_weight)
        state.weight[: state.first] = 0.0
        self.converged_, self.n_iter_ = False, 0
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            change = self._update_weights(state)
            if self.learn_features:
                change = max(change, self._update_features(state))
            self.converged_ = self.n_iter_ > self.warm_up and change < self.min_change
        objective = self._objective(state)
        # Laplace approximation at the final weights and feature weights, feature weights held.
        _, curvature = objective.derivatives(objective.evaluate(state.weight))
        signs = np.concatenate([np.ones(state.first), sign[state.rows]])
        # The design has columns t_j k(x, x_j), the fitted model k(x, x_j): signs go to weights and
        # covariance.
        weights = state.weight * signs
        self._set_fitted_attributes(
            state, weights, inverse_curvature(curvature) * np.outer(signs, signs)
        )
        self.coef_ = weights[None, state.first :]
        self.intercept_ = np.array([state.intercept])
        return self

    def _objective(self, state: State) -> WeightObjective:
        """Return the log posterior of the weights."""
        prior = self._prior(state.alpha, state.first)
        return WeightObjective(state.design(), _BernoulliWithoutFloor(Bernoulli(), state.y), prior)

    def _update_weights(self, state: State) -> float:
        """Update and prune the sample weights; return the largest change of a kept one."""
        rules = self._rules(self.weight_steps, len(state.weight))
        trial, alpha = ascend(self._objective(state), state.weight, rules)
        state.trace.append(trial.value)
        return self._prune_weights(state, trial.x, alpha)

    def _update_features(self, state: State) -> float:
        """Update and prune the feature weights; return the largest change of a kept one."""
        rules = self._rules(self.feature_steps, len(state.theta))
        change, value = self._update_feature_weights(
            state, _BernoulliWithoutFloor(Bernoulli(), state.y), rules
        )
        # joint with the prior of the sample weights, at their present precisions
        state.trace[-1] = value + self._prior(state.alpha, state.first).value(state.weight)
        return change

    def decision_function(self, X: ArrayLike) -> Vector:
        """Return the log odds of the second class at the most probable weights."""
        result: Vector = self._design(validate_inputs(self, X)) @ self._weights
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
            "plug_in" uses the most probable weights, as the published code does. The others
            marginalise over the Laplace posterior of the weights (MacKay's moderation): "mackay" by
            scaling the log odds, "probit" by the normal distribution function of eq. 3.30. The
            predicted labels are the same.
        """
        check_choice("moderation", moderation, ("plug_in", "mackay", "probit"))
        design = self._design(validate_inputs(self, X))
        mean = design @ self._weights
        if moderation == "plug_in":
            second = expit(mean)
        elif moderation == "mackay":
            second = expit(marginalise_log_odds(mean, function_variance(design, self._covariance)))
        else:
            # sigmoid(a) is approximated by Phi(sqrt(pi / 8) a), whose average over N(m, v) is Phi(m
            # / sqrt(8 / pi + v)) (Bishop 2006, section 4.5.2).
            second = ndtr(mean / np.sqrt(8.0 / np.pi + function_variance(design, self._covariance)))
        return np.column_stack([1.0 - second, second])
