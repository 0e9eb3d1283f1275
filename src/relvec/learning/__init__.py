"""What is learnt on top of weights and precisions: scales of inputs, and which of them matter."""

from relvec.learning.scales import LearntScales, ScaleLearner

__all__ = ["LearntScales", "ScaleLearner"]
