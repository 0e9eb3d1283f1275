"""Weights of fitted models with their posterior standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Vector
from relvec.describing.models import get_final_estimator
from relvec.describing.names import format_class_label, get_feature_names

__all__ = ["Weights", "collect_weights"]


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of one target or of one logit (latent function of a class)."""

    name: str
    """Name of the target or the class; empty if there is only one."""
    atoms: list[str]
    """Names of the atoms (basis functions) with a nonzero weight."""
    index: np.ndarray
    """Indices of these atoms in `relevance_`."""
    mean: Vector
    std: Vector | None
    """Posterior standard deviations; None if the model does not store them."""
    well_determined: Vector | None
    """``gamma = 1 - alpha Sigma_ii`` of each weight (MacKay 1992; Tipping 2001, eq. 17)."""


def collect_weights(estimator: Any, feature_names: Any = None) -> list[Weights]:
    """Return the weights of a fitted model of relvec, for each target or logit.

    Parameters
    ----------
    estimator : estimator
        Fitted regressor or classifier of relvec, or a pipeline that ends in one.
    feature_names : sequence of str, optional
        Names of the features that reach the last step; atoms are named after them. By default
        those of the fit, or the output names of the preceding steps.
    """
    check_is_fitted(estimator)
    model = get_final_estimator(estimator)
    if not hasattr(model, "coef_") or not hasattr(model, "weight_precision_"):
        raise TypeError(
            "A fitted regressor or classifier of relvec is needed; "
            f"{type(model).__name__} is neither."
        )
    coef = np.atleast_2d(model.coef_)
    is_active = np.isfinite(np.atleast_2d(model.weight_precision_))
    inputs = get_feature_names(estimator, int(model.n_features_in_), feature_names)
    names = np.array(list(model.atoms_.names(inputs)), dtype=object)
    found = []
    titles, posteriors = _titles(model, len(coef)), _posteriors(model, len(coef))
    for row, active, title, posterior in zip(coef, is_active, titles, posteriors, strict=True):
        std = None if posterior is None else np.sqrt(posterior.covariance.diagonal())
        gamma = None if posterior is None else posterior.well_determined
        index = np.flatnonzero(active)
        found.append(Weights(title, list(names[index]), index, row[index], std, gamma))
    return found


def _titles(model: Any, n_rows: int) -> list[str]:
    if n_rows == 1:
        return [""]
    if hasattr(model, "classes_"):
        return [format_class_label(label) for label in model.classes_]
    return [f"target {number}" for number in range(n_rows)]


def _posteriors(model: Any, n_rows: int) -> list[Any]:
    """Return one posterior per target or logit; None where all logits share a joint posterior."""
    if hasattr(model, "outputs_"):
        return [output.posterior for output in model.outputs_]
    if hasattr(model, "count_model_"):
        return [model.count_model_.posterior]
    models: Any = getattr(getattr(model, "class_model_", None), "models", ())
    return [m.posterior for m in models if len(m.coef) == 1] or [None] * n_rows
