"""The models of Schmolck's thesis, as our solvers fit them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec import RVMRegressor
from relvec.dictionaries import WaveletDictionary
from relvec.priors import resolve_prior
from relvec.solvers.gaussian.noise_profile import profile_noise
from relvec.solvers.gaussian.shrinkage import shrink

__all__ = [
    "INTERVAL",
    "PRIORS",
    "WAVELAB",
    "Denoised",
    "Fit",
    "denoise",
    "fit_kernels",
    "fit_wavelets",
    "inputs",
    "kernel_model",
    "symmlets",
]

PRIORS = {"None": "flat", "AIC": "aic", "BIC": "bic", "RIC": "ric"}
"""Names in the thesis, and ours."""
WAVELET = "sym8"
WAVELAB = -7
"""Circular shift that takes PyWavelets' atoms to those of WaveLab's `FWT_PO`, for any length."""
INTERVAL = (-10.0, 10.0)
"""Inputs of all kernels."""
NOISE_PRIOR = {"noise_shape": 1e-4 - 1.0, "noise_rate": 1e-4}
"""Equation (2.84) with g = h = 1e-4, less one for its mode being that of a precision."""


class Fit(NamedTuple):
    """Values of a row of the table for one draw."""

    n_components: float
    error: float
    """Mean squared error to the clean signal."""
    noise_variance: float


class Denoised(NamedTuple):
    """A denoised signal."""

    data: np.ndarray
    """Coefficients of the noisy signal, which are the least-squares weights."""
    weights: np.ndarray
    """Their posterior means."""
    curve: np.ndarray
    noise_variance: float


def inputs(n: int) -> np.ndarray:
    """Return the inputs of `n` samples."""
    return np.linspace(*INTERVAL, n)[:, np.newaxis]


def symmlets(n: int) -> WaveletDictionary:
    """Return symmlets with the largest number of levels; `n` is a power of two."""
    return WaveletDictionary(n, WAVELET, level=int(np.log2(n)))


def denoise(
    noisy: np.ndarray, prior: str, noise_variance: float | None = None, shift: int = WAVELAB
) -> Denoised:
    """Fit symmlets with known or estimated noise.

    Algorithm 1 of the thesis estimates the noise while few components are in the model. So the
    noise estimate decreases as components enter, and ends at the local maximum of the evidence
    with the largest noise, if there are several.

    Without a penalty (prior "None") and with estimated noise, every noise level up to the smallest
    squared coefficient has the same evidence, and higher levels less: the model interpolates. We
    take the largest of these levels, where a descent from above stops; the smallest coefficient is
    then at its threshold and left out.

    Parameters
    ----------
    noisy : ndarray of shape (n,)
        The signal; `n` is a power of two.
    prior : str
        One of `PRIORS`.
    noise_variance : float, optional
        Noise variance if it is known.
    shift : int
        Circular shift of the atoms.
    """
    n = len(noisy)
    dictionary = symmlets(n)
    data = dictionary.analyse(np.roll(noisy, -shift))
    c = resolve_prior(PRIORS[prior]).bind(n).penalty
    if noise_variance is not None:
        level = noise_variance
    elif c == 0.0:
        level = float(np.min(data**2))
    else:
        maxima = profile_noise(data, c, **NOISE_PRIOR).maxima
        level = max(level for level, _ in maxima)
    weights, _ = shrink(data, level, c)
    return Denoised(data, weights, np.roll(dictionary.synthesise(weights), shift), level)


def fit_wavelets(
    noisy: np.ndarray,
    clean: np.ndarray,
    prior: str,
    noise_variance: float | None = None,
    shift: int = WAVELAB,
) -> Fit:
    """Return the values of a row of the table for symmlets; see `denoise`."""
    found = denoise(noisy, prior, noise_variance, shift)
    error = float(np.mean((found.curve - clean) ** 2))
    return Fit(float(np.count_nonzero(found.weights)), error, found.noise_variance)


def kernel_model(noisy: np.ndarray, prior: str, **kernel: Any) -> RVMRegressor:
    """Return a model of kernels on all samples, without an intercept.

    Parameters
    ----------
    noisy : ndarray of shape (n,)
        The data.
    prior : str
        One of `PRIORS`.
    **kernel
        The kernel, in the words of `RVMRegressor`.
    """
    model = RVMRegressor(prior=PRIORS[prior], fit_intercept=False, calibrate=False, **kernel)
    return model.fit(inputs(len(noisy)), noisy)


def fit_kernels(noisy: np.ndarray, clean: np.ndarray, prior: str, r: float) -> Fit:
    """Fit kernels ``exp(-(x - z)^2 / r^2)`` on all samples, without an intercept."""
    model = kernel_model(noisy, prior, kernel="rbf", gamma=r**-2)
    error = float(np.mean((model.predict(inputs(len(noisy))) - clean) ** 2))
    return Fit(len(model.relevance_), error, model.noise_variance_)
