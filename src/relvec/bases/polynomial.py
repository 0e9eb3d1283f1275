"""Polynomial basis functions: products of features."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_dense, check_integer
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.dictionaries import LazyDictionary

__all__ = ["PolynomialAtoms", "PolynomialBasis"]


@dataclass(frozen=True, eq=False)
class PolynomialAtoms(Atoms):
    """Monomials, each stored as the list of features it multiplies.

    Parameters
    ----------
    factors : ndarray of shape (n_atoms, degree)
        Features that each atom multiplies, padded with -1. Unlike a table of exponents, its size
        does not depend on the number of features.
    n_features : int
        Number of columns the input must have.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import PolynomialAtoms
    >>> atoms = PolynomialAtoms(np.array([[0, -1], [0, 0], [0, 1]]), n_features=2)
    >>> atoms.names(["x", "z"])
    ['x', 'x^2', 'x z']
    >>> atoms.evaluate(np.array([[2.0, 5.0]]))
    array([[ 2.,  4., 10.]])
    """

    factors: IndexArray
    n_features: int

    def __len__(self) -> int:
        return len(self.factors)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every monomial at the rows of `X`."""
        check_dense(X, "PolynomialBasis")
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but {self.n_features} were seen in fit."
            )
        features = np.asarray(X, dtype=np.float64).T
        product = np.take(features, self.factors[:, 0], axis=0)
        for factor in self.factors.T[1:]:
            present = np.flatnonzero(factor >= 0)
            product[present] *= np.take(features, factor[present], axis=0)
        return product.T

    def subset(self, index: IndexArray) -> PolynomialAtoms:
        """Return the atoms at positions `index`."""
        return PolynomialAtoms(self.factors[index], self.n_features)

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return the features that each monomial multiplies."""
        return np.asarray((self.factors[:, :, None] == np.arange(n_features)).any(axis=1))

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return names such as ``x0^2 x1``, as scikit-learn's `PolynomialFeatures` does."""
        return [_monomial_name(row[row >= 0], feature_names) for row in self.factors]


def _monomial_name(factors: IndexArray, feature_names: Sequence[str]) -> str:
    parts = []
    for feature, group in itertools.groupby(factors):
        power = len(list(group))
        name = str(feature_names[feature])
        parts.append(name if power == 1 else f"{name}^{power}")
    return " ".join(parts)


class PolynomialBasis(Basis):
    """Monomials of the features up to total degree `degree`, evaluated on demand.

    There is no constant basis function: use ``fit_intercept=True`` of the estimator.

    Parameters
    ----------
    degree : int, default=2
        Largest total degree.
    interaction_only : bool, default=False
        Use each feature at most once in a monomial.
    include_linear : bool, default=True
        Whether the features themselves are basis functions.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import PolynomialBasis
    >>> bound = PolynomialBasis(degree=2).bind(np.array([[2.0, 3.0]]))
    >>> bound.atoms.names(["a", "b"])
    ['a', 'b', 'a^2', 'a b', 'b^2']
    >>> bound.dictionary.rows(0, 1)
    array([[2., 3., 4., 6., 9.]])
    """

    def __init__(
        self, degree: int = 2, interaction_only: bool = False, include_linear: bool = True
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_linear = include_linear

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Return one atom per monomial. Sample weights and random state have no influence."""
        check_dense(X, "PolynomialBasis")
        atoms = PolynomialAtoms(self._list_monomials(X.shape[1]), X.shape[1])
        return BoundBasis(
            # Monomials read whole columns, so columns are made contiguous in memory.
            dictionary=LazyDictionary(atoms, np.asfortranarray(X)),
            atoms=atoms,
            is_localised=np.zeros(len(atoms), dtype=bool),
            source_row=np.full(len(atoms), -1, dtype=np.intp),
        )

    def _list_monomials(self, n_features: int) -> IndexArray:
        degree = check_integer("degree", self.degree, minimum=1)
        products = (
            itertools.combinations
            if self.interaction_only
            else itertools.combinations_with_replacement
        )
        blocks = []
        for order in range(1 if self.include_linear else 2, degree + 1):
            chosen = np.array(list(products(range(n_features), order)), dtype=np.intp)
            block = np.full((len(chosen), degree), -1, dtype=np.intp)
            block[:, :order] = chosen.reshape(-1, order)
            blocks.append(block)
        factors = np.concatenate(blocks) if blocks else np.empty((0, degree), dtype=np.intp)
        if len(factors) == 0:
            raise ValueError(
                f"{self} has no basis functions for {n_features} features. "
                "Raise degree, or set include_linear=True."
            )
        return factors
