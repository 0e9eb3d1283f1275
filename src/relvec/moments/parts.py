"""The parts of a union of dictionaries, and moments of which some atoms are out of bounds."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import Dictionary, UnionDictionary
from relvec.moments.base import Moments, Part


def describe_parts(
    dictionary: Dictionary, column_mean: Vector, sample_weight: Vector | None
) -> tuple[Part, ...]:
    """Describe the parts of a union; empty for any other dictionary.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    column_mean : ndarray of shape (n_atoms,)
        What centring takes off each of them (zero without intercept).
    sample_weight : ndarray of shape (n_samples,) or None
        Weights spoil orthonormality.
    """
    if not isinstance(dictionary, UnionDictionary) or len(dictionary.parts) < 2:
        return ()
    # Orthonormal atoms whose mean is less than this, in units of that of a constant atom, stay
    # orthonormal to the square of it when they are centred.
    uneven = np.abs(column_mean) > 1e-9 / np.sqrt(dictionary.shape[0])
    return tuple(
        Part(
            atoms,
            part.is_orthonormal
            and sample_weight is None
            # at most one: a constant atom, which centring takes out of the game
            and int(np.count_nonzero(uneven[atoms])) <= 1,
        )
        for part, atoms in zip(dictionary.parts, dictionary.slices, strict=True)
    )


class RestrictedMoments(Moments):
    """Moments with the atoms of one part only in play; positions stay those of the whole.

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
        self._whole = moments
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
        """Fetch the rows of the whole: a later search among all atoms needs them."""
        self._whole.fetch(index)

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return Gram rows with all atoms."""
        return self._whole.gram_rows(index)

    def gram(self, index: IndexArray) -> Matrix:
        """Return a small Gram block."""
        return self._whole.gram(index)
