"""Concatenation of the columns of several dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary

__all__ = ["UnionDictionary"]


class UnionDictionary(Dictionary):
    """The columns of several dictionaries, one dictionary after the other.

    Every operation is delegated to the parts, so each keeps its own storage and fast algorithm.

    Parameters
    ----------
    parts : sequence of Dictionary
        At least one, all with the same number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary, UnionDictionary
    >>> union = UnionDictionary([DenseDictionary(np.eye(2)), DenseDictionary([[3], [4]])])
    >>> union.columns(np.array([2, 0]))
    array([[3., 1.],
           [4., 0.]])
    """

    def __init__(self, parts: Sequence[Dictionary]) -> None:
        self.parts = list(parts)
        if not self.parts:
            raise ValueError("UnionDictionary needs at least one dictionary; got none.")
        lengths = [part.shape[0] for part in self.parts]
        if len(set(lengths)) > 1:
            raise ValueError(
                "UnionDictionary needs dictionaries with the same number of samples; "
                f"got {lengths}."
            )
        self._offsets = np.cumsum([0, *(part.shape[1] for part in self.parts)])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""
        return self.parts[0].shape[0], int(self._offsets[-1])

    @property
    def slices(self) -> tuple[slice, ...]:
        """Range of the atoms of each part."""
        return tuple(slice(*pair) for pair in pairwise(self._offsets.tolist()))

    @property
    def levels(self) -> IndexArray | None:
        """Levels of all atoms, numbered on from part to part; None if no part has levels."""
        levels = [part.levels for part in self.parts]
        if all(each is None for each in levels):
            return None
        numbers, first = [], 0
        for part, each in zip(self.parts, levels, strict=True):
            # a part without levels counts as one level
            part_levels = np.zeros(part.shape[1], dtype=np.intp) if each is None else each
            numbers.append(first + part_levels)
            first += int(part_levels.max(initial=0)) + 1
        return np.concatenate(numbers)

    def columns(self, index: IndexArray) -> Matrix:
        """Return the atoms `index`, with one call to each part that owns some of them."""
        n_samples, n_atoms = self.shape
        index = np.asarray(index, dtype=np.intp)
        if index.size and not 0 <= index.min() <= index.max() < n_atoms:
            raise IndexError(f"index must lie in 0..{n_atoms - 1}; got {index}.")
        owner = np.searchsorted(self._offsets, index, side="right") - 1
        result = np.empty((n_samples, len(index)), order="F")
        for number, part in enumerate(self.parts):
            is_owned = owner == number
            if not is_owned.any():
                continue
            local = index[is_owned] - self._offsets[number]
            if is_owned.all():
                return part.columns(local)
            result[:, is_owned] = part.columns(local)
        return result

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the samples ``start:stop`` of every atom."""
        return np.hstack([part.rows(start, stop) for part in self.parts])

    def matvec(self, weights: Vector) -> Vector:
        """Return ``Phi @ weights``, the sum over the parts."""
        pieces = np.split(np.asarray(weights), self._offsets[1:-1])
        result = np.zeros(self.shape[0])
        for part, piece in zip(self.parts, pieces, strict=True):
            result += part.matvec(piece)
        return result

    def rmatvec(self, residual: Vector) -> Vector:
        """Return ``Phi.T @ residual``, part by part."""
        return self._concatenate(lambda part: part.rmatvec(residual))

    def rmatmat(self, residuals: Matrix) -> Matrix:
        """Return ``Phi.T @ residuals``, part by part."""
        return self._concatenate(lambda part: part.rmatmat(residuals))

    def sq_norms(self, weights: Vector | None = None) -> Vector:
        """Return the (weighted) squared norm of each atom."""
        return self._concatenate(lambda part: part.sq_norms(weights))

    def _concatenate(self, measure: Callable[[Dictionary], np.ndarray]) -> np.ndarray:
        return np.concatenate([measure(part) for part in self.parts])
