"""What moments provide: the protocol of `Moments`, all that a Gaussian solver sees of the data.

All quantities refer to *prepared* atoms and targets: weighted by the square root of the sample
weights, centred if the model has an intercept (centring integrates out the intercept, whose prior
is flat), and, for atoms, scaled to unit norm. In these units the hyper-parameter of an atom is
``lam = alpha * sigma^2 / norm^2``. It is dimensionless, and does not change when the target or an
atom is rescaled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from relvec._linalg import EPS
from relvec._typing import BoolArray, IndexArray, Matrix, Vector


def resolved_target_ss(target_ss: float, target_mean: float, total_weight: float) -> float:
    """Return the sum of squares of a centred target, or zero if it is rounding error only."""
    rounding = 4.0 * EPS * abs(target_mean)
    return target_ss if target_ss > total_weight * rounding**2 else 0.0


class Part(NamedTuple):
    """One dictionary of a union of dictionaries.

    Examples
    --------
    >>> from relvec.moments import Part
    >>> Part(atoms=slice(0, 256), is_orthonormal=True)
    Part(atoms=slice(0, 256, None), is_orthonormal=True)
    """

    atoms: slice
    """Positions of its atoms in the union."""
    is_orthonormal: bool
    """Whether the Gram matrix of its usable atoms is known to be the identity."""


class Moments(ABC):
    """Second moments ``Phi'Phi``, ``Phi't`` and ``t't`` of a dictionary and one target.

    With ``N``, they determine the evidence of every model (Tipping 2001, eq. 15), so a solver needs
    no other access to the data. A new implementation sets the attributes below and implements
    `fetch`, `gram_rows` and `gram`; ``G = Phi'Phi`` is the Gram matrix of the prepared atoms.

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
    """``N``: the sum of the weights, less one if an intercept is integrated out."""
    target_ss: float
    """Sum of squares of the prepared target, tᵀt."""
    correlation: Vector
    """Φᵀt of prepared atoms and target, shape (n_atoms,); zero for unusable atoms."""
    usable: BoolArray
    """True for atoms that are finite and, after centring, not zero."""
    resolution: Vector
    """Smallest sparsity factor ``s = phi' K^-1 phi`` that is distinguishable from rounding error;
    ``s`` is one for an atom alone, and near zero if the other atoms explain it."""
    column_mean: Vector
    """Weighted mean of each raw atom; zero without an intercept."""
    column_norm: Vector
    """Weighted norm of each raw, centred atom: raw weight = weight of the unit-norm atom / norm."""
    target_mean: float
    """Weighted mean of the raw target; zero without an intercept."""
    is_orthonormal: bool = False
    """Whether the Gram matrix of the usable atoms is known to be the identity."""
    parts: tuple[Part, ...] = ()
    """The dictionaries of a union; empty for a single dictionary."""

    @property
    def n_atoms(self) -> int:
        """Number of candidate atoms."""
        return len(self.correlation)

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows have been computed, a measure of the work done."""
        return self.n_atoms

    @abstractmethod
    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of atoms `index`, in one matrix product."""

    @abstractmethod
    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return the Gram rows ``G[index, :]``, shape (len(index), n_atoms), as a copy."""

    @abstractmethod
    def gram(self, index: IndexArray) -> Matrix:
        """Return the block ``G[index][:, index]`` as a copy, without fetching whole rows."""
