"""What is learnt on top of weights and precisions: scales of inputs, and which of them matter."""

from relvec.learning.learnt import LearntScales
from relvec.learning.scales import KINDS, ScaleLearner
from relvec.learning.tuning import ScaleTuning

__all__ = ["KINDS", "LearntScales", "ScaleLearner", "ScaleTuning"]
