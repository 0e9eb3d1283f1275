"""Atoms made comparable: weighted, centred, scaled to unit norm.

One preparation serves every target of a multi-output fit and every start of a solver;
the Gram rows it has computed are shared by all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import gram_of_rows
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.moments.parts import parts_of

EPS = float(np.finfo(np.float64).eps)
RESOLUTION = 1e-9
"""Below this fraction of its squared norm an atom counts as explained by the others."""
FULL_GRAM_ATOMS = 600
"""Up to this many atoms the whole Gram matrix is computed at once (if the product is cheap)."""
FULL_GRAM_FLOPS = 3e8
FULL_GRAM_LIMIT = 2500
"""Up to this many atoms the whole Gram is computed once `FULL_GRAM_SHARE` of it was asked for:
one symmetric product is then cheaper than the remaining row products."""
FULL_GRAM_SHARE = 0.35


class ColumnScales(NamedTuple):
    """How raw atoms relate to prepared ones."""

    mean: Vector
    norm: Vector
    usable: BoolArray
    resolution: Vector


def column_scales(mean: Vector, centred_ss: Vector, total_weight: float) -> ColumnScales:
    """Decide which atoms are usable and how finely their Gram entries are resolved."""
    # A centred norm of 1e-12 of the raw one is the rounding of a constant column.
    with np.errstate(invalid="ignore", over="ignore"):
        raw_ss = centred_ss + total_weight * mean**2
        usable = (centred_ss > 1e-24 * raw_ss) & (centred_ss > 1e-280) & np.isfinite(centred_ss)
    norm = np.sqrt(np.where(usable, centred_ss, 1.0))
    rounding = 100.0 * EPS * np.sqrt(np.where(usable, raw_ss, 1.0)) / norm
    return ColumnScales(mean, norm, usable, np.maximum(RESOLUTION, rounding))


class PreparedColumns:
    """Prepared atoms with their Gram rows on demand.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    sample_weight : ndarray of shape (n_samples,) or None
        Frequency weights.
    centre : bool
        Whether the model has an intercept.
    store : bool
        Keep the prepared atoms in memory (``8 n_samples n_atoms`` bytes). Otherwise every
        request for Gram rows evaluates the dictionary anew, block by block. Atoms that stay
        orthonormal are never stored.

    Attributes
    ----------
    is_orthonormal : bool
        Whether the prepared atoms are orthonormal because the raw ones are, and neither weights
        nor centring changed that.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import PreparedColumns
    >>> columns = PreparedColumns(DenseDictionary([[1.0], [3.0]]), None, centre=True, store=True)
    >>> columns.unit(np.array([0])).round(3)
    array([[-0.707,  0.707]])
    """

    def __init__(
        self,
        dictionary: Dictionary,
        sample_weight: Vector | None,
        *,
        centre: bool,
        store: bool,
    ) -> None:
        self.dictionary = dictionary
        self.n_samples, self.n_atoms = dictionary.shape
        self.centre = centre
        self.weight = sample_weight
        self.root_weight = None if sample_weight is None else np.sqrt(sample_weight)
        self.total_weight = (
            float(self.n_samples) if sample_weight is None else float(sample_weight.sum())
        )
        self.stored: Matrix | None = None
        scales = self._orthonormal_scales()
        self.is_orthonormal = scales is not None
        if scales is None:
            if store:
                self.stored = np.empty((self.n_atoms, self.n_samples))
            scales = self._prepare()
        self.scales = scales
        self.parts = parts_of(dictionary, scales.mean, sample_weight)
        self._slot = np.full(self.n_atoms, -1)
        self._cache = np.empty((0, self.n_atoms))
        self._n_cached = 0
        self._asked = np.zeros(self.n_atoms, dtype=bool)
        if (
            self.stored is not None
            and self.n_atoms <= FULL_GRAM_ATOMS
            and self.n_samples * float(self.n_atoms) ** 2 <= FULL_GRAM_FLOPS
        ):
            self._fetch_all()

    def _orthonormal_scales(self) -> ColumnScales | None:
        """Return the scales of atoms that are orthonormal when prepared, without reading them."""
        if not self.dictionary.is_orthonormal or self.weight is not None:
            return None
        mean = np.zeros(self.n_atoms)
        if self.centre:
            mean = self.dictionary.rmatvec(np.ones(self.n_samples)) / self.n_samples
            # Centring takes off nothing if one atom is constant and the others have mean zero: it
            # changes their inner products by less than the square of this bound.
            uneven = np.abs(mean) > 1e-9 / np.sqrt(self.n_samples)
            if np.count_nonzero(uneven) > 1:
                return None
        centred_ss = 1.0 - self.n_samples * mean**2
        # The constant atom, if there is one, keeps only rounding.
        centred_ss[centred_ss < 1e-9] = 0.0
        return column_scales(mean, centred_ss, self.total_weight)

    def _prepare(self) -> ColumnScales:
        mean = np.zeros(self.n_atoms)
        centred_ss = np.empty(self.n_atoms)
        for index, columns in self.dictionary.column_blocks():
            block = columns.T  # (atoms, samples), contiguous for Fortran-ordered columns
            where = slice(int(index[0]), int(index[-1]) + 1)
            if self.centre:
                mean[where] = self._average(block)
                block = np.subtract(block, mean[where, None], out=self._target(where))
            elif self.stored is not None:
                self.stored[where] = block
                block = self.stored[where]
            if self.root_weight is not None:
                block = np.multiply(block, self.root_weight, out=self._target(where))
            centred_ss[where] = np.einsum("ij,ij->i", block, block)
            if self.stored is not None:
                scales = column_scales(mean[where], centred_ss[where], self.total_weight)
                block *= (scales.usable / scales.norm)[:, None]
        return column_scales(mean, centred_ss, self.total_weight)

    def _target(self, where: slice) -> Matrix | None:
        return None if self.stored is None else self.stored[where]

    def _average(self, block: Matrix) -> Vector:
        if self.weight is None:
            return block.mean(axis=1)
        return (block @ self.weight) / self.total_weight

    @property
    def n_fetched(self) -> int:
        """Number of atoms whose Gram rows were ever asked for."""
        return int(np.count_nonzero(self._asked))

    def prepare_target(self, target: Vector) -> tuple[Vector, float]:
        """Return the weighted, centred target and the mean that was taken off."""
        mean = 0.0
        if self.centre:
            mean = float(np.average(target, weights=self.weight))
            target = target - mean
        return (target if self.root_weight is None else target * self.root_weight), mean

    def unit(self, index: IndexArray) -> Matrix:
        """Return the prepared atoms `index`, one per row: shape (len(index), n_samples)."""
        if self.stored is not None:
            return self.stored[index]
        scales = self.scales
        block = self.dictionary.columns(index).T - scales.mean[index, None]
        if self.root_weight is not None:
            block *= self.root_weight
        block *= (scales.usable[index] / scales.norm[index])[:, None]
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
        products -= np.multiply.outer(rows.sum(axis=1), self.scales.mean)
        products *= self.scales.usable / self.scales.norm
        return products

    def fetch(self, index: IndexArray) -> None:
        """Compute the missing Gram rows of `index` in one product."""
        if self.is_orthonormal:
            return
        self._asked[index] = True
        missing = index[self._slot[index] < 0]
        if not len(missing):
            return
        needed = self._n_cached + len(missing)
        if (
            self.stored is not None
            and self.n_atoms <= FULL_GRAM_LIMIT
            and needed > FULL_GRAM_SHARE * self.n_atoms
        ):
            self._fetch_all()
            return
        if needed > len(self._cache):
            grown = np.empty((max(64, int(1.6 * needed)), self.n_atoms))
            grown[: self._n_cached] = self._cache[: self._n_cached]
            self._cache = grown
        vectors = self.unit(missing)
        if self.stored is not None:
            np.matmul(vectors, self.stored.T, out=self._cache[self._n_cached : needed])
        else:
            self._cache[self._n_cached : needed] = self.correlate(vectors)
        self._slot[missing] = np.arange(self._n_cached, needed)
        self._n_cached = needed

    def _fetch_all(self) -> None:
        assert self.stored is not None
        self._cache = gram_of_rows(self.stored)
        self._slot = np.arange(self.n_atoms)
        self._n_cached = self.n_atoms

    def rows(self, index: IndexArray) -> Matrix:
        """Gram rows of `index`; fetched when missing."""
        if self.is_orthonormal:
            return self._identity(index, np.arange(self.n_atoms))
        self.fetch(index)
        return self._cache[self._slot[index]]

    def gram(self, index: IndexArray) -> Matrix:
        """Small Gram block of `index`; uses cached rows, else the atoms themselves."""
        if self.is_orthonormal:
            return self._identity(index, index)
        slots = self._slot[index]
        if (slots >= 0).all():
            return self._cache[np.ix_(slots, index)]
        return gram_of_rows(np.ascontiguousarray(self.unit(index)))

    def _identity(self, index: IndexArray, others: IndexArray) -> Matrix:
        """Gram entries of orthonormal atoms, of which a constant one is zero when centred."""
        same = np.equal.outer(index, others) & self.scales.usable[index, None]
        return same.astype(np.float64)
