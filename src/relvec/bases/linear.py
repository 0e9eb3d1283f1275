"""The features themselves as basis functions: a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.dictionaries import DenseDictionary, Dictionary, SparseDictionary

__all__ = ["ColumnAtoms", "LinearBasis"]


@dataclass(frozen=True, eq=False)
class ColumnAtoms(Atoms):
    """Features as atoms: columns of the input, unchanged.

    Parameters
    ----------
    index : ndarray of shape (n_atoms,)
        Positions of the columns.
    n_features : int
        Number of columns the input must have.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import ColumnAtoms
    >>> ColumnAtoms(np.array([1]), n_features=2).evaluate(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[2.],
           [4.]])
    """

    index: IndexArray
    n_features: int

    def __len__(self) -> int:
        return len(self.index)

    def evaluate(self, X: Any) -> Matrix:
        """Return the columns of `X`, dense or sparse, as a dense array."""
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {self.n_features} were seen in fit. "
                "Pass all of them; columns of basis functions that are not in the model may hold "
                "any finite values."
            )
        if sparse.issparse(X):
            columns = sparse.csc_array(X)[:, self.index].toarray(order="F")
        else:
            columns = np.asfortranarray(np.asarray(X).T[self.index].T)
        atoms: Matrix = columns.astype(np.float64, copy=False)
        return atoms

    def subset(self, index: IndexArray) -> ColumnAtoms:
        """Return the atoms at positions `index`."""
        return ColumnAtoms(self.index[index], self.n_features)

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return the one feature of each atom."""
        return np.asarray(self.index[:, None] == np.arange(n_features))

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the names of the features."""
        return [str(feature_names[i]) for i in self.index]


def matrix_dictionary(X: Any) -> Dictionary:
    """Return the dictionary whose atoms are the columns of `X`, dense or sparse."""
    return SparseDictionary(X) if sparse.issparse(X) else DenseDictionary(X)


class LinearBasis(Basis):
    """Linear model: one basis function per feature. Accepts sparse inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import LinearBasis
    >>> bound = LinearBasis().bind(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> bound.atoms.names(["height", "weight"])
    ['height', 'weight']
    """

    @property
    def accepts_sparse(self) -> bool:
        """Return True: `bind` takes scipy sparse inputs."""
        return True

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Return one atom per column. Sample weights and the random state have no influence."""
        n_features = X.shape[1]
        return BoundBasis(
            dictionary=matrix_dictionary(X),
            atoms=ColumnAtoms(np.arange(n_features), n_features),
            is_localised=np.zeros(n_features, dtype=bool),
            source_row=np.full(n_features, -1, dtype=np.intp),
        )
