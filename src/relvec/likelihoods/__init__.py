"""Likelihoods: how targets depend on the latent function."""

from relvec.likelihoods.base import BoundLikelihood, Likelihood, Prediction, check_rows
from relvec.likelihoods.bernoulli import Bernoulli, BernoulliPrediction
from relvec.likelihoods.draw_mixture import DrawMixturePrediction
from relvec.likelihoods.gaussian import Gaussian, GaussianPrediction
from relvec.likelihoods.log_variance import LogVariance
from relvec.likelihoods.mixture import MixturePrediction
from relvec.likelihoods.negative_binomial import NegativeBinomial
from relvec.likelihoods.poisson import Poisson
from relvec.likelihoods.robust_noise import ContaminatedNoise, StudentNoise
from relvec.likelihoods.scale_mixture import NoiseMixture, NoiseModel, ScaleMixturePrediction
from relvec.likelihoods.softmax import Softmax, SoftmaxPrediction
from relvec.likelihoods.transformed import TransformedPrediction
from relvec.likelihoods.transforms import (
    IdentityTransform,
    LogTransform,
    TargetTransform,
    YeoJohnsonTransform,
)

__all__ = [
    "Bernoulli",
    "BernoulliPrediction",
    "BoundLikelihood",
    "ContaminatedNoise",
    "DrawMixturePrediction",
    "Gaussian",
    "GaussianPrediction",
    "IdentityTransform",
    "Likelihood",
    "LogTransform",
    "LogVariance",
    "MixturePrediction",
    "NegativeBinomial",
    "NoiseMixture",
    "NoiseModel",
    "Poisson",
    "Prediction",
    "ScaleMixturePrediction",
    "Softmax",
    "SoftmaxPrediction",
    "StudentNoise",
    "TargetTransform",
    "TransformedPrediction",
    "YeoJohnsonTransform",
    "check_rows",
]
