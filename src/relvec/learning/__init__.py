"""What is learnt on top of weights and precisions: scales of inputs, and which of them matter."""

from relvec.learning.scales import MANY_INPUTS, LearntScales, ScaleLearner

__all__ = ["MANY_INPUTS", "LearntScales", "ScaleLearner"]
