"""Tipping's interleaved estimation of input scales (Tipping 2001, section 4.3 and appendix C)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._typing import ArrayLike, BoolArray, IndexArray, Matrix, Vector
from relvec.kernels.gradients import squared_difference_sums
from relvec.published._algebra import (
    WeightPosterior,
    condition,
    mackay_noise_variance,
    mackay_precision,
    prepend_constant,
    scaled_kernel,
)
from relvec.published._inputs import (
    GaussianRegressor,
    broadcast_to_features,
    initial_values,
    validate_regression_data,
)

__all__ = ["InterleavedRVM"]


def quadratic_columns(X: Matrix) -> Matrix:
    """Return the features, their squares and their pairwise products.

    Examples
    --------
    >>> import numpy as np
    >>> quadratic_columns(np.array([[2.0, 3.0]]))
    array([[2., 3., 4., 9., 6.]])
    """
    pairs = [X[:, i] * X[:, j] for i, j in combinations(range(X.shape[1]), 2)]
    return np.column_stack([X, X**2, *pairs])


COLUMNS: dict[str, Callable[[Matrix], Matrix]] = {
    "linear": np.asarray,
    "quadratic": quadratic_columns,
}


@dataclass
class _State:
    """The data, and the quantities that change from one iteration to the next."""

    X: Matrix
    y: Vector
    fixed: Matrix
    """Columns that do not depend on the scales."""
    kept: IndexArray
    """Positions of the columns that are kept, in the order: constant, explicit columns, kernels."""
    alpha: Vector
    noise: float
    log_eta: Vector
    step: float

    def split(self) -> tuple[IndexArray, IndexArray]:
        """Return the fixed columns that are kept, and the rows whose kernels are."""
        n_fixed = self.fixed.shape[1]
        return self.kept[self.kept < n_fixed], self.kept[self.kept >= n_fixed] - n_fixed

    def evaluate(self, log_eta: Vector) -> tuple[WeightPosterior, Matrix]:
        """Return the posterior and the design at these scales; kernels are the last columns."""
        fixed, rows = self.split()
        kernel = scaled_kernel(self.X, self.X[rows], np.exp(log_eta))
        design = np.column_stack([self.fixed[:, fixed], kernel])
        return condition(design, self.alpha, self.noise, self.y), design

    def gradient(self, found: WeightPosterior, design: Matrix) -> Vector:
        """Return the gradient of the log evidence in the log scales (Tipping 2001, eqs. 53-57)."""
        fixed, rows = self.split()
        first = len(fixed)
        # dL/dphi_nm = ((t - Phi mu) mu' - Phi Sigma)_nm / sigma^2, times the kernel: d/d eta_k of
        # phi_nm is -phi_nm (x_nk - x_mk)^2
        # Only kernels depend on the scales; alpha and sigma^2 are held.
        slope = np.outer(found.residual, found.mean[first:])
        slope -= design @ found.covariance[:, first:]
        slope *= design[:, first:] / self.noise
        sums = squared_difference_sums(slope, self.X, self.X[rows])
        # d / d log eta_k = eta_k d / d eta_k.
        result: Vector = -np.exp(self.log_eta) * sums
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class InterleavedRVM(GaussianRegressor):
    """RVM with learnt input scales: gradient steps in ``eta`` between MacKay's updates.

    A reference for comparisons, not recommended for applications. The columns are a constant,
    optional explicit columns, and kernels ``exp(-sum_k eta_k (x_k - z_k)^2)`` centred on every
    training input (Tipping 2001, eq. 52). Each iteration re-estimates all precisions and the noise,
    prunes, and then takes a few steps of steepest ascent in the log scales. A step is accepted only
    if it raises the evidence (marginal likelihood); its length grows after a success and shrinks
    after a failure. Features are not standardised.

    Tipping gives no constants of this ascent; the defaults are ours.

    Parameters
    ----------
    columns : {"linear", "quadratic"} or callable, optional
        Explicit columns: the features; the features with their squares and products; or a function
        of X that returns a matrix with as many rows. Default, none.
    initial_scale : float or array-like of shape (n_features,), optional
        Initial ``eta``. Default, such that the kernel between inputs at the mean squared distance
        is ``exp(-1/2)``. Initial scales that are too large (length-scales too short) lead to a
        local maximum of the evidence that keeps most kernels and has far too small a noise.
    initial_alpha : float, optional
        Initial precision of all weights. Default, ``1 / n_samples**2``.
    initial_noise_variance : float, optional
        Initial noise variance. Default, a tenth of the variance of the targets.
    scale_steps : int, default=3
        Number of steps in the scales after each update of the precisions; Tipping suggests 1 to 5.
        With 0 the scales are not learnt.
    initial_step : float, default=0.1
        Largest change of a log scale in the first step.
    max_step : float, default=1.0
        Largest change of a log scale in any step.
    step_growth, step_shrink : float, default=1.5 and 0.5
        Factors of the step length after a success and after a failure.
    max_shrinks : int, default=8
        Maximum number of reductions of one step, after which the iteration goes on without it.
    gamma_min : float, default=2.22e-16
        Columns of smaller well-determinedness are pruned; Tipping uses machine precision.
    alpha_max : float, default=1e12
        Columns of larger precision are pruned as well; `numpy.inf` switches this off.
    noise_floor : float, default=1e-12
        Smallest noise variance, relative to the variance of the targets.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-3
        Stop when no log precision, log scale or log noise changes by more.
    fit_intercept : bool, default=True
        Include the constant, with a precision like all others.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Training rows whose kernels are kept.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
    columns_ : ndarray of shape (n_columns_kept,)
        Explicit columns that are kept.
    input_scales_ : ndarray of shape (n_features,)
        Eta.
    coef_ : ndarray of shape (n_relevant,)
        Weights of the kernels.
    column_coef_ : ndarray of shape (n_columns,)
        Weights of the explicit columns; zero for those pruned.
    intercept_ : float
        Zero if the constant was pruned.
    weight_precision_ : ndarray of shape (n_relevant,)
        Alpha of the kernels.
    noise_variance_ : float
    log_evidence_ : float
    n_iter_ : int
    converged_ : bool
    trace_ : ndarray of shape (n_iter, 2)
        Log evidence before and after the steps in the scales; the second is never smaller.

    References
    ----------
    M. E. Tipping (2001), *Sparse Bayesian learning and the relevance vector machine*, JMLR 1:
    section 4.3, equations 16-18, appendices B.1 and C.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(60, 2))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = InterleavedRVM(max_iter=200).fit(X, y)
    >>> bool(model.input_scales_[0] > 10 * model.input_scales_[1])
    True
    """

    columns: str | Callable[[Matrix], Matrix] | None = None
    initial_scale: Any = None
    initial_alpha: float | None = None
    initial_noise_variance: float | None = None
    scale_steps: int = 3
    initial_step: float = 0.1
    max_step: float = 1.0
    step_growth: float = 1.5
    step_shrink: float = 0.5
    max_shrinks: int = 8
    gamma_min: float = 2.22e-16
    alpha_max: float = 1e12
    noise_floor: float = 1e-12
    max_iter: int = 1000
    tol: float = 1e-3
    fit_intercept: bool = True

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Interleave until neither precisions nor scales change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, not standardised.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : InterleavedRVM
        """
        X, y = validate_regression_data(self, X, y)
        if self.columns is not None and not callable(self.columns):
            check_choice("columns", self.columns, COLUMNS)
        if not self.step_shrink < 1.0 <= self.step_growth:
            raise ValueError(
                "step_shrink must be below 1 and step_growth at least 1; "
                f"got {self.step_shrink!r} and {self.step_growth!r}."
            )
        fixed = self._fixed(X)
        n_columns = fixed.shape[1] + len(y)
        alpha, noise, floor = initial_values(self, y)
        eta = self.initial_scale
        if eta is None:
            total = float(X.var(axis=0).sum())
            # the mean squared distance between rows is twice the total variance
            eta = 0.25 / total if total > 0.0 else 1.0
        state = _State(
            X=X,
            y=y,
            fixed=fixed,
            kept=np.arange(n_columns),
            alpha=np.full(n_columns, alpha),
            noise=noise,
            log_eta=np.log(broadcast_to_features("initial_scale", eta, X.shape[1], positive=True)),
            step=min(self.initial_step, self.max_step),
        )
        found, _ = state.evaluate(state.log_eta)
        trace: list[tuple[float, float]] = []
        self.converged_, self.n_iter_ = False, 0
        while self.n_iter_ < self.max_iter and not self.converged_:
            self.n_iter_ += 1
            change = self._update_precisions(state, found, floor)
            found, before, moved = self._ascend_scales(state)
            trace.append((before, found.log_evidence))
            # Scales that failed to improve have not moved, but may move with other precisions.
            self.converged_ = max(change, moved) < self.tol
        self._finish(state, found)
        self.trace_ = np.array(trace)
        return self

    def _fixed(self, X: Matrix) -> Matrix:
        """Return the constant, if it is in the model, and the explicit columns at `X`."""
        made = X[:, :0]
        if self.columns is not None:
            make = COLUMNS[self.columns] if isinstance(self.columns, str) else self.columns
            made = np.asarray(make(X), dtype=np.float64)
        if made.ndim != 2 or len(made) != len(X):
            raise ValueError(
                f"columns must return a matrix of {len(X)} rows; got shape {made.shape}."
            )
        return prepend_constant(made, self.fit_intercept)

    def _update_precisions(self, state: _State, found: WeightPosterior, floor: float) -> float:
        """Apply eqs. 16 and 18, and prune; return the largest change of a logarithm."""
        gamma = found.well_determined
        alpha = mackay_precision(gamma, found.mean)
        noise = mackay_noise_variance(found, floor)
        # gamma at the level of rounding determines no precision: gamma / mu^2 would be noise.
        keep: BoolArray = (gamma >= self.gamma_min) & (alpha < self.alpha_max)
        if not keep.any():
            keep[np.argmax(gamma)] = True  # an empty model could not recover
            alpha = np.minimum(alpha, np.finfo(np.float64).max ** 0.25)
        pruned = not keep.all()
        change = float(np.max(np.abs(np.log(alpha[keep] / state.alpha[keep]))))
        change = max(change, abs(float(np.log(noise / state.noise))))
        state.kept, state.alpha, state.noise = state.kept[keep], alpha[keep], noise
        # After pruning the remaining precisions must be re-estimated at least once more.
        return np.inf if pruned else change

    def _ascend_scales(self, state: _State) -> tuple[WeightPosterior, float, float]:
        """Take steps in the scales; return the posterior, the evidence before, and the change."""
        found, design = state.evaluate(state.log_eta)
        before, start = found.log_evidence, state.log_eta
        for _ in range(self.scale_steps):
            gradient = state.gradient(found, design)
            steepest = float(np.max(np.abs(gradient)))
            if not 0.0 < steepest < np.inf:
                break
            for _ in range(self.max_shrinks + 1):
                # Gradient scaled to maximum norm one: the step is the largest change of a log
                # scale, whatever the size of the evidence.
                log_eta = state.log_eta + state.step * gradient / steepest
                trial, trial_design = state.evaluate(log_eta)
                if trial.log_evidence > found.log_evidence:
                    state.log_eta, found, design = log_eta, trial, trial_design
                    state.step = min(state.step * self.step_growth, self.max_step)
                    break
                state.step *= self.step_shrink
            else:
                # Other precisions may allow longer steps again: keep the step from vanishing.
                state.step = max(state.step, self.initial_step * self.step_shrink**self.max_shrinks)
                break
        return found, before, float(np.max(np.abs(state.log_eta - start)))

    def _finish(self, state: _State, found: WeightPosterior) -> None:
        fixed, rows = state.split()
        first, n_fixed = int(self.fit_intercept), len(fixed)
        weights = np.zeros(state.fixed.shape[1])
        weights[fixed] = found.mean[:n_fixed]
        self.relevance_ = rows
        self.relevance_vectors_ = state.X[rows]
        self.columns_ = fixed[fixed >= first] - first
        self.input_scales_ = np.exp(state.log_eta)
        self.coef_ = found.mean[n_fixed:]
        self.column_coef_ = weights[first:]
        self.intercept_ = float(weights[0]) if first else 0.0
        self.weight_precision_ = state.alpha[n_fixed:]
        self.noise_variance_ = state.noise
        self.log_evidence_ = found.log_evidence
        self._fixed_kept = fixed
        self._weights, self._covariance = found.mean, found.covariance

    def _design(self, X: Matrix) -> Matrix:
        kernel = scaled_kernel(X, self.relevance_vectors_, self.input_scales_)
        return np.column_stack([self._fixed(X)[:, self._fixed_kept], kernel])
