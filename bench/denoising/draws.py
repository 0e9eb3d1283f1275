"""Signals and images with noise, each a function of its name, size, noise and seed."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

__all__ = ["FOUR", "OTHERS", "Draw", "colour_image", "grey_image", "noisy_image", "noisy_signal"]

FOUR = ("Doppler", "Bumps", "Blocks", "HeaviSine")
"""The signals of Donoho and Johnstone."""
OTHERS = (
    "LinChirp",
    "TwoChirp",
    "Riemann",
    "LoSine",
    "QuadChirp",
    "MishMash",
    "WernerSorrows",
    "HiSine",
    "Piece-Regular",
    "Piece-Polynomial",
    "HypChirps",
    "ecg",
    "Ramp",
)
GREY = (
    "camera",
    "coins",
    "moon",
    "page",
    "text",
    "astronaut",
    "brick",
    "grass",
    "gravel",
    "coffee",
    "ascent",
    "aero",
)
COLOUR = ("astronaut", "coffee")


class Draw(NamedTuple):
    """What a denoiser sees, what it should find, and the noise between."""

    noisy: np.ndarray
    clean: np.ndarray
    noise_std: float


def seed_of(*what: object) -> int:
    """Return a seed that differs between cases, so that no two share their noise."""
    return zlib.crc32(" ".join(map(str, what)).encode())


def clean_signal(name: str, n: int, seed: int) -> np.ndarray:
    """Return a clean signal: a named one, PyWavelets' heart beats, or a fresh random one."""
    from relvec.datasets import RANDOM_FAMILIES, make_random_signal, make_signal

    if name == "ecg":
        import pywt

        beats = pywt.data.ecg().astype(float)
        return np.interp(np.linspace(0, len(beats) - 1, n), np.arange(len(beats)), beats)
    if name in RANDOM_FAMILIES:
        return make_random_signal(name, n, random_state=seed)
    return make_signal(name, n)


def noisy_signal(name: str, n: int, snr: float, seed: int) -> Draw:
    """Return a signal with noise `snr` times smaller in standard deviation."""
    clean = clean_signal(name, n, seed)
    noise_std = float(clean.std(ddof=1)) / snr
    noise = np.random.default_rng(seed_of(name, n, snr, seed)).standard_normal(n)
    return Draw(clean + noise_std * noise, clean, noise_std)


def colour_image(name: str) -> np.ndarray:
    """Return an image of scikit-image as floats on the scale 0 to 255."""
    from skimage import data

    return getattr(data, name)().astype(float)


def grey_image(name: str) -> np.ndarray:
    """Return a grey image of scikit-image or PyWavelets on the scale 0 to 255."""
    if name in ("ascent", "aero"):
        import pywt

        return getattr(pywt.data, name)().astype(float)
    image = colour_image(name)
    return image if image.ndim == 2 else image @ [0.299, 0.587, 0.114]


def noisy_image(name: str, is_colour: bool, noise_std: float, crop: int | None, seed: int) -> Draw:
    """Return an image with noise, or its middle `crop` × `crop` pixels."""
    clean = colour_image(name) if is_colour else grey_image(name)
    if crop is not None:
        rows, columns = (max(0, (size - crop) // 2) for size in clean.shape[:2])
        clean = clean[rows : rows + crop, columns : columns + crop]
    rng = np.random.default_rng(seed_of(name, is_colour, noise_std, crop, seed))
    return Draw(clean + noise_std * rng.standard_normal(clean.shape), clean, noise_std)
