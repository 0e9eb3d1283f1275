"""Random subsampling of rows while a table is read."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest

from relvec.cli.errors import CommandError, UsageError
from relvec.cli.sources import Source
from relvec.cli.subsampling import draw_rows

SOURCE = Source("table.csv", "csv")


def blocks_of(n_rows, size, gaps=0):
    """Yield blocks of a table that contains its row numbers; every `gaps`-th target is missing."""
    for start in range(0, n_rows, size):
        row = np.arange(start + 1, min(start + size, n_rows) + 1)
        y = [None if gaps and each % gaps == 0 else float(each) for each in row]
        yield pl.DataFrame({"row": row, "y": pl.Series(y, dtype=pl.Float64)})


def test_a_short_table_is_not_subsampled():
    rows = draw_rows(blocks_of(40, 7, gaps=10), SOURCE, target="y", max_rows=36)
    assert rows.frame["row"].to_list() == rows.row_numbers.tolist()
    assert len(rows.row_numbers) == 36
    assert rows.counts() == {"read": 40, "without_target": 4, "not_used": 0, "used": 36}


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_the_sample_does_not_depend_on_the_block_size(size):
    rows = draw_rows(blocks_of(1000, size, gaps=3), SOURCE, target="y", max_rows=50, seed=5)
    whole = draw_rows(blocks_of(1000, 1000, gaps=3), SOURCE, target="y", max_rows=50, seed=5)
    assert rows.row_numbers.tolist() == whole.row_numbers.tolist() == rows.frame["row"].to_list()
    assert (np.diff(rows.row_numbers) > 0).all()
    assert not (rows.row_numbers % 3 == 0).any()
    assert rows.counts() == {"read": 1000, "without_target": 333, "not_used": 617, "used": 50}


def test_another_seed_draws_other_rows():
    first, second = (
        draw_rows(
            blocks_of(1000, 90), SOURCE, target="y", max_rows=50, seed=seed
        ).row_numbers.tolist()
        for seed in (0, 1)
    )
    assert first != second


@pytest.mark.slow
def test_all_rows_are_equally_likely():
    counts = np.zeros(60)
    for seed in range(300):
        rows = draw_rows(blocks_of(60, 11), SOURCE, target="y", max_rows=15, seed=seed)
        counts[rows.row_numbers - 1] += 1
    # 75 expected, with a standard deviation of 7.5; thirds of the table of 1500, with 19
    assert 43 < counts.min() <= counts.max() < 107
    assert np.abs(counts.reshape(3, 20).sum(axis=1) - 1500).max() < 78


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table():
    def peak(n_rows):
        tracemalloc.start()
        draw_rows(blocks_of(n_rows, 1000), SOURCE, target="y", max_rows=20)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(100_000) < 2 * peak(20_000)


def test_no_limit():
    rows = draw_rows(blocks_of(1000, 90), SOURCE, target="y", max_rows=0)
    assert rows.row_numbers.tolist() == list(range(1, 1001))


def test_kinds_that_differ_between_blocks_become_text():
    blocks = [pl.DataFrame({"x": [1] * 5, "y": [1.0] * 5})]
    blocks += [pl.DataFrame({"x": ["one"] * 5, "y": [2.0] * 5})]
    rows = draw_rows(blocks, SOURCE, target="y")
    assert rows.frame["x"].to_list() == ["1"] * 5 + ["one"] * 5


@pytest.mark.parametrize("max_rows", [-1, 1, 4])
def test_invalid_max_rows(max_rows):
    with pytest.raises(UsageError, match=f"at least 5; got {max_rows}"):
        draw_rows(blocks_of(10, 10), SOURCE, target="y", max_rows=max_rows)


def test_too_few_known_targets():
    with pytest.raises(CommandError, match="has 1 row with a known 'y'"):
        draw_rows(blocks_of(2, 2, gaps=2), SOURCE, target="y")


def test_an_unknown_target_is_reported_at_the_first_block():
    def endless():
        yield from blocks_of(10, 10)
        raise AssertionError("the second block was asked for")

    with pytest.raises(CommandError, match="Did you mean 'row'"):
        draw_rows(endless(), SOURCE, target="rows")
