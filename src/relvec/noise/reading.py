"""Read evenly spaced boxes of equal size from a signal, image or volume.

Large arrays are indexed before they are converted, so that only the needed parts of a
memory-mapped file are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._typing import BoolArray
from relvec.noise.tuning import DEFAULT, ReadingTuning

__all__ = ["compute_equal_fraction", "cut_complete_boxes", "is_planar", "is_stuck", "read_boxes"]

Array = NDArray[np.float64]


def is_planar(shape: tuple[int, ...], tuning: ReadingTuning = DEFAULT.reading) -> bool:
    """Whether at least two axes are long enough to use the values as images."""
    return sum(length >= tuning.min_plane_side for length in shape) >= 2


def read_boxes(
    values: Any,
    observed: BoolArray | None,
    *,
    everything: bool = False,
    tuning: ReadingTuning = DEFAULT.reading,
) -> tuple[Array, BoolArray]:
    """Read lines or planes from an array of any size.

    Parameters
    ----------
    values : array
        Indexed like an ndarray; only the needed parts are read.
    observed : ndarray of bool, shaped like `values`, or None
        True where a sample is observed.
    everything : bool, default=False
        Read the whole array, however large.
    tuning : ReadingTuning, optional
        How much is read.

    Returns
    -------
    boxes : ndarray of shape (n_boxes, length) or (n_boxes, height, width)
        Boxes along the longest axis, or along the two longest. Complex values give boxes of real
        parts followed by boxes of imaginary parts.
    usable : ndarray of bool, shaped like `boxes`
        True where values are observed and not NaN.
    """
    indices = list(_iterate_box_indices(values.shape, everything, tuning))
    boxes = np.stack([np.asarray(values[index]) for index in indices])
    usable = ~np.isnan(boxes)
    if observed is not None:
        usable &= np.stack([observed[index] for index in indices])
    if np.iscomplexobj(boxes):
        boxes = np.concatenate([boxes.real, boxes.imag])
        usable = np.concatenate([usable, usable])
    return boxes.astype(np.float64), usable


def _iterate_box_indices(
    shape: tuple[int, ...], everything: bool, tuning: ReadingTuning
) -> Iterator[tuple[slice | int, ...]]:
    """Yield the index of each box: slices along the longest one or two axes, else integers."""
    n_axes = 2 if is_planar(shape, tuning) else 1
    by_length = np.argsort(shape, kind="stable").tolist()
    long, others = sorted(by_length[-n_axes:]), sorted(by_length[:-n_axes])
    lengths = tuple(shape[axis] for axis in long)
    other_lengths = tuple(shape[axis] for axis in others)
    box, corners = _lay_out_boxes(lengths, math.prod(other_lengths), everything, tuning)
    for other, *start in corners:
        key: list[slice | int] = [0] * len(shape)
        for axis, first, length in zip(long, start, box, strict=True):
            key[axis] = slice(first, first + length)
        for axis in reversed(others):
            other, key[axis] = divmod(other, shape[axis])
        yield tuple(key)


def _lay_out_boxes(
    lengths: tuple[int, ...], n_others: int, everything: bool, tuning: ReadingTuning
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Return shape and first corners of the boxes, which cover the array unless it is large."""
    limit = tuning.max_pixels if len(lengths) == 2 else tuning.max_samples
    if everything or math.prod(lengths) * n_others <= limit:
        return lengths, [(i, *(0,) * len(lengths)) for i in range(n_others)]
    box = _box_shape(lengths, n_others, limit, tuning)
    return box, _corners(lengths, box, n_others, max(1, limit // math.prod(box)))


def _box_shape(
    lengths: tuple[int, ...], n_others: int, max_size: int, tuning: ReadingTuning
) -> tuple[int, ...]:
    """Return the shape of one box of a large array."""
    if len(lengths) == 1:
        return (min(lengths[0], tuning.line_length),)
    height, width = lengths
    if n_others > 1 and 4 * height * width <= max_size:
        return lengths
    return min(height, tuning.strip_height), min(width, tuning.strip_width)


def _corners(
    lengths: tuple[int, ...], box: tuple[int, ...], n_others: int, n_boxes: int
) -> list[tuple[int, ...]]:
    """Return first corners: evenly spaced over the other axes, irregular along the long ones."""
    # the multiples of the golden ratio modulo one are evenly distributed without a period
    golden_ratio = (math.sqrt(5.0) - 1.0) / 2.0
    free = [length - side for length, side in zip(lengths, box, strict=True)]
    corners = []
    for i in range(n_boxes):
        steps = [(i * golden_ratio * (axis + 1)) % 1.0 for axis in range(len(box))]
        if n_others == 1:
            steps[0] = i / max(n_boxes - 1, 1)
        other = min(int((i + 0.5) / n_boxes * n_others), n_others - 1)
        corners.append(
            (other, *(int(step * space) for step, space in zip(steps, free, strict=True)))
        )
    return corners


def is_stuck(boxes: Array, min_run: int = DEFAULT.reading.min_stuck_run) -> BoolArray:
    """Mark samples in runs of at least `min_run` equal values along any axis."""
    stuck = np.zeros(boxes.shape, dtype=bool)
    for axis in range(1, boxes.ndim):
        lines = np.moveaxis(boxes, axis, -1)
        same = lines[..., 1:] == lines[..., :-1]
        if np.count_nonzero(same) < min_run - 1:
            continue
        mark = np.moveaxis(stuck, axis, -1)
        length = same.shape[-1]
        index = np.arange(length)
        last_change = np.maximum.accumulate(np.where(same, -1, index), axis=-1)
        next_change = np.minimum.accumulate(np.where(same, length, index)[..., ::-1], axis=-1)
        long_run = same & (next_change[..., ::-1] - last_change - 1 >= min_run - 1)
        mark[..., 1:] |= long_run
        mark[..., :-1] |= long_run
    return stuck


def compute_equal_fraction(boxes: Array, usable: BoolArray) -> float:
    """Compute the fraction of observed neighbours along the last axis that are equal."""
    both = usable[..., 1:] & usable[..., :-1]
    n_pairs = int(np.count_nonzero(both))
    n_equal = int(np.count_nonzero(both & (boxes[..., 1:] == boxes[..., :-1])))
    return n_equal / max(n_pairs, 1)


def cut_complete_boxes(
    boxes: Array, observed: BoolArray, tuning: ReadingTuning = DEFAULT.reading
) -> Array | None:
    """Cut boxes without missing values out of boxes that have some.

    Parameters
    ----------
    boxes : ndarray of shape (n_boxes, length) or (n_boxes, height, width)
        Values.
    observed : ndarray of bool, shaped like `boxes`
        True where a sample is observed.
    tuning : ReadingTuning, optional
        How many complete samples are enough.

    Returns
    -------
    complete : ndarray or None
        Boxes whose side is the largest power of two that keeps nearly as many samples as smaller
        ones; None if too few samples would be left.
    """
    are_lines = boxes.ndim == 2
    sufficient = tuning.enough_in_lines if are_lines else tuning.enough_in_planes
    enough = min(int(np.count_nonzero(observed)) // 2, sufficient)
    cut = _cut_runs if are_lines else _cut_tiles
    sides = [1 << power for power in range(5, 14) if 1 << power <= min(boxes.shape[1:])]
    pieces = {side: cut(boxes, observed, side) for side in sides}
    largest = max((piece.size for piece in pieces.values()), default=0)
    if largest < max(enough, 1):
        return None
    return next(pieces[side] for side in reversed(sides) if pieces[side].size >= 0.7 * largest)


def _cut_runs(lines: Array, observed: BoolArray, side: int) -> Array:
    """Cut segments of `side` samples from every run of observed samples."""
    index = np.arange(lines.shape[1])
    last_gap = np.maximum.accumulate(np.where(observed, -1, index), axis=1)
    row, end = np.nonzero(observed & ((index - last_gap) % side == 0) & (index - last_gap > 0))
    return lines[row[:, np.newaxis], end[:, np.newaxis] + np.arange(1 - side, 1)]


def _cut_tiles(planes: Array, observed: BoolArray, side: int) -> Array:
    """Return the tiles of a regular grid that have no missing values."""
    n, height, width = planes.shape
    down, across = height // side, width // side

    def tiles(array: np.ndarray) -> np.ndarray:
        cut = array[:, : down * side, : across * side].reshape(n, down, side, across, side)
        return cut.swapaxes(2, 3).reshape(-1, side, side)

    return tiles(planes)[tiles(observed).all(axis=(1, 2))]
