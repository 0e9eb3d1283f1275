"""Bases: recipes that turn inputs into dictionaries of basis functions (atoms)."""

from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.callable import FunctionAtoms, FunctionBasis
from relvec.bases.cosine import CosineAtoms, CosineBasis
from relvec.bases.kernel import KernelAtoms, KernelBasis
from relvec.bases.linear import ColumnAtoms, LinearBasis
from relvec.bases.polynomial import PolynomialAtoms, PolynomialBasis
from relvec.bases.precomputed import PrecomputedBasis
from relvec.bases.union import UnionAtoms, UnionBasis
from relvec.bases.wavelet import WaveletAtoms, WaveletBasis

__all__ = [
    "Atoms",
    "Basis",
    "BoundBasis",
    "ColumnAtoms",
    "CosineAtoms",
    "CosineBasis",
    "FunctionAtoms",
    "FunctionBasis",
    "KernelAtoms",
    "KernelBasis",
    "LinearBasis",
    "PolynomialAtoms",
    "PolynomialBasis",
    "PrecomputedBasis",
    "UnionAtoms",
    "UnionBasis",
    "WaveletAtoms",
    "WaveletBasis",
]
