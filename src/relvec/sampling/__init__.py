"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.base import Draw, Sampler
from relvec.sampling.polya_gamma import polya_gamma_mean, polya_gamma_variance, sample_polya_gamma

__all__ = [
    "Draw",
    "Sampler",
    "polya_gamma_mean",
    "polya_gamma_variance",
    "sample_polya_gamma",
]
