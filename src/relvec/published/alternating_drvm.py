"""Heimsæter's relevance vector machine with feature weights, by alternation (DRVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.published._algebra import (
    Conditioned,
    condition,
    scaled_kernel,
    updated_precision,
)
from relvec.published._inputs import (
    at_least_one,
    per_feature,
    positive_or_inf,
    read_inputs,
    read_regression,
)
from relvec.published._newton import NewtonRules, ascend
from relvec.published._objectives import (
    CURVATURES,
    FeatureObjective,
    GaussianTarget,
    TruncatedPrior,
)

__all__ = ["AlternatingDRVM"]


@dataclass
class _State:
    """Everything that changes from one iteration to the next."""

    rows: IndexArray
    features: IndexArray
    alpha: Vector
    """Precision of the intercept first, if it is in the model."""
    weight: Vector
    """In the order of `alpha`."""
    has_intercept: bool
    noise: float
    theta: Vector
    beta: Vector

    @property
    def intercept(self) -> float:
        return float(self.weight[0]) if self.has_intercept else 0.0

    @property
    def kernel_weight(self) -> Vector:
        return self.weight[int(self.has_intercept) :]

    def design(self, X: Matrix) -> Matrix:
        """Columns of the model at the training inputs."""
        used = X[:, self.features]
        kernel = scaled_kernel(used, used[self.rows], self.theta)
        return np.column_stack([np.ones(len(X)), kernel]) if self.has_intercept else kernel


class AlternatingDRVM(RegressorMixin, BaseEstimator):
    """DRVM: sample weights and feature weights re-estimated in turn, as published.

    A reference to compare with, not a method to use. The kernel is
    ``exp(-sum_k theta_k (x_k - z_k)^2)``. Each iteration updates the sample weights, their
    precisions and the noise by MacKay's rules, then the feature weights by damped Newton steps
    at fixed sample weights, then their precisions. Samples and features whose precision passes a
    threshold leave for good. Inputs are used as they are, since the thesis did not scale them;
    the thresholds and `indicator_scale` have units, so that results depend on the scales.

    The thesis gives no values for its constants; the defaults are those that come near its
    tables. When a threshold would remove all samples, or all features, the one of smallest
    precision stays.

    Parameters
    ----------
    initial_theta : float or array-like of shape (n_features,), optional
        Feature weights to start from. Default, ``1 / (2 n_features)``, for inputs of unit variance.
        The thesis chose it by cross-validation, and results depend on it.
    initial_alpha : float, optional
        Precisions of all weights to start from. Default, ``1 / n_samples**2``.
    initial_beta : float or array-like of shape (n_features,), default=1.0
        Precisions of the feature weights to start from.
    initial_noise_variance : float, optional
        Default, a tenth of the variance of the targets.
    indicator_scale : float, default=5.0
        Lambda of the smoothed indicator of ``theta >= 0``.
    alpha_max, beta_max : float, default=1e9
        Weights and features of larger precision leave (one constant, MAXIMUM, in the thesis).
    min_change : float, default=1e-3
        Largest change of weights, and of feature weights, that counts as none (MINIMUM).
    gradient_stop : float, default=1e-6
        Newton steps end when the gradient's norm over the number of relevance vectors is smaller.
    newton_steps : int, default=25
        Most Newton steps in one iteration (its).
    max_iter : int, default=500
        Most iterations.
    warm_up : int, default=5
        Iterations before convergence is looked for.
    initial_step : float, default=0.5
        Fraction of a Newton step that is tried first; the thesis never takes a whole one.
    smallest_step : float, default=2**-10
        Fractions are halved while they are larger than this.
    noise_floor : float, default=1e-12
        Smallest noise variance, in units of the variance of the targets. Ours: without noise
        the estimate goes to zero and the factorisation fails.
    curvature : {"diagonal", "gauss_newton", "full"}, default="diagonal"
        Negative Hessian of the Newton steps: the diagonal of the Gauss-Newton matrix (the
        thesis' code), all of that matrix, or the exact one (the thesis' text). The last may be
        indefinite; its eigenvalues are then replaced by their absolute values.
    line_search : {"corrected", "as_printed"}, default="corrected"
        As printed, trial steps are judged with the residual before the step, that is by the
        prior alone.
    truncation : {"smoothed", "exact"}, default="smoothed"
        Whether the prior of the feature weights is cut off at zero by a logistic function, which
        lets them become negative, or exactly, by projection.
    freeze : bool, default=False
        Stop updating the weights for good once they have hardly changed in one iteration, and
        likewise the feature weights, as the thesis' code does. Weights are then not those of the
        final kernel. Default, stop when neither changes.
    fit_intercept : bool, default=True
        Include a constant column, with a precision like all others.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Training rows that are kept.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
    features_ : ndarray of shape (n_features_kept,)
        Features that are kept.
    feature_weights_ : ndarray of shape (n_features,)
        Theta; zero for features that were dropped. May be negative if smoothed.
    feature_precision_ : ndarray of shape (n_features,)
        Beta; infinite for features that were dropped.
    weight_precision_ : ndarray of shape (n_relevant,)
        Alpha of the kernels.
    coef_ : ndarray of shape (n_relevant,)
    intercept_ : float
        Zero if the constant was pruned.
    noise_variance_ : float
    log_evidence_ : float
        Log marginal likelihood of the targets given all precisions and feature weights.
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray of shape (n_steps,)
        Objective of the feature weights after each of their updates, in the hyper-parameters of
        that iteration; it is not one function, and may fall.

    References
    ----------
    S. Heimsæter (2021), *A dimensionality reducing extension of Bayesian relevance learning*, MSc
    thesis, University of Bergen: Algorithm 4, equations 4.4-4.11, code in A.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(60, 2))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = AlternatingDRVM(truncation="exact").fit(X, y)
    >>> int(np.argmax(model.feature_weights_))
    0
    """

    def __init__(
        self,
        *,
        initial_theta: Any = None,
        initial_alpha: float | None = None,
        initial_beta: Any = 1.0,
        initial_noise_variance: float | None = None,
        indicator_scale: float = 5.0,
        alpha_max: float = 1e9,
        beta_max: float = 1e9,
        min_change: float = 1e-3,
        gradient_stop: float = 1e-6,
        newton_steps: int = 25,
        max_iter: int = 500,
        warm_up: int = 5,
        initial_step: float = 0.5,
        smallest_step: float = 2.0**-10,
        noise_floor: float = 1e-12,
        curvature: str = "diagonal",
        line_search: str = "corrected",
        truncation: str = "smoothed",
        freeze: bool = False,
        fit_intercept: bool = True,
    ) -> None:
        self.initial_theta = initial_theta
        self.initial_alpha = initial_alpha
        self.initial_beta = initial_beta
        self.initial_noise_variance = initial_noise_variance
        self.indicator_scale = indicator_scale
        self.alpha_max = alpha_max
        self.beta_max = beta_max
        self.min_change = min_change
        self.gradient_stop = gradient_stop
        self.newton_steps = newton_steps
        self.max_iter = max_iter
        self.warm_up = warm_up
        self.initial_step = initial_step
        self.smallest_step = smallest_step
        self.noise_floor = noise_floor
        self.curvature = curvature
        self.line_search = line_search
        self.truncation = truncation
        self.freeze = freeze
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Alternate until neither kind of weight changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they are.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : AlternatingDRVM
        """
        X, y = read_regression(self, X, y)
        self._check_constants()
        state, floor = self._start(X, y)
        weights_move = features_move = True
        trace: list[float] = []
        self.converged_, self.n_iter_ = False, 0
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            settled = self.n_iter_ > self.warm_up
            if weights_move or not self.freeze:
                change = self._update_weights(state, X, y, floor)
                weights_move = not (settled and change < self.min_change)
                self.converged_ = not (weights_move or features_move)
            if (features_move or not self.freeze) and not self.converged_:
                change = self._update_features(state, X, y, trace)
                features_move = not (settled and change < self.min_change)
                self.converged_ = not (weights_move or features_move)
        self._finish(state, X, y, kept_weights=self.freeze and not weights_move)
        self.trace_ = np.array(trace)
        return self

    def _check_constants(self) -> None:
        for name in ("indicator_scale", "min_change", "initial_step", "smallest_step"):
            check_positive(name, getattr(self, name))
        for name in ("gradient_stop", "noise_floor"):
            check_positive(name, getattr(self, name), allow_zero=True)
        for name in ("alpha_max", "beta_max"):
            positive_or_inf(name, getattr(self, name))
        if not self.smallest_step < self.initial_step <= 1.0:
            raise ValueError(
                "initial_step must be larger than smallest_step and at most 1; "
                f"got {self.initial_step!r} and {self.smallest_step!r}."
            )
        check_integer("newton_steps", self.newton_steps, minimum=1)
        check_integer("max_iter", self.max_iter, minimum=1)
        check_integer("warm_up", self.warm_up, minimum=0)
        check_choice("curvature", self.curvature, CURVATURES)
        check_choice("line_search", self.line_search, ("corrected", "as_printed"))
        check_choice("truncation", self.truncation, ("smoothed", "exact"))
        check_bool("freeze", self.freeze)
        check_bool("fit_intercept", self.fit_intercept)

    def _start(self, X: Matrix, y: Vector) -> tuple[_State, float]:
        n, n_features = X.shape
        spread = float(np.var(y))
        # Constant targets have no scale of their own; rounding of their size takes its place.
        spread = max(spread, np.finfo(np.float64).eps * max(1.0, float(np.mean(y) ** 2)))
        noise = (
            0.1 * spread
            if self.initial_noise_variance is None
            else check_positive("initial_noise_variance", self.initial_noise_variance)
        )
        alpha = (
            n**-2.0
            if self.initial_alpha is None
            else check_positive("initial_alpha", self.initial_alpha)
        )
        theta = 0.5 / n_features if self.initial_theta is None else self.initial_theta
        size = n + int(self.fit_intercept)
        state = _State(
            rows=np.arange(n),
            features=np.arange(n_features),
            alpha=np.full(size, alpha),
            weight=np.full(size, np.inf),  # any first weights are a change
            has_intercept=bool(self.fit_intercept),
            noise=noise,
            theta=per_feature("initial_theta", theta, n_features),
            beta=per_feature("initial_beta", self.initial_beta, n_features, positive=True),
        )
        return state, max(self.noise_floor * spread, float(np.finfo(np.float64).tiny))

    def _update_weights(self, state: _State, X: Matrix, y: Vector, floor: float) -> float:
        """MacKay's updates and pruning; return the largest change of a kept weight."""
        found = condition(state.design(X), state.alpha, state.noise, y)
        gamma = np.clip(found.well_determined, 0.0, 1.0)
        alpha = updated_precision(gamma, found.mean)
        freedom = max(len(y) - float(gamma.sum()), 1e-8)
        # As in the thesis' code, from the residual of all weights, those about to go included.
        state.noise = max(float(found.residual @ found.residual) / freedom, floor)
        first = int(state.has_intercept)
        keep = alpha < self.alpha_max
        keep[first:] = at_least_one(keep[first:], alpha[first:])
        change = float(np.max(np.abs(found.mean - state.weight)[keep]))
        state.has_intercept = bool(first and keep[0])
        state.rows = state.rows[keep[first:]]
        # The one that stays above its threshold may have a precision of infinity.
        state.alpha = np.minimum(alpha[keep], np.finfo(np.float64).max ** 0.25)
        state.weight = found.mean[keep]
        return change

    def _update_features(self, state: _State, X: Matrix, y: Vector, trace: list[float]) -> float:
        """Newton steps, new precisions and pruning; return the largest change of a kept theta."""
        used = X[:, state.features]
        smoothed = self.truncation == "smoothed"
        prior = TruncatedPrior(
            precision=state.beta,
            truncated=np.ones(len(state.theta), dtype=bool),
            scale=self.indicator_scale if smoothed else None,
        )
        objective = FeatureObjective(
            X=used,
            centres=used[state.rows],
            weight=state.kernel_weight,
            intercept=state.intercept,
            target=GaussianTarget(y, state.noise),
            prior=prior,
            form=self.curvature,
        )
        rules = NewtonRules(
            steps=self.newton_steps,
            gradient_stop=self.gradient_stop,
            gradient_scale=len(state.rows),
            first=self.initial_step,
            smallest=self.smallest_step,
            stale=self.line_search == "as_printed",
        )
        ascent = ascend(objective, state.theta, rules, prior.bounded)
        theta = ascent.trial.x
        beta = updated_precision(1.0 - state.beta * ascent.variance, theta)
        keep = at_least_one(beta < self.beta_max, beta)
        change = float(np.max(np.abs(theta - state.theta)[keep]))
        state.features, state.theta = state.features[keep], theta[keep]
        state.beta = np.minimum(beta[keep], np.finfo(np.float64).max ** 0.25)
        trace.append(ascent.trial.value)
        return change

    def _finish(self, state: _State, X: Matrix, y: Vector, *, kept_weights: bool) -> None:
        found: Conditioned = condition(state.design(X), state.alpha, state.noise, y)
        if not kept_weights:
            state.weight = found.mean
        first = int(state.has_intercept)
        self.relevance_ = state.rows
        self.relevance_vectors_ = X[state.rows]
        self.features_ = state.features
        self.feature_weights_ = np.zeros(X.shape[1])
        self.feature_weights_[state.features] = state.theta
        self.feature_precision_ = np.full(X.shape[1], np.inf)
        self.feature_precision_[state.features] = state.beta
        self.weight_precision_ = state.alpha[first:]
        self.coef_ = state.kernel_weight
        self.intercept_ = state.intercept
        self.noise_variance_ = state.noise
        self.log_evidence_ = found.log_evidence
        self._has_intercept = state.has_intercept
        self._covariance = found.covariance

    def predict(self, X: ArrayLike, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Predict the target, with its standard deviation on request.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Also return standard deviations, noise included. The uncertainty of the feature
            weights is left out, as in the thesis.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if `return_std` is True.
        """
        X = read_inputs(self, X)
        kernel = scaled_kernel(X, self.relevance_vectors_, self.feature_weights_)
        mean: Vector = kernel @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        design = np.column_stack([np.ones(len(X)), kernel]) if self._has_intercept else kernel
        variance = np.einsum("ij,ij->i", design @ self._covariance, design)
        return mean, np.sqrt(self.noise_variance_ + np.maximum(variance, 0.0))
