"""Relevance of features, for models with automatic relevance determination."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector

__all__ = ["get_feature_gain", "order_features"]


def get_feature_gain(model: Any) -> Vector | None:
    """Return the gain in log evidence of each feature, in nats; None if not available."""
    gain = np.asarray(getattr(model, "feature_gain_", np.nan), dtype=np.float64)
    return gain if gain.ndim and np.isfinite(gain).all() and gain.max() > 0.0 else None


def order_features(model: Any) -> IndexArray:
    """Return the indices of the features: relevant ones first, by decreasing gain."""
    relevance, gain = np.asarray(model.feature_relevance_), get_feature_gain(model)
    key = relevance if gain is None else gain
    return np.lexsort((-key, relevance == 0.0))
