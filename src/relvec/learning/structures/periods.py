"""Candidate periods of a series, from periodograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.learning.structures.rows import SearchRows

__all__ = ["PeriodFinder"]

DETRENDINGS = (16, 6, 0)
"""Numbers of slow cosines that are removed before a periodogram is computed; 0 stands for a
quadratic. Each hides other periods, so all are used."""
FREQUENCY_STEP = 0.125
"""Step of frequencies in cycles per scaled unit: a quarter of the resolution of a record of length
2."""
MULTIPLE_POWER = 25.0
"""Twice or three times a period is a candidate if one of its own harmonics, which the period itself
does not have, exceeds this multiple of the median power. Otherwise it only is a richer model."""


class _Spectrum(NamedTuple):
    frequency: Vector
    power: Vector
    peaks: Vector
    """Frequencies of the local maxima, the highest first."""

    def nearby_power(self, frequency: float) -> float:
        """Return the largest power within the resolution of a frequency."""
        near = np.abs(self.frequency - frequency) < 0.2
        return float(self.power[near].max(initial=0.0))


@dataclass(frozen=True)
class PeriodFinder:
    """Least-squares periodograms of the rows of a series, in order of time."""

    rows: SearchRows

    @property
    def _u(self) -> Vector:
        return self.rows.U[:, 0]

    @cached_property
    def shortest(self) -> float:
        """Shortest period that the spacing of the inputs allows."""
        return 2.1 * self.rows.smallest_spacing

    def compute_spectrum(self, values: Vector, n_cosines: int) -> _Spectrum:
        """Compute the variance that sinusoids explain, after slow functions are removed."""
        slow = self._slow_functions(n_cosines)
        values = values - slow @ (slow.T @ values)
        highest = 1.0 / (2.2 * self.rows.smallest_spacing)
        frequency = np.arange(0.625, highest, FREQUENCY_STEP)
        power = np.empty(len(frequency))
        for start in range(0, len(frequency), 400):  # blocks, to bound the memory
            part = slice(start, start + 400)
            angle = 2.0 * np.pi * np.multiply.outer(self._u, frequency[part])
            waves = [np.cos(angle), np.sin(angle)]
            waves = [wave - slow @ (slow.T @ wave) for wave in waves]
            cc, ss, cs = (
                np.einsum("ij,ij->j", waves[i], waves[j]) for i, j in ((0, 0), (1, 1), (0, 1))
            )
            c, s = (values @ wave for wave in waves)
            # b' A^-1 b with the Gram matrix A of cosine and sine.
            explained = ss * c**2 - 2.0 * cs * c * s + cc * s**2
            power[part] = explained / np.maximum(cc * ss - cs**2, 1e-9)
        inner = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] >= power[2:])) + 1
        places = inner[np.argsort(-power[inner], kind="stable")]
        before, at, after = power[places - 1], power[places], power[places + 1]
        # Maximum of the parabola through three neighbouring values.
        shift = 0.5 * (before - after) / (before - 2.0 * at + after - 1e-12)
        return _Spectrum(frequency, power, frequency[places] + shift * FREQUENCY_STEP)

    def _slow_functions(self, n_cosines: int) -> Matrix:
        u = self._u[:, np.newaxis]
        slow = [np.ones_like(u), u]
        slow += [u**2] if n_cosines == 0 else []
        slow += [np.cos(0.5 * np.pi * j * (u + 1.0)) for j in range(1, n_cosines)]
        orthonormal: Matrix = np.linalg.qr(np.hstack(slow)[:, : self.rows.n_samples])[0]
        return orthonormal

    def find_residual_periods(self, residual: Vector) -> list[float]:
        """Return the periods of the two highest peaks of residuals."""
        return [1.0 / float(each) for each in self.compute_spectrum(residual, 6).peaks[:2]]

    def find_periods(self, target: Vector) -> list[float]:
        """Return candidate periods of the targets, refined, the best first."""
        if len(target) < 2:
            return []
        values = _clip_increments(target)
        spectra = [self.compute_spectrum(values, n_cosines) for n_cosines in DETRENDINGS]
        found: list[float] = []
        for rank in range(3):
            for spectrum in spectra:
                if len(spectrum.peaks) > rank:
                    self._append(found, 1.0 / float(spectrum.peaks[rank]))
                if rank == 0 and len(spectrum.peaks):
                    for multiple in _find_multiples(spectrum):
                        self._append(found, multiple)
        refined = [self._refine(each, values) for each in found[:6]] + found[6:]
        return [
            each
            for place, each in enumerate(refined)
            if all(abs(each - other) > 0.015 * other for other in refined[:place])
        ]

    def _append(self, found: list[float], period: float) -> None:
        """Append a period that is short enough to repeat, and not yet in the list."""
        is_new = all(abs(period - other) > 0.04 * other for other in found)
        if self.shortest < period < 0.9 and is_new:
            found.append(period)

    def _refine(self, period: float, values: Vector) -> float:
        """Return the period near another one whose harmonics explain most variance."""
        if period > 0.3:  # few cycles: the harmonics do not sharpen the peak
            return period
        u = self._u
        cosines = np.cos(0.5 * np.pi * np.multiply.outer(u + 1.0, np.arange(12)))
        slow = np.linalg.qr(cosines)[0]
        values = values - slow @ (slow.T @ values)
        orders = np.arange(1, int(min(4.0, max(1.0, period / self.shortest))) + 1)
        # The record of length 2 resolves periods to about p^2 / 2.
        trials = period + 0.2 * np.linspace(-1.0, 1.0, 25) * period**2

        def explained(trial: float) -> float:
            angle = 2.0 * np.pi / trial * np.multiply.outer(u, orders)
            design = np.hstack([np.cos(angle), np.sin(angle), slow])
            fit = design @ np.linalg.lstsq(design, values, rcond=None)[0]
            return -float(np.sum((values - fit) ** 2))

        return float(max(trials, key=explained))


def _clip_increments(target: Vector) -> Vector:
    """Sum up increments that are clipped at five robust standard deviations.

    A jump has power at all frequencies and would hide the periods.
    """
    increments = np.diff(target)
    centre = np.median(increments)
    # 1.48 median absolute deviations are a standard deviation of normal values.
    width = 5.0 * 1.48 * np.median(np.abs(increments - centre)) + 1e-12
    clipped = np.clip(increments, centre - width, centre + width)
    return target[0] + np.concatenate([[0.0], np.cumsum(clipped)])


def _find_multiples(spectrum: _Spectrum) -> Sequence[float]:
    """Return twice and three times the first period, if they have power of their own."""
    first, floor = float(spectrum.peaks[0]), MULTIPLE_POWER * float(np.median(spectrum.power))
    found = []
    for multiple in (2, 3):
        own = [first * j / multiple for j in range(1, 2 * multiple) if j % multiple]
        if max(map(spectrum.nearby_power, own)) > floor:
            found.append(multiple / first)
    return found
