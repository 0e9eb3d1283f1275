"""The lapped cosine transform (MDCT): orthonormal, and local in time and frequency."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from relvec._typing import Matrix, Vector

__all__ = ["inverse_lapped_cosine", "lapped_cosine", "lapped_variances"]

Array = NDArray[np.float64]


def lapped_cosine(signals: Array, size: int, *, periodic: bool = False) -> Array:
    """Compute the lapped cosine transform (MDCT) of each signal.

    Each pair of samples that mirror each other at a frame boundary is rotated by an angle (the
    window); then every frame is transformed by the DCT-IV. Both steps are orthonormal.

    Parameters
    ----------
    signals : ndarray of shape (..., n_samples)
        Samples that do not fill a frame are left out.
    size : int
        Even number of samples in a frame.
    periodic : bool, default=False
        Whether the last frame overlaps with the first; otherwise the two ends have no overlap.

    Returns
    -------
    coefficients : ndarray of shape (..., n_samples // size, size)
        Frames by frequencies.
    """
    n_frames = signals.shape[-1] // size
    frames = np.array(signals[..., : n_frames * size], dtype=np.float64)
    frames = frames.reshape(*signals.shape[:-1], n_frames, size)
    keep, mix = _angles(size)
    for before, after in _boundaries(frames, periodic):
        saved = after.copy()
        after *= keep
        after += mix * before
        before *= keep
        before -= mix * saved
    return dct(frames, type=4, norm="ortho", axis=-1, overwrite_x=True)


def inverse_lapped_cosine(coefficients: Array, *, periodic: bool = False) -> Array:
    """Invert `lapped_cosine`: return signals of shape (..., n_frames * size)."""
    size = coefficients.shape[-1]
    frames = dct(coefficients, type=4, norm="ortho", axis=-1)
    keep, mix = _angles(size)
    for before, after in _boundaries(frames, periodic):
        saved = after.copy()
        after *= keep
        after -= mix * before
        before *= keep
        before += mix * saved
    return frames.reshape(*frames.shape[:-2], -1)


def lapped_variances(values: Array, *, adjoint: bool = False, periodic: bool = False) -> Array:
    """Propagate independent variances from coefficients to samples, or back.

    A linear map with matrix ``A`` takes independent variances ``v`` to ``(A * A) v``.

    Parameters
    ----------
    values : ndarray of shape (..., n_frames, size)
        Variances of the coefficients; with `adjoint`, of the samples of each frame.
    adjoint : bool, default=False
        Propagate from samples to coefficients.
    periodic : bool, default=False
        As in `lapped_cosine`.

    Returns
    -------
    variances : ndarray of the same shape
        Variances of the samples of each frame; with `adjoint`, of the coefficients.
    """
    squared = _squared_cosines(values.shape[-1])
    frames = np.array(values) if adjoint else values @ squared
    keep, mix = (part * part for part in _angles(values.shape[-1]))
    for before, after in _boundaries(frames, periodic):
        saved = after.copy()
        after *= keep
        after += mix * before
        before *= keep
        before += mix * saved
    return frames @ squared if adjoint else frames


def _boundaries(frames: Array, periodic: bool) -> list[tuple[Array, Array]]:
    """Return views of the mirrored samples on both sides of every overlapping boundary."""
    half = frames.shape[-1] // 2
    pairs = []
    if frames.shape[-2] > 1:
        pairs.append((frames[..., :-1, : half - 1 : -1], frames[..., 1:, :half]))
    if periodic:
        pairs.append((frames[..., -1, : half - 1 : -1], frames[..., 0, :half]))
    return pairs


@lru_cache(maxsize=32)
def _angles(size: int) -> tuple[Vector, Vector]:
    """Compute cosine and sine of the rotation angles at a frame boundary.

    They are the window of the Vorbis codec: power complementary, and smooth at both ends.
    """
    position = (np.arange(size // 2) + 0.5) / (size // 2)
    angle = 0.5 * np.pi * np.sin(0.25 * np.pi * (1.0 + position)) ** 2
    return np.sin(angle), np.cos(angle)


@lru_cache(maxsize=32)
def _squared_cosines(size: int) -> Matrix:
    cosines: Matrix = dct(np.eye(size), type=4, norm="ortho")
    return cosines * cosines
