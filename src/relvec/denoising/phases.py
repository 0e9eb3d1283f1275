"""Storage order of the coefficients of shifted wavelet transforms.

After ``j`` levels, each computed with and without a shift by one sample, the coefficients of all
shifts ("phases") are stacked along the first axis of a band; the shift of the latest level varies
slowest. Along each axis of the signal, coefficient ``q`` of phase ``r`` belongs to the atom that
begins at sample ``r + 2^j q``.
"""

from __future__ import annotations

import math

import numpy as np

from relvec.denoising.frame import Array

__all__ = ["Phases"]


class Phases:
    """Storage order of one band.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid.
    levels : tuple of int
        Number of wavelet levels along each axis.
    level : int
        Level of the band; along axes with fewer levels, their last one.
    n_doublings : int
        Number of levels that are computed with both shifts.
    """

    def __init__(
        self, shape: tuple[int, ...], levels: tuple[int, ...], level: int, n_doublings: int
    ) -> None:
        self.shape = shape
        self.strides = [2 ** min(level, depth) for depth in levels]
        self.counts = [2 ** min(level, depth, n_doublings) for depth in levels]
        self.sizes = [size // stride for size, stride in zip(shape, self.strides, strict=True)]
        # the axis of every doubling of the number of shifts, slowest varying first
        self.bits = [
            axis
            for doubled_level in range(min(level, n_doublings), 0, -1)
            for axis in range(len(shape) - 1, -1, -1)
            if levels[axis] >= doubled_level
        ]

    @property
    def n_phases(self) -> int:
        """Number of shifted transforms in the band."""
        return math.prod(self.counts)

    def to_grid(self, band: Array) -> Array:
        """Put each coefficient of a band at the sample where its atom begins; else zero."""
        split = band.reshape((2,) * len(self.bits) + tuple(self.sizes))
        # Sample r + 2^j q along an axis is entry (q, r) of an array (sizes, strides): bits of r
        # after q.
        by_axis = split.transpose(self._order).reshape(self._interleaved(self.counts))
        if self.counts == self.strides:
            return by_axis.reshape(self.shape)
        # With fewer shifts than the stride, only the first phases of each step have coefficients.
        grid = np.zeros(self._interleaved(self.strides))
        grid[self._first_phases] = by_axis
        return grid.reshape(self.shape)

    def from_grid(self, grid: Array) -> Array:
        """Read the coefficients of a band from the samples where their atoms begin."""
        by_axis = grid.reshape(self._interleaved(self.strides))[self._first_phases]
        full = (2,) * len(self.bits) + tuple(self.sizes)
        split = by_axis.reshape([full[axis] for axis in self._order])
        return split.transpose(np.argsort(self._order)).reshape(-1, *self.sizes)

    @property
    def _order(self) -> list[int]:
        """Axes of a band, with its first axis split into bits, in the order of the grid."""
        order: list[int] = []
        for axis in range(len(self.shape)):
            order.append(len(self.bits) + axis)
            order += [bit for bit, owner in enumerate(self.bits) if owner == axis]
        return order

    @property
    def _first_phases(self) -> tuple[slice, ...]:
        return tuple(part for count in self.counts for part in (slice(None), slice(count)))

    def _interleaved(self, other: list[int]) -> list[int]:
        return [entry for pair in zip(self.sizes, other, strict=True) for entry in pair]
