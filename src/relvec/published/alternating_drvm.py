"""Heimsæter's relevance vector machine with feature weights, by alternation (DRVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from relvec._typing import ArrayLike
from relvec.likelihoods import Gaussian
from relvec.published._algebra import condition, mackay_noise_variance, mackay_precision
from relvec.published._alternating import AlternatingEstimator, State
from relvec.published._inputs import GaussianRegressor, initial_values, validate_regression_data

__all__ = ["AlternatingDRVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class AlternatingDRVM(AlternatingEstimator, GaussianRegressor):
    """DRVM of Heimsæter (2021): sample weights and feature weights updated in turn, as published.

    A reference for comparisons, not recommended for applications. The kernel is
    ``exp(-sum_k theta_k (x_k - z_k)^2)``. Each iteration updates the sample weights, their
    precisions and the noise by MacKay's rules, then the feature weights by damped Newton steps at
    fixed sample weights, then their precisions. Samples and features whose precision exceeds a
    threshold are removed permanently. Features are not standardised, as in the thesis; thresholds
    and `indicator_scale` have units, so results depend on the scales of the features.

    The thesis gives no values for its constants, and chooses initial values by cross-validation.
    With the defaults here and a single initialisation, the RMSE on the diabetes data of its Table
    5.1 is reproduced (55.9 for the printed 55.5); the errors on sinc, Friedman #1 and Boston are
    about a third to two fifths larger. If a threshold would remove all samples, or all features,
    the one of smallest precision is kept.

    Parameters
    ----------
    initial_theta : float or array-like of shape (n_features,), optional
        Initial feature weights. Default, ``1 / (2 n_features)``, for features of unit variance. The
        thesis chose them by cross-validation, and results depend on them.
    initial_alpha : float, optional
        Initial precision of all weights. Default, ``1 / n_samples**2``.
    initial_beta : float or array-like of shape (n_features,), default=1.0
        Initial precisions of the feature weights.
    initial_noise_variance : float, optional
        Initial noise variance. Default, a tenth of the variance of the targets.
    indicator_scale : float, default=5.0
        Lambda of the smoothed indicator of ``theta >= 0``.
    alpha_max, beta_max : float, default=1e9
        Samples and features of larger precision are removed (one constant, MAXIMUM, in the thesis).
    min_change : float, default=1e-3
        Convergence threshold on the largest change of weights and of feature weights (MINIMUM).
    gradient_stop : float, default=1e-6
        Newton steps stop if the norm of the gradient, divided by the number of relevance vectors,
        is smaller.
    newton_steps : int, default=25
        Maximum number of Newton steps per iteration (its).
    max_iter : int, default=500
        Maximum number of iterations.
    warm_up : int, default=5
        Number of iterations before convergence is checked.
    initial_step : float, default=0.5
        Fraction of a Newton step that is tried first; the thesis never takes a full step.
    smallest_step : float, default=2**-10
        Smallest fraction: it is halved while larger than this.
    noise_floor : float, default=1e-12
        Smallest noise variance, relative to the variance of the targets. Not in the thesis: on
        noise-free data the estimate would go to zero and the factorisation fail.
    curvature : {"diagonal", "gauss_newton", "full"}, default="diagonal"
        Negative Hessian of the Newton steps: the diagonal of the Gauss-Newton matrix (the code of
        the thesis), the whole Gauss-Newton matrix, or the exact Hessian (the text of the thesis).
        If the exact one is indefinite, its eigenvalues are replaced by their absolute values.
    line_search : {"corrected", "as_printed"}, default="corrected"
        "as_printed" evaluates trial steps with the residual before the step, that is by the prior
        alone.
    truncation : {"smoothed", "exact"}, default="smoothed"
        Whether the prior of the feature weights is truncated at zero by a logistic function, which
        permits negative values, or exactly, by projection.
    freeze : bool, default=False
        As the code of the thesis does, stop updating the weights permanently once they change by
        less than `min_change` in one iteration, and likewise the feature weights. The weights are
        then not those of the final kernel. By default the algorithm stops when neither changes.
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
        Theta; zero for removed features. May be negative if truncation is smoothed.
    feature_precision_ : ndarray of shape (n_features,)
        Beta; infinite for removed features.
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
        Objective of the feature weights after each of their updates. It depends on the
        hyper-parameters of the iteration, so it may fall.

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

    initial_alpha: float | None = None
    initial_noise_variance: float | None = None
    alpha_max: float = 1e9
    beta_max: float = 1e9
    newton_steps: int = 25
    max_iter: int = 500
    initial_step: float = 0.5
    noise_floor: float = 1e-12
    curvature: str = "diagonal"
    line_search: str = "corrected"
    freeze: bool = False

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Alternate until neither kind of weight changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, not standardised.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : AlternatingDRVM
        """
        X, y = validate_regression_data(self, X, y)
        alpha, noise, noise_floor = initial_values(self, y)
        # Infinite initial weights: the first update is never taken for convergence.
        state = self._initial_state(X, y, np.ones(len(y)), alpha, np.inf)
        state.noise, state.noise_floor = noise, noise_floor
        updates = {"weights": self._update_weights, "features": self._update_features}
        moves = dict.fromkeys(updates, True)
        self.converged_, self.n_iter_ = False, 0
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            for kind, update in updates.items():
                if self.converged_ or (self.freeze and not moves[kind]):
                    continue
                change = update(state)
                # Negated comparison, so that an infinite or undefined change counts as a change.
                moves[kind] = self.n_iter_ <= self.warm_up or not change < self.min_change
                self.converged_ = not any(moves.values())
        # Recomputed: the feature weights may have changed since the last update of the weights.
        found = condition(state.design(), state.alpha, state.noise, y)
        if not self.freeze or moves["weights"]:
            state.weight = found.mean
        self._set_fitted_attributes(state, state.weight, found.covariance)
        self.coef_ = state.weight[state.first :]
        self.intercept_ = state.intercept
        self.noise_variance_ = state.noise
        self.log_evidence_ = found.log_evidence
        return self

    def _update_weights(self, state: State) -> float:
        """Apply MacKay's updates, and prune; return the largest change of a kept weight."""
        found = condition(state.design(), state.alpha, state.noise, state.y)
        # As in the code of the thesis, the noise is estimated before pruning.
        state.noise = mackay_noise_variance(found, state.noise_floor)
        alpha = mackay_precision(found.well_determined, found.mean)
        return self._prune_weights(state, found.mean, alpha)

    def _update_features(self, state: State) -> float:
        """Update and prune the feature weights; return the largest change of a kept one."""
        stale = self.line_search == "as_printed"
        rules = self._rules(self.newton_steps, len(state.rows), stale=stale)
        change, value = self._update_feature_weights(
            state, Gaussian(state.noise).bind(state.y), rules
        )
        # without the normalising constant, which depends on the noise only
        state.trace.append(value + 0.5 * len(state.y) * np.log(2.0 * np.pi * state.noise))
        return change
