"""Validation of parameters and data, and prediction, for the reference estimators."""

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
from relvec.published._algebra import function_variance


def _check_threshold(name: str, value: Any) -> None:
    """Accept positive numbers, and infinity, which switches a threshold off."""
    if not (isinstance(value, float) and np.isposinf(value)):
        check_positive(name, value, also="(or numpy.inf)")


_positive_or_zero = partial(check_positive, allow_zero=True)
_positive_integer = partial(check_integer, minimum=1)

CHECKS: dict[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(("indicator_scale", "min_change", "tol"), check_positive),
    **dict.fromkeys(("initial_step", "smallest_step", "max_step"), check_positive),
    **dict.fromkeys(("step_growth", "step_shrink"), check_positive),
    **dict.fromkeys(("gradient_stop", "gamma_min"), _positive_or_zero),
    **dict.fromkeys(("noise_floor", "initial_weight"), _positive_or_zero),
    **dict.fromkeys(("alpha_max", "beta_max"), _check_threshold),
    **dict.fromkeys(
        ("max_iter", "newton_steps", "weight_steps", "feature_steps"), _positive_integer
    ),
    **dict.fromkeys(("warm_up", "scale_steps", "max_shrinks"), partial(check_integer, minimum=0)),
    **dict.fromkeys(("fit_intercept", "freeze", "signed", "learn_features"), check_bool),
    "curvature": partial(check_choice, choices=("diagonal", "gauss_newton", "full")),
    "line_search": partial(check_choice, choices=("corrected", "as_printed")),
    "truncation": partial(check_choice, choices=("smoothed", "exact")),
}
"""Check of each constant of the algorithms, by name."""


def check_constants(estimator: Any) -> None:
    """Raise if a constant of the algorithm is invalid."""
    for name, value in estimator.get_params(deep=False).items():
        if name in CHECKS:
            CHECKS[name](name, value)


def broadcast_to_features(
    name: str, value: Any, n_features: int, *, positive: bool = False
) -> Vector:
    """Return `value`, one number or one per feature, as an array with one entry per feature.

    Examples
    --------
    >>> broadcast_to_features("initial_theta", 0.5, 3)
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
    """Return the initial precision, the initial noise variance and the smallest noise variance."""
    # A constant target has no variance; rounding errors of its size are used instead.
    spread = max(float(np.var(y)), EPS * max(1.0, float(np.mean(y) ** 2)))
    floor = max(estimator.noise_floor * spread, float(np.finfo(np.float64).tiny))
    alpha, noise = estimator.initial_alpha, estimator.initial_noise_variance
    return (
        len(y) ** -2.0 if alpha is None else check_positive("initial_alpha", alpha),
        0.1 * spread if noise is None else check_positive("initial_noise_variance", noise),
        floor,
    )


def keep_at_least_one(keep: BoolArray, precision: Vector) -> BoolArray:
    """Keep the coordinate of smallest precision if a threshold would remove all.

    An empty model could not recover, and without features the kernel would be constant.

    Examples
    --------
    >>> import numpy as np
    >>> keep_at_least_one(np.array([False, False]), np.array([9.0, 8.0]))
    array([False,  True])
    """
    if keep.any() or not len(keep):
        return keep
    keep = keep.copy()
    keep[np.argmin(precision)] = True
    return keep


def validate_regression_data(estimator: Any, X: Any, y: Any) -> tuple[Matrix, Vector]:
    """Check the constants of a regressor, and validate the data passed to `fit`."""
    check_constants(estimator)
    check_finite_input(X, "X")
    check_finite_input(y, "y")
    X, y = validate_data(estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    return X, np.asarray(y, dtype=np.float64)


def validate_inputs(estimator: Any, X: Any) -> Matrix:
    """Validate the inputs of a prediction."""
    check_is_fitted(estimator)
    check_finite_input(X, "X")
    read: Matrix = validate_data(estimator, X, dtype=np.float64, reset=False)
    return read


class GaussianRegressor(RegressorMixin, BaseEstimator, ABC):
    """Base class of regressors that predict from a Gaussian posterior of the weights."""

    noise_variance_: float
    _weights: Vector
    _covariance: Matrix

    @abstractmethod
    def _design(self, X: Matrix) -> Matrix:
        """Return the columns of the model at `X`, in the order of the weights."""

    def predict(self, X: ArrayLike, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Predict the target, with its standard deviation on request.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Also return standard deviations, noise included. The uncertainty of input scales or
            feature weights is not included, as in the publications.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if `return_std` is True.
        """
        design = self._design(validate_inputs(self, X))
        mean: Vector = design @ self._weights
        if not return_std:
            return mean
        variance = np.maximum(function_variance(design, self._covariance), 0.0)
        return mean, np.sqrt(self.noise_variance_ + variance)
