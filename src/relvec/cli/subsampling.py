"""Random subsample of the training rows, drawn while the table is read block by block."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from relvec.cli.columns import check_column
from relvec.cli.errors import CommandError, UsageError
from relvec.cli.kinds import as_categories
from relvec.cli.limits import LIMITS
from relvec.cli.randomness import make_generator
from relvec.cli.reading import join_blocks
from relvec.cli.sources import Source

__all__ = ["SampledRows", "draw_rows"]


class SampledRows(NamedTuple):
    """Subsampled rows with a known target, in the order of the table."""

    frame: pl.DataFrame
    row_numbers: np.ndarray
    """Row numbers in the table, counted from 1."""
    n_read: int
    n_with_target: int
    """Rows of the table whose target is known."""

    def counts(self) -> dict[str, int]:
        """Count the rows that were read, and how many of them are used."""
        return {
            "read": self.n_read,
            "without_target": self.n_read - self.n_with_target,
            "not_used": self.n_with_target - len(self.row_numbers),
            "used": len(self.row_numbers),
        }


class _RowSampler:
    """Random sample without replacement from a stream of rows.

    Every row gets a random key; the `n_wanted` rows with the smallest keys are the sample.
    """

    def __init__(self, n_wanted: int, seed: int) -> None:
        self.n_wanted = n_wanted
        self.rng = make_generator(seed, "rows")
        self.blocks: list[pl.DataFrame] = []
        self.row_numbers: list[np.ndarray] = []
        self.keys: list[np.ndarray] = []
        self.n_offered = 0

    def add(self, block: pl.DataFrame, row_numbers: np.ndarray) -> None:
        self.blocks.append(block)
        self.row_numbers.append(row_numbers)
        self.keys.append(self.rng.random(len(row_numbers)))
        self.n_offered += len(row_numbers)
        if sum(map(len, self.keys)) >= 2 * self.n_wanted:
            self.thin()

    def thin(self) -> None:
        """Drop all rows except those with the smallest keys."""
        keys = np.concatenate(self.keys)
        if len(keys) <= self.n_wanted:
            return
        limit = np.partition(keys, self.n_wanted - 1)[self.n_wanted - 1]
        parts = zip(self.blocks, self.row_numbers, self.keys, strict=True)
        self.blocks, self.row_numbers, self.keys = [], [], []
        for block, row_numbers, keys in parts:
            is_kept = keys <= limit
            if is_kept.any():
                self.blocks.append(block.filter(is_kept))
                self.row_numbers.append(row_numbers[is_kept])
                self.keys.append(keys[is_kept])


def draw_rows(
    blocks: Iterable[pl.DataFrame],
    source: Source,
    *,
    target: str,
    max_rows: int = LIMITS.max_rows,
    seed: int = 0,
) -> SampledRows:
    """Draw at most `max_rows` rows with a known target at random.

    Parameters
    ----------
    blocks : iterable of DataFrame
        Blocks of the table; at most about 2 `max_rows` rows are in memory at a time.
    source : Source
        Named in error messages.
    target : str
        Name of the target column.
    max_rows : int
        Maximum number of rows; 0 for all rows.
    seed : int
        Seed of the random sample.
    """
    if max_rows < 0 or 0 < max_rows < LIMITS.min_rows:
        raise UsageError(
            f"--max-rows must be 0 (all rows) or at least {LIMITS.min_rows}; got {max_rows}."
        )
    sampler = _RowSampler(max_rows or np.iinfo(np.int64).max // 2, seed)
    n_read = 0
    for block in blocks:
        check_column(target, block.columns, source, role="target")
        known = as_categories(block[target], fold_booleans=False).is_not_null()
        sampler.add(block.filter(known), n_read + 1 + known.arg_true().to_numpy().astype(np.int64))
        n_read += len(block)
    sampler.thin()
    if sampler.n_offered < LIMITS.min_rows:
        noun = "row" if sampler.n_offered == 1 else "rows"
        raise CommandError(
            f"{source.name} has {sampler.n_offered} {noun} with a known '{target}'; at least "
            f"{LIMITS.min_rows} are needed."
        )
    return SampledRows(
        join_blocks(sampler.blocks), np.concatenate(sampler.row_numbers), n_read, sampler.n_offered
    )
