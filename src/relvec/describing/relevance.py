"""How much each input matters, for models that learn it."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector

__all__ = ["gain_of", "order_of_inputs"]


def gain_of(model: Any) -> Vector | None:
    """What each input brings, in nats; None if that is not known or is nothing."""
    gain = np.asarray(getattr(model, "feature_gain_", np.nan), dtype=np.float64)
    return gain if gain.ndim and np.isfinite(gain).all() and gain.max() > 0.0 else None


def order_of_inputs(model: Any) -> IndexArray:
    """Inputs of a model that weighs them: those in use first, by what they explain."""
    relevance, gain = np.asarray(model.feature_relevance_), gain_of(model)
    worth = relevance if gain is None else gain
    return np.lexsort((-worth, relevance == 0.0))
