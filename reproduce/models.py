"""The models of Schmolck's thesis, as our solvers fit them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec import RVMRegressor
from relvec.dictionaries import WaveletDictionary
from relvec.priors import resolve_prior
from relvec.solvers.orthonormal import profile_noise, shrink

__all__ = ["PRIORS", "Fit", "fit_kernels", "fit_wavelets"]

PRIORS = {"None": "flat", "AIC": "aic", "BIC": "bic", "RIC": "ric"}
"""Names in the thesis, and ours."""
WAVELET = "sym8"
INTERVAL = (-10.0, 10.0)
"""Inputs of Sinc."""


class Fit(NamedTuple):
    """What a row of the table says of one draw."""

    n_components: float
    error: float
    """Mean squared error to the clean signal."""
    noise_variance: float


def fit_wavelets(
    noisy: np.ndarray, clean: np.ndarray, prior: str, noise_variance: float | None = None
) -> Fit:
    """Fit symmlets to their full depth, the noise given or at the maximum of the evidence.

    Without a price (prior "None") and with a free noise every level up to the smallest squared
    coefficient has the same evidence, and higher ones less: the model interpolates. We take the
    largest of these levels, where a descent from above stops; the smallest coefficient is then at
    its threshold, and out.
    """
    n = len(noisy)
    dictionary = WaveletDictionary(n, WAVELET, level=int(np.log2(n)))
    data = dictionary.analyse(noisy)
    c = resolve_prior(PRIORS[prior]).smoothness(n)
    if noise_variance is not None:
        level = noise_variance
    elif c == 0.0:
        level = float(np.min(data**2))
    else:
        level = profile_noise(data, c).noise_variance
    coefficients, _ = shrink(data, level, c)
    found = dictionary.synthesise(coefficients)
    return Fit(float(np.count_nonzero(coefficients)), float(np.mean((found - clean) ** 2)), level)


def fit_kernels(noisy: np.ndarray, clean: np.ndarray, prior: str, width: float) -> Fit:
    """Fit kernels ``exp(-(x - z)^2 / width^2)`` on all samples, without an intercept."""
    x = np.linspace(*INTERVAL, len(noisy))[:, np.newaxis]
    model = RVMRegressor(
        kernel="rbf", gamma=width**-2, prior=PRIORS[prior], fit_intercept=False
    ).fit(x, noisy)
    error = float(np.mean((model.predict(x) - clean) ** 2))
    return Fit(len(model.relevance_), error, model.noise_variance_)
