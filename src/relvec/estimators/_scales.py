"""How estimators learn on which scales their inputs matter; one place for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from relvec._checks import check_choice, check_dense
from relvec._linalg import fitting_threads
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import KernelBasis, PrecomputedBasis, UnionBasis
from relvec.bases.base import Basis, BoundBasis
from relvec.kernels import resolve_kernel
from relvec.learning import KINDS, LearntScales, ScaleLearner

__all__ = ["ScaledBasis", "ScalesMixin"]

LEARNT_BY_DEFAULT = ("rbf", "laplacian", "matern32", "matern52", "rational_quadratic")
"""Named kernels that decay, and so need a width."""
LEARNT_ATTRIBUTES = (
    "input_scale_",
    "feature_relevance_",
    "feature_gain_",
    "scale_kind_",
    "scale_path_",
    "scale_path_objective_",
    "learnt_scales_",
    "kernel_",
)


class ScalesMixin:
    """Replaces the kernel of a basis by one whose inputs have learnt scales."""

    scales: Any

    def _scale_learner(self, basis: Basis) -> ScaleLearner | None:
        """Return who learns the scales, or None if they are given."""
        scales = self.scales
        if scales is None:
            return None
        if isinstance(scales, ScaleLearner):
            scales.check()
            return scales
        if not isinstance(scales, str):
            raise TypeError(
                f"scales must be one of {KINDS}, None or a ScaleLearner; got {scales!r}."
            )
        if scales.lower() == "none":
            raise ValueError('scales="none" is not an option; leave out the quotes: scales=None.')
        kind = check_choice("scales", scales, KINDS)
        if kind != "auto":
            return ScaleLearner(kind)
        kernel = basis.kernel if isinstance(basis, KernelBasis) else None
        is_untouched = isinstance(kernel, str) and kernel in LEARNT_BY_DEFAULT
        is_untouched = is_untouched and isinstance(basis.gamma, str) and basis.gamma == "scale"
        return ScaleLearner("auto") if is_untouched else None

    def _learn_scales(
        self,
        basis: Basis,
        X: Any,
        targets: Matrix,
        sample_weight: Vector | None,
        *,
        are_labels: bool = False,
    ) -> list[ScaledBasis]:
        """Return the basis with kernels of scaled inputs that come into question.

        Nothing, if the basis is to be taken as it is.
        """
        for name in LEARNT_ATTRIBUTES:
            self.__dict__.pop(name, None)
        learner = self._scale_learner(basis)
        if learner is None:
            return []
        check_dense(X, "KernelBasis")
        if X.dtype == object:
            raise ValueError(
                f"scales can be learnt for inputs that are numbers; got objects such as "
                f"{X.flat[0]!r}. Use scales=None of RVMRegressor and RVMClassifier."
            )
        found = _the_kernel(basis, learner)
        columns = found.others_at(X, sample_weight)
        with fitting_threads(0.0):
            proposals = learner.learn(
                found.kernel, X, targets, sample_weight, columns, are_labels=are_labels
            )
        return [found._replace(learnt=learnt) for learnt in proposals]

    def _expose_scales(self, learnt: LearntScales) -> None:
        self.learnt_scales_ = learnt
        self.scale_kind_ = learnt.kind
        self.kernel_ = learnt.kernel
        if learnt.kind == "kernel":  # which says nothing of single inputs
            return
        self.input_scale_ = learnt.scale
        self.feature_relevance_ = learnt.relevance
        self.feature_gain_ = learnt.gain
        self.scale_path_ = learnt.path
        self.scale_path_objective_ = learnt.path_objective


class ScaledBasis(NamedTuple):
    """A basis with one kernel in it, and the scales learnt for the inputs of that."""

    given: Basis
    place: int
    """Which of the bases of a sum it is."""
    kernel: Kernel
    """The kernel of the scaled inputs."""
    learner: ScaleLearner
    learnt: LearntScales | None = None

    @property
    def scales(self) -> LearntScales:
        """What was learnt."""
        assert self.learnt is not None
        return self.learnt

    @property
    def basis(self) -> Basis:
        """The basis with the learnt kernel."""
        kernel = self.scales.kernel
        if isinstance(self.given, KernelBasis):
            return clone(self.given).set_params(kernel=kernel)
        assert isinstance(self.given, UnionBasis)
        bases = [clone(each) for each in self.given.bases]
        bases[self.place] = bases[self.place].set_params(kernel=kernel)
        return UnionBasis(bases)

    def others_at(
        self, X: Any, sample_weight: Vector | None
    ) -> Callable[[IndexArray], Matrix] | None:
        """Return a function of rows that gives the columns of the other bases there."""
        if not isinstance(self.given, UnionBasis) or len(self.given.bases) == 1:
            return None
        others = [other for i, other in enumerate(self.given.bases) if i != self.place]
        bound = [other.bind(X, sample_weight=sample_weight) for other in others]

        def columns(rows: IndexArray) -> Matrix:
            return np.hstack([np.asarray(each.atoms.at(X[rows])) for each in bound])

        return columns

    def kernel_atoms(self, bound: BoundBasis) -> slice:
        """Return which atoms are kernels."""
        if not bound.parts:
            return slice(0, bound.dictionary.shape[1])
        start = sum(part.n_atoms for part in bound.parts[: self.place])
        return slice(start, start + bound.parts[self.place].n_atoms)


def _the_kernel(basis: Basis, learner: ScaleLearner) -> ScaledBasis:
    """Find the one kernel whose inputs are to be scaled."""
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
            "scales=None of RVMRegressor, RVMClassifier, or a sum with one KernelBasis."
        )
    part = bases[places[0]]
    if not isinstance(part.kernel, str) and not isinstance(part.kernel, Kernel):
        raise ValueError(
            "scales can be learnt for kernels by name and for kernel objects, not for "
            f"{part.kernel!r}. Without learning them, use scales=None of RVMRegressor and "
            "RVMClassifier."
        )
    if learner.kind == "kernel" and isinstance(part.kernel, str):
        raise ValueError(
            'scales="kernel" learns the parameters of a kernel object such as RBF() + Matern(); '
            f'got the name {part.kernel!r}, for which there is scales="ard".'
        )
    # the width is in the scales
    kernel = resolve_kernel(part.kernel, 1.0, part.degree, part.coef0)
    return ScaledBasis(basis, places[0], kernel, learner)
