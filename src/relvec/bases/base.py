"""What every basis provides: the protocols of `Basis`, `BoundBasis` and `Atoms`.

A *basis* holds hyper-parameters only, like an unfitted estimator. `Basis.bind` evaluates
data-dependent choices (centres, grids) and returns two views of the same basis functions, called
*atoms* here:

- a `Dictionary`, the linear map ``Phi`` of shape (n_samples, n_atoms) that solvers work on;
- `Atoms`, the functions themselves, which can be evaluated at new inputs.

A fitted model keeps the relevant atoms only, so the cost of a prediction and the size of a model
file do not depend on the number of training samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary


class Atoms(ABC):
    """Basis functions ``phi_1, ..., phi_M`` that can be evaluated at any input.

    A new kind of atoms is a frozen dataclass with the four abstract methods below.
    `relvec.testing.check_basis` checks them together with the basis that makes them.

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
        """Evaluate every atom at every row of `X`.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs. The value at one row must not depend on the other rows.

        Returns
        -------
        Phi : ndarray of shape (n_samples, n_atoms), float64
        """

    @abstractmethod
    def subset(self, index: IndexArray) -> Atoms:
        """Return the atoms at positions `index`, in that order.

        The result must not store data of the other atoms: it is what a fitted model keeps.
        """

    @abstractmethod
    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return one readable name per atom, given the names of the features."""

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return which features each atom depends on, shape (n_atoms, n_features).

        All of them, unless a subclass knows better.
        """
        return np.ones((len(self), n_features), dtype=bool)

    def decaying_kernel(self) -> Any:
        """Return the kernel that decays to zero away from the data, or None.

        Where all atoms vanish, the posterior variance of the function vanishes too, although the
        data say nothing there. Error bars use this kernel to add the missing variance (see
        `relvec.error_bars`).
        """
        return None

    def is_known_to_decay(self) -> bool:
        """Whether every atom is known to vanish far from its centre."""
        return False


class BasisPart(NamedTuple):
    """One basis of a union of bases."""

    name: str
    """Class of the basis, with its position if the union has two of one class."""
    n_atoms: int
    """Number of atoms it contributes."""


class BoundBasis(NamedTuple):
    """A basis bound to training inputs: its dictionary, its atoms and facts about them.

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
    """The linear map ``Phi`` of all candidate atoms at the training inputs."""
    atoms: Atoms
    """The same atoms as functions of the input."""
    is_localised: np.ndarray
    """Boolean array, one entry per atom. True for kernel-like atoms: they overlap, one can stand in
    for another, and ``min_gain="auto"`` sets next to no entry penalty. False for explicit columns:
    each is a hypothesis of its own, and the entry penalty is the logarithm of their number."""
    source_row: IndexArray
    """One entry per atom: the training row it is centred on, or -1 if there is none."""
    parts: tuple[BasisPart, ...] = ()
    """The bases of a union, in the order of their atoms; empty for a single basis."""
    has_spectrum: BoolArray | None = None
    """Boolean array, one entry per atom, or None if all are False. True for columns that were
    multiplied by the root of their prior variances, relative to those of the same part. They share
    a precision as they are, other explicit columns after scaling to unit variance."""
    is_flat: BoolArray | None = None
    """Boolean array, one entry per atom, or None if all are False. True for columns of nearly flat
    prior where precisions are tied, such as the first slope of a slope that wanders."""

    def groups(self, by: str) -> IndexArray:
        """Return the group label of every atom.

        Parameters
        ----------
        by : {"level", "part"}
            Group by wavelet level (0 is the approximation, 1 the finest level), or by the bases of
            a union. Under "level", a basis without levels is one group.

        Returns
        -------
        labels : ndarray of shape (n_atoms,)

        Raises
        ------
        ValueError
            If the basis has no levels, or no parts.

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
                f"by={by!r} needs a basis that has {by}s ({kind}...). Give one penalty for all "
                "atoms, or pass a label for every atom."
            )
        return levels


class Basis(BaseEstimator, ABC):
    """Base class of bases: hyper-parameters only, cloneable; ``a + b`` makes a union.

    A new basis stores its parameters in ``__init__`` (as scikit-learn's estimators do) and
    implements `bind`. Run `relvec.testing.check_basis` on it.

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
        """Whether inputs may be strings or other objects instead of numbers."""
        return False

    @property
    def has_prior_spectrum(self) -> bool:
        """Whether the prior variances of the weights are known up to a common factor.

        Then all weights share one precision: ``precision="auto"`` of estimators is "tied".
        """
        return False

    @property
    def part_name(self) -> str:
        """Name as a part of a sum of bases: its class."""
        return type(self).__name__

    @property
    def needs_all_rows(self) -> bool:
        """Whether `bind` needs all rows at once, because together they form a regular grid.

        Such a basis cannot be bound to a subsample or to a cross-validation fold.
        """
        return False

    @abstractmethod
    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Return the basis functions for these training inputs.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training inputs; a scipy sparse matrix if `accepts_sparse`, an array of objects if
            `accepts_objects`.
        sample_weight : ndarray of shape (n_samples,), default=None
            Frequency weights. Rows of zero weight must not influence any data-dependent choice
            (centres, length-scales, grids).
        random_state : RandomState, default=None
            Random numbers for choices made at random; None means a fixed seed.

        Returns
        -------
        bound : BoundBasis

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
        """Return the union of two bases: the atoms of both.

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

    def __mul__(self, other: Basis) -> Basis:
        """Return the product of two bases of series, or of their sums, term by term.

        Examples
        --------
        >>> from relvec.bases import PeriodicBasis, RampBasis, WalkBasis
        >>> PeriodicBasis(12.0) * (RampBasis() + WalkBasis())
        UnionBasis(bases=[ProductBasis(factors=[PeriodicBasis(period=12.0),
                                                RampBasis()]),
                          ProductBasis(factors=[PeriodicBasis(period=12.0),
                                                WalkBasis()])])
        """
        from relvec.bases.series.product import multiply_bases

        if not isinstance(other, Basis):
            return NotImplemented
        return multiply_bases(self, other)
