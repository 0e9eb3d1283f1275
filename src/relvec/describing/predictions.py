"""Predictions of a fitted model with standard deviations and the degree of extrapolation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix, Vector
from relvec.describing.models import get_final_estimator, transform_inputs

__all__ = [
    "EXTRAPOLATION_THRESHOLD",
    "compute_extrapolation",
    "find_transform",
    "has_extrapolation",
    "make_interval_function",
    "predict_transformed",
    "predict_with_std",
]

EXTRAPOLATION_THRESHOLD = 0.5
"""Inputs with a larger degree of extrapolation count as extrapolations."""


def has_extrapolation(estimator: Any) -> bool:
    """Whether a fitted model, or a pipeline that ends in one, measures extrapolation."""
    model = get_final_estimator(estimator)
    if not hasattr(model, "extrapolating"):
        return False
    single = getattr(model, "class_model_", None) or getattr(model, "count_model_", None)
    parts: Any = getattr(model, "outputs_", ()) or [single]
    return len(parts) > 0 and all(
        getattr(part, "novelty", None) is not None or _is_constant(part) for part in parts
    )


def _is_constant(part: Any) -> bool:
    """Whether a part of a model has no basis functions."""
    if hasattr(part, "active"):
        return not len(part.active)
    return not any(each.size.any() for each in getattr(part, "functions", ()))


def compute_extrapolation(estimator: Any, X: Any) -> Vector | None:
    """Compute the degree of extrapolation of each input, from 0 to 1; None if not available.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> model = RVMRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> compute_extrapolation(model, [[1.0], [30.0]]).round(2)
    array([0., 1.])
    """
    if not has_extrapolation(estimator):
        return None
    return np.asarray(get_final_estimator(estimator).extrapolating(transform_inputs(estimator, X)))


def predict_with_std(
    estimator: Any, X: Any, display: str
) -> tuple[Vector, Vector | None, Vector | None]:
    """Predict the mean, the standard deviation of new targets, and that of the latent function.

    Parameters
    ----------
    estimator : regressor or pipeline
        Fitted to one target.
    X : array-like or data frame
        Inputs.
    display : str
        Name of the display that needs the predictions, for errors.

    Returns
    -------
    mean, std, function_std : ndarray of shape (n_samples,)
        Standard deviations are None where `predict` does not return them.
    """
    check_is_fitted(estimator)
    if is_classifier(estimator):
        raise TypeError(
            f"{display} plots regression models; {type(get_final_estimator(estimator)).__name__} "
            "is a classifier. Use DecisionSurfaceDisplay, LogOddsDisplay or ReliabilityDisplay."
        )
    mean, std, function_std = _predict_moments(estimator, X)
    if mean.ndim != 1:
        raise ValueError(
            f"{display} plots one target; the model has {mean.shape[1]}. Fit one model for each, "
            "or use from_predictions."
        )
    return mean, std, function_std


def find_transform(estimator: Any) -> Any | None:
    """Return the transform of the target of a fitted model; None if there is none.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> model = RVMRegressor(gamma=0.5, target_transform="log").fit(X, 2.0 + np.sin(X[:, 0]))
    >>> find_transform(model)
    LogTransform()
    """
    outputs: Any = getattr(get_final_estimator(estimator), "outputs_", ())
    return getattr(outputs[0], "transform", None) if len(outputs) == 1 else None


def predict_transformed(estimator: Any, X: Any) -> tuple[Vector, Vector]:
    """Predict the mean of a transformed target, and its standard deviation with noise.

    If the noise is not Gaussian, half of the length of a central interval of probability 68 % takes
    the place of the standard deviation.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> y = np.exp(np.sin(X[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=40))
    >>> model = RVMRegressor(gamma=0.5, target_transform="log").fit(X, y)
    >>> mean, std = predict_transformed(model, [[1.5]])
    >>> mean.round(), std.round(1)
    (array([1.]), array([0.2]))
    """
    inputs, model = transform_inputs(estimator, X), get_final_estimator(estimator)
    # A transform increases, so quantiles of the target are those of the transformed target; these
    # are symmetric about its mean.
    limits = model.predict_interval(inputs, coverage=float(2.0 * ndtr(1.0) - 1.0))
    low, high = model.target_transform_.forward(limits).T
    return 0.5 * (low + high), 0.5 * (high - low)


def make_interval_function(estimator: Any, X: Any) -> Callable[..., Matrix] | None:
    """Return a function of coverage that predicts intervals at inputs.

    None if predictive distributions are normal, so that mean and standard deviation are enough.
    """
    model = get_final_estimator(estimator)
    outputs = getattr(model, "outputs_", ())
    is_normal = all(getattr(output, "noise", None) is None for output in outputs)
    if find_transform(estimator) is None and is_normal:
        return None
    return partial(_predict_limits, model, transform_inputs(estimator, X))


def _predict_limits(model: Any, X: Any, coverage: float, include_noise: bool = True) -> Matrix:
    """Return lower and upper limits, shape (2, n_samples)."""
    return np.asarray(model.predict_interval(X, coverage, include_noise=include_noise)).T


def _predict_moments(estimator: Any, X: Any) -> tuple[Vector, Vector | None, Vector | None]:
    try:
        mean, std = estimator.predict(X, return_std=True)
    except TypeError:  # a regressor without predictive standard deviations
        return np.asarray(estimator.predict(X)), None, None
    try:
        function_std = estimator.predict(X, return_std=True, include_noise=False)[1]
    except TypeError:  # a regressor that does not separate noise and function
        function_std = None
    return np.asarray(mean), np.asarray(std), function_std
