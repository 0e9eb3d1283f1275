"""Wavelets averaged over shifts: against rolled transforms of PyWavelets."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relvec.denoising.shifted_wavelets import WaveletFrame, wavelet_levels
from tests.denoising.frames import check_frame, copies

pywt = pytest.importorskip("pywt")

CASES = [
    ((64,), "db2", (3,), None),
    ((64,), "haar", (6,), None),
    ((64,), "sym8", (4,), 2),
    ((64,), "db2", (3,), 1),
    ((64,), "db2", (3,), 0),
    ((8,), "db2", (0,), None),
    ((5,), "db2", (0,), None),
    ((2,), "haar", (1,), None),
    ((8,), "sym8", (3,), None),
    ((16, 32), "db2", (2, 3), None),
    ((16, 16), "haar", (3, 2), 1),
    ((32, 5), "db2", (2, 0), None),
    ((3, 16), "sym4", (0, 2), 1),
    ((8, 8, 4), "db2", (1, 2, 1), None),
    ((8, 4, 8), "haar", (2, 0, 2), 1),
    ((4, 4, 4, 2), "haar", (1, 1, 1, 1), None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "wavelet", "levels", "n_doublings"), CASES)
def test_frame(shape, wavelet, levels, n_doublings):
    check_frame(WaveletFrame(shape, wavelet, levels, n_doublings))


@given(
    axes=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=2),
    wavelet=st.sampled_from(["haar", "db3", "coif1"]),
    n_doublings=st.one_of(st.none(), st.integers(0, 3)),
    seed=st.integers(0, 1000),
)
@settings(max_examples=15)
def test_any_frame(axes, wavelet, n_doublings, seed):
    shape = tuple(factor * 2**level for factor, level in axes)
    levels = tuple(level for _, level in axes)
    check_frame(WaveletFrame(shape, wavelet, levels, n_doublings), seed)


def shrink(coefficients):
    """Any function of a coefficient that is not linear."""
    return coefficients * np.tanh(np.abs(coefficients))


def orthonormal(values, wavelet, levels):
    """One transform: shrunk coefficients back in the domain of the signal."""
    if not max(levels):
        return shrink(values)
    axes = [axis for axis, level in enumerate(levels) if level]
    parts = pywt.dwtn(values, wavelet, "periodization", axes=axes)
    smooth = "a" * len(axes)
    done = {
        name: orthonormal(part, wavelet, [max(0, level - 1) for level in levels])
        if name == smooth
        else shrink(part)
        for name, part in parts.items()
    }
    return pywt.idwtn(done, wavelet, "periodization", axes=axes)


@pytest.mark.parametrize(
    ("shape", "wavelet", "levels", "n_doublings"),
    [case for case in CASES if math.prod(case[0]) <= 512],
)
def test_shrinkage_is_the_mean_over_rolled_transforms(shape, wavelet, levels, n_doublings):
    values = np.random.default_rng(1).normal(size=shape)
    frame = WaveletFrame(shape, wavelet, levels, n_doublings)
    found = frame.synthesise([shrink(band) for band in frame.analyse(values)])
    doublings = max(levels) if n_doublings is None else n_doublings
    steps = [range(2 ** min(level, doublings)) for level in levels]
    axes = tuple(range(len(shape)))
    total = np.zeros(shape)
    for shift in product(*steps):
        moved = np.roll(values, [-step for step in shift], axes)
        total += np.roll(orthonormal(moved, wavelet, levels), shift, axes)
    np.testing.assert_allclose(found, total / math.prod(map(len, steps)), atol=1e-12)


def test_equals_the_multilevel_transform_of_pywavelets():
    """Without shifts there is one transform, in PyWavelets' own order."""
    values = np.random.default_rng(2).normal(size=(16, 32))
    smooth, *details = WaveletFrame((16, 32), "db2", (2, 2), 0).analyse(values)
    expected = pywt.wavedecn(values, "db2", "periodization", level=2)
    np.testing.assert_allclose(smooth[0], expected[0], atol=1e-13)
    for band, (level, name) in zip(details, product((1, 2), ("ad", "da", "dd")), strict=True):
        np.testing.assert_allclose(band[0], expected[-level][name], atol=1e-13)


def test_full_average_commutes_with_shifts():
    values = np.random.default_rng(3).normal(size=64)
    frame = WaveletFrame((64,), "db3", (4,))

    def denoised(signal):
        return frame.synthesise([shrink(band) for band in frame.analyse(signal)])

    np.testing.assert_allclose(
        np.roll(denoised(values), 5), denoised(np.roll(values, 5)), atol=1e-12
    )


def test_linear_in_the_coefficients():
    random = np.random.default_rng(4)
    frame = WaveletFrame((16, 8), "db2", (2, 1), 1)
    first, second = (frame.analyse(random.normal(size=(16, 8))) for _ in range(2))
    both = [a + 2.0 * b for a, b in zip(first, second, strict=True)]
    expected = frame.synthesise(copies(first)) + 2.0 * frame.synthesise(copies(second))
    np.testing.assert_allclose(frame.synthesise(both), expected, atol=1e-12)


def test_long_grids_compute_short_atoms_only():
    """On a long grid, atoms are found on a short one; energies must still be right."""
    size, levels = 1 << 12, 5
    frame = WaveletFrame((size,), "sym8", (levels,), 2)
    window = (slice(100, size - 300),)
    indicator = np.zeros(size)
    indicator[window] = 1.0
    for found, expected in zip(
        frame.energy_inside(window), frame.analyse_variance(indicator), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-10)
    # one coefficient of each band by direct synthesis
    bands = [np.zeros_like(band) for band in frame.analyse(np.zeros(size))]
    for place, band in enumerate(frame.bands):
        units = copies(bands)
        units[place][0, -1] = 1.0
        atom = frame.synthesise(units) / band.shift_fraction
        units = copies(bands)
        units[place][0, -1] = 1.0
        np.testing.assert_allclose(
            frame.synthesise_variance(units) / band.shift_fraction, atom**2, atol=1e-12
        )


@pytest.mark.parametrize(
    ("shape", "levels"),
    [((7,), (0,)), ((8,), (1,)), ((16,), (1,)), ((64,), (3,)), ((1024, 5, 40), (7, 0, 2))],
)
def test_default_depth(shape, levels):
    assert wavelet_levels(shape) == levels
