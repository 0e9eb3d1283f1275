"""Padding: sizes, extensions and cropping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.denoising.padding import BOUNDARIES, PaddedGrid


@given(
    axes=st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from([1, 2, 8, 32])), min_size=1, max_size=2
    ),
    boundary=st.sampled_from(sorted(BOUNDARIES)),
    min_margin=st.sampled_from([0, 5, 40]),
)
def test_size_window_and_crop(axes, boundary, min_margin):
    shape = tuple(size for size, _ in axes)
    multiples = tuple(multiple for _, multiple in axes)
    padded = PaddedGrid(shape, multiples, boundary, min_margin)
    values = np.random.default_rng(0).normal(size=shape)
    grid = padded.pad(values)
    assert grid.shape == padded.shape
    for size, multiple, total, part in zip(
        shape, multiples, padded.shape, padded.window, strict=True
    ):
        before, after = part.start, total - part.stop
        assert total % multiple == 0
        assert part.stop - part.start == size
        assert 0 <= after - before <= 1
        is_whole = multiple == 1 or (boundary == "periodic" and size % multiple == 0)
        if is_whole:
            assert total == size
        else:
            assert before >= max(min_margin, size // 16)
            assert total < size + 2 * max(min_margin, size // 16) + multiple
    np.testing.assert_array_equal(padded.crop(grid), values)
    embedded = padded.embed(values)
    assert embedded.shape == padded.shape
    np.testing.assert_array_equal(padded.crop(embedded), values)
    assert np.abs(embedded).sum() == pytest.approx(np.abs(values).sum())


@pytest.mark.parametrize(
    ("boundary", "before", "after"),
    [
        ("symmetric", [2, 1, 0], [9, 8, 7]),
        ("reflect", [3, 2, 1], [8, 7, 6]),
        ("constant", [0, 0, 0], [9, 9, 9]),
        ("periodic", [7, 8, 9], [0, 1, 2]),
    ],
)
def test_extension_beyond_the_ends(boundary, before, after):
    grid = PaddedGrid((10,), (16,), boundary).pad(np.arange(10.0))
    np.testing.assert_array_equal(grid, [*before, *range(10), *after])


def test_crop_is_a_copy():
    padded = PaddedGrid((10,), (1,), "symmetric")
    assert padded.crop(np.zeros(10)).flags.c_contiguous
