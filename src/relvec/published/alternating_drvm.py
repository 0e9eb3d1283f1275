"""Heimsæter's relevance vector machine with feature weights, by alternation (DRVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from relvec._typing import ArrayLike
from relvec.likelihoods import Gaussian
from relvec.published._algebra import condition, updated_noise, updated_precision
from relvec.published._alternating import AlternatingEstimator, State
from relvec.published._inputs import GaussianRegressor, initial_values, read_regression

__all__ = ["AlternatingDRVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class AlternatingDRVM(AlternatingEstimator, GaussianRegressor):
    """DRVM: sample weights and feature weights re-estimated in turn, as published.

    A reference to compare with, not a method to use. The kernel is
    ``exp(-sum_k theta_k (x_k - z_k)^2)``. Each iteration updates the sample weights, their
    precisions and the noise by MacKay's rules, then the feature weights by damped Newton steps
    at fixed sample weights, then their precisions. Samples and features whose precision passes a
    threshold leave for good. Inputs are used as they are, since the thesis did not scale them;
    the thresholds and `indicator_scale` have units, so that results depend on the scales.

    The thesis gives no values for its constants, and starts from values chosen by
    cross-validation. With the defaults here, from one start, the diabetes line of its Table 5.1
    comes out (RMSE 55.9 for the printed 55.5), the errors of sinc, Friedman #1 and Boston do not:
    they are about a third to two fifths larger. When a threshold would remove all samples, or
    all features, the one of smallest precision stays.

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
            Inputs, used as they are.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : AlternatingDRVM
        """
        X, y = read_regression(self, X, y)
        alpha, noise, noise_floor = initial_values(self, y)
        # any first weights are a change
        state = self._start(X, y, np.ones(len(y)), alpha, np.inf)
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
                moves[kind] = self.n_iter_ <= self.warm_up or not change < self.min_change
                self.converged_ = not any(moves.values())
        found = condition(state.design(), state.alpha, state.noise, y)
        if not self.freeze or moves["weights"]:
            state.weight = found.mean
        self._expose(state, state.weight, found.covariance)
        self.coef_ = state.weight[state.first :]
        self.intercept_ = state.intercept
        self.noise_variance_ = state.noise
        self.log_evidence_ = found.log_evidence
        return self

    def _update_weights(self, state: State) -> float:
        """MacKay's updates and pruning; return the largest change of a kept weight."""
        found = condition(state.design(), state.alpha, state.noise, state.y)
        # As in the thesis' code, from the residual of all weights, those about to go included.
        state.noise = updated_noise(found, state.noise_floor)
        alpha = updated_precision(found.well_determined, found.mean)
        return self._prune_weights(state, found.mean, alpha)

    def _update_features(self, state: State) -> float:
        """Newton steps, new precisions and pruning; return the largest change of a kept theta."""
        stale = self.line_search == "as_printed"
        rules = self._rules(self.newton_steps, len(state.rows), stale=stale)
        change, value = self._move_features(state, Gaussian(state.noise).bind(state.y), rules)
        # without the terms of the noise alone
        state.trace.append(value + 0.5 * len(state.y) * np.log(2.0 * np.pi * state.noise))
        return change
