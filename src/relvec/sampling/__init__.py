"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.augmentation import (
    Augmentation,
    BernoulliAugmentation,
    SoftmaxAugmentation,
    WorkingRows,
)
from relvec.sampling.augmented import AugmentedSampler, AugmentedState
from relvec.sampling.augmented_scales import AugmentedScaleSampler, AugmentedScaleState
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.chains import (
    Chain,
    ChainTuning,
    StoredDraws,
    join_chains,
    resume_chains,
    run_chains,
    start_chains,
)
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.count_augmentation import NegativeBinomialAugmentation, draw_slice
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
from relvec.sampling.horseshoe import HorseshoeSampler, HorseshoeState
from relvec.sampling.length_scales import (
    LengthScaleSampler,
    ScaledAtoms,
    ScaleTuning,
    group_features,
)
from relvec.sampling.polya_gamma import polya_gamma_mean, polya_gamma_variance, sample_polya_gamma
from relvec.sampling.priors import BetaBinomialSize, ExponentialSize, PrecisionGrid, SizePrior
from relvec.sampling.robust_augmentation import StudentTAugmentation
from relvec.sampling.tempering import TemperedSampler, TemperedState, tune_powers
from relvec.sampling.working import PreparedAtoms, RawWeights, WorkingMoments, prepare_atoms

__all__ = [
    "Augmentation",
    "AugmentedSampler",
    "AugmentedScaleSampler",
    "AugmentedScaleState",
    "AugmentedState",
    "BernoulliAugmentation",
    "BetaBinomialSize",
    "Chain",
    "ChainSummary",
    "ChainTuning",
    "CollapsedSampler",
    "Draw",
    "ExponentialSize",
    "HorseshoeSampler",
    "HorseshoeState",
    "LengthScaleSampler",
    "NegativeBinomialAugmentation",
    "PrecisionGrid",
    "PreparedAtoms",
    "RawWeights",
    "Sampler",
    "ScaleTuning",
    "ScaledAtoms",
    "SizePrior",
    "SoftmaxAugmentation",
    "StoredDraws",
    "StudentTAugmentation",
    "TemperedSampler",
    "TemperedState",
    "WorkingMoments",
    "WorkingRows",
    "compute_ess_bulk",
    "compute_ess_tail",
    "compute_mcse_mean",
    "compute_mcse_quantile",
    "compute_mcse_std",
    "compute_r_hat",
    "draw_slice",
    "group_features",
    "join_chains",
    "polya_gamma_mean",
    "polya_gamma_variance",
    "prepare_atoms",
    "resume_chains",
    "run_chains",
    "sample_polya_gamma",
    "start_chains",
    "summarise_chains",
    "tune_powers",
]
