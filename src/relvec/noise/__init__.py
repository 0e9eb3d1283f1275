"""Estimate the standard deviation of white noise in a signal or an image.

Examples
--------
>>> import numpy as np
>>> from relvec.noise import estimate_noise_level
>>> level = estimate_noise_level(np.random.default_rng(0).normal(size=1000))
>>> level.is_reliable, level.is_weak
(True, False)
"""

from __future__ import annotations

from relvec.noise.estimate import estimate_noise
from relvec.noise.level import METHODS, estimate_noise_level
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
    "estimate_noise_level",
    "mad",
]
