"""What is asked of fitted estimators: which step predicts, what it sees, where its atoms are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix

__all__ = [
    "attribute_of",
    "centers_of",
    "check_classifier",
    "check_labels",
    "named",
    "predictor",
    "seen_by",
]


def named(estimators: Any) -> dict[str, Any]:
    """Return estimators by name: one, several, or a mapping of names to them.

    Parameters
    ----------
    estimators : estimator, sequence of them, or mapping of str to estimator
        Without names they are called by their class, and numbered where that is not enough.
    """
    if isinstance(estimators, Mapping):
        by_name = {str(name): estimator for name, estimator in estimators.items()}
    else:
        several = estimators if isinstance(estimators, (list, tuple)) else [estimators]
        kinds = [type(predictor(each)).__name__ for each in several]
        often, seen = Counter(kinds), Counter[str]()
        by_name = {}
        for kind, each in zip(kinds, several, strict=True):
            seen[kind] += 1
            by_name[f"{kind} {seen[kind]}" if often[kind] > 1 else kind] = each
    if not by_name:
        raise ValueError("There is nothing to draw: give at least one fitted estimator.")
    for estimator in by_name.values():
        check_is_fitted(estimator)
    return by_name


def check_classifier(estimator: Any, display: str, n_features: int) -> None:
    """Raise if the estimator is no fitted classifier of so many inputs."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{display} needs a classifier with predict_proba; got {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    given = getattr(estimator, "n_features_in_", n_features)
    if given != n_features:
        inputs = "one input" if n_features == 1 else f"{n_features} inputs"
        raise ValueError(
            f"{display} draws models of {inputs}; {type(predictor(estimator)).__name__} was fitted "
            f"to {given}."
        )


def check_labels(y: np.ndarray, classes: Any) -> None:
    """Raise if there are labels among `y` that are none of the classes."""
    unknown = [label for label in np.unique(y).tolist() if label not in list(classes)]
    if unknown:
        raise ValueError(f"y holds labels that the model does not know: {unknown}.")


def centers_of(estimator: Any) -> Matrix | None:
    """Where the relevant kernels are, in the units of the inputs; None if that is not known."""
    centers = getattr(getattr(predictor(estimator), "atoms_", None), "centers", None)
    if centers is None:
        return None
    if isinstance(estimator, Pipeline):
        before = estimator[:-1]
        if not hasattr(before, "inverse_transform"):
            return None
        try:
            centers = before.inverse_transform(centers)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            return None  # a step that has the method but not always an answer: SimpleImputer
    return np.asarray(centers)


def seen_by(estimator: Any, X: Any) -> Any:
    """Inputs as the step of a pipeline that predicts sees them."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) else X


def predictor(estimator: Any) -> Any:
    """Return the step of a pipeline that predicts."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def attribute_of(estimator: Any, attribute: str, display: str, content: str) -> Any:
    """Return a fitted attribute of an estimator or of the last step of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Where to look.
    attribute : str
        Name of what is needed.
    display : str
        Who needs it, for the error.
    content : str
        What it holds, for the error.
    """
    model = predictor(estimator)
    if hasattr(model, attribute):
        return getattr(model, attribute)
    check_is_fitted(estimator)
    raise TypeError(
        f"{display} needs an estimator that learns how much each input matters and keeps "
        f"{content} in {attribute}; {type(model).__name__} has no such attribute."
    )
