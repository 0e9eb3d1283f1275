"""Size of fitted models: what their predictions need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["count_parameters"]


def count_parameters(model: Any) -> float | None:
    """Count the vectors, weights, rows or leaves that predictions of a fitted model need.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> count_parameters(Lasso(0.1).fit([[0.0, 0.0], [1.0, 0.0]], [0.0, 1.0]))
    1.0
    """
    found = next((count for name, count in COUNTS.items() if hasattr(model, name)), None)
    return None if found is None else float(found(model))


def _n_training_rows(model: Any) -> int:
    parts = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])
    return max(len(part.X_train_) for part in parts)


def _n_leaves(model: Any) -> int:
    return sum(tree.get_n_leaf_nodes() for step in model._predictors for tree in step)


COUNTS: dict[str, Callable[[Any], int]] = {
    "X_train_": lambda model: len(model.X_train_),
    "base_estimator_": _n_training_rows,
    "relevance_vectors_": lambda model: len(model.relevance_),
    "support_": lambda model: len(model.support_),
    "_predictors": _n_leaves,
    "coef_": lambda model: int(np.count_nonzero(model.coef_)),
}
"""Attribute that identifies a kind of model, and its size."""
