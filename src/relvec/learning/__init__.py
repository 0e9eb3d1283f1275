"""What is learnt on top of weights and precisions: scales of inputs, and which of them matter."""

from relvec.learning.learnt import LearntScales
from relvec.learning.scales import KINDS, MANY_INPUTS, ScaleLearner

__all__ = ["KINDS", "MANY_INPUTS", "LearntScales", "ScaleLearner"]
