"""What is read of a signal, image or volume: boxes of equal size, spread evenly.

Large inputs are indexed first and converted then, so that a memory-mapped file is touched only
where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._typing import BoolArray
from relvec.noise.tuning import DEFAULT, ReadingTuning

__all__ = ["complete_boxes", "is_planar", "is_stuck", "read_boxes", "share_of_equals"]

Array = NDArray[np.float64]


def is_planar(shape: tuple[int, ...], tuning: ReadingTuning = DEFAULT.reading) -> bool:
    """Whether two axes are long enough to look at the values as images."""
    return sum(length >= tuning.flattest for length in shape) >= 2


def read_boxes(
    values: Any,
    observed: BoolArray | None,
    *,
    everything: bool = False,
    tuning: ReadingTuning = DEFAULT.reading,
) -> tuple[Array, BoolArray]:
    """Read lines or planes of an array of any size.

    Parameters
    ----------
    values : array
        Indexed like an ndarray; read only where needed.
    observed : ndarray of bool, shaped like `values`, or None
        What may be used.
    everything : bool, default=False
        Read all, however large.
    tuning : ReadingTuning, optional
        How much is read.

    Returns
    -------
    boxes : ndarray of shape (n_boxes, length) or (n_boxes, height, width)
        Along the longest axis, or the two longest. Complex values give boxes of real and
        boxes of imaginary parts.
    usable : ndarray of bool, shaped like `boxes`
        Where values are observed and not NaN.
    """
    places = list(_places(values.shape, everything, tuning))
    boxes = np.stack([np.asarray(values[place]) for place in places])
    usable = ~np.isnan(boxes)
    if observed is not None:
        usable &= np.stack([observed[place] for place in places])
    if np.iscomplexobj(boxes):
        boxes = np.concatenate([boxes.real, boxes.imag])
        usable = np.concatenate([usable, usable])
    return boxes.astype(np.float64), usable


def _places(
    shape: tuple[int, ...], everything: bool, tuning: ReadingTuning
) -> Iterator[tuple[slice | int, ...]]:
    """Index of each box: intervals along the longest axis or two, one entry of the others."""
    n_axes = 2 if is_planar(shape, tuning) else 1
    by_length = np.argsort(shape, kind="stable").tolist()
    long, others = sorted(by_length[-n_axes:]), sorted(by_length[:-n_axes])
    lengths = tuple(shape[axis] for axis in long)
    other_lengths = tuple(shape[axis] for axis in others)
    box, corners = _spread(lengths, math.prod(other_lengths), everything, tuning)
    for other, *start in corners:
        key: list[slice | int] = [0] * len(shape)
        for axis, first, length in zip(long, start, box, strict=True):
            key[axis] = slice(first, first + length)
        for axis in reversed(others):
            other, key[axis] = divmod(other, shape[axis])
        yield tuple(key)


def _spread(
    lengths: tuple[int, ...], n_others: int, everything: bool, tuning: ReadingTuning
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Shape and first corners of the boxes: all there is, or parts if that is too much."""
    most = tuning.most_pixels if len(lengths) == 2 else tuning.most_samples
    if everything or math.prod(lengths) * n_others <= most:
        return lengths, [(i, *(0,) * len(lengths)) for i in range(n_others)]
    box = _box_shape(lengths, n_others, most, tuning)
    return box, _corners(lengths, box, n_others, max(1, most // math.prod(box)))


def _box_shape(
    lengths: tuple[int, ...], n_others: int, most: int, tuning: ReadingTuning
) -> tuple[int, ...]:
    """Shape of what is read at one place."""
    if len(lengths) == 1:
        return (min(lengths[0], tuning.line),)
    height, width = lengths
    if n_others > 1 and 4 * height * width <= most:
        return lengths
    return min(height, tuning.strip), min(width, tuning.widest)


def _corners(
    lengths: tuple[int, ...], box: tuple[int, ...], n_others: int, n_boxes: int
) -> list[tuple[int, ...]]:
    """First corner of each box: evenly over the other axes, irregularly along the long ones."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0  # its multiples are the most evenly spread modulo one
    room = [length - side for length, side in zip(lengths, box, strict=True)]
    corners = []
    for i in range(n_boxes):
        steps = [(i * golden * (axis + 1)) % 1.0 for axis in range(len(box))]
        if n_others == 1:
            steps[0] = i / max(n_boxes - 1, 1)
        place = min(int((i + 0.5) / n_boxes * n_others), n_others - 1)
        corners.append(
            (place, *(int(step * space) for step, space in zip(steps, room, strict=True)))
        )
    return corners


def is_stuck(boxes: Array, fewest: int = DEFAULT.reading.stuck) -> BoolArray:
    """Samples in a row of at least `fewest` equal ones along a line, a row or a column."""
    stuck = np.zeros(boxes.shape, dtype=bool)
    for axis in range(1, boxes.ndim):
        lines = np.moveaxis(boxes, axis, -1)
        same = lines[..., 1:] == lines[..., :-1]
        if np.count_nonzero(same) < fewest - 1:
            continue
        mark = np.moveaxis(stuck, axis, -1)
        length = same.shape[-1]
        index = np.arange(length)
        last_change = np.maximum.accumulate(np.where(same, -1, index), axis=-1)
        next_change = np.minimum.accumulate(np.where(same, length, index)[..., ::-1], axis=-1)
        long_run = same & (next_change[..., ::-1] - last_change - 1 >= fewest - 1)
        mark[..., 1:] |= long_run
        mark[..., :-1] |= long_run
    return stuck


def share_of_equals(boxes: Array, usable: BoolArray) -> float:
    """Share of observed neighbours along the last axis that are exactly equal."""
    both = usable[..., 1:] & usable[..., :-1]
    n_pairs = int(np.count_nonzero(both))
    n_equal = int(np.count_nonzero(both & (boxes[..., 1:] == boxes[..., :-1])))
    return n_equal / max(n_pairs, 1)


def complete_boxes(
    boxes: Array, observed: BoolArray, tuning: ReadingTuning = DEFAULT.reading
) -> Array | None:
    """Cut boxes without missing values out of boxes with some.

    Parameters
    ----------
    boxes : ndarray of shape (n_boxes, length) or (n_boxes, height, width)
        Values.
    observed : ndarray of bool, shaped like `boxes`
        What may be used.
    tuning : ReadingTuning, optional
        How many complete samples are plenty.

    Returns
    -------
    complete : ndarray or None
        Boxes of the largest side, a power of two, that keeps nearly as much as smaller ones;
        None if most of what is observed would be lost and little is left.
    """
    are_lines = boxes.ndim == 2
    plenty = tuning.plenty_in_lines if are_lines else tuning.plenty_in_planes
    enough = min(int(np.count_nonzero(observed)) // 2, plenty)
    cut = _cut_runs if are_lines else _cut_tiles
    sides = [1 << power for power in range(5, 14) if 1 << power <= min(boxes.shape[1:])]
    pieces = {side: cut(boxes, observed, side) for side in sides}
    most = max((piece.size for piece in pieces.values()), default=0)
    if most < max(enough, 1):
        return None
    return next(pieces[side] for side in reversed(sides) if pieces[side].size >= 0.7 * most)


def _cut_runs(lines: Array, observed: BoolArray, side: int) -> Array:
    """Segments of `side` samples from every run of observed ones."""
    index = np.arange(lines.shape[1])
    last_gap = np.maximum.accumulate(np.where(observed, -1, index), axis=1)
    row, end = np.nonzero(observed & ((index - last_gap) % side == 0) & (index - last_gap > 0))
    return lines[row[:, np.newaxis], end[:, np.newaxis] + np.arange(1 - side, 1)]


def _cut_tiles(planes: Array, observed: BoolArray, side: int) -> Array:
    """Tiles of a regular grid in which nothing is missing."""
    n, height, width = planes.shape
    down, across = height // side, width // side

    def tiles(array: np.ndarray) -> np.ndarray:
        cut = array[:, : down * side, : across * side].reshape(n, down, side, across, side)
        return cut.swapaxes(2, 3).reshape(-1, side, side)

    return tiles(planes)[tiles(observed).all(axis=(1, 2))]
