"""Test signals with jumps, peaks and kinks, which are sparse in wavelets.

Formulas are those of WaveLab's ``MakeSignal`` (Buckheit, Chen, Donoho, Johnstone and Scargle)
unless stated otherwise. Each function takes the sample positions in [0, 1].
"""

from __future__ import annotations

import numpy as np

from relvec._typing import Vector

__all__ = [
    "blocks",
    "bumps",
    "cusp",
    "heavisine",
    "kronecker",
    "piece_polynomial",
    "piece_regular",
    "ramp",
    "sinc",
    "singularity",
    "spikes",
    "square",
    "telegraph",
]

_POSITION = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
_STEP = np.array([4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
_HEIGHT = np.array([4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
_WIDTH = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])


def blocks(t: Vector) -> Vector:
    """Eleven jumps (Donoho and Johnstone, 1994)."""
    signal = np.zeros_like(t)
    for position, step in zip(_POSITION, _STEP, strict=True):
        signal += 0.5 * step * (1.0 + np.sign(t - position))
    return signal


def bumps(t: Vector) -> Vector:
    """Eleven sharp peaks (Donoho and Johnstone, 1994)."""
    signal = np.zeros_like(t)
    for position, height, width in zip(_POSITION, _HEIGHT, _WIDTH, strict=True):
        signal += height / (1.0 + np.abs((t - position) / width)) ** 4
    return signal


def heavisine(t: Vector) -> Vector:
    """A sine with two jumps (Donoho and Johnstone, 1994)."""
    return 4.0 * np.sin(4.0 * np.pi * t) - np.sign(t - 0.3) - np.sign(0.72 - t)


def sinc(t: Vector) -> Vector:
    """``sin(x) / x`` for `x` from -10 to 10 (Tipping, 2001)."""
    return np.sinc(20.0 * (t - 0.5) / np.pi)


def ramp(t: Vector) -> Vector:
    """A line with one jump."""
    return t - (t >= 0.37)


def cusp(t: Vector) -> Vector:
    """The square root of the distance from 0.37."""
    return np.sqrt(np.abs(t - 0.37))


def singularity(t: Vector) -> Vector:
    """One over the distance from a point between two samples near 0.37."""
    n = len(t)
    centre = (np.floor(0.37 * n) + 0.5) / n
    # On WaveLab's grid no sample is nearer than this; on other grids a sample could be the pole.
    return 1.0 / np.maximum(np.abs(t - centre), 0.5 / n)


def kronecker(t: Vector) -> Vector:
    """One sample equal to one, all others zero (WaveLab's Leopold)."""
    signal = np.zeros_like(t)
    signal[int(np.floor(0.37 * len(t))) - 1] = 1.0
    return signal


def spikes(t: Vector) -> Vector:
    """Isolated spikes: one sample in 64, at irregular positions, with heights from 1 to 5."""
    n = len(t)
    index = np.arange(max(1, n // 64))
    # Multiples of the golden ratio modulo one are irregular but deterministic.
    jitter = (index * 0.6180339887498949) % 1.0
    signal = np.zeros_like(t)
    signal[((index + jitter) / len(index) * n).astype(np.intp)] = (
        1.0 + 4.0 * (index * 0.7548776662466927) % 4.0
    ) * (-1.0) ** index
    return signal


def square(t: Vector) -> Vector:
    """Eight periods of a square wave."""
    return np.where((8.0 * t) % 1.0 < 0.5, 1.0, -1.0)


def telegraph(t: Vector) -> Vector:
    """Plus and minus one, switching forty times at irregular positions."""
    index = np.arange(40)
    switches = np.sort((0.01 + index * 0.6180339887498949) % 1.0)
    return np.where(np.searchsorted(switches, t) % 2, -1.0, 1.0)


def piece_regular(t: Vector) -> Vector:
    """Smooth pieces between jumps (Mallat's book)."""
    n = len(t)
    half, third, fifth, seventh = n // 2, n // 3, n // 5, n // 7
    twelfth, twentieth = n // 12, n // 20
    signal = np.zeros(n)

    bell = -70.0 * np.exp(-0.5 * ((_ramp(third) - 0.5) / 0.15) ** 2)
    bell[seventh:fifth] *= 0.5
    signal[:third] = bell
    signal[third:half] = -15.0 * bumps(t)[third:half]

    rise = -np.exp(4.0 * _ramp(twelfth))
    signal[half : half + 2 * twelfth] = np.concatenate([rise, rise[::-1]])
    start = half + 2 * twelfth + twentieth
    signal[start : start + 2 * twentieth] = -25.0
    start += 2 * twentieth
    signal[start : start + seventh] = np.exp(4.0 * _ramp(seventh)) - np.exp(4.0)

    _mirror_start_to_end(signal, n - 5 * fifth)
    return signal.mean() - signal


def piece_polynomial(t: Vector) -> Vector:
    """Pieces of polynomials up to the third degree."""
    n = len(t)
    fifth, tenth, twentieth = n // 5, n // 10, n // 20
    u = _ramp(fifth)
    pieces = [
        20.0 * (u**3 + u**2 + 4.0),
        (10.0 * u**3 + 45.0)[::-1],
        40.0 * (2.0 * u**3 + u) + 100.0,
        16.0 * u**2 + 8.0 * u + 16.0,
        (20.0 * (u + 4.0))[::-1],
    ]
    signal = np.zeros(n)
    signal[: 5 * fifth] = np.concatenate(pieces)
    _mirror_start_to_end(signal, n - 5 * fifth)
    signal[twentieth : twentieth + tenth] = 10.0
    signal[n - tenth : n - tenth + twentieth] = 150.0
    return signal - signal.mean()


def _ramp(n: int) -> Vector:
    """``1/n, 2/n, ..., 1``."""
    return np.arange(1, n + 1) / max(n, 1)


def _mirror_start_to_end(signal: Vector, n: int) -> None:
    """Fill the last `n` samples, in place, with the first ones in reverse."""
    if n > 0:
        signal[-n:] = signal[n - 1 :: -1]
