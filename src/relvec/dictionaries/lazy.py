"""Dictionaries whose atoms are evaluated on demand."""

from __future__ import annotations

from typing import Any, Protocol

from relvec._typing import IndexArray, Matrix
from relvec.dictionaries.base import Dictionary

__all__ = ["LazyDictionary"]


class EvaluableAtoms(Protocol):
    """The part of `relvec.bases.base.Atoms` that a lazy dictionary needs."""

    def __len__(self) -> int:
        """Number of atoms."""

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every atom at the rows of `X`."""

    def subset(self, index: IndexArray) -> EvaluableAtoms:
        """Keep only the atoms `index`."""


class LazyDictionary(Dictionary):
    """Atoms (basis functions) evaluated on demand at fixed inputs.

    Parameters
    ----------
    atoms : Atoms
        The basis functions.
    X : ndarray of shape (n_samples, n_features)
        Inputs at which they are evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import ColumnAtoms
    >>> from relvec.dictionaries import LazyDictionary
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> dictionary = LazyDictionary(ColumnAtoms(np.array([1, 0]), 2), X)
    >>> dictionary.columns(np.array([0]))
    array([[2.],
           [4.]])
    """

    def __init__(self, atoms: EvaluableAtoms, X: Any) -> None:
        self.atoms = atoms
        self.X = X

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of atoms."""
        return int(self.X.shape[0]), len(self.atoms)

    def columns(self, index: IndexArray) -> Matrix:
        """Evaluate the atoms `index` at every sample."""
        return self.atoms.subset(index).evaluate(self.X)

    def rows(self, start: int, stop: int) -> Matrix:
        """Evaluate every atom at the samples ``start:stop``."""
        return self.atoms.evaluate(self.X[start:stop])
