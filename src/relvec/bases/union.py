"""Unions of bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, Basis, BasisPart, BoundBasis
from relvec.bases.nested import NestedBasis
from relvec.dictionaries import UnionDictionary
from relvec.kernels import KernelLike, kernel_block

__all__ = ["UnionAtoms", "UnionBasis", "name_parts"]


@dataclass(frozen=True, eq=False)
class MeanKernel:
    """Mean of several kernels, which is a covariance function if all of them are."""

    kernels: tuple[KernelLike, ...]

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """Evaluate between all rows of `X` and of `Z`."""
        total = sum(kernel_block(kernel, X, Z) for kernel in self.kernels)
        return np.asarray(total) / len(self.kernels)


@dataclass(frozen=True, eq=False)
class UnionAtoms(Atoms):
    """Atoms of several bases, in any order.

    Parameters
    ----------
    parts : tuple of Atoms
        One entry per basis.
    order : ndarray of shape (n_atoms,)
        Position of each atom in the concatenation of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import KernelBasis, LinearBasis
    >>> X = np.array([[0.0], [1.0]])
    >>> atoms = (LinearBasis() + KernelBasis("rbf", gamma=1.0)).bind(X).atoms
    >>> atoms.evaluate(X).round(3)
    array([[0.   , 1.   , 0.368],
           [1.   , 0.368, 1.   ]])
    """

    parts: tuple[Atoms, ...]
    order: IndexArray

    def __len__(self) -> int:
        return len(self.order)

    def evaluate(self, X: Any) -> Matrix:
        """Evaluate every atom at the rows of `X`."""
        result = np.empty((X.shape[0], len(self)), order="F")
        for part, positions, local in self._split_by_part():
            result[:, positions] = part.evaluate(X)[:, local]
        return result

    def subset(self, index: IndexArray) -> UnionAtoms:
        """Return the atoms at positions `index`, with the parts they belong to."""
        chosen = UnionAtoms(self.parts, self.order[index])
        parts: list[Atoms] = []
        order = np.empty(len(chosen), dtype=np.intp)
        n_kept = 0
        for part, positions, local in chosen._split_by_part():
            if len(local) == 0:
                continue
            parts.append(part.subset(local))
            order[positions] = np.arange(n_kept, n_kept + len(local))
            n_kept += len(local)
        return UnionAtoms(tuple(parts), order)

    def find_used_features(self, n_features: int) -> BoolArray:
        """Return the features that the parts say their atoms use."""
        none = np.empty((0, n_features), dtype=bool)
        parts = [part.find_used_features(n_features) for part in self.parts]
        return np.concatenate([none, *parts])[self.order]

    def names(self, feature_names: Sequence[str]) -> list[str]:
        """Return the names that the parts give their atoms."""
        all_names = [name for part in self.parts for name in part.names(feature_names)]
        return [all_names[i] for i in self.order]

    def decaying_kernel(self) -> Any:
        """Return the decaying kernel of the parts; the mean if several have one."""
        kernels = [part.decaying_kernel() for part in self.parts]
        kernels = [kernel for kernel in kernels if kernel is not None]
        if len(kernels) < 2:
            return kernels[0] if kernels else None
        return MeanKernel(tuple(kernels))

    def is_known_to_decay(self) -> bool:
        """Whether the atoms of all parts are known to decay."""
        return all(part.is_known_to_decay() for part in self.parts)

    def _split_by_part(self) -> list[tuple[Atoms, IndexArray, IndexArray]]:
        """Return (part, positions of its atoms in the union, positions within the part)."""
        split = []
        start = 0
        for part in self.parts:
            positions = np.flatnonzero((self.order >= start) & (self.order < start + len(part)))
            split.append((part, positions, self.order[positions] - start))
            start += len(part)
        return split


class UnionBasis(NestedBasis):
    """Union of several bases: the basis functions of all of them; ``a + b`` makes one.

    Parameters of the bases are named ``basis0__gamma``, ``basis1__degree`` and so on, as in nested
    scikit-learn estimators; ``basis0`` is the first basis itself.

    Parameters
    ----------
    bases : list of Basis
        The bases, at least one.

    Examples
    --------
    >>> from relvec.bases import KernelBasis, LinearBasis
    >>> basis = KernelBasis() + LinearBasis()
    >>> basis.set_params(basis0__gamma=2.0).bases[0].gamma
    2.0
    """

    list_name = "bases"
    item_name = "basis"

    def __init__(self, bases: Sequence[Basis]) -> None:
        self.bases = bases

    @property
    def accepts_sparse(self) -> bool:
        """Whether every basis takes sparse inputs."""
        return all(basis.accepts_sparse for basis in self._check_bases())

    @property
    def accepts_objects(self) -> bool:
        """Whether every basis takes strings or other objects."""
        return all(basis.accepts_objects for basis in self._check_bases())

    @property
    def needs_all_rows(self) -> bool:
        """Whether any basis needs all rows at once."""
        return any(basis.needs_all_rows for basis in self._check_bases())

    @property
    def has_prior_spectrum(self) -> bool:
        """Whether any basis has a prior spectrum."""
        return any(basis.has_prior_spectrum for basis in self._check_bases())

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Bind every basis to the same inputs.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Inputs.
        sample_weight : ndarray of shape (n_samples,), default=None
            Frequency weights of the inputs.
        random_state : RandomState, default=None
            Used by the bases one after the other; None means a fixed seed for each.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec.bases import KernelBasis, LinearBasis
        >>> bound = (LinearBasis() + KernelBasis()).bind(np.array([[0.0], [1.0], [2.0]]))
        >>> [(part.name, part.n_atoms) for part in bound.parts]
        [('LinearBasis', 1), ('KernelBasis', 3)]
        """
        bound = [
            basis.bind(X, sample_weight=sample_weight, random_state=random_state)
            for basis in self._check_bases()
        ]
        atoms = tuple(part.atoms for part in bound)
        return BoundBasis(
            dictionary=UnionDictionary([part.dictionary for part in bound]),
            atoms=UnionAtoms(atoms, np.arange(sum(len(part) for part in atoms))),
            is_localised=np.concatenate([part.is_localised for part in bound]),
            source_row=np.concatenate([part.source_row for part in bound]),
            has_spectrum=_concatenate_flags([part.has_spectrum for part in bound], atoms),
            is_flat=_concatenate_flags([part.is_flat for part in bound], atoms),
            parts=tuple(
                BasisPart(name, len(part))
                for name, part in zip(name_parts(self.bases), atoms, strict=True)
            ),
        )

    def _check_bases(self) -> Sequence[Basis]:
        if len(self.bases) == 0:
            raise ValueError("UnionBasis needs at least one basis; got an empty list.")
        for number, basis in enumerate(self.bases):
            if not isinstance(basis, Basis):
                raise TypeError(
                    "UnionBasis needs bases such as KernelBasis(); "
                    f"bases[{number}] is {basis!r} of type {type(basis).__name__}."
                )
        return self.bases


def _concatenate_flags(
    flags: Sequence[BoolArray | None], atoms: Sequence[Atoms]
) -> BoolArray | None:
    """Concatenate flags of atoms, which are False where there are none; None if none has any."""
    if all(each is None for each in flags):
        return None
    pairs = zip(flags, atoms, strict=True)
    return np.concatenate(
        [np.zeros(len(part), dtype=bool) if each is None else each for each, part in pairs]
    )


def name_parts(bases: Sequence[Basis]) -> list[str]:
    """Return the name of each basis, with its position where two have the same name."""
    kinds = [basis.part_name for basis in bases]
    return [
        kind if kinds.count(kind) == 1 else f"{kind} {number}" for number, kind in enumerate(kinds)
    ]
