"""Predictive distributions of fitted regressors, and their quantile residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri

from relvec._typing import Vector
from relvec.describing.models import get_final_estimator, is_kernel_search, transform_inputs
from relvec.likelihoods import GaussianPrediction, Prediction

__all__ = [
    "compute_quantile_residuals",
    "has_simple_noise",
    "lacks_exposure",
    "lacks_noise",
    "models_counts",
    "predict_distribution",
]


def models_counts(estimator: Any) -> bool:
    """Whether an estimator, or a pipeline that ends in one, is a regressor of counts."""
    return hasattr(get_final_estimator(estimator), "predict_log_rate")


def lacks_exposure(estimator: Any) -> bool:
    """Whether counts of new rows can be predicted only with their exposures, as given in fit."""
    return bool(getattr(get_final_estimator(estimator), "has_exposure_", False))


def has_simple_noise(output: Any) -> bool:
    """Whether the noise of an output is Gaussian, of constant variance."""
    return output.noise is None and not output.has_row_variance


def lacks_noise(estimator: Any) -> bool:
    """Whether the noise of new rows is known only if it is given, as it was in fit."""
    outputs = getattr(get_final_estimator(estimator), "outputs_", ())
    return any(getattr(each, "needs_row_variance", False) for each in outputs)


def predict_distribution(estimator: Any, X: Any, row_values: Vector | None = None) -> Prediction:
    """Return the predictive distributions of new targets of a regressor of one target.

    Parameters
    ----------
    estimator : regressor or pipeline
        Fitted to one target.
    X : array-like or data frame
        Inputs.
    row_values : ndarray of shape (n_samples,), optional
        Noise variances of the rows or, of a regressor of counts, their exposures.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = RVMRegressor(gamma=0.5).fit(X, y)
    >>> predict_distribution(model, [[1.5]]).interval(0.9).round(1)
    array([[0.9, 1.1]])
    """
    model = get_final_estimator(estimator)
    inputs = transform_inputs(estimator, X)
    if is_kernel_search(model):
        averages: Prediction = model.predict_distribution(inputs)
        return averages
    if models_counts(model):
        mean, std = model.predict_log_rate(inputs, return_std=True)
        offset = 0.0 if row_values is None else np.log(row_values)
        counts: Prediction = model.count_model_.likelihood.predict(mean + offset, std**2)
        return counts
    inputs = inputs if issparse(inputs) else np.asarray(inputs)
    targets: Prediction = model.outputs_[0].predict_target(inputs, True, row_values)
    return targets


def compute_quantile_residuals(prediction: Prediction, target: Vector) -> Vector:
    """Return the standard normal quantiles of the predictive probabilities of targets.

    If the predictive distributions are right they are independent standard normal values. Those of
    Gaussian predictions are the standardised residuals. Probabilities of counts are drawn between
    those below and up to the count, with a fixed seed (randomised quantile residuals, Dunn & Smyth
    1996).

    Examples
    --------
    >>> prediction = GaussianPrediction(mean=np.zeros(2), variance=np.array([1.0, 4.0]))
    >>> compute_quantile_residuals(prediction, np.array([1.0, 1.0]))
    array([1. , 0.5])
    """
    target = np.asarray(target, dtype=np.float64)
    transform: Any = getattr(prediction, "transform", None)
    if transform is not None:  # the distribution of an increasing function of the target
        base: Any = prediction
        is_possible = transform.supports(target)
        latent = transform.forward(np.where(is_possible, target, base.quantile(0.5)))
        score = compute_quantile_residuals(base.base, latent)
        return np.where(is_possible, score, -np.inf)
    if isinstance(prediction, GaussianPrediction):
        return np.asarray((target - prediction.mean) / np.maximum(prediction.std, _TINY))
    distribution: Any = prediction
    probability = distribution.cdf(target)
    if hasattr(prediction, "distribution"):  # counts
        below = np.where(target > 0.0, distribution.cdf(target - 1.0), 0.0)
        share = np.random.default_rng(0).uniform(size=len(target))
        probability = below + share * (probability - below)
    # The largest probability below one: quantiles beyond 8.2 are not resolved.
    return np.asarray(ndtri(np.clip(probability, _TINY, 1.0 - np.finfo(float).epsneg)))


_TINY = float(np.finfo(np.float64).tiny)
