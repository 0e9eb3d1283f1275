"""Signals too large for one piece: overlapping tiles, faded into each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.denoising.frame import Array
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Tile", "fade", "needs_tiles", "stream", "tiles"]


class Cut(NamedTuple):
    """An interval of one axis, and how it fades into its neighbours."""

    part: slice
    fades_in: bool
    fades_out: bool
    overlap: int

    def weight(self) -> Vector:
        """Weight of every sample; over all intervals they sum to one."""
        weight = np.ones(self.part.stop - self.part.start)
        ramp = _ramp(self.overlap)
        if self.fades_in:
            weight[: self.overlap] = 0.0
            weight[self.overlap : 3 * self.overlap] = ramp
        if self.fades_out:
            weight[-self.overlap :] = 0.0
            weight[-3 * self.overlap : -self.overlap] = ramp[::-1]
        return weight


class Tile(NamedTuple):
    """A box of the signal."""

    cuts: tuple[Cut, ...]

    @property
    def box(self) -> tuple[slice, ...]:
        """Where it lies."""
        return tuple(cut.part for cut in self.cuts)

    @property
    def weights(self) -> tuple[Vector, ...]:
        """Part of it that the tile is responsible for, along each axis.

        Made when asked for: those of all tiles together are as large as the signal.
        """
        return tuple(cut.weight() for cut in self.cuts)


def needs_tiles(shape: tuple[int, ...], tuning: DenoisingTuning = DEFAULT) -> bool:
    """Whether a signal is too large for one piece."""
    return math.prod(shape) > 1.5 * tuning.tile_side(len(shape)) ** len(shape)


def tiles(shape: tuple[int, ...], tuning: DenoisingTuning = DEFAULT) -> Iterator[Tile]:
    """Cut a shape into overlapping tiles."""
    side, overlap = tuning.tile_side(len(shape)), tuning.tile_overlap(len(shape))
    for cuts in itertools.product(*(_cuts(length, side, overlap) for length in shape)):
        yield Tile(cuts)


def fade(values: Array, tile: Tile) -> Array:
    """Weigh the values of a tile for being added up."""
    faded = values
    for axis, weight in enumerate(tile.weights):
        faded = faded * weight.reshape([-1 if at == axis else 1 for at in range(values.ndim)])
    return faded


def stream(
    chunks: Iterable[Any],
    work: Callable[[Vector], Vector],
    side: int,
    overlap: int = DEFAULT.tile_overlap(1),
) -> Iterator[Vector]:
    """Pass a signal that arrives in pieces through `work`, tile by tile.

    Parameters
    ----------
    chunks : iterable of array-like
        Consecutive pieces of a signal, of any sizes.
    work : callable
        Denoises one tile.
    side : int
        Samples of a tile besides its overlaps.
    overlap : int, optional
        Half the width of the zone in which one tile fades into the next, at most an eighth
        of `side`.

    Yields
    ------
    ndarray
        Consecutive pieces of the result, together as long as the input. At no time is more
        than a few tiles held in memory.
    """
    overlap = min(overlap, side // 8)
    ramp = _ramp(overlap)
    buffer, pending = _Buffer(chunks), np.empty(0)
    while True:
        is_first = len(pending) == 0
        lead = 0 if is_first else 2 * overlap
        piece = buffer.peek(lead + side + 2 * overlap)
        is_last = len(piece) < lead + side + 2 * overlap or buffer.is_exhausted(len(piece))
        result = np.array(work(piece), dtype=np.float64) if len(piece) else piece
        if not is_first:
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
    """The part of a stream that is still needed."""

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
    return (np.arange(2 * overlap) + 0.5) / (2 * overlap)


def _cuts(length: int, side: int, overlap: int) -> list[Cut]:
    """Intervals along one axis."""
    if length <= 1.5 * side:
        return [Cut(slice(0, length), False, False, overlap)]
    n_parts = math.ceil(length / side)
    edges = [length * part // n_parts for part in range(n_parts + 1)]
    return [
        Cut(
            slice(max(0, start - 2 * overlap), min(length, stop + 2 * overlap)),
            start > 0,
            stop < length,
            overlap,
        )
        for start, stop in itertools.pairwise(edges)
    ]
