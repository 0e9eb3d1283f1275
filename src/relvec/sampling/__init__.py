"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.base import Draw, Sampler
from relvec.sampling.chains import (
    Chain,
    ChainTuning,
    StoredDraws,
    join_chains,
    run_chains,
    start_chains,
)
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.length_scales import LengthScaleSampler, ScaledAtoms, group_features
from relvec.sampling.priors import BetaBinomialSize, ExponentialSize, PrecisionGrid, SizePrior

__all__ = [
    "BetaBinomialSize",
    "Chain",
    "ChainTuning",
    "CollapsedSampler",
    "Draw",
    "ExponentialSize",
    "LengthScaleSampler",
    "PrecisionGrid",
    "Sampler",
    "ScaledAtoms",
    "SizePrior",
    "StoredDraws",
    "group_features",
    "join_chains",
    "run_chains",
    "start_chains",
]
