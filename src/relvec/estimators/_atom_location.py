"""Location of atoms: whether they decay within the data, and whether they are far from zero."""

from __future__ import annotations

import numpy as np

from relvec._typing import Vector
from relvec.bases.base import BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.matrix import DenseDictionary

__all__ = ["centre_offset_atoms", "has_local_atoms"]

LOCAL_VARIANCE_FRACTION = 0.25
"""Mean ratio of variance to mean square of the atoms above which they count as local. Kernels with
long length-scales are nearly constant: without an intercept none of them is useful by itself."""
N_ATOMS_CHECKED = 512
MAX_OFFSET = 100.0
"""Distance of the mean of an atom from zero, in its standard deviations, above which sums of
squares lose digits that the fit of several classes needs."""


def has_local_atoms(bound: BoundBasis, dictionary: Dictionary, weight: Vector | None) -> bool:
    """Return whether the atoms decay within the range of the training inputs.

    Parameters
    ----------
    bound : BoundBasis
        The atoms.
    dictionary : Dictionary
        The atoms at the training inputs.
    weight : ndarray of shape (n_samples,) or None
        Frequency weight of each row, and of the atom centred there.
    """
    if not bound.atoms.is_known_to_decay():
        return False
    n_samples, n_atoms = dictionary.shape
    index = np.unique(np.linspace(0, n_atoms - 1, min(n_atoms, N_ATOMS_CHECKED)).astype(np.intp))
    atoms = dictionary.columns(index)
    normalised = np.ones(n_samples) if weight is None else weight
    normalised = normalised / normalised.sum()
    square = normalised @ np.square(atoms)
    variance = square - np.square(normalised @ atoms)
    counts = np.ones(len(index))
    if weight is not None:
        rows = bound.source_row[index]
        counts = np.where(rows >= 0, weight[rows], 1.0)
    mean = counts @ (variance / np.maximum(square, 1e-300)) / max(counts.sum(), 1e-300)
    return bool(mean > LOCAL_VARIANCE_FRACTION)


def centre_offset_atoms(dictionary: Dictionary, weight: Vector | None) -> tuple[Dictionary, Vector]:
    """Subtract the means of atoms that are far from zero; return the atoms and these means.

    This is for models with an intercept, which absorbs the shift. Only dense matrices are changed.
    """
    shift = np.zeros(dictionary.shape[1])
    if not isinstance(dictionary, DenseDictionary):
        return dictionary, shift
    mean = np.average(dictionary.array, axis=0, weights=weight)
    deviation = np.sqrt(np.average((dictionary.array - mean) ** 2, axis=0, weights=weight))
    far = np.abs(mean) > MAX_OFFSET * deviation
    if not far.any():
        return dictionary, shift
    shift[far] = mean[far]
    return DenseDictionary(dictionary.array - shift), shift
