"""Published algorithms as printed: references for tests and comparisons, and options by name."""

from relvec.published.alternating_drvm import AlternatingDRVM
from relvec.published.fixed_point import FixedPointSolver
from relvec.published.interleaved_scales import InterleavedRVM
from relvec.published.laplace_fixed_point import LaplaceFixedPointSolver
from relvec.published.literal_pfcvm import LiteralPFCVM
from relvec.published.random_order import RandomOrderSolver
from relvec.published.reversible_jump import ReversibleJumpSampler
from relvec.published.textbook import TextbookSolver

__all__ = [
    "AlternatingDRVM",
    "FixedPointSolver",
    "InterleavedRVM",
    "LaplaceFixedPointSolver",
    "LiteralPFCVM",
    "RandomOrderSolver",
    "ReversibleJumpSampler",
    "TextbookSolver",
]
