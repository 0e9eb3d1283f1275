"""What the reference estimators do alike before and after the algebra."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._checks import (
    check_bool,
    check_choice,
    check_finite_input,
    check_integer,
    check_positive,
)
from relvec._linalg import EPS
from relvec._typing import ArrayLike, BoolArray, Matrix, Vector
from relvec.published._algebra import variance_at


def _check_threshold(name: str, value: Any) -> None:
    """Pass infinity, which switches a threshold off, and positive numbers."""
    if not (isinstance(value, float) and np.isposinf(value)):
        check_positive(name, value, also="(or numpy.inf)")


_positive_or_zero = partial(check_positive, allow_zero=True)
_at_least_one = partial(check_integer, minimum=1)

CHECKS: dict[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(("indicator_scale", "min_change", "tol"), check_positive),
    **dict.fromkeys(("initial_step", "smallest_step", "max_step"), check_positive),
    **dict.fromkeys(("step_growth", "step_shrink"), check_positive),
    **dict.fromkeys(("gradient_stop", "gamma_min"), _positive_or_zero),
    **dict.fromkeys(("noise_floor", "initial_weight"), _positive_or_zero),
    **dict.fromkeys(("alpha_max", "beta_max"), _check_threshold),
    **dict.fromkeys(("max_iter", "newton_steps", "weight_steps", "feature_steps"), _at_least_one),
    **dict.fromkeys(("warm_up", "scale_steps", "max_shrinks"), partial(check_integer, minimum=0)),
    **dict.fromkeys(("fit_intercept", "freeze", "signed", "learn_features"), check_bool),
    "curvature": partial(check_choice, choices=("diagonal", "gauss_newton", "full")),
    "line_search": partial(check_choice, choices=("corrected", "as_printed")),
    "truncation": partial(check_choice, choices=("smoothed", "exact")),
}
"""What constants of the algorithms have to be, by their names."""


def check_constants(estimator: Any) -> None:
    """Find constants that are not what they have to be."""
    for name, value in estimator.get_params(deep=False).items():
        if name in CHECKS:
            CHECKS[name](name, value)


def per_feature(name: str, value: Any, n_features: int, *, positive: bool = False) -> Vector:
    """Return `value` for every feature, given as one number or as an array.

    Examples
    --------
    >>> per_feature("initial_theta", 0.5, 3)
    array([0.5, 0.5, 0.5])
    """
    needed = f"{'positive' if positive else 'non-negative'}: one number, or one for each feature"
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be {needed}; got {value!r}.") from error
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_features):
        raise ValueError(
            f"{name} must be {needed}; got shape {array.shape} for {n_features} features."
        )
    low = array <= 0.0 if positive else array < 0.0
    if not np.isfinite(array).all() or low.any():
        raise ValueError(f"{name} must be {needed}; got {value!r}.")
    return np.broadcast_to(array, (n_features,)).copy()


def initial_values(estimator: Any, y: Vector) -> tuple[float, float, float]:
    """Return precision of weights and noise variance to start from, and the smallest variance."""
    # Constant targets have no scale of their own; rounding of their size takes its place.
    spread = max(float(np.var(y)), EPS * max(1.0, float(np.mean(y) ** 2)))
    floor = max(estimator.noise_floor * spread, float(np.finfo(np.float64).tiny))
    alpha, noise = estimator.initial_alpha, estimator.initial_noise_variance
    return (
        len(y) ** -2.0 if alpha is None else check_positive("initial_alpha", alpha),
        0.1 * spread if noise is None else check_positive("initial_noise_variance", noise),
        floor,
    )


def at_least_one(keep: BoolArray, precision: Vector) -> BoolArray:
    """Keep the coordinate of smallest precision when a threshold would remove all.

    Nothing could bring an emptied model back, and its kernel would be a constant.

    Examples
    --------
    >>> import numpy as np
    >>> at_least_one(np.array([False, False]), np.array([9.0, 8.0]))
    array([False,  True])
    """
    if keep.any() or not len(keep):
        return keep
    keep = keep.copy()
    keep[np.argmin(precision)] = True
    return keep


def read_regression(estimator: Any, X: Any, y: Any) -> tuple[Matrix, Vector]:
    """Check the constants, then check and convert what `fit` of a regressor was given."""
    check_constants(estimator)
    check_finite_input(X, "X")
    check_finite_input(y, "y")
    X, y = validate_data(estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    return X, np.asarray(y, dtype=np.float64)


def read_inputs(estimator: Any, X: Any) -> Matrix:
    """Check and convert what a prediction was asked for."""
    check_is_fitted(estimator)
    check_finite_input(X, "X")
    read: Matrix = validate_data(estimator, X, dtype=np.float64, reset=False)
    return read


class GaussianRegressor(RegressorMixin, BaseEstimator, ABC):
    """Predicts from the posterior of the weights of given columns."""

    noise_variance_: float
    _weights: Vector
    _covariance: Matrix

    @abstractmethod
    def _design(self, X: Matrix) -> Matrix:
        """Columns that are kept, in the order of the weights."""

    def predict(self, X: ArrayLike, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Predict the target, with its standard deviation on request.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Also return standard deviations, noise included. The uncertainty of scales or weights
            of features is left out, as in the publications.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if `return_std` is True.
        """
        design = self._design(read_inputs(self, X))
        mean: Vector = design @ self._weights
        if not return_std:
            return mean
        variance = np.maximum(variance_at(design, self._covariance), 0.0)
        return mean, np.sqrt(self.noise_variance_ + variance)
