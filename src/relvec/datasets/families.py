"""Random test signals: for testing methods on signals they were not tuned on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from sklearn.utils import check_random_state

from relvec._checks import check_choice, check_integer
from relvec._typing import Vector

__all__ = ["RANDOM_FAMILIES", "make_random_signal"]

Random = np.random.RandomState


def make_random_signal(
    family: str, n: int = 1024, *, random_state: int | np.random.RandomState | None = None
) -> Vector:
    """Make a clean random signal of a family, with mean zero and standard deviation one.

    Parameters
    ----------
    family : str
        One of `RANDOM_FAMILIES`: "chirps" (one to three, linear in frequency), "cubics"
        (pieces of cubic polynomials with jumps), "sines" (six of them), "sawtooth", "gabor"
        (twelve wave packets) or "voice" (syllables of a tone with formants).
    n : int, default=1024
        Number of samples, at least 16.
    random_state : int, RandomState or None, default=None
        Seed of the signal.

    Returns
    -------
    signal : ndarray of shape (n,)

    Examples
    --------
    >>> from relvec.datasets import make_random_signal
    >>> make_random_signal("sines", 256, random_state=0).shape
    (256,)
    """
    check_choice("family", family, RANDOM_FAMILIES)
    n = check_integer("n", n, minimum=16)  # as in `make_signal`
    signal = _FAMILIES[family](np.arange(n) / n, check_random_state(random_state))
    signal = signal - signal.mean()
    return signal / signal.std()


def _chirps(t: Vector, random: Random) -> Vector:
    signal = np.zeros_like(t)
    for _ in range(random.randint(1, 4)):
        first, last = random.uniform(0.0, 0.45, 2) * len(t)
        phase = 2.0 * np.pi * (first * t + 0.5 * (last - first) * t**2 + random.uniform())
        signal += random.uniform(0.5, 1.5) * np.sin(phase)
    return signal


def _cubics(t: Vector, random: Random) -> Vector:
    knots = np.concatenate([[0.0], np.sort(random.uniform(size=random.randint(3, 9))), [1.0]])
    signal = np.zeros_like(t)
    for left, right in pairwise(knots):
        inside = (t >= left) & (t < right)
        coefficients = random.standard_normal(4) * [1.0, 2.0, 2.0, 2.0]
        local = (t[inside] - left) / max(right - left, 1e-3)
        signal[inside] = np.polynomial.polynomial.polyval(local, coefficients)
    return signal


def _sines(t: Vector, random: Random) -> Vector:
    signal = np.zeros_like(t)
    for _ in range(6):
        frequency = random.uniform(0.01, 0.48) * len(t)
        signal += random.uniform(0.3, 1.0) * np.sin(
            2.0 * np.pi * (frequency * t + random.uniform())
        )
    return signal


def _sawtooth(t: Vector, random: Random) -> Vector:
    periods = np.exp(random.uniform(np.log(3.0), np.log(len(t) / 8.0)))
    return (periods * t + random.uniform()) % 1.0


def _gabor(t: Vector, random: Random) -> Vector:
    signal = np.zeros_like(t)
    for _ in range(12):
        width = np.exp(random.uniform(np.log(8.0 / len(t)), np.log(0.1)))
        frequency = random.uniform(0.0, 0.48) * len(t)
        bell = np.exp(-0.5 * ((t - random.uniform()) / width) ** 2)
        phase = 2.0 * np.pi * (frequency * t + random.uniform())
        signal += random.uniform(0.5, 1.5) * bell * np.cos(phase)
    return signal


def _voice(t: Vector, random: Random) -> Vector:
    pitch = random.uniform(0.01, 0.03) * (1.0 + 0.1 * np.sin(2.0 * np.pi * (t + random.uniform())))
    phase = 2.0 * np.pi * np.cumsum(pitch)
    formants = random.uniform(0.02, 0.3, 3)
    signal = np.zeros_like(t)
    for order in range(1, 16):
        distance = np.abs(order * pitch[:, np.newaxis] - formants)
        signal += np.exp(-distance / 0.03).sum(axis=1) * np.sin(order * phase)
    syllables = np.sin(np.pi * (random.randint(2, 6) * t + random.uniform())) ** 2
    return signal * syllables


_FAMILIES: dict[str, Callable[[Vector, Random], Vector]] = {
    "chirps": _chirps,
    "cubics": _cubics,
    "sines": _sines,
    "sawtooth": _sawtooth,
    "gabor": _gabor,
    "voice": _voice,
}

RANDOM_FAMILIES = tuple(_FAMILIES)
"""Families of `make_random_signal`."""
