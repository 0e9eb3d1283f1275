"""A basis whose kernel has learnt length-scales, and the attributes that expose them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import check_bool
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import KernelAtoms, KernelBasis, LinearBasis, PrecomputedBasis, UnionBasis
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.union import UnionAtoms, name_parts
from relvec.kernels import LEARNT_BY_DEFAULT, KernelLike, resolve_kernel
from relvec.learning import LearntLengthScales
from relvec.learning.kernel_sum import KernelBlock

__all__ = [
    "ScaledBasis",
    "expose_length_scales",
    "find_atoms_kernel",
    "find_atoms_kernels",
    "find_kernel",
    "find_kernel_blocks",
    "has_unset_length_scale",
    "is_held",
    "make_other_columns",
    "with_kernel",
    "with_learnt_kernels",
]

EXPOSED = {
    "model_kind_": "kind",
    "length_scale_": "length_scale",
    "feature_relevance_": "relevance",
    "feature_gain_": "gain",
    "feature_relevance_path_": "path",
    "feature_relevance_path_objective_": "path_objective",
}
"""Attributes of estimators, and the attribute of `LearntLengthScales` that each exposes."""


def has_unset_length_scale(basis: Basis) -> bool:
    """Whether the kernel is given by the name of one that decays, with the default `gamma`."""
    if not isinstance(basis, KernelBasis) or not isinstance(basis.kernel, str):
        return False
    is_untouched = isinstance(basis.gamma, str) and basis.gamma == "scale"
    return is_untouched and basis.kernel in LEARNT_BY_DEFAULT


def is_held(basis: Basis) -> bool:
    """Whether the basis has kernels, and all of them are to be used as they are."""
    kernels = [each for each in list_bases(basis) if isinstance(each, KernelBasis)]
    flags = [check_bool("tune", each.tune) for each in kernels]
    return bool(kernels) and not any(flags)


def list_bases(basis: Basis) -> list[Basis]:
    """Return the bases of a sum, or the basis itself."""
    return list(basis.bases) if isinstance(basis, UnionBasis) else [basis]


def expose_length_scales(
    estimator: Any, scaled: ScaledBasis | None, relevance_std: Vector | None = None
) -> None:
    """Set the attributes of the learnt length-scales, and delete those of earlier fits."""
    for name in ("learnt_length_scales_", "kernel_blocks_", "feature_relevance_std_", *EXPOSED):
        estimator.__dict__.pop(name, None)
    if scaled is None:
        return
    estimator.learnt_length_scales_ = learnt = scaled.learnt
    for name, value in EXPOSED.items():
        # learnt parameters of a kernel object do not belong to single features
        if learnt.has_feature_scales or value == "kind":
            setattr(estimator, name, getattr(learnt, value))
    if learnt.blocks:
        estimator.kernel_blocks_ = learnt.blocks
    if relevance_std is not None:
        estimator.feature_relevance_std_ = relevance_std
    if learnt.at_bounds:
        of_kernel = "" if learnt.blocks else " of the kernel"
        warnings.warn(
            f"{' and '.join(learnt.at_bounds)}{of_kernel} is at a bound, and the evidence still "
            f"increases there: {learnt.kernel!r}. Widen the bounds, or fix the parameter.",
            ConvergenceWarning,
            stacklevel=5,  # the line that calls `fit`
        )


def find_atoms_kernel(atoms: Atoms) -> KernelLike | None:
    """Return the one kernel of the atoms, or None if there is none or more than one.

    Examples
    --------
    >>> from relvec.bases import KernelBasis, LinearBasis
    >>> find_atoms_kernel((KernelBasis(gamma=0.5) + LinearBasis()).bind(np.eye(2)).atoms)
    RBF(length_scale=1)
    """
    kernels = find_atoms_kernels(atoms)
    return kernels[0] if len(kernels) == 1 else None


def find_atoms_kernels(atoms: Atoms) -> tuple[KernelLike, ...]:
    """Return the kernel of each basis that the atoms are from."""
    parts = atoms.parts if isinstance(atoms, UnionAtoms) else (atoms,)
    return tuple(part.kernel for part in parts if isinstance(part, KernelAtoms))


def with_kernel(basis: Basis, kernel: Kernel) -> Basis:
    """Return a copy of a basis, or of a sum with one `KernelBasis` in it, with another kernel."""
    if isinstance(basis, UnionBasis):
        return UnionBasis([with_kernel(each, kernel) for each in basis.bases])
    changed = clone(basis)
    return changed.set_params(kernel=kernel) if isinstance(basis, KernelBasis) else changed


def with_learnt_kernels(basis: Basis, learnt: LearntLengthScales) -> Basis:
    """Return a copy of a basis with its learnt kernels, without the bases that were removed."""
    if not learnt.blocks:
        return with_kernel(basis, learnt.kernel)
    blocks = {block.place: block for block in learnt.blocks}
    bases = []
    for place, each in enumerate(list_bases(basis)):
        if place not in blocks:
            bases.append(clone(each))
        elif blocks[place].is_kept:
            bases.append(with_kernel(each, blocks[place].kernel))
    return UnionBasis(bases)


class ScaledBasis(NamedTuple):
    """A basis with kernels in it, and the length-scales learnt for them."""

    original_basis: Basis
    """The basis before its length-scales were learnt."""
    place: int
    """Index of the `KernelBasis` in a sum of bases; of several, the first."""
    kernel: Kernel
    """Kernel of the scaled features; of several, the first."""
    learnt: LearntLengthScales

    @property
    def basis(self) -> Basis:
        """The basis with the learnt kernel, or `LinearBasis` for a linear model."""
        if self.learnt.kind == "linear":
            return LinearBasis()
        return with_learnt_kernels(self.original_basis, self.learnt)

    def kernel_atoms(self, bound: BoundBasis) -> tuple[slice, Matrix]:
        """Return the slice of atoms that are kernels, and their centres."""
        atoms: Any = bound.atoms
        if not bound.parts:
            return slice(0, bound.dictionary.shape[1]), atoms.centers
        start = sum(part.n_atoms for part in bound.parts[: self.place])
        place = slice(start, start + bound.parts[self.place].n_atoms)
        return place, atoms.parts[self.place].centers


def make_other_columns(
    basis: Basis, places: Sequence[int], X: Any, sample_weight: Vector | None
) -> Callable[[IndexArray], Matrix] | None:
    """Return a function that evaluates the other bases of a sum at rows; None if there are none."""
    others = [other for i, other in enumerate(list_bases(basis)) if i not in places]
    if not others:
        return None
    bound = [other.bind(X, sample_weight=sample_weight) for other in others]

    def columns(rows: IndexArray) -> Matrix:
        return np.hstack([np.asarray(each.atoms.evaluate(X[rows])) for each in bound])

    return columns


def find_kernel(basis: Basis, kind: str) -> tuple[int, Kernel]:
    """Return the index of the one `KernelBasis` in a sum of bases, and its kernel."""
    bases = list_bases(basis)
    places = [i for i, each in enumerate(bases) if isinstance(each, KernelBasis)]
    if len(places) != 1:
        given = (
            'kernel="precomputed"'
            if isinstance(basis, PrecomputedBasis)
            else f"{len(places)} of them in {basis!r}"
        )
        raise ValueError(
            f"length-scales can be learnt for exactly one KernelBasis; got {given}. Use "
            "length_scales=None to use kernels as they are, a sum with one KernelBasis, or "
            'length_scales="kernel" with a kernel object such as RBF() in each KernelBasis.'
        )
    return places[0], _resolve_learnt_kernel(bases[places[0]], kind)


def find_kernel_blocks(
    basis: Basis, kind: str, X: Any, sample_weight: Vector | None
) -> dict[int, KernelBlock]:
    """Return the kernels of a sum with several `KernelBasis`, by their positions; else none.

    Only the parameters of kernel objects can be learnt for several.
    """
    bases = list_bases(basis)
    places = [i for i, each in enumerate(bases) if isinstance(each, KernelBasis)]
    if kind != "kernel" or len(places) < 2:
        return {}
    names, blocks = name_parts(bases), {}
    for place in places:
        part: Any = bases[place]
        if part.tune:
            kernel = _resolve_learnt_kernel(part, kind)
        else:
            given = part.kernel, part.gamma, part.degree, part.coef0
            kernel = resolve_kernel(*given, X, sample_weight)
            if not isinstance(kernel, Kernel):
                raise ValueError(
                    f"beside learnt kernels, {names[place]} needs a kernel given by name or a "
                    f"kernel object; got {kernel!r}. Use length_scales=None to use all as they are."
                )
        blocks[place] = KernelBlock(kernel, names[place], not part.tune)
    return blocks


def _resolve_learnt_kernel(part: Any, kind: str) -> Kernel:
    """Return the kernel of a `KernelBasis` that is to be learnt."""
    if not isinstance(part.kernel, str) and not isinstance(part.kernel, Kernel):
        raise ValueError(
            "length-scales can be learnt for kernels given by name and for kernel objects; got "
            f"{part.kernel!r}. Use length_scales=None to use the kernel as it is."
        )
    if kind == "kernel" and isinstance(part.kernel, str):
        raise ValueError(
            'length_scales="kernel" learns the parameters of a kernel object such as RBF() + '
            f'Matern(); got the name {part.kernel!r}. Use length_scales="ard" for named kernels.'
        )
    # gamma=1: the learnt scales contain the length-scale
    return resolve_kernel(part.kernel, 1.0, part.degree, part.coef0)
