"""Lapped cosine transforms (MDCT) averaged over shifts, in any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product

import numpy as np

from relvec.denoising.frame import Array, Band, Bands, Frame
from relvec.dictionaries.lapped import inverse_lapped_cosine, lapped_cosine, lapped_variances

__all__ = ["CosineFrame"]


class CosineFrame(Frame):
    """Average over shifts of a periodic lapped cosine transform.

    Oscillations are sparse in this transform, as jumps and peaks are in wavelets. Each shift is
    one band, of shape (frames, frequencies) for each axis.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid; a multiple of `size` along each axis, and at least twice that.
    size : int
        Even number of samples in a frame along each axis.
    n_shifts : int
        Number of shifts along each axis, evenly spaced over a frame.
    """

    def __init__(self, shape: tuple[int, ...], size: int, n_shifts: int) -> None:
        if any(length % size or length < 2 * size for length in shape):
            raise ValueError(
                f"Frames of {size} samples need axes that are multiples of {size} and at least "
                f"{2 * size} long; got shape {shape}."
            )
        self.shape = shape
        self.size = size
        steps = [round(size * shift / n_shifts) for shift in range(n_shifts)]
        self.shifts = list(product(steps, repeat=len(shape)))

    @property
    def bands(self) -> list[Band]:
        """One band per shift."""
        # Axes alternate frames and frequencies; neighbours in frequency form groups.
        frequencies = tuple(range(1, 2 * len(self.shape), 2))
        band = Band(f"cosines in frames of {self.size}", 1 / len(self.shifts), frequencies, False)
        return [band] * len(self.shifts)

    def analyse(self, values: Array) -> Bands:
        """Compute the lapped cosine transform of every shift."""
        bands = []
        for shift in self.shifts:
            band = self._moved(values, shift, -1)
            # each pass moves the first axis to the end and transforms it frame by frame
            for _ in self.shape:
                band = lapped_cosine(np.moveaxis(band, 0, -1), self.size, periodic=True)
            bands.append(band)
        return bands

    def synthesise(self, bands: Bands) -> Array:
        """Average the inverse transforms over all shifts."""
        total = np.zeros(self.shape)
        for shift, band in zip(self.shifts, bands, strict=True):
            values = band
            for _ in self.shape:
                values = np.moveaxis(inverse_lapped_cosine(values, periodic=True), -1, 0)
            total += self._moved(values, shift, 1)
        total /= len(self.shifts)
        return total

    def synthesise_variance(self, bands: Bands) -> Array:
        """Propagate independent variances of the coefficients to the samples."""
        total = np.zeros(self.shape)
        for shift, band in zip(self.shifts, bands, strict=True):
            values = band
            for _ in self.shape:
                frames = lapped_variances(values, periodic=True)
                values = np.moveaxis(frames.reshape(*frames.shape[:-2], -1), -1, 0)
            # The mean of the variances of the shifts is an upper bound of the variance of their
            # mean.
            total += self._moved(values, shift, 1)
        total /= len(self.shifts)
        return total

    def analyse_variance(self, values: Array) -> Iterator[Array]:
        """Propagate independent variances of the samples to the coefficients."""
        for shift in self.shifts:
            band = self._moved(values, shift, -1)
            for _ in self.shape:
                band = np.moveaxis(band, 0, -1)
                frames = band.reshape(*band.shape[:-1], -1, self.size)
                band = lapped_variances(frames, adjoint=True, periodic=True)
            yield band

    def energy_inside(self, window: tuple[slice, ...]) -> Iterator[Array]:
        """Compute the fraction of every atom's energy inside a box of the grid."""
        for shift in self.shifts:
            factors = [
                self._inside_along(length, part, step)
                for length, part, step in zip(self.shape, window, shift, strict=True)
            ]
            # Atoms are products over the axes, and so are fractions of their energy inside a box.
            yield reduce(np.multiply.outer, factors)

    def _inside_along(self, length: int, window: slice, step: int) -> Array:
        indicator = np.zeros(length)
        indicator[window] = 1.0
        frames = np.roll(indicator, -step).reshape(-1, self.size)
        filled = frames.mean(axis=1)
        # An atom extends half a frame into its neighbours. Only frames near the edges of the
        # window need the exact sum; all others are completely inside or outside.
        near = np.roll(filled, 1), np.roll(filled, -1)
        partial = np.flatnonzero((filled != near[0]) | (filled != near[1]) | (filled % 1.0 != 0.0))
        energy = np.repeat(filled[:, None], self.size, axis=1)
        for frame in partial:
            around = frames[[frame - 1, frame, (frame + 1) % len(frames)]]
            energy[frame] = lapped_variances(around, adjoint=True)[1]
        return energy

    def _moved(self, values: Array, shift: tuple[int, ...], sign: int) -> Array:
        steps = [sign * step for step in shift]
        return np.roll(values, steps, axis=tuple(range(len(shift))))
