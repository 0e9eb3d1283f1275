"""Wavelet basis functions on a regular grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.grid import RegularGrid, bind_transform, find_regular_grid
from relvec.dictionaries import BLOCK_BYTES, WaveletDictionary

__all__ = ["WaveletAtoms", "WaveletBasis"]


@dataclass(frozen=True, eq=False)
class WaveletAtoms(Atoms):
    """Wavelets: linearly interpolated between grid points, zero outside the grid.

    Parameters
    ----------
    grid : RegularGrid
        Grid on which the atoms are orthonormal.
    wavelet, level
        As in `WaveletBasis`.
    index : ndarray of shape (n_atoms,)
        Positions among all coefficients of the transform.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import WaveletBasis
    >>> grid = np.arange(8.0)[:, np.newaxis]
    >>> atoms = WaveletBasis("haar", level=3).bind(grid).atoms
    >>> atoms.subset(np.array([1])).evaluate(grid).ravel().round(2)  # a step in the middle
    array([ 0.35,  0.35,  0.35,  0.35, -0.35, -0.35, -0.35, -0.35])
    """

    grid: RegularGrid
    wavelet: str
    level: int | None
    index: IndexArray

    def __len__(self) -> int:
        return len(self.index)

    def _dictionary(self) -> WaveletDictionary:
        return WaveletDictionary(self.grid.shape, self.wavelet, self.level)

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield blocks (slice of atoms, their values on the whole grid), by inverse transforms."""
        dictionary = self._dictionary()
        size = max(1, BLOCK_BYTES // (8 * dictionary.shape[0]))
        for start in range(0, len(self), size):
            block = slice(start, min(start + size, len(self)))
            yield block, dictionary.columns(self.index[block])

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every wavelet at the rows of `X`."""
        positions = self.grid.positions(X, "WaveletBasis")
        corners = list(self.grid.corners(positions))
        result = np.zeros((len(positions), len(self)), order="F")
        for block, columns in self._blocks():
            for point, weight in corners:
                result[:, block] += weight[:, None] * columns[point]
        return result

    def subset(self, index: IndexArray) -> WaveletAtoms:
        """Return the atoms at positions `index`."""
        return WaveletAtoms(self.grid, self.wavelet, self.level, self.index[index])

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the level of each atom and the input at which its absolute value is largest."""
        dictionary = self._dictionary()
        band = np.searchsorted(
            [band.slice.stop for band in dictionary.subbands], self.index, "right"
        )
        peak = np.empty(len(self), dtype=np.intp)
        for block, columns in self._blocks():
            peak[block] = np.abs(columns).argmax(axis=0)
        names = []
        for number, place in zip(band, self.grid.points(peak), strict=True):
            level, orientation = dictionary.subbands[number][:2]
            scale = f"level {level}" if level else "approximation"
            if level and len(orientation) > 1:
                scale += f" {orientation}"
            where = ", ".join(
                f"{name}={value:.3g}" for name, value in zip(feature_names, place, strict=True)
            )
            names.append(f"{self.wavelet} {scale} at {where}")
        return names


class WaveletBasis(Basis):
    """Orthonormal wavelets for inputs on a regular grid.

    One basis function per training input: the rows of `X` are the points of a regular grid in any
    number of dimensions, each point once, in any order; the number of points along an axis is
    arbitrary. Wavelets are periodic on the grid, linearly interpolated between grid points, and
    zero outside the grid.

    With ``fit_intercept=False`` and no sample weights, solvers use the fast wavelet transform and
    the closed-form solution for orthonormal bases. With an intercept the basis is no longer
    orthonormal after centring (the approximation coefficients overlap with the constant), and the
    general search is used.

    Parameters
    ----------
    wavelet : str, default="sym8"
        "haar", "db1" to "db38", "sym2" to "sym20" or "coif1" to "coif17".
    level : int or None, default=None
        Number of decomposition levels. None chooses the largest number that leaves at least 16
        approximation coefficients along every axis of 31 points or more; shorter axes are
        decomposed once.

    See Also
    --------
    CosineBasis : For smooth signals.
    relvec.dictionaries.WaveletDictionary : The wavelet transform as a linear map.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import WaveletBasis
    >>> x = np.arange(64.0)
    >>> y = 3.0 * (x >= 32) + 0.1 * np.random.default_rng(0).normal(size=64)
    >>> basis = WaveletBasis("haar", level=6)
    >>> model = SparseBayesRegressor(basis, prior="ric", fit_intercept=False)
    >>> model.fit(x[:, np.newaxis], y).atom_names()
    ['haar approximation at x0=0', 'haar level 6 at x0=0']
    """

    def __init__(self, wavelet: str = "sym8", level: int | None = None) -> None:
        self.wavelet = wavelet
        self.level = level

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
        """Find the grid that the rows of positive weight form, and return all its wavelets."""
        weighted_rows = X if sample_weight is None else X[sample_weight > 0]
        grid, order = find_regular_grid(weighted_rows, "WaveletBasis")
        dictionary = WaveletDictionary(grid.shape, self.wavelet, self.level)
        atoms = WaveletAtoms(grid, dictionary.wavelet, self.level, np.arange(dictionary.shape[1]))
        return bind_transform(dictionary, atoms, X, order)
