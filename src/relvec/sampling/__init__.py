"""Sampling of the posterior over basis functions, precisions, noise and weights."""

from relvec.sampling.augmentation import (
    Augmentation,
    BernoulliAugmentation,
    SoftmaxAugmentation,
    WorkingRows,
)
from relvec.sampling.augmented import AugmentedSampler, AugmentedState
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.count_augmentation import NegativeBinomialAugmentation
from relvec.sampling.polya_gamma import polya_gamma_mean, polya_gamma_variance, sample_polya_gamma
from relvec.sampling.priors import BetaBinomialSize, ExponentialSize, PrecisionGrid, SizePrior
from relvec.sampling.robust_augmentation import StudentTAugmentation
from relvec.sampling.working import PreparedAtoms, RawWeights, WorkingMoments, prepare_atoms

__all__ = [
    "Augmentation",
    "AugmentedSampler",
    "AugmentedState",
    "BernoulliAugmentation",
    "BetaBinomialSize",
    "CollapsedSampler",
    "Draw",
    "ExponentialSize",
    "NegativeBinomialAugmentation",
    "PrecisionGrid",
    "PreparedAtoms",
    "RawWeights",
    "Sampler",
    "SizePrior",
    "SoftmaxAugmentation",
    "StudentTAugmentation",
    "WorkingMoments",
    "WorkingRows",
    "polya_gamma_mean",
    "polya_gamma_variance",
    "prepare_atoms",
    "sample_polya_gamma",
]
