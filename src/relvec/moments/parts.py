"""Parts of a union of dictionaries, and moments restricted to one part."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import Dictionary, UnionDictionary
from relvec.moments.base import Moments, Part


def describe_parts(
    dictionary: Dictionary, column_mean: Vector, sample_weight: Vector | None
) -> tuple[Part, ...]:
    """Return the parts of a union of dictionaries; empty for any other dictionary.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    column_mean : ndarray of shape (n_atoms,)
        Mean of each atom, which centring subtracts (zero without an intercept).
    sample_weight : ndarray of shape (n_samples,) or None
        Sample weights. With weights, no part is orthonormal.
    """
    if not isinstance(dictionary, UnionDictionary) or len(dictionary.parts) < 2:
        return ()
    # Orthonormal atoms whose mean is below 1e-9 of that of a constant atom stay orthonormal, up to
    # the square of this bound, when they are centred.
    uneven = np.abs(column_mean) > 1e-9 / np.sqrt(dictionary.shape[0])
    return tuple(
        Part(
            atoms,
            part.is_orthonormal
            and sample_weight is None
            # at most one has a mean: a constant atom, which becomes unusable by centring
            and int(np.count_nonzero(uneven[atoms])) <= 1,
        )
        for part, atoms in zip(dictionary.parts, dictionary.slices, strict=True)
    )


class RestrictedMoments(Moments):
    """Moments in which only the atoms of one part are usable; positions are those of the union.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import Part, RestrictedMoments, compute_moments
    >>> [moments] = compute_moments(DenseDictionary(np.eye(3)), np.ones((3, 1)), None, centre=False)
    >>> RestrictedMoments(moments, Part(slice(0, 2), is_orthonormal=False)).usable
    array([ True,  True, False])
    """

    def __init__(self, moments: Moments, part: Part) -> None:
        self._union = moments
        self.n_effective = moments.n_effective
        self.target_ss = moments.target_ss
        self.target_mean = moments.target_mean
        self.correlation = moments.correlation
        self.resolution = moments.resolution
        self.column_mean, self.column_norm = moments.column_mean, moments.column_norm
        self.is_orthonormal = part.is_orthonormal
        self.usable = np.zeros_like(moments.usable)
        self.usable[part.atoms] = moments.usable[part.atoms]

    def fetch(self, index: IndexArray) -> None:
        """Fetch the rows of the union, which a later search among all atoms needs."""
        self._union.fetch(index)

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows over all atoms of the union."""
        return self._union.gram_rows(index)

    def gram(self, index: IndexArray) -> Matrix:
        """Return a block of the Gram matrix."""
        return self._union.gram(index)
