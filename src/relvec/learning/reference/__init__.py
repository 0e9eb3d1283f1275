"""Published algorithms as they were published: to compare with, not to use."""

from relvec.learning.reference.alternating_drvm import AlternatingDRVM
from relvec.learning.reference.interleaved_scales import InterleavedRVM
from relvec.learning.reference.literal_pfcvm import LiteralPFCVM

__all__ = ["AlternatingDRVM", "InterleavedRVM", "LiteralPFCVM"]
