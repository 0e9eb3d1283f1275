"""A lapped cosine transform: orthonormal, local in time and in frequency."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from relvec._typing import Vector

__all__ = ["lapped_cosine"]


@cache
def _fold(size: int) -> tuple[Vector, Vector]:
    """Cosine and sine of the angles by which samples around a frame boundary are rotated.

    The window of the Vorbis codec: power complementary, and smooth at both ends.
    """
    position = (np.arange(size // 2) + 0.5) / (size // 2)
    angle = 0.5 * np.pi * np.sin(0.25 * np.pi * (1.0 + position)) ** 2
    return np.sin(angle), np.cos(angle)


def lapped_cosine(signals: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Lapped cosine transform (MDCT) of each signal.

    Samples mirrored at inner frame boundaries are rotated into each other, then every frame has its
    cosine transform (DCT-IV). Both steps are orthonormal. The two ends are not folded.

    Parameters
    ----------
    signals : ndarray of shape (..., n_samples)
        What does not fill a frame is left out.
    size : int
        Even number of samples in a frame.

    Returns
    -------
    coefficients : ndarray of shape (..., n_samples // size, size)
        Frames by frequencies.
    """
    n_frames = signals.shape[-1] // size
    frames = np.array(signals[..., : n_frames * size], dtype=np.float64)
    frames = frames.reshape(*signals.shape[:-1], n_frames, size)
    if n_frames > 1:
        half = size // 2
        keep, mix = _fold(size)
        after = frames[..., 1:, :half].copy()
        before = frames[..., :-1, : half - 1 : -1].copy()
        frames[..., 1:, :half] = keep * after + mix * before
        frames[..., :-1, : half - 1 : -1] = keep * before - mix * after
    return dct(frames, type=4, norm="ortho", axis=-1, overwrite_x=True)
