"""The closed form: sparse Bayesian learning under an orthonormal dictionary."""

from __future__ import annotations

from relvec.solvers.noise_profile import (
    NoiseProfile,
    iterate_noise,
    profile_noise,
    profile_objective,
)
from relvec.solvers.shrinkage import entry_threshold, gain, shrink, shrinkage

__all__ = [
    "NoiseProfile",
    "entry_threshold",
    "gain",
    "iterate_noise",
    "profile_noise",
    "profile_objective",
    "shrink",
    "shrinkage",
]
