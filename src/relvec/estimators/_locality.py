"""Where atoms are, seen from the training inputs: local or all over them, near zero or far off."""

from __future__ import annotations

import numpy as np

from relvec._typing import Vector
from relvec.bases.base import BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.matrix import DenseDictionary

__all__ = ["is_local", "near_zero"]

LOCAL = 0.25
"""Share of the mean square of an atom that is variance, from which on it counts as local. Wide
kernels are nearly constant: without a free intercept none of them can be used by itself."""
LOOKED_AT = 512
FAR_OFF = 100.0
"""Standard deviations between the mean of an atom and zero from which on sums of squares lose
digits that the fit of several classes needs."""


def is_local(bound: BoundBasis, dictionary: Dictionary, weight: Vector | None) -> bool:
    """Whether the atoms decay, and within the training inputs.

    Parameters
    ----------
    bound : BoundBasis
        The atoms.
    dictionary : Dictionary
        The same at the training inputs.
    weight : ndarray of shape (n_samples,) or None
        How often each row counts, and with it the atom centred there.
    """
    if not bound.atoms.is_known_to_decay():
        return False
    n_samples, n_atoms = dictionary.shape
    index = np.unique(np.linspace(0, n_atoms - 1, min(n_atoms, LOOKED_AT)).astype(np.intp))
    atoms = dictionary.columns(index)
    share = np.ones(n_samples) if weight is None else weight
    share = share / share.sum()
    square = share @ np.square(atoms)
    variance = square - np.square(share @ atoms)
    counts = np.ones(len(index))
    if weight is not None:
        rows = bound.source_row[index]
        counts = np.where(rows >= 0, weight[rows], 1.0)
    mean = counts @ (variance / np.maximum(square, 1e-300)) / max(counts.sum(), 1e-300)
    return bool(mean > LOCAL)


def near_zero(dictionary: Dictionary, weight: Vector | None) -> tuple[Dictionary, Vector]:
    """Shift the atoms of a matrix to mean zero if that is far off, and say by how much.

    For models with a free intercept, to which it makes no difference. Dictionaries that are not a
    dense matrix are left as they are.
    """
    shift = np.zeros(dictionary.shape[1])
    if not isinstance(dictionary, DenseDictionary):
        return dictionary, shift
    mean = np.average(dictionary.array, axis=0, weights=weight)
    deviation = np.sqrt(np.average((dictionary.array - mean) ** 2, axis=0, weights=weight))
    far = np.abs(mean) > FAR_OFF * deviation
    if not far.any():
        return dictionary, shift
    shift[far] = mean[far]
    return DenseDictionary(dictionary.array - shift), shift
