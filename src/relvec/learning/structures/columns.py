"""Columns of components at the training rows, and their inner products, computed once."""

from __future__ import annotations

import copy
from itertools import accumulate, pairwise, starmap
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions import Product
from relvec.learning.structures.structure import DIFFUSE_VARIANCE, Structure

__all__ = ["ColumnStore", "Design"]

Key = Product | bool
"""Identifies columns: the product of a component, or whether the diffuse ones have a slope."""


class Design(NamedTuple):
    """Inner products of the columns of a structure, of unit norm, and of the targets."""

    gram: Matrix
    correlation: Vector
    log_square: Vector
    """Log of the squared norm of each column before it was scaled to unit norm."""
    target_ss: float
    n_samples: float
    n_diffuse: int
    """Number of leading columns whose prior is diffuse."""

    def log_variances(self, structure: Structure) -> Vector:
        """Return the log prior variance of the weight of each column of unit norm."""
        diffuse = np.full(self.n_diffuse, np.log(DIFFUSE_VARIANCE))
        each = [component.log_variances() for component in structure.components]
        return np.concatenate([diffuse, *each]) + self.log_square


class _Block(NamedTuple):
    columns: Matrix
    """Columns of unit norm."""
    correlation: Vector
    log_square: Vector


class ColumnStore:
    """Columns of components and their inner products, which all structures share.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_features)
        Scaled inputs.
    target : ndarray of shape (n_samples,)
        Standardised targets.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights of the rows.
    """

    max_bytes = 1 << 28
    """Memory for columns and inner products, 256 MB; above it the store starts anew."""

    def __init__(self, U: Matrix, target: Vector, weight: Vector | None = None) -> None:
        self.U = U
        self.root = np.ones(len(target)) if weight is None else np.sqrt(weight)
        self.n_samples = float(self.root @ self.root)
        self.target = target * self.root
        self._clear()

    def with_target(self, target: Vector) -> ColumnStore:
        """Return a store of the same rows for another target."""
        store = copy.copy(self)
        store.target = target * self.root
        store._clear()
        return store

    def __getstate__(self) -> dict[str, Any]:
        # columns can be evaluated again
        return self.__dict__ | {"_blocks": {}, "_grams": {}, "_n_bytes": 0}

    def _clear(self) -> None:
        self._blocks: dict[Key, _Block] = {}
        self._grams: dict[tuple[Key, Key], Matrix] = {}
        self._n_bytes = 0

    def design(self, structure: Structure) -> Design:
        """Return the inner products of a structure."""
        if self._n_bytes > self.max_bytes:
            self._clear()
        keys: list[Key] = [structure.has_slope]
        keys += [component.product.column_key for component in structure.components]
        blocks = [self._find_block(key, structure) for key in keys]
        ends = accumulate((len(block.correlation) for block in blocks), initial=0)
        slices = list(starmap(slice, pairwise(ends)))
        gram = np.empty((slices[-1].stop, slices[-1].stop))
        for row, (left, rows) in enumerate(zip(keys, slices, strict=True)):
            for right, columns in zip(keys[: row + 1], slices, strict=False):
                gram[rows, columns] = self._find_gram(left, right)
                gram[columns, rows] = gram[rows, columns].T
        return Design(
            gram,
            np.concatenate([block.correlation for block in blocks]),
            np.concatenate([block.log_square for block in blocks]),
            float(self.target @ self.target),
            self.n_samples,
            1 + structure.has_slope,
        )

    def _find_block(self, key: Key, structure: Structure) -> _Block:
        if key not in self._blocks:
            raw = (
                structure.diffuse_columns(self.U) if isinstance(key, bool) else key.columns(self.U)
            )
            raw = raw * self.root[:, np.newaxis]
            # A column may vanish on the training rows, such as a step at their end.
            square = np.maximum(np.einsum("ij,ij->j", raw, raw), 1e-300)
            unit = raw / np.sqrt(square)
            self._blocks[key] = _Block(unit, self.target @ unit, np.log(square))
            self._n_bytes += unit.nbytes
        return self._blocks[key]

    def _find_gram(self, left: Key, right: Key) -> Matrix:
        if (left, right) not in self._grams:
            gram = self._blocks[left].columns.T @ self._blocks[right].columns
            self._grams[left, right] = gram
            self._n_bytes += gram.nbytes
        return self._grams[left, right]
