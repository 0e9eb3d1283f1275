"""Moments: the statistics of dictionary and target from which the evidence is computed."""

from __future__ import annotations

from relvec._typing import Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.moments.base import Moments, Part
from relvec.moments.gram import (
    GramMoments,
    SufficientStatistics,
    accumulate_statistics,
    merge_statistics,
    subset_moments,
)
from relvec.moments.lazy import DEFAULT_STORAGE, LazyMoments, Storage
from relvec.moments.parts import RestrictedMoments, describe_parts


def compute_moments(
    dictionary: Dictionary,
    targets: Matrix,
    sample_weight: Vector | None,
    *,
    centre: bool,
    low_memory: bool | None = None,
    storage: Storage = DEFAULT_STORAGE,
) -> list[Moments]:
    """Return the moments of a dictionary with each column of `targets`.

    Prepared atoms are stored if they fit into memory. If not, or if `low_memory` is True, there are
    two ways. With many samples and few atoms the data are read once and only the Gram matrix is
    kept. Otherwise atoms are evaluated again whenever Gram rows are requested.

    Parameters
    ----------
    dictionary : Dictionary
        The raw atoms.
    targets : ndarray of shape (n_samples, n_targets)
        The raw targets.
    sample_weight : ndarray of shape (n_samples,) or None
        Frequency weights.
    centre : bool
        Whether the model has an intercept.
    low_memory : bool, optional
        Whether to avoid storing the atoms; None decides by their size.
    storage : Storage, optional
        Limits of what is stored.

    Returns
    -------
    moments : list of Moments
        One entry per target; they share the Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.solvers import Problem, SequentialSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(50, 4))
    >>> target = 2.0 * Phi[:, 1] + 0.1 * rng.normal(size=50)
    >>> [moments] = compute_moments(DenseDictionary(Phi), target[:, np.newaxis], None, centre=True)
    >>> SequentialSolver().solve(Problem(moments, min_gain=np.log(4))).active
    array([1])
    """
    n_samples, n_atoms = dictionary.shape
    if low_memory is None:
        low_memory = 8 * n_samples * n_atoms > storage.store_bytes
    # The Gram matrix takes n_atoms^2 numbers, at most half of the n_samples n_atoms of the atoms.
    if low_memory and n_atoms <= storage.gram_atoms and n_samples >= 2 * n_atoms:
        known = accumulate_statistics(dictionary, targets, sample_weight).all_moments(centre=centre)
        for moments in known:
            moments.parts = describe_parts(dictionary, moments.column_mean, sample_weight)
        return list(known)
    first, *others = targets.T
    lazy = LazyMoments(
        dictionary, first, sample_weight, centre=centre, store=not low_memory, storage=storage
    )
    return [lazy, *map(lazy.with_target, others)]


__all__ = [
    "GramMoments",
    "LazyMoments",
    "Moments",
    "Part",
    "RestrictedMoments",
    "Storage",
    "SufficientStatistics",
    "accumulate_statistics",
    "compute_moments",
    "merge_statistics",
    "subset_moments",
]
