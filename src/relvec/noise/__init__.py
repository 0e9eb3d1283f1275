"""The noise level of a signal or an image, without knowing the signal.

Examples
--------
>>> import numpy as np
>>> from relvec.noise import noise_level
>>> level = noise_level(np.random.default_rng(0).normal(size=1000))
>>> level.is_reliable, level.is_weak
(True, False)
"""

from __future__ import annotations

from relvec.noise.estimate import estimate_noise
from relvec.noise.level import METHODS, noise_level
from relvec.noise.report import NoiseLevel, NoiseLevelWarning
from relvec.noise.scale import clipped_scale, mad
from relvec.noise.tuning import NoiseTuning

__all__ = [
    "METHODS",
    "NoiseLevel",
    "NoiseLevelWarning",
    "NoiseTuning",
    "clipped_scale",
    "estimate_noise",
    "mad",
    "noise_level",
]
