"""What is compared of a fitted model, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.unchanged.data import Array, Data

Quantities = dict[str, Array]


@dataclass(frozen=True)
class Answer:
    """What a problem gave."""

    cpu: float
    quantities: Quantities
    warnings: tuple[str, ...] = ()
    """Names of the kinds of warnings, each once."""
    error: str | None = None
    """Name of the exception, if the problem ended with one."""
    message: str = ""
    """What it said, and where it was raised; for the reader, not compared."""


MOST_ROWS = 300
"""Training rows at which predictions are compared; of more, evenly spread ones are."""

OF_ALL_MODELS = (
    "relevance_",
    "coef_",
    "intercept_",
    "log_evidence_",
    "objective_",
    "converged_",
    # of scales that are learnt
    "length_scale_",
    "model_kind_",
    "feature_relevance_",
    "feature_relevance_std_",
    "feature_gain_",
    "feature_inclusion_probability_",
    "features_selected_",
)
OF_REGRESSORS = (
    *OF_ALL_MODELS,
    "noise_variance_",
    "effective_dof_",
    "prior_rate_",
    "reached_max_active_",
)
OF_CLASSIFIERS = (*OF_ALL_MODELS, "classes_", "intercept_is_fitted_")
OF_DENOISERS = (
    "signal_",
    "std_",
    "noise_std_",
    "effective_dof_",
    "transforms_",
    "transform_weights_",
    "transform_mse_",
    "estimated_mse_",
)


def attributes(model: Any, names: tuple[str, ...]) -> Quantities:
    """Return those attributes that the fitted model has."""
    found = {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}
    if hasattr(getattr(model, "kernel_", None), "theta"):
        found["kernel_.theta"] = np.asarray(model.kernel_.theta)
    return found


def some_rows(X: Any) -> Any:
    """Return at most `MOST_ROWS` rows."""
    n = X.shape[0]
    return X if n <= MOST_ROWS else X[np.linspace(0, n - 1, MOST_ROWS).astype(int)]


def fitted(model: Any, data: Data) -> Any:
    """Fit the model, with the weights of the data if there are any."""
    if data.weight is None:
        return model.fit(data.X, data.y)
    return model.fit(data.X, data.y, sample_weight=data.weight)


def regression(model: Any, data: Data) -> Quantities:
    """Fit a regressor and return what it says."""
    return of_regressor(fitted(model, data), data)


def of_regressor(model: Any, data: Data) -> Quantities:
    """Return what a fitted regressor says."""
    rows = some_rows(data.X)
    mean, std = model.predict(rows, return_std=True)
    mean_new, std_new = model.predict(data.X_new, return_std=True)
    return {
        "predict": mean,
        "std": std,
        "predict, new": mean_new,
        "std, new": std_new,
        "std without noise, new": model.predict(data.X_new, return_std=True, include_noise=False)[
            1
        ],
        "interval, new": model.predict_interval(data.X_new, 0.9),
        **attributes(model, OF_REGRESSORS),
    }


def classification(model: Any, data: Data) -> Quantities:
    """Fit a classifier and return what it says."""
    return of_classifier(fitted(model, data), data)


def of_classifier(model: Any, data: Data) -> Quantities:
    """Return what a fitted classifier says."""
    rows = some_rows(data.X)
    odds, std = model.decision_function(data.X_new, return_std=True)
    return {
        "predict": model.predict(rows),
        "probability": model.predict_proba(rows),
        "predict, new": model.predict(data.X_new),
        "probability, new": model.predict_proba(data.X_new),
        "probability not marginalise, new": model.predict_proba(data.X_new, marginalise=False),
        "log odds, new": odds,
        "std of log odds, new": std,
        **attributes(model, OF_CLASSIFIERS),
    }


def denoising(model: Any, signal: Array, **options: Any) -> Quantities:
    """Denoise a signal and return what was found."""
    model.fit(signal, **options)
    found = attributes(model, OF_DENOISERS)
    if hasattr(model, "std_") and not np.iscomplexobj(model.signal_):
        found["interval"] = model.predict_interval(0.9)
    return found
