"""What a model answers: means, and standard deviations where it has any."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Vector
from relvec.describing.models import predictor, seen_by

__all__ = ["BEYOND", "extrapolation_of", "predicted", "tells_extrapolation"]

BEYOND = 0.5
"""Rows whose share of extrapolation is larger are more beyond the training rows than among them."""


def tells_extrapolation(estimator: Any) -> bool:
    """Whether a fitted model, or a pipeline with one, can say which rows are beyond its data."""
    model = predictor(estimator)
    if not hasattr(model, "extrapolating"):
        return False
    parts: Any = getattr(model, "outputs_", ()) or [getattr(model, "class_model_", None)]
    return len(parts) > 0 and all(
        getattr(part, "novelty", None) is not None or not len(getattr(part, "active", ()))
        for part in parts
    )


def extrapolation_of(estimator: Any, X: Any) -> Vector | None:
    """How far rows are beyond the training rows, of a model or a pipeline; None if it is not told.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> model = RVMRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> extrapolation_of(model, [[1.0], [30.0]]).round(2)
    array([0., 1.])
    """
    if not tells_extrapolation(estimator):
        return None
    return np.asarray(predictor(estimator).extrapolating(seen_by(estimator, X)))


def predicted(estimator: Any, X: Any, display: str) -> tuple[Vector, Vector | None, Vector | None]:
    """Mean, standard deviation of a target and of the function; None for what is not known."""
    check_is_fitted(estimator)
    if is_classifier(estimator):
        raise TypeError(
            f"{display} draws models that predict numbers; {type(predictor(estimator)).__name__} "
            "predicts classes. Use DecisionSurfaceDisplay, LogOddsDisplay or ReliabilityDisplay."
        )
    mean, std, function_std = _answers(estimator, X)
    if mean.ndim != 1:
        raise ValueError(
            f"{display} draws one target; the model has {mean.shape[1]}. Fit one model for each, "
            "or use from_predictions."
        )
    return mean, std, function_std


def _answers(estimator: Any, X: Any) -> tuple[Vector, Vector | None, Vector | None]:
    try:
        mean, std = estimator.predict(X, return_std=True)
    except TypeError:  # a regressor without error bars
        return np.asarray(estimator.predict(X)), None, None
    try:
        function_std = estimator.predict(X, return_std=True, include_noise=False)[1]
    except TypeError:  # one that does not tell noise and doubt apart
        function_std = None
    return np.asarray(mean), np.asarray(std), function_std
