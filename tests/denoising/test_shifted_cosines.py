"""Lapped cosines averaged over shifts: against rolled transforms."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from relvec.denoising.shifted_cosines import CosineFrame
from relvec.dictionaries.lapped import inverse_lapped_cosine, lapped_cosine
from tests.denoising.frames import check_frame

CASES = [
    ((64,), 8, 4),
    ((16,), 8, 2),
    ((48,), 16, 1),
    ((24,), 4, 4),
    ((16, 32), 8, 2),
    ((8, 12), 4, 4),
    ((8, 8, 8), 4, 2),
    ((4, 4, 4, 4), 2, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "size", "n_shifts"), CASES)
def test_frame(shape, size, n_shifts):
    check_frame(CosineFrame(shape, size, n_shifts))


def shrink(coefficients):
    return coefficients * np.tanh(np.abs(coefficients))


def orthonormal(values, size):
    """One transform, axis by axis, each axis replaced by its coefficients in place."""
    coefficients = values
    for axis in range(values.ndim):
        moved = np.moveaxis(coefficients, axis, -1)
        moved = lapped_cosine(moved, size, periodic=True).reshape(moved.shape)
        coefficients = np.moveaxis(moved, -1, axis)
    coefficients = shrink(coefficients)
    for axis in range(values.ndim):
        moved = np.moveaxis(coefficients, axis, -1)
        frames = moved.reshape(*moved.shape[:-1], -1, size)
        coefficients = np.moveaxis(inverse_lapped_cosine(frames, periodic=True), -1, axis)
    return coefficients


@pytest.mark.parametrize(("shape", "size", "n_shifts"), CASES)
def test_shrinkage_is_the_mean_over_rolled_transforms(shape, size, n_shifts):
    values = np.random.default_rng(1).normal(size=shape)
    frame = CosineFrame(shape, size, n_shifts)
    found = frame.synthesise([shrink(band) for band in frame.analyse(values)])
    axes = tuple(range(len(shape)))
    steps = range(0, size, size // n_shifts)
    rolled = [
        np.roll(orthonormal(np.roll(values, [-s for s in shift], axes), size), shift, axes)
        for shift in product(steps, repeat=len(shape))
    ]
    np.testing.assert_allclose(found, np.mean(rolled, axis=0), atol=1e-12)


def test_bands_are_frames_by_frequencies():
    frame = CosineFrame((32, 48), 8, 2)
    bands = frame.analyse(np.zeros((32, 48)))
    assert [band.shape for band in bands] == [(4, 8, 6, 8)] * 4
    assert all(band.axes == (1, 3) and not band.wraps for band in frame.bands)
    assert all(band.shift_fraction == 0.25 for band in frame.bands)


@pytest.mark.parametrize(("shape", "size"), [((20,), 8), ((8,), 8), ((16, 8), 8)])
def test_grids_of_unsuitable_size_are_refused(shape, size):
    with pytest.raises(
        ValueError, match=f"Frames of {size} samples need axes that are multiples of {size}"
    ):
        CosineFrame(shape, size, 2)
