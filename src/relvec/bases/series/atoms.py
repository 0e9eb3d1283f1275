"""Columns of expansions as atoms that can be evaluated at any input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix
from relvec.bases.base import Atoms
from relvec.bases.series.scaling import SeriesScaling
from relvec.kernels.expansions import (
    Expansion,
    Harmonics,
    Kink,
    Line,
    Product,
    SlopeWalk,
    Smooth,
    Step,
    Walk,
)

__all__ = ["SeriesAtoms"]

SHAPE_NAMES: dict[type[Expansion], str] = {Line: "ramp", Step: "step", Kink: "kink"}
WAVE_NAMES: dict[type[Expansion], str] = {Walk: "walk", SlopeWalk: "slope walk"}


@dataclass(frozen=True, eq=False)
class SeriesAtoms(Atoms):
    """Columns of a product of expansions, times the root of the prior spectrum.

    Beyond the reach of an expansion its columns keep the values that they have at its end. Phases
    of seasons are relative to the middle of the training inputs.

    Parameters
    ----------
    product : Product
        Expansions of covariance functions of scaled features, and their product.
    scaling : SeriesScaling
        Scaling of the features.
    index : ndarray of shape (n_atoms,)
        Columns of the product.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import PeriodicBasis
    >>> X = np.arange(8.0)[:, np.newaxis]
    >>> atoms = PeriodicBasis(4.0, length_scale=1.0, n_harmonics=1).bind(X).atoms
    >>> atoms.evaluate(X[:4]).round(3)
    array([[ 0.707,  0.707],
           [-0.707,  0.707],
           [-0.707, -0.707],
           [ 0.707, -0.707]])
    """

    product: Product
    scaling: SeriesScaling
    index: IndexArray

    def __len__(self) -> int:
        return len(self.index)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate the columns at the rows of `X`."""
        U = self.scaling.apply(X)
        factors = self.product.factors
        places = np.unravel_index(self.index, [factor.n_columns for factor in factors])
        total = np.ones((len(U), len(self)))
        for factor, place in zip(factors, places, strict=True):
            root = np.exp(0.5 * factor.log_spectrum())
            total *= (factor.columns(np.clip(U, *factor.reach)) * root)[:, place]
        return total

    def subset(self, index: IndexArray) -> SeriesAtoms:
        """Return the atoms at positions `index`."""
        return SeriesAtoms(self.product, self.scaling, self.index[index])

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return the features of the factors, the same for all atoms."""
        used = np.zeros(n_features, dtype=bool)
        used[self.scaling.features] = True
        return np.tile(used, (len(self), 1))

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the kind and number of each column, factor by factor."""
        factors = self.product.factors
        places = np.unravel_index(self.index, [factor.n_columns for factor in factors])
        parts = [
            self._name_columns(factor, str(feature_names[factor.feature]), place)
            for factor, place in zip(factors, places, strict=True)
        ]
        return [" x ".join(names) for names in zip(*parts, strict=True)]

    def _name_columns(self, factor: Expansion, name: str, places: IndexArray) -> list[str]:
        number = int(np.flatnonzero(self.scaling.features == factor.feature)[0])
        centre, half_range = self.scaling.centre[number], self.scaling.half_range[number]
        if isinstance(factor, Harmonics):
            n = factor.n_harmonics
            where = f"({name}, period {factor.period * half_range:.4g})"
            return [f"{'sin' if i >= n else 'cos'} {i % n + 1} {where}" for i in places]
        if isinstance(factor, Smooth):
            where = f"({name}, length-scale {factor.length_scale * half_range:.4g})"
            return [f"smooth {i + 1} {where}" for i in places]
        if isinstance(factor, Walk):
            return [f"{WAVE_NAMES[type(factor)]} {i + 1} ({name})" for i in places]
        location: Any = centre + half_range * getattr(factor, "origin", 0.0)
        return [f"{SHAPE_NAMES[type(factor)]}({name}, {location:.6g})" for _ in places]
