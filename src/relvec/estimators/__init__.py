"""Estimators with the interface of scikit-learn."""

from relvec.estimators._decide import Decision
from relvec.estimators.classification import RVMClassifier, SparseBayesClassifier
from relvec.estimators.counts import SparseBayesCountRegressor
from relvec.estimators.denoise_function import denoise
from relvec.estimators.denoising import SmoothDenoiser
from relvec.estimators.density import SparseBayesDensity
from relvec.estimators.kernel_search import KernelSearchRegressor
from relvec.estimators.optima import OptimaReport, explore_optima
from relvec.estimators.regression import RVMRegressor, SparseBayesRegressor
from relvec.estimators.sampled import (
    SampledRVMClassifier,
    SampledRVMRegressor,
    SampledSparseBayesClassifier,
    SampledSparseBayesRegressor,
)
from relvec.estimators.selection import DRVMRegressor, PFCVMClassifier
from relvec.learning.density import PeakScan

__all__ = [
    "DRVMRegressor",
    "Decision",
    "KernelSearchRegressor",
    "OptimaReport",
    "PFCVMClassifier",
    "PeakScan",
    "RVMClassifier",
    "RVMRegressor",
    "SampledRVMClassifier",
    "SampledRVMRegressor",
    "SampledSparseBayesClassifier",
    "SampledSparseBayesRegressor",
    "SmoothDenoiser",
    "SparseBayesClassifier",
    "SparseBayesCountRegressor",
    "SparseBayesDensity",
    "SparseBayesRegressor",
    "denoise",
    "explore_optima",
]
