"""Learning of length-scales and kernel parameters, and selection of features."""

from relvec.learning.learnt import LearntBlock, LearntLengthScales
from relvec.learning.length_scales import KINDS, LengthScaleLearner
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["KINDS", "LearntBlock", "LearntLengthScales", "LengthScaleLearner", "LengthScaleTuning"]
