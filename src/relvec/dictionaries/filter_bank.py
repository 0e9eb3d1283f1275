"""The periodised wavelet transform, orthonormal for every length.

A periodised filter bank is orthonormal for an even number of samples. If an axis has odd length,
its last sample is copied to the approximation: a block-diagonal matrix of an orthonormal matrix
and a one is orthonormal. So no length needs padding, and there are as many coefficients as
samples. Several axes are transformed one after the other.
"""

from __future__ import annotations

import itertools
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from relvec._checks import check_integer, find_closest_name
from relvec._compat import import_optional
from relvec._typing import IndexArray, Vector

__all__ = ["FilterBank", "Subband", "filter_bank", "orthogonal_wavelet"]

FAMILIES = ("haar", "db", "sym", "coif")
"""Families of orthogonal wavelets. PyWavelets also lists "dmey" as orthogonal, but its filter is
truncated: the transform deviates from orthonormality by 0.3 percent."""


class Subband(NamedTuple):
    """Position of the coefficients of one level and orientation.

    Examples
    --------
    >>> from relvec.dictionaries import WaveletDictionary
    >>> band = WaveletDictionary(8, "haar", level=2).subbands[-1]
    >>> band.level, band.shape
    (1, (4,))
    """

    level: int
    """0 for the approximation, 1 for the finest details, 2 for the next coarser, and so on."""
    orientation: str
    """One letter per axis: "a" for approximation, "d" for detail. In two dimensions "ad" is detail
    along the second axis."""
    slice: slice
    """Position in the flat array of coefficients."""
    shape: tuple[int, ...]
    """Shape of ``coefficients[slice]`` on its grid."""


def orthogonal_wavelet(name: Any) -> Any:
    """Return PyWavelets' object for an orthogonal wavelet.

    Raises
    ------
    ValueError
        If the name is unknown or its transform is not orthonormal.
    """
    pywt = import_optional("pywt")
    known = [
        known for known in pywt.wavelist(kind="discrete") if known.rstrip("0123456789") in FAMILIES
    ]
    if isinstance(name, str) and name.lower() in known:
        return pywt.Wavelet(name.lower())
    hint = find_closest_name(name, known) if isinstance(name, str) else None
    raise ValueError(
        f'wavelet must be orthogonal: "haar", "db1" to "db38", "sym2" to "sym20" or "coif1" to '
        f'"coif17"; got {name!r}.'
        + (f" Did you mean {hint!r}?" if hint else "")
        + (
            " Biorthogonal, continuous and truncated wavelets do not keep white noise white."
            if name in pywt.wavelist()
            else ""
        )
    )


class FilterBank:
    """Wavelet analysis and synthesis on a grid.

    Parameters
    ----------
    grid_shape : tuple of int
        Number of samples along each axis.
    wavelet : str
        An orthogonal wavelet of PyWavelets.
    level : int or None
        Number of levels. None keeps at least 16 approximation coefficients along every axis of 31
        samples or more, and uses one level for shorter axes. With a number, an axis is halved until
        its length is one.

    Attributes
    ----------
    subbands : list of Subband
        The approximation first, then details from coarse to fine.
    level : int
        Number of levels of the longest axis.
    """

    def __init__(self, grid_shape: tuple[int, ...], wavelet: str, level: int | None) -> None:
        self.grid_shape = grid_shape
        self.wavelet = orthogonal_wavelet(wavelet)
        self._dwt, self._idwt = import_optional("pywt").dwt, import_optional("pywt").idwt
        # Shape of the grid before each level, finest first; the last entry is the coarsest grid.
        self._lengths = _plan(grid_shape, level)
        self.level = len(self._lengths) - 1
        self.subbands = self._lay_out()

    def _lay_out(self) -> list[Subband]:
        smooth = "a" * len(self.grid_shape)
        coarsest = self._lengths[-1]
        start = int(np.prod(coarsest))
        bands = [Subband(0, smooth, slice(0, start), coarsest)]
        for level in range(self.level, 0, -1):
            before, after = self._lengths[level - 1], self._lengths[level]
            letters = ["ad" if old != new else "a" for old, new in zip(before, after, strict=True)]
            for orientation in map("".join, itertools.product(*letters)):
                if orientation == smooth:
                    continue
                shape = tuple(
                    new if letter == "a" else old - new
                    for letter, old, new in zip(orientation, before, after, strict=True)
                )
                stop = start + int(np.prod(shape))
                bands.append(Subband(level, orientation, slice(start, stop), shape))
                start = stop
        return bands

    @cached_property
    def levels(self) -> IndexArray:
        """Level of each coefficient; 0 is the approximation, 1 the finest."""
        counts = [band.slice.stop - band.slice.start for band in self.subbands]
        return np.repeat([band.level for band in self.subbands], counts)

    @cached_property
    def _details(self) -> list[dict[str, Subband]]:
        """Detail bands of each level by orientation, finest level first."""
        details: list[dict[str, Subband]] = [{} for _ in range(self.level)]
        for band in self.subbands[1:]:
            details[band.level - 1][band.orientation] = band
        return details

    def decompose(self, values: np.ndarray) -> Vector:
        """Return the flat coefficients of `values`; leading axes are a batch."""
        n_axes = len(self.grid_shape)
        batch = values.shape[: values.ndim - n_axes]
        flat = np.empty((*batch, int(np.prod(self.grid_shape))))
        smooth = "a" * n_axes
        for level, details in enumerate(self._details):
            blocks = {"": values}
            for axis in range(n_axes):
                halved = self._lengths[level][axis] != self._lengths[level + 1][axis]
                split: dict[str, np.ndarray] = {}
                for letters, block in blocks.items():
                    if halved:
                        low, high = self._halve(block, len(batch) + axis)
                        split[letters + "a"], split[letters + "d"] = low, high
                    else:
                        split[letters + "a"] = block
                blocks = split
            for orientation, band in details.items():
                flat[..., band.slice] = blocks[orientation].reshape(*batch, -1)
            values = blocks[smooth]
        flat[..., self.subbands[0].slice] = values.reshape(*batch, -1)
        return flat

    def reconstruct(self, flat: Vector) -> np.ndarray:
        """Return values on the grid from flat coefficients; leading axes are a batch."""
        n_axes, batch = len(self.grid_shape), flat.shape[:-1]
        values = flat[..., self.subbands[0].slice].reshape(*batch, *self.subbands[0].shape)
        for level in range(self.level - 1, -1, -1):
            blocks = {"a" * n_axes: values}
            for orientation, band in self._details[level].items():
                blocks[orientation] = flat[..., band.slice].reshape(*batch, *band.shape)
            for axis in range(n_axes - 1, -1, -1):
                halved = self._lengths[level][axis] != self._lengths[level + 1][axis]
                blocks = {
                    letters[:-1]: (
                        self._join(block, blocks[letters[:-1] + "d"], len(batch) + axis)
                        if halved
                        else block
                    )
                    for letters, block in blocks.items()
                    if letters[-1] == "a"
                }
            values = blocks[""]
        return values

    def _halve(self, block: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        if block.shape[axis] % 2 == 0:
            low, high = self._dwt(block, self.wavelet, "periodization", axis)
            return low, high
        even, last = np.split(block, [block.shape[axis] - 1], axis)
        low, high = self._dwt(even, self.wavelet, "periodization", axis)
        return np.concatenate([low, last], axis), high

    def _join(self, low: np.ndarray, high: np.ndarray, axis: int) -> np.ndarray:
        n_pairs = high.shape[axis]
        if low.shape[axis] == n_pairs:
            values: np.ndarray = self._idwt(low, high, self.wavelet, "periodization", axis)
            return values
        low, last = np.split(low, [n_pairs], axis)
        even = self._idwt(low, high, self.wavelet, "periodization", axis)
        return np.concatenate([even, last], axis)


def _plan(
    grid_shape: tuple[int, ...], level: int | None, coarsest: int = 16
) -> list[tuple[int, ...]]:
    """Return the shape of the grid before each level, and of the coarsest grid.

    By default an axis keeps at least `coarsest` approximation coefficients after the first level.
    The trend of a signal is rarely sparse, and with fewer coefficients the longest atoms would
    wrap around the period.
    """
    deepest = (max(grid_shape, default=1) - 1).bit_length()
    if level is not None and check_integer("level", level, minimum=0) > deepest:
        raise ValueError(
            f"level={level} is too large for a grid of shape {grid_shape}: after {deepest} "
            f"levels every axis has one coefficient left. Use at most {deepest}, or None."
        )
    lengths = [grid_shape]
    while level is None or len(lengths) <= level:
        smallest = 1 if level is not None or len(lengths) == 1 else coarsest
        after = tuple(_halved(length, smallest) for length in lengths[-1])
        if after == lengths[-1]:
            break
        lengths.append(after)
    return lengths


def _halved(length: int, smallest: int) -> int:
    half = (length + 1) // 2
    return half if half >= smallest else length


filter_bank = lru_cache(maxsize=32, typed=True)(FilterBank)
"""Cached constructor of `FilterBank`: it holds no data, so signals of one shape can share it."""
