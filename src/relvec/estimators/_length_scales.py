"""A basis whose kernel has learnt length-scales, and the attributes that expose them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import KernelAtoms, KernelBasis, LinearBasis, PrecomputedBasis, UnionBasis
from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.union import UnionAtoms
from relvec.kernels import LEARNT_BY_DEFAULT, KernelLike, resolve_kernel
from relvec.learning import LearntLengthScales

__all__ = [
    "ScaledBasis",
    "expose_length_scales",
    "find_atoms_kernel",
    "find_kernel",
    "has_unset_length_scale",
    "make_other_columns",
    "with_kernel",
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


def expose_length_scales(
    estimator: Any, scaled: ScaledBasis | None, relevance_std: Vector | None = None
) -> None:
    """Set the attributes of the learnt length-scales, and delete those of earlier fits."""
    for name in ("learnt_length_scales_", "feature_relevance_std_", *EXPOSED):
        estimator.__dict__.pop(name, None)
    if scaled is None:
        return
    estimator.learnt_length_scales_ = learnt = scaled.learnt
    for name, value in EXPOSED.items():
        # learnt parameters of a kernel object do not belong to single features
        if learnt.has_feature_scales or value == "kind":
            setattr(estimator, name, getattr(learnt, value))
    if relevance_std is not None:
        estimator.feature_relevance_std_ = relevance_std
    if learnt.at_bounds:
        warnings.warn(
            f"{' and '.join(learnt.at_bounds)} of the kernel is at a bound, and the evidence still "
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
    parts = atoms.parts if isinstance(atoms, UnionAtoms) else (atoms,)
    kernels = [part.kernel for part in parts if isinstance(part, KernelAtoms)]
    return kernels[0] if len(kernels) == 1 else None


def with_kernel(basis: Basis, kernel: Kernel) -> Basis:
    """Return a copy of a basis, or of a sum with one `KernelBasis` in it, with another kernel."""
    if isinstance(basis, UnionBasis):
        return UnionBasis([with_kernel(each, kernel) for each in basis.bases])
    changed = clone(basis)
    return changed.set_params(kernel=kernel) if isinstance(basis, KernelBasis) else changed


class ScaledBasis(NamedTuple):
    """A basis with one kernel in it, and the length-scales learnt for that kernel."""

    original_basis: Basis
    """The basis before its length-scales were learnt."""
    place: int
    """Index of the `KernelBasis` in a sum of bases."""
    kernel: Kernel
    """Kernel of the scaled features."""
    learnt: LearntLengthScales

    @property
    def basis(self) -> Basis:
        """The basis with the learnt kernel, or `LinearBasis` for a linear model."""
        if self.learnt.kind == "linear":
            return LinearBasis()
        return with_kernel(self.original_basis, self.learnt.kernel)

    def kernel_atoms(self, bound: BoundBasis) -> tuple[slice, Matrix]:
        """Return the slice of atoms that are kernels, and their centres."""
        atoms: Any = bound.atoms
        if not bound.parts:
            return slice(0, bound.dictionary.shape[1]), atoms.centers
        start = sum(part.n_atoms for part in bound.parts[: self.place])
        place = slice(start, start + bound.parts[self.place].n_atoms)
        return place, atoms.parts[self.place].centers


def make_other_columns(
    basis: Basis, place: int, X: Any, sample_weight: Vector | None
) -> Callable[[IndexArray], Matrix] | None:
    """Return a function that evaluates the other bases of a sum at rows; None if there are none."""
    if not isinstance(basis, UnionBasis) or len(basis.bases) == 1:
        return None
    others = [other for i, other in enumerate(basis.bases) if i != place]
    bound = [other.bind(X, sample_weight=sample_weight) for other in others]

    def columns(rows: IndexArray) -> Matrix:
        return np.hstack([np.asarray(each.atoms.evaluate(X[rows])) for each in bound])

    return columns


def find_kernel(basis: Basis, kind: str) -> tuple[int, Kernel]:
    """Return the index of the one `KernelBasis` in a sum of bases, and its kernel."""
    bases = list(basis.bases) if isinstance(basis, UnionBasis) else [basis]
    places = [i for i, each in enumerate(bases) if isinstance(each, KernelBasis)]
    if len(places) != 1:
        given = (
            'kernel="precomputed"'
            if isinstance(basis, PrecomputedBasis)
            else f"{len(places)} of them in {basis!r}"
        )
        raise ValueError(
            f"length-scales can be learnt for exactly one KernelBasis; got {given}. Use "
            "length_scales=None to use kernels as they are, or a sum with one KernelBasis."
        )
    part = bases[places[0]]
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
    return places[0], resolve_kernel(part.kernel, 1.0, part.degree, part.coef0)
