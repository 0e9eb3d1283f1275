"""Lapped cosines averaged over shifts, in any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product

import numpy as np

from relvec.denoising.frame import Array, Band, Bands, Frame
from relvec.dictionaries.lapped import inverse_lapped_cosine, lapped_cosine, lapped_variances

__all__ = ["CosineFrame"]


class CosineFrame(Frame):
    """Shifts of a periodic lapped cosine transform, averaged.

    Where wavelets see jumps and peaks as few coefficients, cosines in frames see
    oscillations. Each shift is one band, of shape (frames, frequencies) for each axis.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid; at least two frames along each axis, and no remainder.
    size : int
        Samples in a frame along each axis, even.
    n_shifts : int
        Shifts along each axis, evenly spread over a frame.
    """

    def __init__(self, shape: tuple[int, ...], size: int, n_shifts: int) -> None:
        if any(length % size or length < 2 * size for length in shape):
            raise ValueError(f"Frames of {size} need two or more whole ones along {shape}.")
        self.shape = shape
        self.size = size
        steps = [round(size * shift / n_shifts) for shift in range(n_shifts)]
        self.shifts = list(product(steps, repeat=len(shape)))

    @property
    def bands(self) -> list[Band]:
        """One band per shift."""
        frequencies = tuple(range(1, 2 * len(self.shape), 2))
        band = Band(f"cosines in frames of {self.size}", 1 / len(self.shifts), frequencies, False)
        return [band] * len(self.shifts)

    def analyse(self, values: Array) -> Bands:
        """Lapped cosine transform of every shift."""
        bands = []
        for shift in self.shifts:
            band = self._moved(values, shift, -1)
            for _ in self.shape:  # each turn takes the first axis to the end, cut into frames
                band = lapped_cosine(np.moveaxis(band, 0, -1), self.size, periodic=True)
            bands.append(band)
        return bands

    def synthesise(self, bands: Bands) -> Array:
        """Average over the shifts of the signals with these coefficients."""
        total = np.zeros(self.shape)
        for shift, band in zip(self.shifts, bands, strict=True):
            values = band
            for _ in self.shape:
                values = np.moveaxis(inverse_lapped_cosine(values, periodic=True), -1, 0)
            total += self._moved(values, shift, 1)
        total /= len(self.shifts)
        return total

    def spread(self, bands: Bands) -> Array:
        """Sum of the squared atoms, weighted by `bands` and their shares."""
        total = np.zeros(self.shape)
        for shift, band in zip(self.shifts, bands, strict=True):
            values = band
            for _ in self.shape:
                frames = lapped_variances(values, periodic=True)
                values = np.moveaxis(frames.reshape(*frames.shape[:-2], -1), -1, 0)
            total += self._moved(values, shift, 1)
        total /= len(self.shifts)
        return total

    def gather(self, values: Array) -> Iterator[Array]:
        """Weigh the samples of `values` by every squared atom."""
        for shift in self.shifts:
            band = self._moved(values, shift, -1)
            for _ in self.shape:
                band = np.moveaxis(band, 0, -1)
                frames = band.reshape(*band.shape[:-1], -1, self.size)
                band = lapped_variances(frames, adjoint=True, periodic=True)
            yield band

    def inside(self, window: tuple[slice, ...]) -> Iterator[Array]:
        """Share of every atom's energy that lies in a box of the grid."""
        for shift in self.shifts:
            factors = [
                self._inside_along(length, part, step)
                for length, part, step in zip(self.shape, window, shift, strict=True)
            ]
            yield reduce(np.multiply.outer, factors)

    def _inside_along(self, length: int, window: slice, step: int) -> Array:
        indicator = np.zeros(length)
        indicator[window] = 1.0
        frames = np.roll(indicator, -step).reshape(-1, self.size)
        filled = frames.mean(axis=1)
        # an atom reaches half a frame into the next one; far from the ends nothing is cut off
        near = np.roll(filled, 1), np.roll(filled, -1)
        cut = np.flatnonzero((filled != near[0]) | (filled != near[1]) | (filled % 1.0 != 0.0))
        energy = np.repeat(filled[:, None], self.size, axis=1)
        for frame in cut:
            around = frames[[frame - 1, frame, (frame + 1) % len(frames)]]
            energy[frame] = lapped_variances(around, adjoint=True)[1]
        return energy

    def _moved(self, values: Array, shift: tuple[int, ...], sign: int) -> Array:
        steps = [sign * step for step in shift]
        return np.roll(values, steps, axis=tuple(range(len(shift))))
