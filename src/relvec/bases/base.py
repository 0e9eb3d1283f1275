"""Recipes for dictionaries.

A basis holds hyper-parameters only. Bound to inputs it gives two things: the
`Dictionary` a solver works on, and the `Atoms` that evaluate chosen columns at new
inputs. A fitted model keeps the atoms it uses and forgets the rest, so prediction
cost and file size do not depend on the training size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary


class Atoms(ABC):
    """Columns that can be evaluated at any input.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import LinearBasis
    >>> atoms = LinearBasis().bind(np.zeros((4, 3))).atoms
    >>> some = atoms.subset(np.array([2, 0]))
    >>> some.names(["age", "sex", "bmi"])
    ['bmi', 'age']
    >>> some.evaluate(np.array([[50.0, 1.0, 24.0]]))
    array([[24., 50.]])
    """

    @abstractmethod
    def __len__(self) -> int:
        """Number of atoms."""

    @abstractmethod
    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every atom at the rows of `X`: shape (n_samples, n_atoms)."""

    @abstractmethod
    def subset(self, index: IndexArray) -> Atoms:
        """Keep only the atoms `index`, in that order, holding no memory of the others."""

    @abstractmethod
    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return one readable name per atom."""

    def decaying_kernel(self) -> Any:
        """Return the kernel whose decay away from the data hides ignorance, or None."""
        return None

    def is_known_to_decay(self) -> bool:
        """Whether every atom is a function that is known to vanish far from its centre."""
        return False


class BasisPart(NamedTuple):
    """One of several bases side by side."""

    name: str
    n_atoms: int


class BoundBasis(NamedTuple):
    """A basis that has met its inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import KernelBasis
    >>> bound = KernelBasis("rbf", gamma=0.5).bind(np.array([[0.0], [1.0], [2.0]]))
    >>> bound.dictionary.shape
    (3, 3)
    >>> bound.source_row
    array([0, 1, 2])
    """

    dictionary: Dictionary
    """The linear map over all candidate atoms."""
    atoms: Atoms
    """The same atoms as functions of the input."""
    is_localised: np.ndarray
    """Per atom: True for overlapping kernel-like atoms, whose single gains are small and
    whose entry must stay cheap; False for explicit columns, whose entry is a claim about
    the world and is charged for (see ``min_gain``)."""
    source_row: IndexArray
    """Per atom: the training row it is centred on, or -1."""
    parts: tuple[BasisPart, ...] = ()
    """What the atoms consist of, in order; empty if they are all of one kind."""

    def groups(self, by: str) -> IndexArray:
        """Tell the group of every atom.

        Parameters
        ----------
        by : {"level", "part"}
            Levels of wavelets (0 is the approximation, 1 the finest), or the parts of a union.
            Parts without levels are groups of their own.

        Raises
        ------
        ValueError
            If the basis has none.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec.bases import KernelBasis, LinearBasis
        >>> (LinearBasis() + KernelBasis()).bind(np.array([[0.0], [1.0]])).groups("part")
        array([0, 1, 1])
        """
        n_atoms = self.dictionary.shape[1]
        if by == "part" and self.parts:
            return np.repeat(np.arange(len(self.parts)), [part.n_atoms for part in self.parts])
        levels = self.dictionary.levels if by == "level" else None
        if levels is None or len(levels) != n_atoms:
            kind = "WaveletBasis" if by == "level" else "a union of bases, such as LinearBasis() + "
            raise ValueError(
                f"by={by!r} needs a basis that has {by}s ({kind}...). Give one penalty for all, or "
                "a label for every atom."
            )
        return levels


class Basis(BaseEstimator, ABC):
    """A recipe: hyper-parameters only, clone-able, and ``a + b`` joins the columns.

    Examples
    --------
    >>> from relvec.bases import KernelBasis, LinearBasis
    >>> KernelBasis("rbf", gamma=0.5) + LinearBasis()
    UnionBasis(bases=[KernelBasis(gamma=0.5), LinearBasis()])
    """

    @property
    def accepts_sparse(self) -> bool:
        """Whether `bind` takes scipy sparse inputs."""
        return False

    @property
    def accepts_objects(self) -> bool:
        """Whether inputs may be texts or other objects instead of numbers."""
        return False

    @property
    def needs_all_rows(self) -> bool:
        """Whether it cannot be bound to some of the inputs, because all of them form a grid."""
        return False

    @abstractmethod
    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Meet the inputs.

        Rows of zero weight take no part in any data-dependent choice (centres, scales).

        Examples
        --------
        >>> import numpy as np
        >>> from relvec.bases import PolynomialBasis
        >>> bound = PolynomialBasis(degree=2).bind(np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]]))
        >>> bound.atoms.names(["a", "b"])
        ['a', 'b', 'a^2', 'a b', 'b^2']
        >>> bound.dictionary.shape
        (3, 5)
        """

    def __add__(self, other: Basis) -> Basis:
        """Join the columns of two bases.

        Examples
        --------
        >>> from relvec.bases import CosineBasis, KernelBasis, LinearBasis
        >>> len((LinearBasis() + KernelBasis() + CosineBasis()).bases)
        3
        """
        from relvec.bases.union import UnionBasis

        if not isinstance(other, Basis):
            return NotImplemented
        left = self.bases if isinstance(self, UnionBasis) else [self]
        right = other.bases if isinstance(other, UnionBasis) else [other]
        return UnionBasis([*left, *right])
