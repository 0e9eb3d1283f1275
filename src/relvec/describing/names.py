"""What to call inputs and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from relvec.describing.models import predictor

__all__ = ["check_names", "count_of", "label_name", "names_of", "shorten"]


def names_of(estimator: Any, n_features: int, feature_names: Any = None) -> list[str]:
    """Return names of inputs: those given, those the estimator saw, or x0, x1 and so on."""
    if feature_names is None:
        feature_names = getattr(predictor(estimator), "feature_names_in_", None)
    if feature_names is None and isinstance(estimator, Pipeline):
        try:
            feature_names = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            feature_names = None  # a step that cannot tell
    return check_names(feature_names, n_features)


def check_names(feature_names: Any, n_features: int) -> list[str]:
    """Return as many names as there are inputs; x0, x1 and so on if none are given."""
    if feature_names is None:
        return [f"x{number}" for number in range(n_features)]
    if isinstance(feature_names, str) or np.ndim(feature_names) != 1:
        raise TypeError(
            f"feature_names must be a sequence of names, one for each input; got {feature_names!r}."
        )
    names = [str(name) for name in feature_names]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must hold {n_features} names, one for each input; got {len(names)}."
        )
    return names


def label_name(label: Any) -> str:
    """What to call a class in a legend: its own name, or "class 1" for a number."""
    return str(label) if isinstance(label, str) else f"class {label}"


def count_of(number: int, noun: str = "input") -> str:
    """Return a number with its noun: 1 input, 2 inputs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shorten(name: str, most: int = 28) -> str:
    """Return a name, cut where it is too long to be drawn.

    Examples
    --------
    >>> shorten("temperature", 6)
    'tempe…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"
