"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.base import Draw, Sampler
from relvec.sampling.horseshoe import HorseshoeSampler, HorseshoeState

__all__ = ["Draw", "HorseshoeSampler", "HorseshoeState", "Sampler"]
