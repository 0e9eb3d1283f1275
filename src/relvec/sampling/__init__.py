"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.priors import BetaBinomialSize, ExponentialSize, PrecisionGrid, SizePrior

__all__ = [
    "BetaBinomialSize",
    "CollapsedSampler",
    "Draw",
    "ExponentialSize",
    "PrecisionGrid",
    "Sampler",
    "SizePrior",
]
