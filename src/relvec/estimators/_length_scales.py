"""A basis whose kernel has inputs of learnt scales, and who learns them."""

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
    "expose_scales",
    "find_kernel",
    "kernel_in",
    "needs_width",
    "other_columns",
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
"""Attributes of estimators, and what they are of the learnt scales."""


def needs_width(basis: Basis) -> bool:
    """Whether a kernel is named that decays, and nothing was said of its width."""
    if not isinstance(basis, KernelBasis) or not isinstance(basis.kernel, str):
        return False
    is_untouched = isinstance(basis.gamma, str) and basis.gamma == "scale"
    return is_untouched and basis.kernel in LEARNT_BY_DEFAULT


def expose_scales(
    estimator: Any, scaled: ScaledBasis | None, relevance_std: Vector | None = None
) -> None:
    """Set the attributes of what was learnt in this fit, and forget those of earlier fits."""
    for name in ("learnt_length_scales_", "feature_relevance_std_", *EXPOSED):
        estimator.__dict__.pop(name, None)
    if scaled is None:
        return
    estimator.learnt_length_scales_ = learnt = scaled.learnt
    for name, value in EXPOSED.items():
        # parameters of a kernel say nothing of single inputs
        if learnt.has_feature_scales or value == "kind":
            setattr(estimator, name, getattr(learnt, value))
    if relevance_std is not None:
        estimator.feature_relevance_std_ = relevance_std
    if learnt.at_bounds:
        warnings.warn(
            f"{' and '.join(learnt.at_bounds)} of the kernel ended at a bound, beyond which the "
            f"evidence rises: {learnt.kernel!r}. Widen the bounds, or fix the parameter.",
            ConvergenceWarning,
            stacklevel=5,  # of the call of `fit`
        )


def kernel_in(atoms: Atoms) -> KernelLike | None:
    """Return the kernel of atoms, or of the one kind in a sum that has one; None if there is none.

    Examples
    --------
    >>> from relvec.bases import KernelBasis, LinearBasis
    >>> kernel_in((KernelBasis(gamma=0.5) + LinearBasis()).bind(np.eye(2)).atoms)
    RBF(length_scale=1)
    """
    parts = atoms.parts if isinstance(atoms, UnionAtoms) else (atoms,)
    kernels = [part.kernel for part in parts if isinstance(part, KernelAtoms)]
    return kernels[0] if len(kernels) == 1 else None


def with_kernel(basis: Basis, kernel: Kernel) -> Basis:
    """Return a basis, or a sum with one `KernelBasis` in it, with another kernel."""
    if isinstance(basis, UnionBasis):
        return UnionBasis([with_kernel(each, kernel) for each in basis.bases])
    changed = clone(basis)
    return changed.set_params(kernel=kernel) if isinstance(basis, KernelBasis) else changed


class ScaledBasis(NamedTuple):
    """A basis with one kernel in it, and the scales learnt for the inputs of that."""

    given: Basis
    place: int
    """Which of the bases of a sum it is."""
    kernel: Kernel
    """The kernel of the scaled inputs."""
    learnt: LearntLengthScales

    @property
    def basis(self) -> Basis:
        """The basis with the learnt kernel, or the inputs themselves."""
        if self.learnt.kind == "linear":
            return LinearBasis()
        return with_kernel(self.given, self.learnt.kernel)

    def kernel_atoms(self, bound: BoundBasis) -> tuple[slice, Matrix]:
        """Return which atoms are kernels, and their centres."""
        atoms: Any = bound.atoms
        if not bound.parts:
            return slice(0, bound.dictionary.shape[1]), atoms.centers
        start = sum(part.n_atoms for part in bound.parts[: self.place])
        place = slice(start, start + bound.parts[self.place].n_atoms)
        return place, atoms.parts[self.place].centers


def other_columns(
    basis: Basis, place: int, X: Any, sample_weight: Vector | None
) -> Callable[[IndexArray], Matrix] | None:
    """Return a function of rows that gives the columns of the other bases of a sum there."""
    if not isinstance(basis, UnionBasis) or len(basis.bases) == 1:
        return None
    others = [other for i, other in enumerate(basis.bases) if i != place]
    bound = [other.bind(X, sample_weight=sample_weight) for other in others]

    def columns(rows: IndexArray) -> Matrix:
        return np.hstack([np.asarray(each.atoms.evaluate(X[rows])) for each in bound])

    return columns


def find_kernel(basis: Basis, kind: str) -> tuple[int, Kernel]:
    """Find the one kernel whose inputs are to be scaled, and its place in a sum of bases."""
    bases = list(basis.bases) if isinstance(basis, UnionBasis) else [basis]
    places = [i for i, each in enumerate(bases) if isinstance(each, KernelBasis)]
    if len(places) != 1:
        given = (
            'kernel="precomputed"'
            if isinstance(basis, PrecomputedBasis)
            else f"{len(places)} of them in {basis!r}"
        )
        raise ValueError(
            f"scales can be learnt for one KernelBasis; got {given}. Without learning them, use "
            "length_scales=None of RVMRegressor, RVMClassifier, or a sum with one KernelBasis."
        )
    part = bases[places[0]]
    if not isinstance(part.kernel, str) and not isinstance(part.kernel, Kernel):
        raise ValueError(
            "scales can be learnt for kernels by name and for kernel objects, not for "
            f"{part.kernel!r}. Without learning them, use length_scales=None of RVMRegressor and "
            "RVMClassifier."
        )
    if kind == "kernel" and isinstance(part.kernel, str):
        raise ValueError(
            'length_scales="kernel" learns the parameters of a kernel object such as RBF() + '
            f'Matern(); got the name {part.kernel!r}, for which there is length_scales="ard".'
        )
    # the width is in the scales
    return places[0], resolve_kernel(part.kernel, 1.0, part.degree, part.coef0)
