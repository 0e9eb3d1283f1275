"""Access to fitted estimators and pipelines: final step, transformed inputs, kernel centers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix

__all__ = [
    "check_classifier",
    "check_labels",
    "get_final_estimator",
    "get_fitted_attribute",
    "get_kernel_centers",
    "is_kernel_search",
    "name_estimators",
    "transform_inputs",
]


def name_estimators(estimators: Any) -> dict[str, Any]:
    """Return fitted estimators by name.

    Parameters
    ----------
    estimators : estimator, sequence of them, or mapping of str to estimator
        Without names their class names are used, numbered if several have the same class.
    """
    if isinstance(estimators, Mapping):
        by_name = {str(name): estimator for name, estimator in estimators.items()}
    else:
        several = estimators if isinstance(estimators, (list, tuple)) else [estimators]
        kinds = [type(get_final_estimator(each)).__name__ for each in several]
        total, used = Counter(kinds), Counter[str]()
        by_name = {}
        for kind, each in zip(kinds, several, strict=True):
            used[kind] += 1
            by_name[f"{kind} {used[kind]}" if total[kind] > 1 else kind] = each
    if not by_name:
        raise ValueError("There is nothing to plot: give at least one fitted estimator.")
    for estimator in by_name.values():
        check_is_fitted(estimator)
    return by_name


def check_classifier(estimator: Any, display: str, n_features: int) -> None:
    """Raise unless the estimator is a fitted classifier with `n_features` features."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{display} needs a classifier with predict_proba; got {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    n_fitted = getattr(estimator, "n_features_in_", n_features)
    if n_fitted != n_features:
        features = "one feature" if n_features == 1 else f"{n_features} features"
        kind = type(get_final_estimator(estimator)).__name__
        raise ValueError(
            f"{display} plots models with {features}; {kind} was fitted to {n_fitted}."
        )


def check_labels(y: np.ndarray, classes: Any) -> None:
    """Raise if `y` contains labels that are not among the classes."""
    unknown = [label for label in np.unique(y).tolist() if label not in list(classes)]
    if unknown:
        raise ValueError(
            f"y contains labels that are not among the classes of the model: {unknown}."
        )


def get_kernel_centers(estimator: Any) -> Matrix | None:
    """Return the relevance vectors in the units of the original features; None if not available."""
    centers = getattr(getattr(get_final_estimator(estimator), "atoms_", None), "centers", None)
    if centers is None:
        return None
    if isinstance(estimator, Pipeline):
        preprocessing = estimator[:-1]
        if not hasattr(preprocessing, "inverse_transform"):
            return None
        try:
            centers = preprocessing.inverse_transform(centers)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            return None  # steps such as SimpleImputer have the method but cannot always invert
    return np.asarray(centers)


def is_kernel_search(estimator: Any) -> bool:
    """Whether an estimator, or a pipeline that ends in one, is a fitted kernel search."""
    return hasattr(get_final_estimator(estimator), "structures_")


def transform_inputs(estimator: Any, X: Any) -> Any:
    """Apply all but the last step of a pipeline; return `X` itself for a plain estimator."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) else X


def get_final_estimator(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def get_fitted_attribute(estimator: Any, attribute: str, display: str, content: str) -> Any:
    """Return a fitted attribute of an estimator, or of the last step of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator or pipeline.
    attribute : str
        Name of the attribute.
    display : str
        Name of the display that needs it, for the error.
    content : str
        Content of the attribute, for the error.
    """
    model = get_final_estimator(estimator)
    if hasattr(model, attribute):
        return getattr(model, attribute)
    check_is_fitted(estimator)
    raise TypeError(
        f"{display} needs an estimator with automatic relevance determination that stores "
        f"{content} in {attribute}; {type(model).__name__} has no such attribute."
    )
