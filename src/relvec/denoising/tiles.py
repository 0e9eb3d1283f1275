"""Large signals: overlapping tiles, averaged with weights that sum to one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.denoising.frame import Array
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Tile", "apply_taper", "make_tiles", "needs_tiles", "process_stream"]


class Interval(NamedTuple):
    """An interval along one axis, with weights that fall to zero at its ends."""

    part: slice
    """First sample and end."""
    fades_in: bool
    """Whether another interval precedes it."""
    fades_out: bool
    """Whether another interval follows."""
    overlap: int
    """Half the length of the zone in which two intervals are averaged."""

    def weight(self) -> Vector:
        """Compute the weight of every sample; over all intervals the weights sum to one."""
        weight = np.ones(self.part.stop - self.part.start)
        ramp = _ramp(self.overlap)
        if self.fades_in:
            # The outermost samples, most affected by the boundary, are not used at all.
            weight[: self.overlap] = 0.0
            weight[self.overlap : 3 * self.overlap] = ramp
        if self.fades_out:
            weight[-self.overlap :] = 0.0
            weight[-3 * self.overlap : -self.overlap] = ramp[::-1]
        return weight


class Tile(NamedTuple):
    """A box of the signal, given by one interval per axis."""

    intervals: tuple[Interval, ...]

    @property
    def box(self) -> tuple[slice, ...]:
        """Index of the box in the signal."""
        return tuple(interval.part for interval in self.intervals)

    @property
    def weights(self) -> tuple[Vector, ...]:
        """Weights of the tile along each axis.

        They are computed on request: for all tiles together they are as large as the signal.
        """
        return tuple(interval.weight() for interval in self.intervals)


def needs_tiles(shape: tuple[int, ...], tuning: DenoisingTuning = DEFAULT) -> bool:
    """Whether a signal is too large to be denoised in one piece."""
    return math.prod(shape) > 1.5 * tuning.tile_side(len(shape)) ** len(shape)


def make_tiles(shape: tuple[int, ...], tuning: DenoisingTuning = DEFAULT) -> Iterator[Tile]:
    """Divide a signal of a given shape into overlapping tiles."""
    side, overlap = tuning.tile_side(len(shape)), tuning.tile_overlap(len(shape))
    for intervals in itertools.product(
        *(_make_intervals(length, side, overlap) for length in shape)
    ):
        yield Tile(intervals)


def apply_taper(values: Array, tile: Tile) -> Array:
    """Multiply the values of a tile by its weights."""
    tapered = values
    for axis, weight in enumerate(tile.weights):
        along_axis = [-1 if other == axis else 1 for other in range(values.ndim)]
        tapered = tapered * weight.reshape(along_axis)
    return tapered


def process_stream(
    chunks: Iterable[Any],
    work: Callable[[Vector], Vector],
    side: int,
    overlap: int = DEFAULT.tile_overlap(1),
) -> Iterator[Vector]:
    """Apply `work` to a signal that arrives in pieces, tile by tile.

    Parameters
    ----------
    chunks : iterable of array-like
        Consecutive pieces of a signal, of any sizes.
    work : callable
        Denoises one tile.
    side : int
        Samples of a tile without its overlaps.
    overlap : int, optional
        Half the length of the zone in which two tiles are averaged; at most an eighth of `side`.

    Yields
    ------
    ndarray
        Consecutive pieces of the result, together as long as the signal. At most a few tiles are
        in memory at any time.
    """
    overlap = min(overlap, side // 8)
    ramp = _ramp(overlap)
    buffer, pending = _Buffer(chunks), np.empty(0)
    while True:
        is_first = len(pending) == 0
        # a tile other than the first begins two overlaps before its own samples
        lead = 0 if is_first else 2 * overlap
        piece = buffer.peek(lead + side + 2 * overlap)
        is_last = len(piece) < lead + side + 2 * overlap or buffer.is_exhausted(len(piece))
        result = np.array(work(piece), dtype=np.float64) if len(piece) else piece
        if not is_first:
            # `pending` is the end of the previous tile, already weighted by the falling ramp
            zone = slice(overlap, overlap + len(ramp))
            result[zone] = pending + ramp * result[zone]
            result = result[overlap:]
        if is_last:
            if len(result):
                yield result
            return
        body = (0 if is_first else overlap) + side - overlap
        pending = result[body : body + len(ramp)] * ramp[::-1]
        yield result[:body]
        buffer.drop(lead + side - 2 * overlap)


class _Buffer:
    """Samples of a stream that are still needed."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self._chunks = iter(chunks)
        self._held = np.empty(0)

    def peek(self, size: int) -> Vector:
        parts = [self._held]
        held = len(self._held)
        while held < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            parts.append(np.ravel(np.asarray(chunk, dtype=np.float64)))
            held += len(parts[-1])
        self._held = np.concatenate(parts) if len(parts) > 1 else self._held
        return self._held[:size]

    def is_exhausted(self, size: int) -> bool:
        """Whether nothing follows the first `size` samples."""
        return len(self.peek(size + 1)) <= size

    def drop(self, size: int) -> None:
        self._held = self._held[size:].copy()


def _ramp(overlap: int) -> Vector:
    # Half-sample offsets make the ramp and its reverse sum to one at every sample.
    return (np.arange(2 * overlap) + 0.5) / (2 * overlap)


def _make_intervals(length: int, side: int, overlap: int) -> list[Interval]:
    """Divide one axis into overlapping intervals."""
    if length <= 1.5 * side:
        return [Interval(slice(0, length), False, False, overlap)]
    n_parts = math.ceil(length / side)
    edges = [length * part // n_parts for part in range(n_parts + 1)]
    return [
        Interval(
            slice(max(0, start - 2 * overlap), min(length, stop + 2 * overlap)),
            start > 0,
            stop < length,
            overlap,
        )
        for start, stop in itertools.pairwise(edges)
    ]
