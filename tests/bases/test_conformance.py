"""Every basis passes the public check, and the check catches broken ones."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from relvec.bases import (
    FunctionBasis,
    KernelAtoms,
    KernelBasis,
    KinkBasis,
    LinearBasis,
    PeriodicBasis,
    PolynomialBasis,
    PrecomputedBasis,
    RampBasis,
    SlopeWalkBasis,
    SmoothBasis,
    StepBasis,
    WalkBasis,
)
from relvec.kernels import KERNEL_NAMES, LinearSpline
from relvec.testing import check_basis


def squares(X):
    return X**2


CENTERS = np.random.default_rng(0).normal(size=(4, 3))

BASES = [
    *(KernelBasis(name) for name in KERNEL_NAMES),
    KernelBasis(RBF([1.0, 2.0, 3.0]) + LinearSpline()),
    KernelBasis(lambda X, Z: X @ Z.T),
    KernelBasis(centers=5),
    KernelBasis(centers=1),
    KernelBasis(centers=5, center_method="random"),
    KernelBasis(centers=3, center_method="grid"),
    KernelBasis(centers=CENTERS),
    LinearBasis(),
    PolynomialBasis(),
    PolynomialBasis(3, interaction_only=True),
    PolynomialBasis(3, include_linear=False),
    FunctionBasis([np.sin, squares, lambda X: X[:, 0] > 1]),
    PrecomputedBasis(),
    PrecomputedBasis(localised=False),
    SmoothBasis(),
    SmoothBasis(0.7, feature=1, n_terms=20),
    WalkBasis(),
    SlopeWalkBasis(feature=2),
    PeriodicBasis(1.3),
    RampBasis(),
    RampBasis(0.3, feature=1),
    StepBasis(0.2),
    KinkBasis(-0.2),
    SmoothBasis(feature=0) * SmoothBasis(feature=1),
    PeriodicBasis(0.9) * (RampBasis("end") + WalkBasis()) + SlopeWalkBasis(),
    KernelBasis("matern32", gamma=2) + LinearBasis(),
    KernelBasis(centers=4) + PolynomialBasis() + FunctionBasis(squares) + PrecomputedBasis(),
]


def name(basis):
    """What a basis is called in every process: functions without their addresses."""
    return re.sub(r" at 0x\w+", "", repr(basis))[:60]


@pytest.mark.parametrize("basis", BASES, ids=name)
def test_conformance(basis):
    check_basis(basis)


@pytest.mark.parametrize("basis", BASES[-8:], ids=name)
def test_conformance_with_other_inputs(basis):
    check_basis(basis, np.random.default_rng(1).normal(size=(9, 2)))


class WidthFromAllRows(KernelBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        basis = KernelBasis(gamma=1 / (3 * X.var()))
        return basis.bind(X, sample_weight=sample_weight)


class CentersOnAllRows(KernelBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        return KernelBasis(gamma=1).bind(X)


class MisplacedRows(KernelBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = KernelBasis(gamma=1).bind(X, sample_weight=sample_weight)
        return bound._replace(source_row=bound.source_row * 0)


class ModifiesItself(KernelBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        self.gamma = 1.0
        return super().bind(X, sample_weight=sample_weight, random_state=random_state)


class ModifiesItsInput(LinearBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        X *= 2
        return super().bind(X)


class OneAtomTooFew(LinearBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = super().bind(X)
        return bound._replace(atoms=bound.atoms.subset(np.arange(len(bound.atoms) - 1)))


class OtherAtoms(LinearBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = super().bind(X)
        return bound._replace(atoms=bound.atoms.subset(np.arange(len(bound.atoms))[::-1]))


class MaskOfIntegers(LinearBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = super().bind(X)
        return bound._replace(is_localised=bound.is_localised.astype(int))


class RowsBeyondTheEnd(LinearBasis):
    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = super().bind(X)
        return bound._replace(source_row=np.full(len(bound.atoms), len(X)))


class HoardingAtoms(KernelAtoms):
    """Keeps everything it was ever given, and more."""

    def subset(self, index):
        plain = super().subset(index)
        taken = HoardingAtoms(plain.kernel, plain.centers, plain.number, plain.from_rows)
        object.__setattr__(taken, "hoard", np.zeros(1000))
        return taken


class NamelessAtoms(KernelAtoms):
    def names(self, feature_names):
        return []

    def subset(self, index):
        return NamelessAtoms(self.kernel, self.centers[index])


class AlikeAtoms(KernelAtoms):
    def names(self, feature_names):
        return ["atom"] * len(self)

    def subset(self, index):
        return AlikeAtoms(self.kernel, self.centers[index])


class RenamingAtoms(KernelAtoms):
    def subset(self, index):
        return RenamingAtoms(self.kernel, self.centers[index])


class Uses(KernelBasis):
    """A kernel basis with other atoms."""

    atoms_class = KernelAtoms

    def bind(self, X, *, sample_weight=None, random_state=None):
        bound = super().bind(X, sample_weight=sample_weight)
        return bound._replace(atoms=self.atoms_class(bound.atoms.kernel, bound.atoms.centers))


class UsesHoarding(Uses):
    atoms_class = HoardingAtoms


class UsesNameless(Uses):
    atoms_class = NamelessAtoms


class UsesAlike(Uses):
    atoms_class = AlikeAtoms


class UsesRenaming(Uses):
    atoms_class = RenamingAtoms


def mean_free(X):
    return X - X.mean(axis=0)


@pytest.mark.parametrize(
    ("basis", "complaint"),
    [
        (WidthFromAllRows(), "rows of zero weight change the atoms of WidthFromAllRows"),
        (CentersOnAllRows(), "rows of zero weight change the number of atoms"),
        (MisplacedRows(), "centres an atom on a row of zero weight"),
        (ModifiesItself(), "bind modifies the parameters"),
        (ModifiesItsInput(), "bind modifies its input"),
        (OneAtomTooFew(), "3 columns, but bound.atoms has 2 atoms"),
        (OtherAtoms(), "differs from the columns of the dictionary"),
        (MaskOfIntegers(), "is_localised of MaskOfIntegers"),
        (RowsBeyondTheEnd(), "source_row of RowsBeyondTheEnd.*between -1 and"),
        (UsesHoarding(), "must not store the other atoms"),
        (UsesNameless(), r"one string per atom; got \[\]"),
        (UsesAlike(), "gives different atoms the same name, 'atom'"),
        (UsesRenaming(), "must keep the names"),
        (FunctionBasis([mean_free]), "at one input depends on the other inputs"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_basis_is_caught(basis, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_basis(basis)
