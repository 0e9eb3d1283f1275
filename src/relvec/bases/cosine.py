"""Cosine basis functions on a regular grid (discrete cosine transform)."""

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
    """Products of cosines, one factor per axis: the basis of the DCT-II.

    With ``n`` grid points along an axis, position ``t`` in grid steps and frequency ``k``, a factor
    is ``sqrt(c / n) cos(pi k (t + 1/2) / n)`` with ``c = 1`` for ``k = 0`` and ``c = 2`` otherwise.

    Parameters
    ----------
    grid : RegularGrid
        Grid on which the atoms are orthonormal.
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
        """Evaluate every cosine at the rows of `X`, which need not be grid points."""
        positions = self.grid.positions(X, "CosineBasis")
        product = np.ones((len(self), len(positions)))
        for axis, length in enumerate(self.grid.shape):
            frequency = self.frequency[:, axis]
            phase = np.multiply.outer(frequency * (np.pi / length), positions[:, axis] + 0.5)
            product *= np.cos(phase)
            product *= np.sqrt(np.where(frequency, 2.0, 1.0) / length)[:, None]
        return product.T

    def subset(self, index: IndexArray) -> CosineAtoms:
        """Return the atoms at positions `index`."""
        return CosineAtoms(self.grid, self.frequency[index])

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the frequency of each atom, and its period in units of the inputs."""
        lengths = 2.0 * self.grid.step * np.array(self.grid.shape)
        return [_cosine_name(row, lengths) for row in self.frequency]


def _cosine_name(frequency: IndexArray, lengths: Vector) -> str:
    if not frequency.any():
        return "constant"
    periods = [
        f"{length / k:.3g}" if k else "inf" for k, length in zip(frequency, lengths, strict=True)
    ]
    unit = "period" if len(periods) == 1 else "periods"
    return f"cosine {', '.join(map(str, frequency))} ({unit} {', '.join(periods)})"


class CosineBasis(Basis):
    """Orthonormal cosines for inputs on a regular grid.

    One basis function per training input: the rows of `X` are the points of a regular grid in any
    number of dimensions, each point once, in any order. Outside the grid the cosines continue
    periodically, mirrored at both ends. Solvers use the fast cosine transform and the closed-form
    solution for orthonormal bases, also with an intercept; the constant basis function is then
    redundant and not used.

    See Also
    --------
    WaveletBasis : For signals with jumps, or whose smoothness varies.

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
        """Return True: a subset of the rows does not form a regular grid."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Find the grid that the rows of positive weight form, and return all its cosines."""
        weighted_rows = X if sample_weight is None else X[sample_weight > 0]
        grid, order = find_regular_grid(weighted_rows, "CosineBasis")
        frequency = np.indices(grid.shape).reshape(len(grid.shape), -1).T
        atoms = CosineAtoms(grid, np.ascontiguousarray(frequency, dtype=np.intp))
        return bind_transform(CosineDictionary(grid.shape), atoms, X, order)
