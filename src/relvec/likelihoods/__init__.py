"""How targets arise from the function."""

from relvec.likelihoods.gaussian import GaussianPrediction

__all__ = ["GaussianPrediction"]
