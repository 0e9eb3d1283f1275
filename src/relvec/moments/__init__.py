"""What evidence solvers see of the data."""

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
    """Choose how the moments are computed; one entry per column of `targets`.

    Prepared atoms are stored when they fit. When they do not, or `low_memory` is True,
    either the data are read once and only the Gram matrix kept (many samples, few atoms), or
    atoms are evaluated again whenever Gram rows are asked for.

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
