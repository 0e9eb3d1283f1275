"""Bases: recipes that turn inputs into dictionaries of basis functions (atoms)."""

from relvec.bases.base import Atoms, Basis, BoundBasis
from relvec.bases.callable import FunctionAtoms, FunctionBasis
from relvec.bases.cosine import CosineAtoms, CosineBasis
from relvec.bases.kernel import KernelAtoms, KernelBasis
from relvec.bases.linear import ColumnAtoms, LinearBasis
from relvec.bases.polynomial import PolynomialAtoms, PolynomialBasis
from relvec.bases.precomputed import PrecomputedBasis
from relvec.bases.series import (
    FactorBasis,
    KinkBasis,
    PeriodicBasis,
    ProductBasis,
    RampBasis,
    SeriesAtoms,
    SeriesBasis,
    SlopeWalkBasis,
    SmoothBasis,
    StepBasis,
    WalkBasis,
)
from relvec.bases.union import UnionAtoms, UnionBasis
from relvec.bases.wavelet import WaveletAtoms, WaveletBasis

__all__ = [
    "Atoms",
    "Basis",
    "BoundBasis",
    "ColumnAtoms",
    "CosineAtoms",
    "CosineBasis",
    "FactorBasis",
    "FunctionAtoms",
    "FunctionBasis",
    "KernelAtoms",
    "KernelBasis",
    "KinkBasis",
    "LinearBasis",
    "PeriodicBasis",
    "PolynomialAtoms",
    "PolynomialBasis",
    "PrecomputedBasis",
    "ProductBasis",
    "RampBasis",
    "SeriesAtoms",
    "SeriesBasis",
    "SlopeWalkBasis",
    "SmoothBasis",
    "StepBasis",
    "UnionAtoms",
    "UnionBasis",
    "WalkBasis",
    "WaveletAtoms",
    "WaveletBasis",
]
