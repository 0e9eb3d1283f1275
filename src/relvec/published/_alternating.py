"""Base class of Heimsæter's two algorithms: alternating sample weights and feature weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import IndexArray, Matrix, Vector
from relvec.likelihoods import BoundLikelihood
from relvec.published._algebra import prepend_constant, scaled_kernel
from relvec.published._inputs import broadcast_to_features, keep_at_least_one
from relvec.published._newton import NewtonRules, ascend
from relvec.published._objectives import FeatureObjective, TruncatedPrior


@dataclass
class State:
    """The data, and the quantities that change from one iteration to the next."""

    X: Matrix
    y: Vector
    sign: Vector
    """Sign by which the kernel of each sample is multiplied."""
    rows: IndexArray
    """Samples that are kept."""
    features: IndexArray
    """Features that are kept."""
    alpha: Vector
    """Precisions of the weights: of the intercept first, if it is in the model."""
    weight: Vector
    """Weights in the order of `alpha`; those of kernels are not multiplied by their sign."""
    theta: Vector
    """Feature weights."""
    beta: Vector
    """Precisions of the feature weights."""
    noise: float = np.nan
    noise_floor: float = 0.0
    trace: list[float] = field(default_factory=list)

    @property
    def first(self) -> int:
        """Position of the first kernel among the columns: one if the intercept is in the model."""
        return len(self.weight) - len(self.rows)

    @property
    def intercept(self) -> float:
        """Weight of the constant column; zero if it was pruned."""
        return float(self.weight[: self.first].sum())

    def design(self) -> Matrix:
        """Return the columns of the model at the training inputs."""
        used = self.X[:, self.features]
        # In the PFCVM the sign is that of the class of the sample, so that its weight is
        # non-negative; in the DRVM it is one.
        kernel = scaled_kernel(used, used[self.rows], self.theta) * self.sign[self.rows]
        return prepend_constant(kernel, self.first > 0)


@dataclass(kw_only=True, eq=False, repr=False)
class AlternatingEstimator(BaseEstimator):
    """Kernels with feature weights; samples and features are pruned by their precisions."""

    initial_theta: Any = None
    initial_beta: Any = 1.0
    indicator_scale: float = 5.0
    alpha_max: float
    beta_max: float
    min_change: float = 1e-3
    gradient_stop: float = 1e-6
    max_iter: int
    warm_up: int = 5
    initial_step: float
    smallest_step: float = 2.0**-10
    curvature: str
    truncation: str = "smoothed"
    fit_intercept: bool = True

    def _initial_state(
        self, X: Matrix, y: Vector, sign: Vector, alpha: float, weight: float
    ) -> State:
        """Return the state in which all weights have the same precision and value."""
        if not self.smallest_step < self.initial_step <= 1.0:
            raise ValueError(
                "initial_step must be larger than smallest_step and at most 1; "
                f"got {self.initial_step!r} and {self.smallest_step!r}."
            )
        n, n_features = X.shape
        size = n + int(self.fit_intercept)
        # For standardised features the mean squared distance is 2 n_features: exponent -1 on
        # average.
        theta = 0.5 / n_features if self.initial_theta is None else self.initial_theta
        return State(
            X=X,
            y=y,
            sign=sign,
            rows=np.arange(n),
            features=np.arange(n_features),
            alpha=np.full(size, float(alpha)),
            weight=np.full(size, float(weight)),
            theta=broadcast_to_features("initial_theta", theta, n_features),
            beta=broadcast_to_features(
                "initial_beta", self.initial_beta, n_features, positive=True
            ),
        )

    def _prior(self, precision: Vector, first: int) -> TruncatedPrior:
        """Return the prior of weights; those before position `first` are not truncated."""
        # The intercept may have either sign.
        truncated = np.arange(len(precision)) >= first
        scale = self.indicator_scale if self.truncation == "smoothed" else None
        return TruncatedPrior(precision, truncated, scale)

    def _rules(self, steps: int, size: int, *, stale: bool = False) -> NewtonRules:
        """Return the constants of at most `steps` Newton steps; `size` scales the gradient norm."""
        first, smallest = self.initial_step, self.smallest_step
        return NewtonRules(steps, self.gradient_stop, size, first, smallest, stale)

    def _prune_weights(self, state: State, weight: Vector, alpha: Vector) -> float:
        """Prune samples by their new precisions; return the largest change of a kept weight."""
        first = state.first
        keep = alpha < self.alpha_max
        keep[first:] = keep_at_least_one(keep[first:], alpha[first:])
        # Measured before the arrays are cut: pruned weights do not count as changes.
        change = float(np.max(np.abs(weight - state.weight)[keep]))
        state.rows, state.weight = state.rows[keep[first:]], weight[keep]
        state.alpha = np.minimum(alpha[keep], _LARGEST_PRECISION)
        return change

    def _update_feature_weights(
        self, state: State, likelihood: BoundLikelihood, rules: NewtonRules
    ) -> tuple[float, float]:
        """Update the feature weights by Newton steps, re-estimate their precisions, and prune.

        Returns the largest change of a kept feature weight, and the objective.
        """
        used = state.X[:, state.features]
        objective = FeatureObjective(
            X=used,
            centres=used[state.rows],
            weight=state.weight[state.first :] * state.sign[state.rows],
            intercept=state.intercept,
            likelihood=likelihood,
            prior=self._prior(state.beta, 0),
            form=self.curvature,
        )
        # Sample weights are held while the feature weights are updated; beta is MacKay's update
        # with the curvature of the last step.
        trial, beta = ascend(objective, state.theta, rules)
        keep = keep_at_least_one(beta < self.beta_max, beta)
        change = float(np.max(np.abs(trial.x - state.theta)[keep]))
        state.features, state.theta = state.features[keep], trial.x[keep]
        state.beta = np.minimum(beta[keep], _LARGEST_PRECISION)
        return change, trial.value

    def _set_fitted_attributes(self, state: State, weights: Vector, covariance: Matrix) -> None:
        n_features = state.X.shape[1]
        self.relevance_ = state.rows
        self.relevance_vectors_ = state.X[state.rows]
        self.features_ = state.features
        self.feature_weights_ = np.zeros(n_features)
        self.feature_weights_[state.features] = state.theta
        self.feature_precision_ = np.full(n_features, np.inf)
        self.feature_precision_[state.features] = state.beta
        self.weight_precision_ = state.alpha[state.first :]
        self.trace_ = np.array(state.trace)
        self._weights, self._covariance = weights, covariance

    def _design(self, X: Matrix) -> Matrix:
        kernel = scaled_kernel(X, self.relevance_vectors_, self.feature_weights_)
        return prepend_constant(kernel, len(self._weights) > len(self.relevance_))


_LARGEST_PRECISION = float(np.finfo(np.float64).max) ** 0.25
"""Replaces an infinite precision where the last sample or feature is kept above its threshold."""
