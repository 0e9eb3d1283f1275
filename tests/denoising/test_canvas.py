"""Signals continued beyond their ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.denoising.canvas import BOUNDARIES, Canvas


@given(
    axes=st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from([1, 2, 8, 32])), min_size=1, max_size=2
    ),
    boundary=st.sampled_from(sorted(BOUNDARIES)),
    least=st.sampled_from([0, 5, 40]),
)
def test_size_window_and_crop(axes, boundary, least):
    shape = tuple(size for size, _ in axes)
    multiples = tuple(multiple for _, multiple in axes)
    canvas = Canvas(shape, multiples, boundary, least)
    values = np.random.default_rng(0).normal(size=shape)
    grid = canvas.extend(values)
    assert grid.shape == canvas.shape
    for size, multiple, total, part in zip(
        shape, multiples, canvas.shape, canvas.window, strict=True
    ):
        before, after = part.start, total - part.stop
        assert total % multiple == 0
        assert part.stop - part.start == size
        assert 0 <= after - before <= 1
        is_whole = multiple == 1 or (boundary == "periodic" and size % multiple == 0)
        if is_whole:
            assert total == size
        else:
            assert before >= max(least, size // 16)
            assert total < size + 2 * max(least, size // 16) + multiple
    np.testing.assert_array_equal(canvas.crop(grid), values)
    surrounded = canvas.surround(values)
    assert surrounded.shape == canvas.shape
    np.testing.assert_array_equal(canvas.crop(surrounded), values)
    assert np.abs(surrounded).sum() == pytest.approx(np.abs(values).sum())


@pytest.mark.parametrize(
    ("boundary", "before", "after"),
    [
        ("symmetric", [2, 1, 0], [9, 8, 7]),
        ("reflect", [3, 2, 1], [8, 7, 6]),
        ("constant", [0, 0, 0], [9, 9, 9]),
        ("periodic", [7, 8, 9], [0, 1, 2]),
    ],
)
def test_what_lies_beyond_the_ends(boundary, before, after):
    grid = Canvas((10,), (16,), boundary).extend(np.arange(10.0))
    np.testing.assert_array_equal(grid, [*before, *range(10), *after])


def test_crop_is_a_copy():
    canvas = Canvas((10,), (1,), "symmetric")
    assert canvas.crop(np.zeros(10)).flags.c_contiguous
