"""The scikit-learn front."""

from relvec.estimators.denoising import SmoothDenoiser, denoise
from relvec.estimators.regression import RVMRegressor, SparseBayesRegressor

__all__ = ["RVMRegressor", "SmoothDenoiser", "SparseBayesRegressor", "denoise"]
