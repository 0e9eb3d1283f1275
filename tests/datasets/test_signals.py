"""Test signals against an independent implementation, stored references and formulas."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import pywt

from relvec.datasets import SIGNAL_NAMES, make_noisy_signal, make_parts, make_signal


@pytest.fixture(scope="module")
def reference():
    folder = os.environ.get("RELVEC_DATA")
    if not folder:
        pytest.skip("set RELVEC_DATA to the folder that holds schmolck_signals.npz")
    with np.load(Path(folder) / "schmolck_signals.npz", allow_pickle=False) as data:
        return dict(data)


@pytest.mark.parametrize("n", [64, 128, 256, 512, 1024])
@pytest.mark.parametrize("name", ["sinc", "heavisine", "doppler", "blocks", "bumps", "blockssinc"])
def test_equal_to_the_thesis(reference, name, n):
    ours = make_signal(name, n, grid="linspace")
    np.testing.assert_allclose(ours, reference[f"{name}_{n}"], atol=1e-12)


def test_equal_to_the_thesis_on_the_grid_of_its_table(reference):
    np.testing.assert_allclose(
        make_signal("bumps", 128), reference["bumps_128_wavelab"], atol=1e-12
    )


@pytest.mark.parametrize("n", [256, 1024])
@pytest.mark.parametrize(
    "name", [name for name in pywt.data.demo_signal("list") if name != "Gabor"]
)
def test_equal_to_pywavelets(name, n):
    if name == "sineoneoverx":
        n, theirs = 1024, pywt.data.demo_signal(name)
    else:
        theirs = pywt.data.demo_signal(name, n)
    # Phases of many turns lose digits; at its pole 1/x loses nearly all of them.
    tolerance = 1e-6 if name == "sineoneoverx" else 1e-9
    np.testing.assert_allclose(make_signal(name, n), theirs, atol=tolerance)


def test_gabor_is_the_real_part_of_that_of_wavelab():
    theirs = pywt.data.demo_signal("Gabor").real
    np.testing.assert_allclose(make_signal("Gabor", 512), theirs, atol=1e-12)


def test_signals_that_pywavelets_lacks():
    t = np.arange(1, 101) / 100
    np.testing.assert_allclose(make_signal("Cusp", 100), np.sqrt(abs(t - 0.37)))
    np.testing.assert_allclose(make_signal("Sing", 100), 1 / abs(t - 0.375), rtol=1e-9)
    np.testing.assert_array_equal(make_signal("Leopold", 100), t == 0.37)


@pytest.mark.parametrize("grid", ["wavelab", "linspace"])
@pytest.mark.parametrize("name", SIGNAL_NAMES)
def test_any_length_and_grid(name, grid):
    for n in (16, 17, 31, 100, 513):
        signal = make_signal(name, n, grid=grid)
        assert signal.shape == (n,)
        assert signal.dtype == np.float64
        assert np.isfinite(signal).all()
        assert signal.std() > 0
        np.testing.assert_allclose(make_parts(name, n, grid=grid).sum(axis=0), signal)


def test_parts_are_the_sources():
    steps, curve = make_parts("BlocksSinc", 257)
    np.testing.assert_array_equal(steps[:128], make_signal("Blocks", 128))
    np.testing.assert_array_equal(curve[128:], make_signal("Sinc", 129))
    assert make_parts("MishMash", 64).shape == (3, 64)
    assert make_parts("Bumps", 64).shape == (1, 64)


@pytest.mark.parametrize("spelling", ["piece-regular", "PIECE_REGULAR", "Piece Regular"])
def test_spelling_does_not_matter(spelling):
    np.testing.assert_array_equal(make_signal(spelling, 64), make_signal("Piece-Regular", 64))


def test_wrong_arguments():
    with pytest.raises(ValueError, match="name must be one of .* Did you mean 'Doppler'?"):
        make_signal("dopler")
    with pytest.raises(ValueError, match="name must be one of 'Blocks'.*; got 3."):
        make_signal(3)
    with pytest.raises(ValueError, match="grid must be one of 'wavelab', 'linspace'"):
        make_signal("Blocks", grid="matlab")
    with pytest.raises(ValueError, match="n must be an integer of at least 16; got 8."):
        make_signal("Blocks", 8)
    with pytest.raises(ValueError, match="snr must be a positive number; got 0."):
        make_noisy_signal("Blocks", snr=0)
    with pytest.raises(TypeError, match="exact_noise must be True or False; got 'yes'."):
        make_noisy_signal("Blocks", exact_noise="yes")


@pytest.mark.parametrize(
    ("name", "snr", "variance"), [("Bumps", 2, 0.119), ("Bumps", 7, 0.010), ("Sinc", 2, 0.031)]
)
def test_noise_of_the_published_table(name, snr, variance):
    assert make_noisy_signal(name, 128, snr=snr).noise_std ** 2 == pytest.approx(variance, abs=5e-4)


def test_noise():
    x, clean, noisy, noise_std = make_noisy_signal("Doppler", 4096, snr=3, random_state=0)
    np.testing.assert_allclose(x, np.arange(1, 4097) / 4096)
    assert noise_std == pytest.approx(clean.std(ddof=1) / 3)
    assert (noisy - clean).std() == pytest.approx(noise_std, rel=0.05)
    again = make_noisy_signal("Doppler", 4096, snr=3, random_state=0)
    np.testing.assert_array_equal(noisy, again.noisy)


def test_exact_noise():
    signal = make_noisy_signal("Sinc", 64, snr=2, exact_noise=True, random_state=1)
    noise = signal.noisy - signal.clean
    assert noise.std(ddof=1) == pytest.approx(signal.noise_std)
    assert noise.mean() == pytest.approx(0.0, abs=1e-15)
