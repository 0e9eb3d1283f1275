"""Bases for series: covariance functions as columns with a prior spectrum, and their products."""

from relvec.bases.series.atoms import SeriesAtoms
from relvec.bases.series.base import FactorBasis, SeriesBasis
from relvec.bases.series.periodic import PeriodicBasis
from relvec.bases.series.product import ProductBasis
from relvec.bases.series.shapes import KinkBasis, RampBasis, StepBasis
from relvec.bases.series.trends import SlopeWalkBasis, SmoothBasis, WalkBasis

__all__ = [
    "FactorBasis",
    "KinkBasis",
    "PeriodicBasis",
    "ProductBasis",
    "RampBasis",
    "SeriesAtoms",
    "SeriesBasis",
    "SlopeWalkBasis",
    "SmoothBasis",
    "StepBasis",
    "WalkBasis",
]
