"""What an evidence solver sees of the data, and nothing else.

All quantities refer to atoms that were weighted, centred (when the model has an
intercept: its flat prior is integrated out by centring) and scaled to unit norm, and to
a target weighted and centred likewise. In these units the relevant hyper-parameter of
an atom is ``lam = alpha * sigma^2 / norm^2``: dimensionless, and unchanged when the
target or an atom is rescaled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from relvec._linalg import EPS
from relvec._typing import BoolArray, IndexArray, Matrix, Vector


def resolved_target_ss(target_ss: float, target_mean: float, total_weight: float) -> float:
    """Return the sum of squares of a centred target, or zero if it is only rounding."""
    rounding = 4.0 * EPS * abs(target_mean)
    return target_ss if target_ss > total_weight * rounding**2 else 0.0


class Part(NamedTuple):
    """One of several dictionaries that stand side by side.

    Examples
    --------
    >>> from relvec.moments import Part
    >>> Part(atoms=slice(0, 256), is_orthonormal=True)
    Part(atoms=slice(0, 256, None), is_orthonormal=True)
    """

    atoms: slice
    is_orthonormal: bool
    """Whether the Gram matrix of its usable atoms is known to be the identity."""


class Moments(ABC):
    """First and second moments of a dictionary and one target.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> [moments] = compute_moments(
    ...     DenseDictionary(np.eye(3)[:, :2]), np.array([[1.0], [2.0], [6.0]]), None, centre=True
    ... )
    >>> moments.n_atoms, moments.n_effective, moments.target_ss
    (2, 2.0, 14.0)
    >>> moments.correlation.round(3)
    array([-2.449, -1.225])
    """

    n_effective: float
    """Sum of the weights, less one when an intercept is integrated out."""
    target_ss: float
    """Sum of squares of the target, tᵀt."""
    correlation: Vector
    """Φᵀt, shape (n_atoms,); zero for unusable atoms."""
    usable: BoolArray
    """Atoms that are neither constant nor zero nor non-finite."""
    resolution: Vector
    """Smallest value of ``s = phi' K^-1 phi`` (one for an atom alone) that is not rounding."""
    column_mean: Vector
    """Weighted mean of each raw atom (zero without intercept)."""
    column_norm: Vector
    """Norm of each raw, centred atom: raw weight = unit weight / norm."""
    target_mean: float
    """Weighted mean of the raw target (zero without intercept)."""
    is_orthonormal: bool = False
    """Whether the Gram matrix of the usable atoms is known to be the identity."""
    parts: tuple[Part, ...] = ()
    """The parts of a union; empty if there is nothing to tell apart."""

    @property
    def n_atoms(self) -> int:
        """Number of candidate atoms."""
        return len(self.correlation)

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows were computed: all of them, where all are at hand."""
        return self.n_atoms

    @abstractmethod
    def fetch(self, index: IndexArray) -> None:
        """Make the Gram rows of `index` available, computing the missing ones in one product."""

    @abstractmethod
    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return the Gram rows ``G[index, :]``, shape (len(index), n_atoms); fetches them."""

    @abstractmethod
    def gram(self, index: IndexArray) -> Matrix:
        """Return the small block ``G[index][:, index]``, without fetching whole rows."""
