"""Weights of fitted models with their error bars, for pictures and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Vector
from relvec.describing.models import predictor
from relvec.describing.names import label_name, names_of

__all__ = ["Weights", "weights_of"]


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of one target or of one logit."""

    name: str
    """Of the target or the logit; empty if there is only one."""
    atoms: list[str]
    """Names of the atoms in use."""
    place: np.ndarray
    """Which of the relevant atoms they are: positions in `relevance_`."""
    mean: Vector
    std: Vector | None
    """Posterior standard deviations, where the model keeps them."""
    well_determined: Vector | None
    """How far the data, not the prior, fix each weight: gamma in Tipping's papers."""


def weights_of(estimator: Any, feature_names: Any = None) -> list[Weights]:
    """Return the weights of a fitted model of relvec, for each target or logit.

    Parameters
    ----------
    estimator : estimator
        Fitted regressor or classifier of relvec, or a pipeline that ends in one.
    feature_names : sequence of str, optional
        Of the inputs that the model itself sees, after which atoms are called; by default those
        it was fitted with, or those that the steps before it give.
    """
    check_is_fitted(estimator)
    model = predictor(estimator)
    if not hasattr(model, "coef_") or not hasattr(model, "weight_precision_"):
        raise TypeError(
            "Weights with error bars are those of a regressor or classifier of relvec; "
            f"{type(model).__name__} has none."
        )
    coef = np.atleast_2d(model.coef_)
    in_use = np.isfinite(np.atleast_2d(model.weight_precision_))
    inputs = names_of(estimator, int(model.n_features_in_), feature_names)
    names = np.array(list(model.atoms_.names(inputs)), dtype=object)
    found = []
    titles, posteriors = _titles(model, len(coef)), _posteriors(model, len(coef))
    for row, mine, title, posterior in zip(coef, in_use, titles, posteriors, strict=True):
        std = None if posterior is None else np.sqrt(posterior.covariance.diagonal())
        gamma = None if posterior is None else posterior.well_determined
        place = np.flatnonzero(mine)
        found.append(Weights(title, list(names[place]), place, row[place], std, gamma))
    return found


def _titles(model: Any, n_rows: int) -> list[str]:
    if n_rows == 1:
        return [""]
    if hasattr(model, "classes_"):
        return [label_name(label) for label in model.classes_]
    return [f"target {number}" for number in range(n_rows)]


def _posteriors(model: Any, n_rows: int) -> list[Any]:
    """Posteriors that factor by target or logit; None where all logits have one together."""
    if hasattr(model, "outputs_"):
        return [output.posterior for output in model.outputs_]
    models: Any = getattr(getattr(model, "class_model_", None), "models", ())
    return [m.posterior for m in models if len(m.coef) == 1] or [None] * n_rows
