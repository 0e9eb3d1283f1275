"""The noise level of arrays: equivariance, gaps, rounding, few samples, several dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec.datasets import make_signal
from relvec.noise import estimate_noise_level


@pytest.fixture
def signal():
    random = np.random.default_rng(0)
    return make_signal("LinChirp", 4096) + 0.3 * random.normal(size=4096)


@pytest.fixture
def image():
    random = np.random.default_rng(1)
    slope = np.sin(np.add.outer(np.arange(200), 2 * np.arange(220)) / 40)
    return 50 * slope + 5 * random.normal(size=(200, 220))


@pytest.mark.parametrize("method", ["auto", "envelope", "mad"])
@pytest.mark.parametrize("factor", [2.0, -3.0, 1e150, 1e-150, 1e300, 1e-300])
def test_scales_with_the_values(signal, factor, method):
    level = estimate_noise_level(signal, method=method)
    scaled = estimate_noise_level(factor * signal, method=method)
    assert scaled.std == pytest.approx(abs(factor) * level.std, rel=1e-9)
    assert scaled.is_reliable == level.is_reliable


@pytest.mark.parametrize("n", [10, 40, 300, 4096])
def test_ignores_a_constant(signal, n):
    level = estimate_noise_level(signal[:n])
    assert estimate_noise_level(signal[:n] + 1e6).std == pytest.approx(level.std, rel=1e-6)


def test_scale_and_shift_of_images(image):
    level = estimate_noise_level(image)
    assert level.method == "patches"
    assert level.std == pytest.approx(5.0, rel=0.05)
    assert estimate_noise_level(1e-200 * (image + 1e5)).std == pytest.approx(
        1e-200 * level.std, rel=1e-6
    )


@pytest.mark.parametrize("share", [0.0005, 0.05, 0.5])
@pytest.mark.parametrize("kind", ["signal", "image"])
def test_missing_samples(image, kind, share):
    random = np.random.default_rng(2)
    noisy = make_signal("HeaviSine", 4096) + random.normal(size=4096)
    values, std = (noisy, 1.0) if kind == "signal" else (image, 5.0)
    observed = random.random(values.shape) >= share
    level = estimate_noise_level(np.where(observed, values, np.nan))
    assert level.std == pytest.approx(std, rel=0.1)
    assert level == estimate_noise_level(np.where(observed, values, 1e9), observed=observed)


def test_methods_with_missing_samples(signal):
    gap = signal.copy()
    gap[1000:3000] = np.nan
    assert estimate_noise_level(gap).method == "envelope"
    assert estimate_noise_level(gap).std == pytest.approx(0.3, rel=0.1)
    gap[::7] = np.nan
    assert estimate_noise_level(gap).method == "differences"
    gap[::2] = np.nan
    level = estimate_noise_level(gap)
    assert level.method == "differences"
    assert level.is_weak


def test_observed_far_from_where_large_arrays_are_read():
    values = np.full(1_000_000, np.nan)
    values[400_000:402_000] = np.random.default_rng(0).normal(size=2000)
    assert estimate_noise_level(values).std == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("values", [np.ones(10), np.ones(1000), np.ones((64, 64)), np.ones((2, 5))])
def test_constant(values):
    level = estimate_noise_level(values)
    assert level.std == 0.0
    assert level.is_degenerate
    assert not level.is_reliable


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000.0),
        np.sin(np.arange(4096) / 50),
        make_signal("Blocks", 1024),
        np.add.outer(np.arange(200.0), np.arange(200.0)),
    ],
)
def test_exact(values, dtype):
    assert estimate_noise_level(values.astype(dtype)).is_degenerate


@pytest.mark.parametrize("std", [0.5, 1.0, 3.0])
def test_rounded_values(std):
    random = np.random.default_rng(4)
    clean = 20 * np.sin(np.arange(8192) / 300)
    level = estimate_noise_level(np.round(clean + std * random.normal(size=8192)).astype(np.int64))
    # Rounding adds noise of variance 1/12.
    assert level.std == pytest.approx(math.sqrt(std**2 + 1 / 12), rel=0.06)


def test_rounding_that_hides_the_noise():
    values = np.round(0.1 * np.random.default_rng(0).normal(size=4096))
    assert estimate_noise_level(values).is_degenerate


def test_padding_is_left_out(signal, image):
    signal[:3000], image[:, :70] = 0.0, 0.0
    assert estimate_noise_level(signal).std == pytest.approx(0.3, rel=0.15)
    assert estimate_noise_level(image).std == pytest.approx(5.0, rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 5, 10, 16, 31, 32, 33, 47, 64, 100, 127, 128])
def test_few_samples(n):
    random = np.random.default_rng(n)
    levels = [estimate_noise_level(random.normal(size=n)) for _ in range(100)]
    assert all(level.is_weak for level in levels)
    assert all(level.std > 0 for level in levels)
    # The median of one or two absolute values is itself a small sample.
    median = np.median([level.std for level in levels])
    assert median == pytest.approx(1.0, abs=0.4 if n < 10 else 0.2)


def test_a_slope_is_not_noise_even_in_ten_samples():
    values = 100.0 * np.arange(10) + np.random.default_rng(0).normal(size=10)
    assert estimate_noise_level(values).std < 3


@pytest.mark.parametrize("values", [[], [1.0], [np.nan] * 50, [np.nan, 1.0]])
def test_too_few(values):
    with pytest.raises(ValueError, match="at least two observed values; got [01] in"):
        estimate_noise_level(np.array(values))


def test_infinite():
    values = np.array([1.0, np.inf, 2.0, 3.0])
    with pytest.raises(
        ValueError, match="must be finite where it is observed; got infinite values"
    ):
        estimate_noise_level(values)
    assert estimate_noise_level(values, observed=np.isfinite(values)).n_samples == 3


def test_complex_parts_share_a_level():
    random = np.random.default_rng(0)
    values = random.normal(size=3000) + 1j * random.normal(size=3000)
    level = estimate_noise_level(values + 5 * np.exp(1j * np.arange(3000)))
    assert level.std == pytest.approx(1.0, abs=0.04)
    assert level.n_samples == 6000


@pytest.mark.parametrize(
    "shape", [(32, 40, 50), (6, 7, 30, 31), (100, 100, 100), (5, 1000), (3, 3, 900), (40, 40)]
)
def test_dimensions(shape):
    random = np.random.default_rng(5)
    ramp = np.arange(shape[0]).reshape(-1, *(1,) * (len(shape) - 1))
    level = estimate_noise_level(2.0 * random.normal(size=shape) + ramp)
    assert level.std == pytest.approx(2.0, rel=0.1)
    assert level.is_reliable


def test_patches_need_a_plane(signal):
    with pytest.raises(ValueError, match='method="patches" needs an image.*shape .4096,.'):
        estimate_noise_level(signal, method="patches")


def test_coloured_noise_is_marked_unreliable():
    random = np.random.default_rng(6)
    steps = random.normal(size=(10, 4096))
    coloured = np.zeros_like(steps)
    for i in range(1, 4096):
        coloured[:, i] = 0.7 * coloured[:, i - 1] + steps[:, i]
    flagged = [
        not estimate_noise_level(each + 0.05 * random.normal(size=4096)).is_reliable
        for each in coloured
    ]
    assert sum(flagged) >= 8
    assert all(estimate_noise_level(random.normal(size=4096)).is_reliable for _ in range(10))
