"""Moments whose Gram rows are computed when a solver asks for them.

Atoms are made comparable: weighted, centred, scaled to unit norm. One preparation serves every
target of a multi-output fit and every start of a solver; the Gram rows that were computed are
shared by all of them.
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
    """When atoms and Gram matrices are kept, all measured on two cores with OpenBLAS.

    Examples
    --------
    >>> from relvec.moments import Storage
    >>> Storage(store_bytes=0).store_bytes
    0
    """

    store_bytes: int = 1 << 30
    """Prepared atoms above this size are not kept in memory unless asked for."""
    gram_atoms: int = 4000
    """Up to this many atoms the Gram matrix itself is small."""
    full_gram_atoms: int = 600
    """Up to this many atoms the whole Gram matrix is computed at once ..."""
    full_gram_flops: float = 3e8
    """... if the product is cheap."""
    full_gram_limit: int = 2500
    """Up to this many atoms the whole Gram is computed once `full_gram_share` of it was asked for:
    one symmetric product is then cheaper than the remaining row products."""
    full_gram_share: float = 0.35


DEFAULT_STORAGE = Storage()


@dataclass
class _GramRows:
    """Rows of the Gram matrix that were computed, for all targets."""

    slot: IndexArray
    """Where the row of each atom is; -1 if nowhere."""
    asked: BoolArray
    """Atoms whose rows were ever asked for."""
    rows: Matrix
    n_rows: int = 0


class LazyMoments(Moments):
    """Prepared atoms and one target, with Gram rows on demand.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    target : ndarray of shape (n_samples,)
        The raw target; `with_target` looks at another one through the same atoms.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights.
    centre : bool
        Whether the model has an intercept.
    store : bool
        Keep the prepared atoms in memory (``8 n_samples n_atoms`` bytes). Otherwise every
        request for Gram rows evaluates the dictionary anew, block by block. Atoms that stay
        orthonormal because neither weights nor centring changed that are never stored.
    storage : Storage, optional
        When whole Gram matrices are computed.

    Attributes
    ----------
    stored : ndarray of shape (n_atoms, n_samples) or None
        The prepared atoms, if they are kept.

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
        self._unit_scale = scales.usable / scales.norm
        if isinstance(dictionary, UnionDictionary):
            self.parts = describe_parts(dictionary, scales.mean, sample_weight)
        self._known = _GramRows(
            np.full(n_atoms, -1), np.zeros(n_atoms, dtype=bool), np.empty((0, n_atoms))
        )
        is_cheap = n_samples * float(n_atoms) ** 2 <= storage.full_gram_flops
        if self.stored is not None and n_atoms <= storage.full_gram_atoms and is_cheap:
            self._fetch_all()
        self._see(target)

    def _orthonormal_scales(self) -> ColumnScales | None:
        """Return the scales of atoms that are orthonormal when prepared, without reading them."""
        n_samples, n_atoms = self.dictionary.shape
        mean = np.zeros(n_atoms)
        if self.centre:
            mean = self.dictionary.rmatvec(np.ones(n_samples)) / n_samples
            # Centring takes off nothing if one atom is constant and the others have mean zero: it
            # changes their inner products by less than the square of this bound.
            uneven = np.abs(mean) > 1e-9 / np.sqrt(n_samples)
            if np.count_nonzero(uneven) > 1:
                return None
        centred_ss = 1.0 - n_samples * mean**2
        # The constant atom, if there is one, keeps only rounding.
        centred_ss[centred_ss < 1e-9] = 0.0
        return compute_column_scales(mean, centred_ss, self.total_weight)

    def _prepare(self) -> ColumnScales:
        """Read all atoms once, and keep them prepared if they are to be stored."""
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
                block = np.multiply(block, self.root_weight, out=target)
            centred_ss[where] = np.einsum("ij,ij->i", block, block)
            if target is not None:
                scales = compute_column_scales(mean[where], centred_ss[where], self.total_weight)
                target *= (scales.usable / scales.norm)[:, None]
        return compute_column_scales(mean, centred_ss, self.total_weight)

    def _see(self, target: Vector) -> None:
        """Take a target, weighted and centred like the atoms."""
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
        """Return the moments of another target, which share the atoms and their Gram rows."""
        other = copy.copy(self)
        other._see(target)
        return other

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows were ever asked for, by any target."""
        return int(np.count_nonzero(self._known.asked))

    def unit(self, index: IndexArray) -> Matrix:
        """Return the prepared atoms `index`, one per row: shape (len(index), n_samples)."""
        if self.stored is not None:
            return self.stored[index]
        block = self.dictionary.columns(index).T - self.column_mean[index, None]
        if self.root_weight is not None:
            block *= self.root_weight
        block *= self._unit_scale[index][:, None]
        return block

    def correlate(self, rows: Matrix) -> Matrix:
        """Inner products of prepared vectors (k, n_samples) with every prepared atom."""
        if self.stored is not None:
            return rows @ self.stored.T
        if self.root_weight is not None:
            rows = rows * self.root_weight
        # The vectors are centred, so the raw atoms' means drop out up to rounding,
        # which the second term takes off.
        products = self.dictionary.rmatmat(np.ascontiguousarray(rows).T).T
        products -= np.multiply.outer(rows.sum(axis=1), self.column_mean)
        products *= self._unit_scale
        return products

    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of `index` in one product."""
        if self.is_orthonormal:
            return
        known, storage = self._known, self.storage
        known.asked[index] = True
        missing = index[known.slot[index] < 0]
        if not len(missing):
            return
        n_atoms, needed = len(known.slot), known.n_rows + len(missing)
        is_much = n_atoms <= storage.full_gram_limit and needed > storage.full_gram_share * n_atoms
        if self.stored is not None and is_much:
            self._fetch_all()
            return
        if needed > len(known.rows):
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
        self._known.rows = gram_of_rows(self.stored)
        self._known.n_rows = len(self.stored)
        self._known.slot = np.arange(len(self.stored))

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows, fetching those not seen before."""
        if self.is_orthonormal:
            return self._identity(index, np.arange(self.n_atoms))
        self.fetch(index)
        return self._known.rows[self._known.slot[index]]

    def gram(self, index: IndexArray) -> Matrix:
        """Return a small Gram block; uses known rows, else the atoms themselves."""
        if self.is_orthonormal:
            return self._identity(index, index)
        slots = self._known.slot[index]
        if (slots >= 0).all():
            return self._known.rows[np.ix_(slots, index)]
        return gram_of_rows(np.ascontiguousarray(self.unit(index)))

    def _identity(self, index: IndexArray, others: IndexArray) -> Matrix:
        """Gram entries of orthonormal atoms, of which a constant one is zero when centred."""
        same = np.equal.outer(index, others) & self.usable[index, None]
        return same.astype(np.float64)
