"""Covariance functions of one feature as columns with a prior spectrum, and their products."""

from relvec.kernels.expansions.base import Expansion, Product
from relvec.kernels.expansions.periodic import Harmonics
from relvec.kernels.expansions.shapes import Kink, Line, Step
from relvec.kernels.expansions.smooth import Smooth
from relvec.kernels.expansions.walks import SlopeWalk, Walk

__all__ = [
    "Expansion",
    "Harmonics",
    "Kink",
    "Line",
    "Product",
    "SlopeWalk",
    "Smooth",
    "Step",
    "Walk",
]
