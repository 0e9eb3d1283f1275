"""Oscillating test signals: sines, chirps and their mixtures, which are not sparse in wavelets.

Formulas are those of WaveLab's ``MakeSignal`` (Buckheit, Chen, Donoho, Johnstone and Scargle)
unless stated otherwise. Each function takes the sample positions in [0, 1]. Frequencies are
proportional to the number of samples.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import Vector

__all__ = [
    "am_fm",
    "chirps",
    "doppler",
    "gabor",
    "harmonics",
    "hisine",
    "hyp_chirps",
    "linchirp",
    "linchirp_slow",
    "linchirps",
    "losine",
    "quadchirp",
    "riemann",
    "sine_one_over_x",
    "twochirp",
    "werner_chirps",
]


def doppler(t: Vector) -> Vector:
    """A sine of decreasing frequency (Donoho and Johnstone, 1994)."""
    return np.sqrt(np.maximum(t * (1.0 - t), 0.0)) * np.sin(2.1 * np.pi / (t + 0.05))


def hisine(t: Vector) -> Vector:
    """A sine at 0.69 of the Nyquist frequency."""
    return np.sin(0.6902 * np.pi * len(t) * t)


def losine(t: Vector) -> Vector:
    """A sine at a third of the Nyquist frequency."""
    return np.sin(0.3333 * np.pi * len(t) * t)


def linchirp(t: Vector) -> Vector:
    """A sine whose frequency grows linearly from zero to half the Nyquist frequency."""
    return np.sin(0.5 * np.pi * len(t) * t**2)


def linchirp_slow(t: Vector) -> Vector:
    """The linear chirp in MishMash: a quarter of the frequency of `linchirp`."""
    return np.sin(0.125 * np.pi * len(t) * t**2)


def twochirp(t: Vector) -> Vector:
    """Two linear chirps; the faster is aliased in its second half."""
    phase = np.pi * len(t) * t**2
    return np.sin(phase) + np.sin(phase / 3.0)


def quadchirp(t: Vector) -> Vector:
    """A sine whose frequency grows with the square of time."""
    return np.sin(np.pi / 3.0 * len(t) * t**3)


def werner_chirps(t: Vector) -> Vector:
    """The two chirps of WernerSorrows."""
    scaled = np.pi * len(t)
    return np.sin(0.5 * scaled * t**3) + np.sin(scaled * t**2)


def hyp_chirps(t: Vector) -> Vector:
    """Two hyperbolic chirps under a smooth window (Mallat's book)."""
    n = len(t)
    t = t + 0.001 / n
    # Outside the windows the phase has a pole; there any finite number serves.
    inverse = 1.0 / np.where(t < 0.75, 0.8 - t, 1.0)
    scaled = np.pi * n / 1024.0 * inverse
    slow = np.sin(15.0 * scaled) * ((t > 0.1) & (t < 0.68))
    fast = np.sin(5.0 * scaled) * ((t > 0.1) & (t < 0.75))
    n_inside = round(0.65 * n)
    start = -(-n // 10) - 1
    window = np.zeros(n)
    window[start : start + n_inside] = _tapered(n_inside, n_inside // 4)
    return (slow + fast) * window


def linchirps(t: Vector) -> Vector:
    """Two parallel linear chirps (Mallat's book)."""
    n = len(t)
    scaled = np.pi * n / 1024.0
    amplitude = np.sqrt(np.maximum((t - 1.0 / n) * (1.0 - t), 0.0))
    phase = 250.0 * scaled * t**2
    return amplitude * (np.cos(phase) + np.cos(100.0 * scaled * t + phase))


def chirps(t: Vector) -> Vector:
    """A rising and a falling chirp and two wave packets (Mallat's book)."""
    n = len(t)
    scaled = n / 1024.0
    rising = np.cos((10.0 * np.pi * t) ** 2 * scaled)
    falling = np.cos(30.0 * scaled * (np.pi * (1.0 + 1.0 / n - t)) ** 3)
    low = _packet(t, 0.5, 40.0 * np.sqrt(scaled)) * np.cos(50.0 * np.pi * t * scaled)
    high = _packet(t, 0.875, 40.0 * np.sqrt(scaled)) * np.cos(350.0 * np.pi * t * scaled)
    return (rising + falling + low + high) * _tapered(n, n // 8)


def gabor(t: Vector) -> Vector:
    """Two wave packets (the real part of WaveLab's, which has 512 samples; Mallat's book)."""
    scaled = np.pi * len(t) * t
    slope = np.sqrt(500.0)
    return 3.0 * (
        _packet(t, 0.5, slope) * np.cos(scaled / 16.0)
        + _packet(t, 0.75, slope) * np.cos(scaled / 4.0)
    )


def sine_one_over_x(t: Vector) -> Vector:
    """``sin(1.5 / x)`` around zero (WaveLab's has 1024 samples; Mallat's book)."""
    n = len(t)
    steps = n * (t - 0.5)
    steps[np.abs(steps) < 0.01] = 0.01
    return np.sin(1.5 * (n - 1) / steps)


def riemann(t: Vector) -> Vector:
    """Riemann's non-differentiable function: frequencies are square numbers."""
    n = len(t)
    # WaveLab rounds the root, which makes the signal longer for some n.
    root = np.arange(1, int(np.floor(np.sqrt(n))) + 1)
    spectrum = np.zeros(n)
    spectrum[root**2 - 1] = 1.0 / root
    return np.fft.ifft(spectrum).real


def am_fm(t: Vector) -> Vector:
    """A sine with amplitude and frequency modulation (ours)."""
    n = len(t)
    amplitude = 1.0 + 0.8 * np.sin(6.0 * np.pi * t)
    return amplitude * np.sin(0.4 * np.pi * n * t + 0.03 * n * np.sin(4.0 * np.pi * t))


def harmonics(t: Vector) -> Vector:
    """Twelve decaying harmonics, as of a plucked string (ours)."""
    order = np.arange(1, 13)[:, np.newaxis]
    tones = np.sin(0.0731 * np.pi * len(t) * order * t + order) * np.exp(-0.5 * order * t)
    total: Vector = (tones / np.sqrt(order)).sum(axis=0)
    return total


def _packet(t: Vector, centre: float, slope: float) -> Vector:
    """A Gaussian envelope around `centre`, one sample late as in WaveLab."""
    return np.exp(-((slope * (t - 1.0 / len(t) - centre)) ** 2))


def _tapered(n: int, n_edge: int) -> Vector:
    """Ones with `n_edge` samples of a raised cosine at both ends."""
    window = np.ones(n)
    phase = np.arange(n_edge) / max(n_edge - 1, 1)
    edge = 0.5 * (1.0 - np.cos(np.pi * phase))
    window[:n_edge] = edge
    window[n - n_edge :] = edge[::-1]
    return window
