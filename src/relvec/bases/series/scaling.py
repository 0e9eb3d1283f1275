"""Scaled features: -1 and 1 at the ends of the training inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_dense
from relvec._typing import IndexArray, Matrix, Vector

__all__ = ["FeatureScale", "SeriesScaling"]

SPACING_QUANTILE = 0.02
"""Irregular inputs resolve periods below twice their median distance, so their spacing is a low
quantile of the distances between neighbours; not the least one, which may be an accident."""


@dataclass(frozen=True)
class FeatureScale:
    """Range of a feature over the training rows."""

    centre: float
    half_range: float
    """Half the range; 1 for a constant feature."""
    spacing: float
    """Distance between neighbouring inputs, in units of `half_range`."""
    n_distinct: int
    """Number of different values."""

    @classmethod
    def measure(cls, values: Vector) -> FeatureScale:
        """Measure the range of a feature."""
        distinct = np.unique(values)
        low, high = float(distinct[0]), float(distinct[-1])
        if not high > low:
            return cls(low, 1.0, 1.0, 1)
        half_range = 0.5 * (high - low)
        spacing = float(np.quantile(np.diff(distinct), SPACING_QUANTILE)) / half_range
        return cls(low + half_range, half_range, spacing, len(distinct))

    def scale(self, value: float) -> float:
        """Return a value of the feature in scaled units."""
        return (value - self.centre) / self.half_range


@dataclass(frozen=True, eq=False)
class SeriesScaling:
    """Scaling of the features that a basis uses.

    Parameters
    ----------
    features : ndarray of shape (n_used,)
        Columns of the inputs.
    centre, half_range : ndarray of shape (n_used,)
        Centre and half the range of each.
    """

    features: IndexArray
    centre: Vector
    half_range: Vector

    @classmethod
    def of(cls, scales: dict[int, FeatureScale]) -> SeriesScaling:
        """Collect the scaling of some features."""
        features = np.array(sorted(scales), dtype=np.intp)
        return cls(
            features,
            np.array([scales[i].centre for i in features]),
            np.array([scales[i].half_range for i in features]),
        )

    def apply(self, X: Any) -> Matrix:
        """Return scaled inputs in their columns; columns that are not used are zero."""
        scaled = np.zeros((len(X), self.features[-1] + 1), order="F")
        used = np.asarray(X)[:, self.features].astype(np.float64)
        scaled[:, self.features] = (used - self.centre) / self.half_range
        return scaled


def measure_features(
    X: Any, features: set[int], sample_weight: Vector | None, owner: str
) -> dict[int, FeatureScale]:
    """Measure the range of some features over the rows of positive weight."""
    check_dense(X, owner)
    X = np.asarray(X)
    if X.dtype == object:
        raise ValueError(f"{owner} needs numeric features; got objects such as {X.flat[0]!r}.")
    if max(features) >= X.shape[1]:
        raise ValueError(
            f"{owner} uses feature {max(features)}, but X has {X.shape[1]} "
            f"{'feature' if X.shape[1] == 1 else 'features'}, numbered from 0."
        )
    rows = slice(None) if sample_weight is None else sample_weight > 0.0
    return {i: FeatureScale.measure(X[rows, i].astype(np.float64)) for i in features}
