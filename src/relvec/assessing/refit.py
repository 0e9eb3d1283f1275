"""Refits of an estimator to other rows, and the scores of their predictions."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.metaestimators import _safe_split

from relvec._checks import check_mean_and_std
from relvec._typing import IndexArray, Vector
from relvec.describing import (
    compute_quantile_residuals,
    get_final_estimator,
    lacks_noise,
    models_counts,
    predict_distribution,
    shorten_chains,
)
from relvec.likelihoods import GaussianPrediction

__all__ = [
    "RefitError",
    "RowScores",
    "check_regressor",
    "is_ours",
    "predict_after_fit",
    "refit",
    "select_params",
]


class RefitError(ValueError):
    """The model cannot be fitted to a subset of its rows, or with other sample weights."""


def refit(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """Fit a clone without its warnings, which the fit to all rows gives.

    That of a sampled model has short chains.

    Raises
    ------
    RefitError
        If the model cannot be fitted to these rows: some bases need a complete grid.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shorten_chains(estimator).fit(X, y, **options)
        except ValueError as error:
            raise RefitError(str(error)) from error


def is_ours(estimator: Any) -> bool:
    """Whether an estimator, or the last step of a pipeline, is one of relvec."""
    return type(get_final_estimator(estimator)).__module__.partition(".")[0] == "relvec"


def check_regressor(estimator: Any, function: str) -> None:
    """Raise unless the estimator is a regressor of targets that are not counts."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            f"{function} needs an estimator such as RVMRegressor(); got {estimator!r} of type "
            f"{type(estimator).__name__}."
        )
    if not is_regressor(estimator) or models_counts(estimator):
        raise TypeError(
            f"{function} needs a regressor with squared errors; "
            f"{type(get_final_estimator(estimator)).__name__} models classes or counts."
        )


def select_params(fit_params: dict[str, Any], rows: IndexArray, n_rows: int) -> dict[str, Any]:
    """Return arguments of fit for some rows: those with one value per row are selected."""
    return {
        name: np.asarray(value)[rows] if np.shape(value)[:1] == (n_rows,) else value
        for name, value in fit_params.items()
    }


class RowScores(NamedTuple):
    """Predictions of rows that a model was not fitted to, and how they compare with the targets."""

    row: IndexArray
    mean: Vector
    error: Vector
    """Target minus predictive mean."""
    quantile: Vector
    """Quantile residual: standard normal if the predictive distribution is right."""
    log_density: Vector
    """Log predictive density of the target, in nats."""


def predict_after_fit(
    estimator: Any,
    X: Any,
    y: Vector,
    train: IndexArray,
    test: IndexArray,
    fit_params: dict[str, Any],
) -> RowScores:
    """Fit to some rows and score the predictive distributions of others."""
    inputs, targets = _safe_split(estimator, X, y, train)
    new, observed = _safe_split(estimator, X, y, test, train)
    model = refit(estimator, inputs, targets, **select_params(fit_params, train, len(y)))
    known = None
    if lacks_noise(model):
        given = [name for name in fit_params if name.rpartition("__")[2] == "noise_variance"]
        known = np.asarray(fit_params[given[0]], dtype=np.float64)[test] if given else None
    prediction = _predict(model, new, len(observed), known)
    return RowScores(
        test,
        np.asarray(prediction.mean),
        np.asarray(observed - prediction.mean),
        compute_quantile_residuals(prediction, observed),
        np.asarray(prediction.log_density(observed)),
    )


def _predict(model: Any, X: Any, n_rows: int, row_values: Vector | None) -> Any:
    """Return predictive distributions: those of relvec, or Gaussian ones of other regressors."""
    if is_ours(model) and hasattr(get_final_estimator(model), "outputs_"):
        return predict_distribution(model, X, row_values)
    owner = type(get_final_estimator(model)).__name__
    try:
        predicted = model.predict(X, return_std=True)
    except TypeError:
        raise TypeError(
            f"{owner} has no predictive standard deviations: "
            "its predict does not accept return_std=True. Use a probabilistic regressor such as "
            "RVMRegressor, BayesianRidge or GaussianProcessRegressor."
        ) from None
    mean, std = check_mean_and_std(owner, predicted, n_rows)
    return GaussianPrediction(mean, np.maximum(std**2, np.finfo(np.float64).tiny))
