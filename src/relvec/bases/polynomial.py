"""Products of inputs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_dense, check_integer
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.dictionaries import LazyDictionary

__all__ = ["PolynomialAtoms", "PolynomialBasis"]


@dataclass(frozen=True, eq=False)
class PolynomialAtoms(Atoms):
    """Monomials, each a short list of the features it multiplies.

    Parameters
    ----------
    factors : ndarray of shape (n_atoms, degree)
        Features multiplied by each atom, padded with -1. Unlike a table of powers, its size
        does not grow with the number of features.
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
        """Keep only the atoms `index`."""
        return PolynomialAtoms(self.factors[index], self.n_features)

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Name each monomial as scikit-learn's `PolynomialFeatures` does."""
        return [_monomial(row[row >= 0], feature_names) for row in self.factors]


def _monomial(factors: IndexArray, feature_names: Sequence[str]) -> str:
    parts = []
    for feature, group in itertools.groupby(factors):
        power = len(list(group))
        name = str(feature_names[feature])
        parts.append(name if power == 1 else f"{name}^{power}")
    return " ".join(parts)


class PolynomialBasis(Basis):
    """Products of up to `degree` inputs, evaluated on demand.

    There is no constant atom: the intercept of a model is not an atom.

    Parameters
    ----------
    degree : int, default=2
        Largest number of factors.
    interaction_only : bool, default=False
        Use each feature at most once in a product.
    include_linear : bool, default=True
        Whether the features themselves are atoms.

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
        """Offer every product as an atom; nothing depends on the weights or on chance."""
        check_dense(X, "PolynomialBasis")
        atoms = PolynomialAtoms(self._factors(X.shape[1]), X.shape[1])
        return BoundBasis(
            # Atoms read whole features, so each feature had better be contiguous.
            dictionary=LazyDictionary(atoms, np.asfortranarray(X)),
            atoms=atoms,
            is_localised=np.zeros(len(atoms), dtype=bool),
            source_row=np.full(len(atoms), -1, dtype=np.intp),
        )

    def _factors(self, n_features: int) -> IndexArray:
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
                f"{self} has no atoms for {n_features} features. "
                "Raise degree, or set include_linear=True."
            )
        return factors
