"""Wavelet transforms averaged over shifts (cycle spinning), in any number of dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.fft import fft, irfftn, rfft, rfftn

from relvec._compat import import_optional
from relvec._typing import Vector
from relvec.denoising.frame import Array, Band, Bands, Frame
from relvec.denoising.phases import Phases

__all__ = ["WaveletFrame", "wavelet_levels"]

MODE = "periodization"
CACHED = 1 << 14
"""Squared atoms of at most this many samples are cached."""


def wavelet_levels(shape: tuple[int, ...], coarsest: int = 8) -> tuple[int, ...]:
    """Number of wavelet levels of each axis that leave about `coarsest` coefficients."""
    return tuple(
        max(1, int(math.log2(size / coarsest))) if size >= coarsest else 0 for size in shape
    )


class WaveletFrame(Frame):
    """Average over circular shifts of a periodised orthogonal wavelet transform.

    At every level each array of approximation coefficients is transformed twice, unshifted and
    shifted by one sample. So after ``j`` levels there are ``2^j`` arrays per axis, each ``2^j``
    times shorter. They are stacked along the first axis of one band; neighbours along the other
    axes belong to the same orthonormal transform.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid; a multiple of ``2^levels`` along each axis.
    wavelet : str
        Name of an orthogonal wavelet.
    levels : tuple of int
        Number of levels along each axis.
    n_doublings : int, optional
        Average over ``2^n_doublings`` shifts per axis only; by default over all shifts.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        wavelet: str,
        levels: tuple[int, ...],
        n_doublings: int | None = None,
    ) -> None:
        self.shape = shape
        self.wavelet = wavelet
        self.depth = max(levels, default=0)
        self.levels = levels
        self.n_doublings = self.depth if n_doublings is None else min(n_doublings, self.depth)
        self._pywt = import_optional("pywt")
        self._filter = self._pywt.Wavelet(wavelet)

    @property
    def bands(self) -> list[Band]:
        """Descriptions of the bands: approximation, then details from fine to coarse."""
        axes = tuple(range(1, len(self.shape) + 1))
        described = []
        for level, letters in self.layout:
            is_smooth = "d" not in letters
            kind = "approximation" if is_smooth else f"level {level} {letters}"
            fraction = 1.0 / Phases(self.shape, self.levels, level, self.n_doublings).n_phases
            described.append(Band(kind, fraction, () if is_smooth else axes, True))
        return described

    def analyse(self, values: Array) -> Bands:
        """Compute the coefficients of every shift, in the order of `bands`."""
        details: Bands = []
        approximation = values[None]
        for level in range(1, self.depth + 1):
            parts = {"": approximation}
            for axis in range(1, len(self.shape) + 1):
                if self.levels[axis - 1] < level:
                    parts = {name + "a": part for name, part in parts.items()}
                    continue
                halves = {}
                for name, part in parts.items():
                    both = self._both_phases(part, axis, level)
                    halves[name + "a"], halves[name + "d"] = self._pywt.dwt(
                        both, self._filter, MODE, axis=axis
                    )
                parts = halves
            approximation = parts.pop("a" * len(self.shape))
            details += parts.values()
        return [approximation, *details]

    def synthesise(self, bands: Bands) -> Array:
        """Average the inverse transforms over all shifts."""
        approximation = bands[0]
        by_level: dict[int, dict[str, Array]] = {}
        for (level, letters), band in zip(self.layout[1:], bands[1:], strict=True):
            by_level.setdefault(level, {})[letters] = band
        for level in range(self.depth, 0, -1):
            parts = {"a" * len(self.shape): approximation, **by_level.pop(level)}
            for axis in range(len(self.shape), 0, -1):
                stems = dict.fromkeys(name[:-1] for name in parts)
                if self.levels[axis - 1] < level:
                    parts = {stem: parts[stem + "a"] for stem in stems}
                    continue
                joined = {}
                for stem in stems:
                    both = self._pywt.idwt(
                        parts[stem + "a"], parts[stem + "d"], self._filter, MODE, axis=axis
                    )
                    joined[stem] = self._mean_of_phases(both, axis, level)
                parts = joined
            approximation = parts[""]
        return approximation[0]

    def synthesise_variance(self, bands: Bands) -> Array:
        """Propagate independent variances of the coefficients to the samples.

        The atoms of a band are circular shifts of one atom, so the sum over atoms is a circular
        convolution with the squared atom.
        """
        total: np.ndarray | float = 0.0
        for (level, letters), band, values in zip(self.layout, self.bands, bands, strict=True):
            phases = Phases(self.shape, self.levels, level, self.n_doublings)
            spectrum = self._spectrum_of_squares(level, letters)
            # Averaging over shifts divides by their number. The mean of the variances of the shifts
            # is an upper bound of the variance of their mean.
            total = total + band.shift_fraction * rfftn(phases.to_grid(values)) * spectrum
        # Rounding of the FFT may leave small negative values.
        return np.maximum(irfftn(total, s=self.shape), 0.0)

    def analyse_variance(self, values: Array) -> Iterator[Array]:
        """Propagate independent variances of the samples to the coefficients."""
        transformed = rfftn(values)
        for level, letters in self.layout:
            spectrum = self._spectrum_of_squares(level, letters)
            # Correlation, the adjoint of the convolution above: complex conjugate of the spectrum.
            on_grid = irfftn(transformed * spectrum.conj(), s=self.shape)
            phases = Phases(self.shape, self.levels, level, self.n_doublings)
            yield phases.from_grid(np.maximum(on_grid, 0.0))

    def energy_inside(self, window: tuple[slice, ...]) -> Iterator[Array]:
        """Compute the fraction of every atom's energy inside a box of the grid."""
        for level, letters in self.layout:
            factors = [
                squared.energy_inside(part, size)
                for squared, part, size in zip(
                    self._squares(level, letters), window, self.shape, strict=True
                )
            ]
            grid = reduce(np.multiply.outer, factors)
            yield Phases(self.shape, self.levels, level, self.n_doublings).from_grid(grid)

    # ------------------------------------------------------------------ parts

    @property
    def layout(self) -> list[tuple[int, str]]:
        """Level of each band, and for each axis "a" (approximation) or "d" (detail)."""
        layout = [(self.depth, "a" * len(self.shape))]
        for level in range(1, self.depth + 1):
            choices = ["ad" if levels >= level else "a" for levels in self.levels]
            layout += [(level, "".join(letters)) for letters in product(*choices)][1:]
        return layout

    def _both_phases(self, part: Array, axis: int, level: int) -> Array:
        if level > self.n_doublings:
            return part
        both = np.empty((2 * len(part), *part.shape[1:]))
        both[: len(part)] = part
        moved = both[len(part) :]
        _along(moved, axis, slice(None, -1))[...] = _along(part, axis, slice(1, None))
        _along(moved, axis, slice(-1, None))[...] = _along(part, axis, slice(None, 1))
        return both

    def _mean_of_phases(self, both: Array, axis: int, level: int) -> Array:
        if level > self.n_doublings:
            return both
        half = len(both) // 2
        mean, moved = both[:half], both[half:]
        _along(mean, axis, slice(1, None))[...] += _along(moved, axis, slice(None, -1))
        _along(mean, axis, slice(None, 1))[...] += _along(moved, axis, slice(-1, None))
        # The inverse of a tight frame of two orthonormal transforms is the mean of their inverses.
        mean *= 0.5
        return mean

    def _squares(self, level: int, letters: str) -> list[SquaredAtom]:
        """Return the squared atom of coefficient 0 as one factor per axis."""
        return [
            _squared_atom(self.wavelet, size, min(level, levels), letter)
            for size, levels, letter in zip(self.shape, self.levels, letters, strict=True)
        ]

    def _spectrum_of_squares(self, level: int, letters: str) -> np.ndarray:
        squares = zip(self._squares(level, letters), self.shape, strict=True)
        *first, last = (squared.on_grid(size) for squared, size in squares)
        # Squared atoms are separable, so is their spectrum; the last axis is half as long
        # (`rfftn`).
        return reduce(np.multiply.outer, [*(fft(factor) for factor in first), rfft(last)])


def _along(values: Array, axis: int, part: slice) -> Array:
    return values[(slice(None),) * axis + (part,)]


class SquaredAtom(NamedTuple):
    """The square of an atom on its support."""

    first: int
    """Position of the first non-zero sample."""
    values: Vector
    """Squares from the first to the last non-zero sample; their sum is one."""

    def on_grid(self, size: int) -> Vector:
        """Return the squared atom on a periodic grid."""
        grid = np.zeros(size)
        grid[(self.first + np.arange(len(self.values))) % size] = self.values
        return grid

    def energy_inside(self, window: slice, size: int) -> Vector:
        """Compute the energy inside a window for every shift of the atom on a periodic grid."""
        # energy of the atom beyond its first k samples
        remaining = np.concatenate([[1.0], 1.0 - np.cumsum(self.values)])
        support = len(self.values)
        n_inside = window.stop - window.start
        # On an infinite line: the energy beyond the start of the window minus that beyond its
        # end, for every shift at which the atom touches the window.
        line = np.zeros(n_inside + support)
        line[:support] = remaining[:0:-1]
        line[support:] = 1.0
        line[n_inside:] -= remaining[:0:-1]
        position = window.start - self.first - support
        grid = np.zeros(size)
        # wrap the line around the periodic grid
        while len(line):
            start = position % size
            part = line[: size - start]
            grid[start : start + len(part)] += part
            line, position = line[len(part) :], position + len(part)
        return np.clip(grid, 0.0, 1.0)


def _squared_atom(wavelet: str, size: int, level: int, letter: str) -> SquaredAtom:
    """Compute the squared atom of coefficient 0 at a level, on a periodic grid."""
    # a grid of twice the support is enough, if the signal is longer
    # Length of an atom after `level` upsampled filters of dec_len taps.
    support = (2**level - 1) * (import_optional("pywt").Wavelet(wavelet).dec_len - 1) + 1
    grid = 1 << (2 * support).bit_length()
    compute = _compute_squared_atom if min(grid, size) > CACHED else _compute_squared_atom_cached
    return compute(wavelet, min(grid, size), level, letter, grid >= size)


def _compute_squared_atom(
    wavelet: str, size: int, level: int, letter: str, is_whole: bool
) -> SquaredAtom:
    pywt = import_optional("pywt")
    atom = np.zeros(size >> level)
    # The atom is the inverse transform of a unit coefficient.
    atom[0] = 1.0
    if level and letter == "d":
        atom = pywt.idwt(np.zeros_like(atom), atom, wavelet, MODE)
        level -= 1
    for _ in range(level):
        atom = pywt.idwt(atom, np.zeros_like(atom), wavelet, MODE)
    atom *= atom
    if is_whole:
        return SquaredAtom(0, atom)
    # Periodic filters begin before sample zero: the support is contiguous after half a turn.
    around = np.roll(atom, size // 2)
    used = np.flatnonzero(around)
    return SquaredAtom(int(used[0]) - size // 2, around[used[0] : used[-1] + 1])


_compute_squared_atom_cached = lru_cache(maxsize=256)(_compute_squared_atom)
