"""Predictions of a fitted model with standard deviations and the degree of extrapolation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix, Vector
from relvec.describing.models import get_final_estimator, transform_inputs

__all__ = [
    "EXTRAPOLATION_THRESHOLD",
    "compute_extrapolation",
    "find_intervals",
    "has_extrapolation",
    "predict_with_std",
]

EXTRAPOLATION_THRESHOLD = 0.5
"""Inputs with a larger degree of extrapolation count as extrapolations."""


def has_extrapolation(estimator: Any) -> bool:
    """Whether a fitted model, or a pipeline that ends in one, measures extrapolation."""
    model = get_final_estimator(estimator)
    if not hasattr(model, "extrapolating"):
        return False
    parts: Any = getattr(model, "outputs_", ()) or [getattr(model, "class_model_", None)]
    return len(parts) > 0 and all(
        getattr(part, "novelty", None) is not None or not len(getattr(part, "active", ()))
        for part in parts
    )


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


def find_intervals(estimator: Any, X: Any) -> Callable[[float], Matrix] | None:
    """Return a function that computes intervals of new targets, if these are not normal.

    Parameters
    ----------
    estimator : regressor or pipeline
        Fitted to one target.
    X : array-like or data frame
        Inputs.

    Returns
    -------
    intervals : callable or None
        Returns the limits for a coverage, shape (n_samples, 2). None if the mean and the standard
        deviation determine the intervals.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 5.0 * (np.arange(40) % 9 == 0)
    >>> model = RVMRegressor(gamma=0.5, noise="contaminated").fit(X, y)
    >>> find_intervals(model, X)(0.5).shape
    (40, 2)
    >>> find_intervals(model.set_params(noise="constant").fit(X, y), X) is None
    True
    """
    model = get_final_estimator(estimator)
    outputs = getattr(model, "outputs_", ())
    if all(getattr(output, "noise", None) is None for output in outputs):
        return None
    return partial(model.predict_interval, transform_inputs(estimator, X))


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
