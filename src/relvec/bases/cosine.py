"""Cosines on a regular grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.grid import RegularGrid, bind_transform, find_regular_grid
from relvec.dictionaries import CosineDictionary

__all__ = ["CosineAtoms", "CosineBasis"]


@dataclass(frozen=True, eq=False)
class CosineAtoms(Atoms):
    """Products of cosines, one factor per axis.

    Parameters
    ----------
    grid : RegularGrid
        Where they are orthonormal.
    frequency : ndarray of shape (n_atoms, n_axes)
        Number of half periods along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import CosineBasis
    >>> atoms = CosineBasis().bind(np.arange(4.0)[:, np.newaxis]).atoms
    >>> atoms.names(["t"])
    ['constant', 'cosine 1 (period 8)', 'cosine 2 (period 4)', 'cosine 3 (period 2.67)']
    """

    grid: RegularGrid
    frequency: IndexArray

    def __len__(self) -> int:
        return len(self.frequency)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every cosine at the rows of `X`, on the grid or not."""
        positions = self.grid.positions(X, "CosineBasis")
        product = np.ones((len(self), len(positions)))
        for axis, length in enumerate(self.grid.shape):
            frequency = self.frequency[:, axis]
            phase = np.multiply.outer(frequency * (np.pi / length), positions[:, axis] + 0.5)
            product *= np.cos(phase)
            product *= np.sqrt(np.where(frequency, 2.0, 1.0) / length)[:, None]
        return product.T

    def subset(self, index: IndexArray) -> CosineAtoms:
        """Keep only the atoms `index`."""
        return CosineAtoms(self.grid, self.frequency[index])

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Name each atom by its frequency and its period in units of the inputs."""
        lengths = 2.0 * self.grid.step * np.array(self.grid.shape)
        return [_name(row, lengths) for row in self.frequency]


def _name(frequency: IndexArray, lengths: Vector) -> str:
    if not frequency.any():
        return "constant"
    periods = [
        f"{length / k:.3g}" if k else "inf" for k, length in zip(frequency, lengths, strict=True)
    ]
    unit = "period" if len(periods) == 1 else "periods"
    return f"cosine {', '.join(map(str, frequency))} ({unit} {', '.join(periods)})"


class CosineBasis(Basis):
    """Orthonormal cosines for inputs on a regular grid.

    One atom per input: the rows of `X` are the points of a grid in any number of dimensions, each
    once and in any order. Away from the grid the cosines go on, mirrored at both ends. Solvers use
    the fast transform and a closed form, also with an intercept; the constant atom is then not
    needed and not used.

    See Also
    --------
    WaveletBasis : For signals that jump or change their character.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import CosineBasis
    >>> x = np.arange(100) / 100
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> y = 3.0 * np.cos(4 * np.pi * (x + 0.005)) + noise
    >>> model = SparseBayesRegressor(CosineBasis(), prior="ric").fit(x[:, np.newaxis], y)
    >>> model.atom_names()
    ['cosine 4 (period 0.5)']
    """

    @property
    def needs_all_rows(self) -> bool:
        """Return True: a grid with gaps is none."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Find the grid of the rows that have a weight, and offer all its cosines."""
        counted = X if sample_weight is None else X[sample_weight > 0]
        grid, order = find_regular_grid(counted, "CosineBasis")
        frequency = np.indices(grid.shape).reshape(len(grid.shape), -1).T
        atoms = CosineAtoms(grid, np.ascontiguousarray(frequency, dtype=np.intp))
        return bind_transform(CosineDictionary(grid.shape), atoms, X, order)
