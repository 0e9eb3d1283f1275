"""Names of features and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from relvec.describing.models import get_final_estimator

__all__ = [
    "check_feature_names",
    "format_class_label",
    "format_count",
    "get_feature_names",
    "shorten",
]


def get_feature_names(estimator: Any, n_features: int, feature_names: Any = None) -> list[str]:
    """Return feature names: those given, those of the fit, or x0, x1 and so on."""
    if feature_names is None:
        feature_names = getattr(get_final_estimator(estimator), "feature_names_in_", None)
    if feature_names is None and isinstance(estimator, Pipeline):
        try:
            feature_names = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            feature_names = None  # a step without output names
    return check_feature_names(feature_names, n_features)


def check_feature_names(feature_names: Any, n_features: int) -> list[str]:
    """Return one name per feature; x0, x1 and so on if none are given."""
    if feature_names is None:
        return [f"x{number}" for number in range(n_features)]
    if isinstance(feature_names, str) or np.ndim(feature_names) != 1:
        raise TypeError(
            f"feature_names must be a sequence of names, one per feature; got {feature_names!r}."
        )
    names = [str(name) for name in feature_names]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must contain {n_features} names, one per feature; got {len(names)}."
        )
    return names


def format_class_label(label: Any) -> str:
    """Return the name of a class for legends: the label itself, or "class 1" for the number 1."""
    return str(label) if isinstance(label, str) else f"class {label}"


def format_count(number: int, noun: str = "feature") -> str:
    """Return a count with its noun: 1 feature, 2 features."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shorten(name: str, most: int = 28) -> str:
    """Shorten a name to at most `most` characters.

    Examples
    --------
    >>> shorten("temperature", 6)
    'tempe…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"
