"""`estimate_noise`: inputs, outputs, warnings and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from relvec import estimate_noise
from relvec.noise import NoiseLevel, NoiseLevelWarning


@pytest.fixture
def signal():
    return np.sin(np.arange(2000) / 30) + 0.3 * np.random.default_rng(0).normal(size=2000)


def test_kinds_of_input(signal):
    std = estimate_noise(signal)
    assert isinstance(std, float)
    assert std == pytest.approx(0.3, rel=0.08)
    for same in (list(signal), tuple(signal), pd.Series(signal), pl.Series(signal)):
        assert estimate_noise(same) == std
    assert estimate_noise(signal.astype(object)) == std
    assert estimate_noise(np.round(100 * signal).astype(np.int16)) == pytest.approx(
        100 * std, rel=0.02
    )
    assert estimate_noise(signal.astype(np.float32)) == pytest.approx(std, rel=1e-4)


def test_missing_values_of_frames(signal):
    values = [None if i % 500 == 3 else value for i, value in enumerate(signal)]
    expected = estimate_noise(signal, mask=[value is not None for value in values])
    assert estimate_noise(pd.Series(values)) == expected
    assert estimate_noise(pl.Series(values)) == expected
    assert estimate_noise(values) == expected


def test_report(signal):
    std, report = estimate_noise(signal, return_report=True)
    assert isinstance(report, NoiseLevel)
    assert report.std == std
    assert report.method == "envelope"
    assert report.n_samples == 2000
    assert 0 < report.standard_error < 0.06
    assert report.warning() is None
    assert report.advice() == "Nothing needs to be done."


def test_channels():
    random = np.random.default_rng(1)
    levels = np.array([1.0, 2.0, 4.0])
    colours = 100 + levels * random.normal(size=(70, 80, 3))
    std, reports = estimate_noise(colours, return_report=True)
    np.testing.assert_allclose(std, levels, rtol=0.1)
    assert [report.std for report in reports] == list(std)
    np.testing.assert_array_equal(estimate_noise(np.moveaxis(colours, 2, 0), channel_axis=0), std)
    np.testing.assert_array_equal(estimate_noise(colours, channel_axis=-1), std)
    mask = random.random((70, 80)) < 0.9
    np.testing.assert_allclose(estimate_noise(colours, mask=mask), levels, rtol=0.1)
    assert estimate_noise(random.normal(size=(3, 40, 30)), channel_axis=None) == pytest.approx(
        1, abs=0.1
    )
    assert estimate_noise(random.normal(size=(500, 4)), channel_axis=1).shape == (4,)


def test_zero_noise_warns():
    with pytest.warns(
        NoiseLevelWarning, match="No noise was found.*pass its standard deviation as"
    ):
        assert estimate_noise(np.ones(100)) == 0.0
    colours = np.random.default_rng(0).normal(size=(32, 32, 3)) * [1, 0, 1]
    with pytest.warns(NoiseLevelWarning, match="^Channel 1: No noise was found"):
        assert estimate_noise(colours)[1] == 0.0


def test_unreliable_estimates_warn():
    random = np.random.default_rng(0)
    walk = np.cumsum(random.normal(size=4096)) * 0.02
    walk += np.convolve(random.normal(size=4200), 0.7 ** np.arange(30), "valid")[:4096]
    with pytest.warns(NoiseLevelWarning, match="may be wrong: no part"):
        _, report = estimate_noise(walk, return_report=True)
    assert not report.is_reliable
    assert "pass its standard deviation as noise_std" in report.advice()


def test_short_signals_are_weak_and_cause_no_warning():
    random = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (10, 64, 256):
            _, report = estimate_noise(np.cumsum(random.normal(size=n)), return_report=True)
            assert report.is_weak
            assert report.warning() is None


def test_advice_for_weak_estimates():
    _, report = estimate_noise(np.random.default_rng(0).normal(size=50), return_report=True)
    assert report.advice().startswith("A longer signal gives a better estimate")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], "signal must hold numbers; got an array of type <U1"),
        ([1.0, object()], "signal must hold numbers; got an array of objects that are not"),
        (
            np.arange(10).astype("M8[D]"),
            "signal must hold numbers; got an array of type datetime64",
        ),
        (3.0, "signal must have at least one axis; got the single value"),
        ([], "at least two observed values"),
        ([1.0, np.inf, 2.0], "got infinite values. Replace them by NaN"),
    ],
)
def test_unusable_input(values, message):
    with pytest.raises(ValueError, match=message):
        estimate_noise(values)


def test_wrong_arguments(signal):
    with pytest.raises(ValueError, match="method must be one of .* Did you mean 'envelope'?"):
        estimate_noise(signal, method="envelop")
    with pytest.raises(ValueError, match="mask must have the shape .* .2000,.; got .1,."):
        estimate_noise(signal, mask=[True])
    with pytest.raises(ValueError, match="mask must hold True .* got an array of type float64"):
        estimate_noise(signal, mask=np.ones(2000))
    with pytest.raises(ValueError, match='channel_axis must be "auto", None or an axis .* got 3.'):
        estimate_noise(signal, channel_axis=3)
    with pytest.raises(ValueError, match="channel_axis must be .* got 1.5"):
        estimate_noise(signal, channel_axis=1.5)
    with pytest.raises(ValueError, match="channel_axis leaves no axis of samples"):
        estimate_noise(signal, channel_axis=0)
    with pytest.raises(TypeError, match="return_report must be True or False; got 'yes'."):
        estimate_noise(signal, return_report="yes")
    with pytest.raises(ValueError, match="at least two observed values; got 0"):
        estimate_noise(signal, mask=np.zeros(2000, dtype=bool))


def test_input_is_left_alone(signal):
    before = signal.copy()
    estimate_noise(signal)
    np.testing.assert_array_equal(signal, before)


def test_memory_mapped(tmp_path):
    path = tmp_path / "long.npy"
    np.save(path, np.random.default_rng(0).normal(size=200_000).astype(np.float32))
    assert estimate_noise(np.load(path, mmap_mode="r")) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("times", [2, 3, 4])
def test_repeated_samples_are_not_trusted(times):
    x = np.linspace(0.0, 6.0, 1500)
    noisy = np.sin(x) + 0.3 * np.random.default_rng(0).normal(size=1500)
    with pytest.warns(NoiseLevelWarning, match="repeated, rounded or filtered"):
        _, report = estimate_noise(np.repeat(noisy, times), return_report=True)
    assert not report.is_reliable


def test_few_columns_are_channels():
    random = np.random.default_rng(0)
    stereo = random.normal(size=(2000, 2)) * [0.1, 0.3]
    found = estimate_noise(stereo)
    np.testing.assert_allclose(found, [0.1, 0.3], rtol=0.1)
    assert np.ndim(estimate_noise(stereo[:, :1] * [1.0, -1.0], channel_axis=None)) == 0


@pytest.mark.parametrize("share", [0.005, 0.02])
@pytest.mark.filterwarnings("ignore::relvec.noise.NoiseLevelWarning")
def test_images_of_isolated_bright_pixels(share):
    random = np.random.default_rng(0)
    stars = 100.0 * (random.random((256, 256)) < share)
    assert estimate_noise(stars + 10.0 * random.normal(size=stars.shape)) == pytest.approx(
        10, rel=0.1
    )
