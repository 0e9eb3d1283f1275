"""Moments whose Gram rows are computed on demand.

Atoms are prepared once: weighted, centred, scaled to unit norm. All targets of a multi-output fit
and all initialisations of a solver share the prepared atoms and the Gram rows computed so far.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from relvec._linalg import gram_of_rows
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries import Dictionary, UnionDictionary
from relvec.moments.base import Moments, resolved_target_ss
from relvec.moments.columns import ColumnScales, compute_column_scales
from relvec.moments.parts import describe_parts

__all__ = ["LazyMoments", "Storage"]


@dataclass(frozen=True)
class Storage:
    """Limits that decide when atoms and Gram matrices are stored.

    The defaults were tuned by timings on two cores with OpenBLAS.

    Examples
    --------
    >>> from relvec.moments import Storage
    >>> Storage(store_bytes=0).store_bytes
    0
    """

    store_bytes: int = 1 << 30
    """Prepared atoms above this size are not stored, unless ``low_memory=False``."""
    gram_atoms: int = 4000
    """Largest number of atoms for which, at low memory, the whole Gram matrix is stored."""
    full_gram_atoms: int = 600
    """Up to this many atoms the whole Gram matrix is computed at once ..."""
    full_gram_flops: float = 3e8
    """... if the product is cheap."""
    full_gram_limit: int = 2500
    """Up to this many atoms the whole Gram matrix is computed as soon as `full_gram_share` of its
    rows have been requested: one symmetric product is then cheaper than the remaining rows."""
    full_gram_share: float = 0.35
    """Fraction of the rows."""


DEFAULT_STORAGE = Storage()


@dataclass
class _GramRows:
    """The rows of the Gram matrix computed so far, shared by all targets."""

    slot: IndexArray
    """Position in `rows` of the row of each atom; -1 if it was not computed."""
    requested: BoolArray
    """True for atoms whose rows were requested."""
    rows: Matrix
    """The rows, with spare capacity at the end."""
    n_rows: int = 0
    """Number of rows in use."""


class LazyMoments(Moments):
    """Prepared atoms and one target, with Gram rows on demand.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    target : ndarray of shape (n_samples,)
        The raw target; `with_target` returns the moments of another target.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights.
    centre : bool
        Whether the model has an intercept.
    store : bool
        Keep the prepared atoms in memory (``8 n_samples n_atoms`` bytes). Otherwise the dictionary
        is evaluated again, block by block, for every request of Gram rows. Atoms that are
        orthonormal after weighting and centring are never stored.
    storage : Storage, optional
        Limits that decide when the whole Gram matrix is computed.

    Attributes
    ----------
    stored : ndarray of shape (n_atoms, n_samples) or None
        The prepared atoms, if they are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import LazyMoments
    >>> dictionary, target = DenseDictionary([[3.0], [4.0]]), np.array([1.0, 2.0])
    >>> moments = LazyMoments(dictionary, target, centre=False, store=True)
    >>> moments.correlation  # (3 + 8) / 5
    array([2.2])
    >>> moments.unit(np.array([0]))
    array([[0.6, 0.8]])
    """

    def __init__(
        self,
        dictionary: Dictionary,
        target: Vector,
        sample_weight: Vector | None = None,
        *,
        centre: bool,
        store: bool,
        storage: Storage = DEFAULT_STORAGE,
    ) -> None:
        self.dictionary = dictionary
        self.storage = storage
        self.centre = centre
        self.weight = sample_weight
        self.root_weight = None if sample_weight is None else np.sqrt(sample_weight)
        n_samples, n_atoms = dictionary.shape
        self.total_weight = (
            float(n_samples) if sample_weight is None else float(sample_weight.sum())
        )
        self.n_effective = self.total_weight - float(centre)
        self.stored: Matrix | None = None
        scales = None
        if dictionary.is_orthonormal and sample_weight is None:
            scales = self._orthonormal_scales()
        self.is_orthonormal = scales is not None
        if scales is None:
            if store:
                self.stored = np.empty((n_atoms, n_samples))
            scales = self._prepare()
        self.column_mean, self.column_norm = scales.mean, scales.norm
        self.usable, self.resolution = scales.usable, scales.resolution
        self._inverse_norm = scales.usable / scales.norm
        if isinstance(dictionary, UnionDictionary):
            self.parts = describe_parts(dictionary, scales.mean, sample_weight)
        self._computed = _GramRows(
            np.full(n_atoms, -1), np.zeros(n_atoms, dtype=bool), np.empty((0, n_atoms))
        )
        is_cheap = n_samples * float(n_atoms) ** 2 <= storage.full_gram_flops
        if self.stored is not None and n_atoms <= storage.full_gram_atoms and is_cheap:
            self._fetch_all()
        self._set_target(target)

    def _orthonormal_scales(self) -> ColumnScales | None:
        """Return the scales of atoms that stay orthonormal when prepared, or None."""
        n_samples, n_atoms = self.dictionary.shape
        mean = np.zeros(n_atoms)
        if self.centre:
            mean = self.dictionary.rmatvec(np.ones(n_samples)) / n_samples
            # Centring keeps the atoms orthonormal if at most one of them (the constant) has a
            # mean: it changes the inner products of the others by less than this bound squared.
            uneven = np.abs(mean) > 1e-9 / np.sqrt(n_samples)
            if np.count_nonzero(uneven) > 1:
                return None
        # |phi - m 1|^2 = |phi|^2 - n m^2 for an atom of unit norm.
        centred_ss = 1.0 - n_samples * mean**2
        # Of a constant atom, only rounding error is left.
        centred_ss[centred_ss < 1e-9] = 0.0
        return compute_column_scales(mean, centred_ss, self.total_weight)

    def _prepare(self) -> ColumnScales:
        """Evaluate all atoms once; return their scales, and fill `stored` if it is used."""
        n_atoms = self.dictionary.shape[1]
        mean = np.zeros(n_atoms)
        centred_ss = np.empty(n_atoms)
        for index, columns in self.dictionary.column_blocks():
            block = columns.T  # (atoms, samples), contiguous for Fortran-ordered columns
            where = slice(int(index[0]), int(index[-1]) + 1)
            target = None if self.stored is None else self.stored[where]
            if self.centre:
                if self.weight is None:
                    mean[where] = block.mean(axis=1)
                else:
                    mean[where] = (block @ self.weight) / self.total_weight
                block = np.subtract(block, mean[where, None], out=target)
            elif target is not None:
                target[...] = block
                block = target
            if self.root_weight is not None:
                # Weights enter as square roots, so that G = Phi' Phi and t't need no weights. Means
                # are weighted and subtracted before, since a centred column has sum w (x - m) = 0.
                block = np.multiply(block, self.root_weight, out=target)
            centred_ss[where] = np.einsum("ij,ij->i", block, block)
            if target is not None:
                scales = compute_column_scales(mean[where], centred_ss[where], self.total_weight)
                # An unusable atom becomes zero: its correlation and Gram entries are then zero as
                # well.
                target *= (scales.usable / scales.norm)[:, None]
        return compute_column_scales(mean, centred_ss, self.total_weight)

    def _set_target(self, target: Vector) -> None:
        """Set the target, weighted and centred like the atoms."""
        self.target_mean = 0.0
        if self.centre:
            self.target_mean = float(np.average(target, weights=self.weight))
            target = target - self.target_mean
        if self.root_weight is not None:
            target = target * self.root_weight
        self.target_ss = resolved_target_ss(
            float(target @ target), self.target_mean, self.total_weight
        )
        self.correlation = np.ravel(self.correlate(target[None, :]))

    def with_target(self, target: Vector) -> LazyMoments:
        """Return the moments of another target; atoms and Gram rows are shared."""
        other = copy.copy(self)
        other._set_target(target)
        return other

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows have been requested, by any target."""
        return int(np.count_nonzero(self._computed.requested))

    def unit(self, index: IndexArray) -> Matrix:
        """Return the prepared atoms `index`, one per row: shape (len(index), n_samples)."""
        if self.stored is not None:
            return self.stored[index]
        block = self.dictionary.columns(index).T - self.column_mean[index, None]
        if self.root_weight is not None:
            block *= self.root_weight
        block *= self._inverse_norm[index][:, None]
        return block

    def correlate(self, rows: Matrix) -> Matrix:
        """Return inner products of centred vectors (k, n_samples) with every prepared atom."""
        if self.stored is not None:
            return rows @ self.stored.T
        if self.root_weight is not None:
            # The raw atoms lack the square root of the weight; the vectors have theirs already.
            rows = rows * self.root_weight
        # The vectors are centred, so the means of the raw atoms drop out up to rounding error,
        # which the second term removes.
        products = self.dictionary.rmatmat(np.ascontiguousarray(rows).T).T
        products -= np.multiply.outer(rows.sum(axis=1), self.column_mean)
        products *= self._inverse_norm
        return products

    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of `index` in one product."""
        if self.is_orthonormal:
            return
        known, storage = self._computed, self.storage
        known.requested[index] = True
        missing = index[known.slot[index] < 0]
        if not len(missing):
            return
        n_atoms, needed = len(known.slot), known.n_rows + len(missing)
        # A symmetric product of all atoms takes half the operations of a general one.
        is_much = n_atoms <= storage.full_gram_limit and needed > storage.full_gram_share * n_atoms
        if self.stored is not None and is_much:
            self._fetch_all()
            return
        if needed > len(known.rows):
            # Geometric growth: the total amount of copying stays linear in the number of rows.
            grown = np.empty((max(64, int(1.6 * needed)), n_atoms))
            grown[: known.n_rows] = known.rows[: known.n_rows]
            known.rows = grown
        vectors = self.unit(missing)
        if self.stored is not None:
            np.matmul(vectors, self.stored.T, out=known.rows[known.n_rows : needed])
        else:
            known.rows[known.n_rows : needed] = self.correlate(vectors)
        known.slot[missing] = np.arange(known.n_rows, needed)
        known.n_rows = needed

    def _fetch_all(self) -> None:
        assert self.stored is not None
        self._computed.rows = gram_of_rows(self.stored)
        self._computed.n_rows = len(self.stored)
        self._computed.slot = np.arange(len(self.stored))

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows, computing those that are missing."""
        if self.is_orthonormal:
            return self._identity(index, np.arange(self.n_atoms))
        self.fetch(index)
        return self._computed.rows[self._computed.slot[index]]

    def gram(self, index: IndexArray) -> Matrix:
        """Return a block of the Gram matrix, from computed rows or from the atoms themselves."""
        if self.is_orthonormal:
            return self._identity(index, index)
        slots = self._computed.slot[index]
        if (slots >= 0).all():
            return self._computed.rows[slots[:, None], index]
        return gram_of_rows(np.ascontiguousarray(self.unit(index)))

    def _identity(self, index: IndexArray, others: IndexArray) -> Matrix:
        """Return Gram entries of orthonormal atoms; those of a centred constant atom are zero."""
        same = np.equal.outer(index, others) & self.usable[index, None]
        return same.astype(np.float64)
