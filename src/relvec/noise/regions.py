"""Coefficients of orthonormal transforms, cut into small regions of position and frequency.

White noise has the same variance in every region. A signal fills some regions and leaves others
empty. Which transform leaves the most empty regions depends on the signal, so many are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, dctn, rfft

from relvec._compat import import_optional
from relvec._typing import BoolArray, Matrix
from relvec.dictionaries.lapped import lapped_cosine

__all__ = ["Regions", "difference_regions", "line_regions", "plane_regions"]

Array = NDArray[np.float64]


class Regions(NamedTuple):
    """Coefficients of one transform.

    Parameters
    ----------
    name : str
        Name of the transform.
    blocks : ndarray of shape (n_blocks, block_size)
        One region per row. Even and odd columns interleave in the region like the squares of a
        chess board.
    """

    name: str
    blocks: Matrix


def line_regions(lines: Matrix, size: int) -> Iterator[Regions]:
    """Yield regions of wavelets, lapped cosines, Fourier, cosines and samples.

    Parameters
    ----------
    lines : ndarray of shape (n_lines, n_samples)
        Signals of equal length.
    size : int
        Coefficients in a region, a multiple of four.
    """
    n = lines.shape[1]
    pywt = import_optional("pywt")
    n_levels = max(1, min(3, n.bit_length() - 7))
    for wavelet in ("sym8", "db2", "haar"):
        approximation = lines[:, : n >> n_levels << n_levels]
        details = []
        for _ in range(n_levels):
            approximation, detail = pywt.dwt(approximation, wavelet, "periodization", axis=-1)
            details.append(_runs(detail, size))
        yield Regions(wavelet, np.concatenate(details))
    for frame in (8, 16, 32, 64, 128, 256, 512, 2048):
        # Shifted by half a frame, the same oscillation may fill fewer regions.
        for start in (0, frame // 2) if 16 <= frame <= 128 else (0,):
            if (n - start) // frame >= 4:
                cosines = lapped_cosine(lines[:, start:], frame)
                name = f"mdct{frame} shifted" if start else f"mdct{frame}"
                yield Regions(name, _rectangles(cosines, 4, size // 4))
    # Frequency zero and the Nyquist frequency are left out: they have a cosine but no sine.
    spectrum = np.sqrt(2.0 / n) * rfft(lines, axis=-1)[:, 1 : (n + 1) // 2]
    yield Regions("dft", _runs(spectrum.view(np.float64), size))
    yield Regions("dct", _runs(dct(lines, norm="ortho", axis=-1), size))
    yield Regions("samples", _runs(lines - np.median(lines, axis=-1, keepdims=True), size))


def plane_regions(planes: Array) -> Iterator[Regions]:
    """Yield regions of the finest wavelets and of block cosines, 64 or 32 coefficients each.

    Parameters
    ----------
    planes : ndarray of shape (n_planes, height, width)
        Images of equal size, at least 16 pixels high and wide.
    """
    pywt = import_optional("pywt")
    height, width = planes.shape[1:]
    even = planes[:, : height // 2 * 2, : width // 2 * 2]
    for wavelet in ("sym8", "haar"):
        _, (rows, columns, diagonal) = pywt.dwt2(even, wavelet, "periodization", axes=(-2, -1))
        yield Regions(f"{wavelet} diagonal", _rectangles(diagonal, 8, 8))
        straight = np.concatenate([_rectangles(rows, 8, 8), _rectangles(columns, 8, 8)])
        yield Regions(f"{wavelet} straight", straight)
    for side, size in ((8, 32), (16, 64)):
        down, across = height // side, width // side
        tiles = planes[:, : down * side, : across * side]
        tiles = tiles.reshape(-1, down, side, across, side).swapaxes(2, 3)
        cosines = dctn(tiles, axes=(-2, -1), norm="ortho").reshape(-1, side * side)
        # A region holds similar frequencies: coefficients sorted by the diagonals of the tile.
        diagonal_number = np.add.outer(np.arange(side), np.arange(side)).ravel()
        order = np.argsort(diagonal_number, kind="stable")
        yield Regions(f"dct{side}x{side}", cosines[:, order].reshape(-1, size))


def difference_regions(values: Array, observed: BoolArray, size: int) -> Iterator[Regions]:
    """Yield regions of differences between observed neighbours.

    Windows do not overlap, so the differences of white noise are white noise. Only two, three or
    four neighbouring samples need to be observed.

    Parameters
    ----------
    values : ndarray of shape (n_boxes, ...)
        Differences are taken along each axis except the first.
    observed : ndarray of bool, shaped like `values`
        True where a sample is observed.
    size : int
        Coefficients in a region.
    """
    for axis in range(1, values.ndim):
        lines = np.moveaxis(values, axis, -1).reshape(-1, values.shape[axis])
        observed_lines = np.moveaxis(observed, axis, -1).reshape(lines.shape)
        for order, weights in enumerate(_DIFFERENCES, start=1):
            yield Regions(
                f"differences of order {order}",
                _runs(neighbour_differences(lines, observed_lines, weights), size),
            )


_DIFFERENCES = tuple(
    np.array(weights) / np.linalg.norm(weights)
    for weights in ([1.0, -1.0], [1.0, -2.0, 1.0], [1.0, -3.0, 3.0, -1.0])
)


def neighbour_differences(lines: Matrix, observed: BoolArray, weights: Array) -> Array:
    """Compute weighted sums over disjoint windows of observed neighbours.

    Parameters
    ----------
    lines : ndarray of shape (n_lines, n_samples)
        Signals.
    observed : ndarray of bool of shape (n_lines, n_samples)
        True where a sample is observed.
    weights : ndarray of shape (n_neighbours,)
        One weight per neighbour.
    """
    n_lines, n = lines.shape
    width = len(weights)
    # A gap after every line keeps windows from extending into the next line.
    padded_mask = np.zeros((n_lines, n + 1), dtype=bool)
    padded_mask[:, :n] = observed
    flat = padded_mask.ravel()
    padded = np.zeros(padded_mask.shape)
    padded[:, :n] = np.where(observed, lines, 0.0)
    index = np.arange(flat.size)
    last_gap = np.maximum.accumulate(np.where(flat, -1, index))
    is_end = flat & ((index - last_gap) % width == 0)
    start = np.flatnonzero(is_end) - (width - 1)
    return padded.ravel()[start[:, np.newaxis] + np.arange(width)] @ weights


def _runs(coefficients: Array, size: int) -> Matrix:
    """Cut into consecutive runs of `size` coefficients; the remainder is dropped."""
    flat = coefficients.ravel()
    return flat[: flat.size // size * size].reshape(-1, size)


def _rectangles(plane: Array, height: int, width: int) -> Matrix:
    """Cut ``(n, rows, columns)`` into rectangles, one per row of the result.

    Neighbours in every second row of a rectangle are swapped, so that even and odd columns of the
    result are the white and black squares of a chess board. If the columns are not a multiple of
    `width`, the first ones are dropped.
    """
    n, rows, columns = plane.shape
    down, across = rows // height, columns // width
    if down * across == 0:
        return np.empty((0, height * width))
    cut = plane[:, : down * height, columns - across * width :]
    cut = cut.reshape(n, down, height, across, width).swapaxes(2, 3).copy()
    cut[..., 1::2, :] = cut[..., 1::2, np.arange(width) ^ 1]
    return cut.reshape(-1, height * width)
