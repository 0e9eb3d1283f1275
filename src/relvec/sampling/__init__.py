"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.base import Draw, Sampler
from relvec.sampling.diagnostics import (
    ChainSummary,
    compute_ess_bulk,
    compute_ess_tail,
    compute_mcse_mean,
    compute_mcse_quantile,
    compute_mcse_std,
    compute_r_hat,
    summarise_chains,
)
from relvec.sampling.polya_gamma import polya_gamma_mean, polya_gamma_variance, sample_polya_gamma

__all__ = [
    "ChainSummary",
    "Draw",
    "Sampler",
    "compute_ess_bulk",
    "compute_ess_tail",
    "compute_mcse_mean",
    "compute_mcse_quantile",
    "compute_mcse_std",
    "compute_r_hat",
    "polya_gamma_mean",
    "polya_gamma_variance",
    "sample_polya_gamma",
    "summarise_chains",
]
