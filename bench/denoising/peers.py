"""The other denoisers, by name. Each takes a signal, and the noise level if it is known.

The classical rules are written out here with PyWavelets: sym8, periodic, at least 16 coarsest
coefficients untouched, noise from the median of the finest details. The version averaged over
all shifts works on the undecimated transform; a level then has one threshold for all shifts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pywt

from bench.denoising import ebayes

__all__ = ["PEERS", "Peer", "depth", "image_peers", "mad", "spin", "transform"]

WAVELET = "sym8"
MODE = "periodization"
COARSEST = 16
SHIFTS = 16
"""`max_shifts` of scikit-image's `cycle_spin` for signals."""
IMAGE_SHIFTS = 8
"""The same for images, along both axes."""

Array = np.ndarray
Shrink = Callable[[Array, int], Array]
"""Details in units of the noise and the length of the signal, to shrunk details."""


class Peer(NamedTuple):
    """A denoiser, and whether it averages over shifts."""

    run: Callable[..., Array]
    """Of the signal; and of the standard deviation of the noise, or None to estimate it."""
    is_spun: bool


def depth(n: int) -> int:
    """Return how often a signal is halved if 16 coefficients or more are to be left."""
    return max(1, int(np.log2(n / COARSEST)))


def mad(details: Array) -> float:
    """Return the standard deviation of Gaussian noise by its median."""
    return float(np.median(np.abs(details)) / 0.6744897501960817)


# ---------------------------------------------------------------- rules


def soft(details: Array, threshold: float) -> Array:
    """Return details moved towards zero by `threshold`."""
    return np.sign(details) * np.maximum(np.abs(details) - threshold, 0.0)


def hard(details: Array, threshold: float) -> Array:
    """Return details with those up to `threshold` set to zero."""
    return np.where(np.abs(details) > threshold, details, 0.0)


def visu_soft(details: Array, n: int) -> Array:
    """Return VisuShrink with soft thresholds (Donoho and Johnstone 1994)."""
    return soft(details, np.sqrt(2.0 * np.log(n)))


def visu_hard(details: Array, n: int) -> Array:
    """Return VisuShrink with hard thresholds."""
    return hard(details, np.sqrt(2.0 * np.log(n)))


def sure_shrink(details: Array, n: int) -> Array:
    """Return SureShrink (Donoho and Johnstone 1995), with its rule for sparse levels."""
    size = details.size
    universal = np.sqrt(2.0 * np.log(size))
    if np.mean(details**2) - 1.0 <= np.log2(size) ** 1.5 / np.sqrt(size):
        return soft(details, universal)
    squares = np.sort(details, axis=None) ** 2
    squares.sort()
    at = np.arange(1, size + 1)
    risk = size - 2.0 * at + np.cumsum(squares) + (size - at) * squares
    return soft(details, min(universal, float(np.sqrt(squares[np.argmin(risk)]))))


def bayes_shrink(details: Array, n: int) -> Array:
    """Return BayesShrink (Chang, Yu and Vetterli 2000)."""
    signal = np.mean(details**2) - 1.0
    return soft(details, 1.0 / np.sqrt(signal)) if signal > 0.0 else np.zeros_like(details)


def ebayes_median(details: Array, n: int) -> Array:
    """Return empirical Bayes thresholding by the posterior median."""
    return ebayes.shrink(details)


# ---------------------------------------------------------------- transforms


def transform(values: Array, shrink: Shrink, noise: float | None = None) -> Array:
    """Shrink the details of the orthonormal wavelet transform."""
    n = len(values)
    coarse, *details = pywt.wavedec(values, WAVELET, mode=MODE, level=depth(n))
    noise = noise or mad(details[-1])
    kept = [noise * shrink(each / noise, n) for each in details]
    return pywt.waverec([coarse, *kept], WAVELET, mode=MODE)


def spin(
    values: Array, shrink: Shrink, noise: float | None = None, wavelet: str = WAVELET
) -> Array:
    """Shrink the details of all shifts and average: the undecimated transform."""
    n = len(values)
    coarse, *details = pywt.swt(values, wavelet, level=depth(n), trim_approx=True)
    noise = noise or mad(details[-1])
    kept = [noise * shrink(each / noise, n) for each in details]
    return pywt.iswt([coarse, *kept], wavelet)


def _of(how: Callable[..., Array], shrink: Shrink) -> Callable[..., Array]:
    return lambda values, noise=None: how(values, shrink, noise)


# ---------------------------------------------------------------- scikit-image


def skimage_bayes(values: Array, **options: Any) -> Array:
    """Return scikit-image's BayesShrink; a float signal is taken as it is, in its own units."""
    from skimage.restoration import denoise_wavelet

    return denoise_wavelet(values, **{"method": "BayesShrink", "rescale_sigma": True, **options})


def skimage_spun(values: Array, max_shifts: int, **options: Any) -> Array:
    """Return scikit-image's BayesShrink averaged by its own `cycle_spin`."""
    from skimage.restoration import cycle_spin, denoise_wavelet

    arguments = {"method": "BayesShrink", "rescale_sigma": True, **options}
    axis = options.get("channel_axis")
    shifts: Any = max_shifts if axis is None else (max_shifts, max_shifts)
    parameters = inspect.signature(cycle_spin).parameters
    workers = {"workers" if "workers" in parameters else "num_workers": 1}  # before 0.26
    return cycle_spin(
        values, denoise_wavelet, shifts, func_kw=arguments, channel_axis=axis, **workers
    )


PEERS: dict[str, Peer] = {
    "VisuShrink soft": Peer(_of(transform, visu_soft), False),
    "VisuShrink hard": Peer(_of(transform, visu_hard), False),
    "SureShrink": Peer(_of(transform, sure_shrink), False),
    "BayesShrink": Peer(_of(transform, bayes_shrink), False),
    "EbayesThresh": Peer(_of(transform, ebayes_median), False),
    "skimage BayesShrink": Peer(lambda x, s=None: skimage_bayes(x, sigma=s), False),
    "skimage BayesShrink sym8": Peer(
        lambda x, s=None: skimage_bayes(x, sigma=s, wavelet=WAVELET), False
    ),
    "VisuShrink soft, all shifts": Peer(_of(spin, visu_soft), True),
    "VisuShrink hard, all shifts": Peer(_of(spin, visu_hard), True),
    "SureShrink, all shifts": Peer(_of(spin, sure_shrink), True),
    "BayesShrink, all shifts": Peer(_of(spin, bayes_shrink), True),
    "EbayesThresh, all shifts": Peer(_of(spin, ebayes_median), True),
    "EbayesThresh Haar, all shifts": Peer(
        lambda x, s=None: spin(x, ebayes_median, s, "haar"), True
    ),
    "skimage BayesShrink, 17 shifts": Peer(
        lambda x, s=None: skimage_spun(x, SHIFTS, sigma=s), True
    ),
    "skimage BayesShrink sym8, 17 shifts": Peer(
        lambda x, s=None: skimage_spun(x, SHIFTS, sigma=s, wavelet=WAVELET), True
    ),
}
"""Denoisers of signals."""


def image_peers(noise: float, channel_axis: int | None) -> dict[str, Peer]:
    """Return the denoisers of images on the scale 0 to 1 with noise of a known level.

    scikit-image converts colours only when asked; both ways are given.
    """
    both: dict[str, Any] = {"channel_axis": channel_axis}
    result = {
        "BayesShrink": Peer(lambda x: skimage_bayes(x, **both), False),
        "BayesShrink sym8": Peer(lambda x: skimage_bayes(x, wavelet=WAVELET, **both), False),
        "BayesShrink, true noise": Peer(lambda x: skimage_bayes(x, sigma=noise, **both), False),
        "BayesShrink, 9×9 shifts": Peer(lambda x: skimage_spun(x, IMAGE_SHIFTS, **both), True),
        "BayesShrink sym8, 9×9 shifts": Peer(
            lambda x: skimage_spun(x, IMAGE_SHIFTS, wavelet=WAVELET, **both), True
        ),
    }
    if channel_axis is not None:
        result["BayesShrink, YCbCr"] = Peer(
            lambda x: skimage_bayes(x, convert2ycbcr=True, **both), False
        )
        result["BayesShrink, YCbCr, 9×9 shifts"] = Peer(
            lambda x: skimage_spun(x, IMAGE_SHIFTS, convert2ycbcr=True, **both), True
        )
    return result
