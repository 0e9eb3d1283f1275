"""Rows to learn from, drawn by chance while a table is read: it need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from relvec.cli.columns import find_column
from relvec.cli.errors import CommandError, UsageError
from relvec.cli.kinds import as_levels
from relvec.cli.limits import LIMITS
from relvec.cli.reading import join_blocks
from relvec.cli.sampling import stream
from relvec.cli.sources import Source

__all__ = ["Rows", "draw_rows"]


class Rows(NamedTuple):
    """Rows of a table whose target is known, in the order of the table."""

    frame: pl.DataFrame
    places: np.ndarray
    """Their numbers in the table, from 1 on."""
    n_read: int
    n_known: int
    """Rows of the table whose target is known."""

    def counts(self) -> dict[str, int]:
        """What became of all rows that were read."""
        return {
            "read": self.n_read,
            "without_target": self.n_read - self.n_known,
            "not_used": self.n_known - len(self.places),
            "used": len(self.places),
        }


class _Draw:
    """The rows of the smallest random numbers so far: at any time a fair draw of those seen."""

    def __init__(self, n_wanted: int, seed: int) -> None:
        self.n_wanted = n_wanted
        self.chance = stream(seed, "rows")
        self.blocks: list[pl.DataFrame] = []
        self.places: list[np.ndarray] = []
        self.keys: list[np.ndarray] = []
        self.n_seen = 0

    def add(self, block: pl.DataFrame, places: np.ndarray) -> None:
        self.blocks.append(block)
        self.places.append(places)
        self.keys.append(self.chance.random(len(places)))
        self.n_seen += len(places)
        if sum(map(len, self.keys)) >= 2 * self.n_wanted:
            self.thin()

    def thin(self) -> None:
        """Forget all rows but those wanted."""
        keys = np.concatenate(self.keys)
        if len(keys) <= self.n_wanted:
            return
        limit = np.partition(keys, self.n_wanted - 1)[self.n_wanted - 1]
        parts = zip(self.blocks, self.places, self.keys, strict=True)
        self.blocks, self.places, self.keys = [], [], []
        for block, places, keys in parts:
            stay = keys <= limit
            if stay.any():
                self.blocks.append(block.filter(stay))
                self.places.append(places[stay])
                self.keys.append(keys[stay])


def draw_rows(
    blocks: Iterable[pl.DataFrame],
    source: Source,
    *,
    target: str,
    max_rows: int = LIMITS.max_rows,
    seed: int = 0,
) -> Rows:
    """Keep of a table at most so many rows of known target, drawn by chance.

    Parameters
    ----------
    blocks : iterable of DataFrame
        The table, part by part; about two times `max_rows` rows are in memory at a time.
    source : Source
        What to call it.
    target : str
        Column without which a row is of no use.
    max_rows : int
        How many rows to keep; 0 for all.
    seed : int
        Of the draw.
    """
    if max_rows < 0 or 0 < max_rows < LIMITS.min_rows:
        raise UsageError(
            f"--max-rows must be 0, for all, or at least {LIMITS.min_rows}; got {max_rows}."
        )
    draw = _Draw(max_rows or np.iinfo(np.int64).max // 2, seed)
    n_read = 0
    for block in blocks:
        find_column(target, block.columns, source, role="target")
        known = as_levels(block[target], fold_truth=False).is_not_null()
        draw.add(block.filter(known), n_read + 1 + known.arg_true().to_numpy().astype(np.int64))
        n_read += len(block)
    draw.thin()
    if draw.n_seen < LIMITS.min_rows:
        raise CommandError(
            f"{source.name} has {draw.n_seen} {'row' if draw.n_seen == 1 else 'rows'} with a "
            f"known '{target}'; at least {LIMITS.min_rows} are needed to learn from."
        )
    return Rows(join_blocks(draw.blocks), np.concatenate(draw.places), n_read, draw.n_seen)
