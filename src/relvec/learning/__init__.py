"""What is learnt on top of weights and precisions: scales of inputs, and which of them matter."""

from relvec.learning.learnt import LearntLengthScales
from relvec.learning.length_scales import KINDS, LengthScaleLearner
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["KINDS", "LearntLengthScales", "LengthScaleLearner", "LengthScaleTuning"]
