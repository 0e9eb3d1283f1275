"""Sampled estimators, and sampling that starts from a fitted model."""

from __future__ import annotations

from typing import Any

from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators.fitted import fitted_basis
from relvec.estimators.sampled_classification import (
    SampledRVMClassifier,
    SampledSparseBayesClassifier,
)
from relvec.estimators.sampled_regression import SampledRVMRegressor, SampledSparseBayesRegressor

__all__ = [
    "SampledRVMClassifier",
    "SampledRVMRegressor",
    "SampledSparseBayesClassifier",
    "SampledSparseBayesRegressor",
    "sample_from",
]


def sample_from(
    model: Any, X: Any, y: Any, sample_weight: Any, options: dict[str, Any]
) -> SampledSparseBayesRegressor | SampledSparseBayesClassifier:
    """Return a sampled model with the basis of a fitted one, from which the first chain starts."""
    if isinstance(model, BaseSparseBayesClassifier):
        kind: Any = SampledSparseBayesClassifier
        shared = {"class_weight": model.get_params(deep=False).get("class_weight")}
    elif isinstance(model, BaseSparseBayesRegressor):
        kind, shared = SampledSparseBayesRegressor, _read_regression_options(model)
    sampled = kind(fitted_basis(model), **(shared | options))
    return sampled._sample(X, y, sample_weight, model)


def _read_regression_options(model: BaseSparseBayesRegressor) -> dict[str, Any]:
    """Return the options that a sampled regression shares with a fitted one; raise if it cannot."""
    given: Any = model
    unsupported = {
        "noise": "constant",
        "target_transform": None,
    }
    for name, default in unsupported.items():
        if getattr(given, name) != default:
            raise ValueError(
                "sample_posterior() samples models of constant Gaussian noise without a transform; "
                f"this model has {name}={getattr(given, name)!r}. Fit one with {name}={default!r}, "
                'or use SampledSparseBayesRegressor(noise="student_t") for heavy tails.'
            )
    if len(model.outputs_) > 1:
        raise ValueError(
            "sample_posterior() samples models of one output; this model has "
            f"{len(model.outputs_)}. Sample one for each output."
        )
    if model.outputs_[0].has_row_variance:
        raise ValueError(
            "sample_posterior() samples models of constant noise; this model was fitted with "
            "noise_variance of each row."
        )
    return {
        "noise_variance": given.noise_variance,
        "fit_intercept": given.fit_intercept,
    }
