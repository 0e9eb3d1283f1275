"""Storage order of the coefficients of shifted transforms, against explicit halving."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec.denoising.phases import Phases

CASES = [
    ((16,), (3,), 2, 3),
    ((16,), (3,), 3, 1),
    ((16,), (3,), 3, 0),
    ((16,), (0,), 0, 0),
    ((8, 16), (2, 3), 3, 3),
    ((8, 16), (3, 2), 3, 1),
    ((8, 3), (2, 0), 2, 2),
    ((4, 8, 4), (1, 3, 2), 3, 2),
    ((4, 8, 4), (2, 2, 2), 1, 2),
]


def split_by_hand(grid, levels, level, n_doublings):
    """Halve the grid as the transform does, keeping the first sample of each pair."""
    stack = grid[None]
    for at in range(1, level + 1):
        for axis, depth in enumerate(levels, 1):
            if depth < at:
                continue
            if at <= n_doublings:
                stack = np.concatenate([stack, np.roll(stack, -1, axis=axis)])
            stack = np.take(stack, np.arange(0, stack.shape[axis], 2), axis=axis)
    return stack


@pytest.mark.parametrize(("shape", "levels", "level", "n_doublings"), CASES)
def test_order_is_that_of_repeated_halving(shape, levels, level, n_doublings):
    grid = np.arange(float(math.prod(shape))).reshape(shape)
    phases = Phases(shape, levels, level, n_doublings)
    band = phases.from_grid(grid)
    np.testing.assert_array_equal(band, split_by_hand(grid, levels, level, n_doublings))
    assert phases.n_phases == len(band)


@pytest.mark.parametrize(("shape", "levels", "level", "n_doublings"), CASES)
def test_grid_and_back(shape, levels, level, n_doublings):
    phases = Phases(shape, levels, level, n_doublings)
    marks = phases.from_grid(np.zeros(shape)) + 1.0
    band = np.random.default_rng(0).normal(size=marks.shape)
    grid = phases.to_grid(band)
    assert grid.shape == shape
    np.testing.assert_array_equal(phases.from_grid(grid), band)
    # nothing anywhere else, and everything where there are all shifts
    assert np.count_nonzero(grid) == band.size
    if n_doublings >= level:
        assert band.size == grid.size


def test_phase_and_position_stand_for_a_sample():
    phases = Phases((32,), (3,), 2, 2)
    band = phases.from_grid(np.arange(32.0))
    first = sorted(band[:, 0])
    assert first == [0.0, 1.0, 2.0, 3.0]
    np.testing.assert_array_equal(np.diff(band, axis=1), 4.0)
