"""Rows to learn from, drawn by chance while a table is read: long ones need not fit in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from relvec.cli.chance import stream
from relvec.cli.kinds import as_levels
from relvec.cli.problem import find_column
from relvec.cli.reading import BLOCK, join_blocks, read_blocks
from relvec.cli.sources import Source

__all__ = ["Rows", "draw_rows"]


class Rows(NamedTuple):
    """Rows of a table whose target is known, in the order of the table."""

    frame: pl.DataFrame
    n_read: int
    n_without_target: int


class _Drawn:
    """The rows of the smallest random numbers so far: at any time a fair draw of those seen."""

    def __init__(self, n_wanted: int, seed: int) -> None:
        self.n_wanted = n_wanted
        self.chance = stream(seed, "rows")
        self.blocks: list[pl.DataFrame] = []
        self.keys: list[np.ndarray] = []
        self.n_kept = 0

    def add(self, block: pl.DataFrame) -> None:
        self.blocks.append(block)
        self.keys.append(self.chance.random(len(block)))
        self.n_kept += len(block)
        if self.n_kept >= 2 * self.n_wanted:
            self.thin()

    def thin(self) -> None:
        """Forget all rows but those wanted."""
        if self.n_kept <= self.n_wanted:
            return
        limit = np.partition(np.concatenate(self.keys), self.n_wanted - 1)[self.n_wanted - 1]
        stay = [keys <= limit for keys in self.keys]
        self.blocks = [block.filter(kept) for block, kept in zip(self.blocks, stay, strict=True)]
        self.keys = [keys[kept] for keys, kept in zip(self.keys, stay, strict=True)]
        self.n_kept = sum(map(len, self.keys))


def draw_rows(source: Source, *, target: str, max_rows: int, seed: int) -> Rows:
    """Read a table, and keep at most so many rows of known target, drawn by chance.

    Parameters
    ----------
    source : Source
        The table.
    target : str
        Column without which a row is of no use.
    max_rows : int
        How many to keep at most; 0 for all.
    seed : int
        Of the draw.
    """
    drawn = _Drawn(max_rows, seed) if max_rows else None
    blocks: list[pl.DataFrame] = []
    n_read = n_missing = 0
    for block in read_blocks(source, BLOCK):
        find_column(target, block.columns, source, role="target")
        missing = as_levels(block[target], fold_truth=False).is_null()
        n_read += len(block)
        n_missing += int(missing.sum())
        known = block.filter(~missing)
        if drawn is None:
            blocks.append(known)
        else:
            drawn.add(known)
    if drawn is not None:
        drawn.thin()
        blocks = drawn.blocks
    return Rows(join_blocks(blocks), n_read, n_missing)
