"""The denoiser as users meet it: containers, gaps, channels, noise, errors, quality."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import SmoothDenoiser, denoise
from relvec.datasets import make_signal
from relvec.denoising import DenoisingTuning
from relvec.noise import NoiseLevelWarning
from relvec.priors import GammaPrior, SmoothnessPrior

pywt = pytest.importorskip("pywt")


def noisy_line(n=600, std=0.3, seed=0):
    clean = np.sin(np.arange(n) / 20) + (np.arange(n) > n // 2)
    return clean, clean + std * np.random.default_rng(seed).normal(size=n)


def noisy_image(shape=(48, 56), std=0.3, seed=0):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    clean = np.sin(rows / 9) + (columns > shape[1] // 2)
    return clean, clean + std * np.random.default_rng(seed).normal(size=shape)


def noisy_colours(shape=(48, 56), std=0.2, seed=0):
    clean, _ = noisy_image(shape)
    clean = clean[..., None] * [1.0, 0.8, 0.3] + [0.0, 0.5, 1.0]
    return clean, clean + std * np.random.default_rng(seed).normal(size=clean.shape)


def error(found, clean):
    return float(np.mean(np.abs(np.asarray(found) - clean) ** 2))


@pytest.fixture(scope="module")
def line():
    return noisy_line()[1]


@pytest.fixture(scope="module")
def answer(line):
    return denoise(line)


SMALL_TILES = DenoisingTuning(tile_sides=(512, 48, 16, 16), tile_overlaps=(64, 6, 2, 2))


# ------------------------------------------------------------------ containers


def test_lists_and_arrays(line, answer):
    assert isinstance(answer, np.ndarray)
    assert answer.dtype == np.float64
    for same in (list(line), tuple(line), line.astype(object), line.astype(np.longdouble)):
        found = denoise(same)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, answer)
    np.testing.assert_allclose(denoise(line.astype(np.float32)), answer, atol=1e-4)
    np.testing.assert_allclose(denoise(line.astype(">f8")), answer)
    np.testing.assert_array_equal(denoise(np.repeat(line, 2)[::2]), answer)


@pytest.mark.parametrize("kind", [np.int16, np.int64, np.uint8, np.uint32])
def test_whole_numbers(line, answer, kind):
    counts = np.round(100 * line - 100 * line.min()).clip(0, 255).astype(kind)
    expected = denoise(counts.astype(float))
    np.testing.assert_allclose(denoise(counts), expected)
    assert denoise(counts).dtype == np.float64


def test_truth_values():
    random = np.random.default_rng(0)
    chance = 0.5 + 0.4 * np.sin(np.arange(1000) / 100)
    found = denoise(random.random(1000) < chance, noise_std=0.45)
    assert error(found, chance) < 0.02
    np.testing.assert_array_equal(denoise(np.ones(64, dtype=bool)), 1.0)


def test_pandas(line, answer):
    series = pd.Series(line, index=np.arange(600) + 5, name="load")
    found = denoise(series)
    assert isinstance(found, pd.Series)
    assert found.name == "load"
    pd.testing.assert_index_equal(found.index, series.index)
    np.testing.assert_array_equal(found, answer)
    found, std = denoise(series, return_std=True)
    assert isinstance(std, pd.Series)
    frame = pd.DataFrame({"a": line, "b": line[::-1]}, index=pd.date_range("2020", periods=600))
    both = denoise(frame, channel_axis=1)
    assert isinstance(both, pd.DataFrame)
    assert list(both.columns) == ["a", "b"]
    pd.testing.assert_index_equal(both.index, frame.index)
    np.testing.assert_array_equal(both["a"], answer)
    assert isinstance(SmoothDenoiser().fit_transform(series), pd.Series)
    assert isinstance(SmoothDenoiser().fit(line).transform(series), pd.Series)
    gaps = pd.Series([None if i % 50 == 7 else round(100 * v) for i, v in enumerate(line)])
    expected = denoise(gaps.to_numpy())
    np.testing.assert_array_equal(denoise(gaps.astype("Int64")), expected)


def test_polars(line, answer):
    found = denoise(pl.Series("load", line))
    assert isinstance(found, pl.Series)
    assert found.name == "load"
    np.testing.assert_array_equal(found.to_numpy(), answer)
    gaps = pl.Series("load", [None if i % 50 == 7 else v for i, v in enumerate(line)])
    assert not np.isnan(denoise(gaps).to_numpy()).any()


def test_masked_arrays(line):
    hidden = np.arange(600) % 40 < 3
    values = np.where(hidden, 1e9, line)
    expected = denoise(np.where(hidden, np.nan, line))
    np.testing.assert_array_equal(denoise(np.ma.masked_array(values, hidden)), expected)
    whole = np.round(100 * line).astype(int)
    found = denoise(np.ma.masked_array(whole, hidden))
    np.testing.assert_array_equal(found, denoise(np.where(hidden, np.nan, whole)))
    none_hidden = np.ma.masked_array(line)
    np.testing.assert_array_equal(denoise(none_hidden), denoise(line))


def test_input_is_left_alone(line):
    mask, weights = np.arange(600) % 7 > 0, np.linspace(1, 2, 600)
    for mode in ("quality", "plain"):
        for values in (line.copy(), noisy_colours()[1]):
            kept = values.copy()
            values.setflags(write=False)
            options = {} if values.ndim > 1 else {"mask": mask}
            if options and mode == "quality":
                options["sample_weight"] = weights
            SmoothDenoiser(mode).fit(values, **options)
            np.testing.assert_array_equal(values, kept)


@pytest.mark.parametrize(
    ("options", "fit_options"),
    [
        ({"noise_std": np.linspace(0.1, 0.2, 600)}, {}),
        ({}, {"sample_weight": np.linspace(1, 2, 600)}),
    ],
)
def test_plain_mode_has_one_noise_level(line, options, fit_options):
    with pytest.raises(ValueError, match="one noise level for all samples"):
        SmoothDenoiser("plain", **options).fit(line, **fit_options)


def test_blends_are_of_few_transforms(line):
    names = [f"db{order}" for order in range(2, 11)]
    with pytest.raises(ValueError, match="At most 8 transforms can be averaged; got 9"):
        denoise(line, dictionary=names)


def test_nothing_fitted_changes_with_the_input(line):
    values = line.copy()
    for options in ({}, {"noise_std": 0.0}, {"mode": "plain"}):
        denoiser = SmoothDenoiser(**options).fit(values)
        kept = denoiser.signal_.copy()
        assert not np.shares_memory(denoiser.signal_, values)
        np.testing.assert_array_equal(denoiser.signal_, kept)


# ------------------------------------------------------------------ gaps, weights, positions


def test_missing_samples():
    clean, noisy = noisy_line(1000)
    holes = np.random.default_rng(1).random(1000) < 0.2
    found, std = denoise(np.where(holes, np.nan, noisy), return_std=True)
    assert error(found, clean) < 0.02
    assert np.isfinite(std).all()
    assert std[holes].mean() > std[~holes].mean()
    np.testing.assert_array_equal(denoise(noisy, mask=~holes), found)
    np.testing.assert_array_equal(denoise(np.where(holes, np.inf, noisy), mask=~holes), found)
    np.testing.assert_array_equal(denoise(noisy, mask=list(~holes)), found)


def test_missing_pixels():
    clean, noisy = noisy_image()
    holes = np.random.default_rng(1).random(clean.shape) < 0.2
    holes[10:16, 20:27] = True
    found = denoise(np.where(holes, np.nan, noisy))
    assert error(found, clean) < 0.3 * 0.09
    np.testing.assert_array_equal(denoise(noisy, mask=~holes), found)


def test_positions(line):
    random = np.random.default_rng(2)
    expected, std = denoise(line, return_std=True)
    order = random.permutation(600)
    places = np.sort(random.uniform(size=600)) ** 2
    for x in (places, places.astype(np.float32), np.arange(600), -places[::-1]):
        np.testing.assert_array_equal(denoise(line, x=x), expected)
    found, found_std = denoise(line[order], x=places[order], return_std=True)
    np.testing.assert_array_equal(found, expected[order])
    np.testing.assert_array_equal(found_std, std[order])
    days = np.datetime64("2024-01-01") + np.arange(600)
    np.testing.assert_array_equal(denoise(line[order], x=days[order]), expected[order])
    np.testing.assert_array_equal(denoise(line[order], x=pd.Series(days[order])), expected[order])
    np.testing.assert_array_equal(denoise(line, x=np.repeat(np.arange(300), 2)), expected)


def test_positions_go_with_everything_else(line):
    order = np.random.default_rng(3).permutation(600)
    mask, weights = np.arange(600) % 9 > 0, np.linspace(0.5, 2.0, 600)
    noise = np.linspace(0.2, 0.4, 600)
    both = np.column_stack([line, line[::-1]])
    expected = SmoothDenoiser(noise_std=noise[:, None], channel_axis=1).fit(both, mask=mask)
    found = SmoothDenoiser(noise_std=noise[order, None], channel_axis=1).fit(
        both[order], x=order, mask=mask[order]
    )
    np.testing.assert_allclose(found.signal_, expected.signal_[order])
    np.testing.assert_allclose(found.noise_std_, expected.noise_std_[order])
    denoiser = SmoothDenoiser(noise_std="mad")
    expected = clone(denoiser).fit(line, sample_weight=weights)
    found = clone(denoiser).fit(line[order], x=order, sample_weight=weights[order])
    np.testing.assert_allclose(found.signal_, expected.signal_[order])
    np.testing.assert_allclose(found.std_, expected.std_[order])
    np.testing.assert_allclose(found.noise_std_, expected.noise_std_[order])


def test_weights():
    clean, _ = noisy_line(2000)
    weights = np.where(np.arange(2000) % 500 < 250, 1.0, 1 / 16)
    noise = 0.2 / np.sqrt(weights)
    noisy = clean + noise * np.random.default_rng(4).normal(size=2000)
    denoiser = SmoothDenoiser().fit(noisy, sample_weight=weights)
    np.testing.assert_allclose(denoiser.noise_std_, noise, rtol=0.15)
    assert error(denoiser.signal_, clean) < error(denoise(noisy, noise_std="mad"), clean)
    given = denoise(noisy, noise_std=noise)
    assert error(denoiser.signal_, clean) < 1.3 * error(given, clean)
    assert denoiser.std_[weights < 1].mean() > 1.2 * denoiser.std_[weights == 1].mean()


def test_equal_weights_change_nothing(line):
    expected = denoise(line, noise_std=0.3)
    np.testing.assert_allclose(
        denoise(line, noise_std=0.3, sample_weight=np.ones(600)), expected, atol=1e-10
    )
    np.testing.assert_allclose(
        denoise(line, noise_std=0.6, sample_weight=[4] * 600), expected, atol=1e-10
    )


def test_samples_of_no_weight_are_missing(line):
    weights = np.ones(600)
    weights[100:120] = 0.0
    poisoned = np.where(weights > 0, line, 1e6)
    found = denoise(poisoned, sample_weight=weights, noise_std=0.3)
    np.testing.assert_allclose(found, denoise(line, mask=weights > 0, noise_std=0.3), atol=1e-10)
    # and what is known a million times worse is as good as missing
    almost = np.where(weights > 0, 1.0, 1e-12)
    np.testing.assert_allclose(
        denoise(poisoned, sample_weight=almost, noise_std=0.3), found, atol=0.05
    )


# ------------------------------------------------------------------ noise


@pytest.mark.parametrize("method", ["auto", "envelope", "mad", "profile"])
def test_ways_to_find_the_noise(method):
    clean, noisy = noisy_line(2000)
    denoiser = SmoothDenoiser(noise_std=method).fit(noisy)
    assert isinstance(denoiser.noise_std_, float)
    assert denoiser.noise_std_ == pytest.approx(0.3, rel=0.1)
    assert denoiser.noise_level_.std == denoiser.noise_std_
    assert error(denoiser.signal_, clean) < 0.01


def test_patches():
    clean, noisy = noisy_image()
    denoiser = SmoothDenoiser(noise_std="patches").fit(noisy)
    assert denoiser.noise_level_.method == "patches"
    assert denoiser.noise_std_ == pytest.approx(0.3, rel=0.15)
    assert error(denoiser.signal_, clean) < 0.02
    with pytest.raises(ValueError, match='method="patches" needs an image'):
        denoise(noisy_line()[1], noise_std="patches")


def test_given_noise(line):
    expected = denoise(line, noise_std=0.3)
    for same in (np.float32(0.3), np.array(0.3), np.full(600, 0.3), [0.3]):
        np.testing.assert_allclose(denoise(line, noise_std=same), expected, atol=1e-6)
    denoiser = SmoothDenoiser(noise_std=0.3).fit(line)
    assert denoiser.noise_std_ == pytest.approx(0.3)
    assert denoiser.noise_level_ is None
    np.testing.assert_array_equal(denoise(line, noise_std=0), line)


def test_noise_of_each_sample():
    clean, _ = noisy_line(2000)
    noise = np.linspace(0.05, 0.8, 2000)
    noisy = clean + noise * np.random.default_rng(5).normal(size=2000)
    denoiser = SmoothDenoiser(noise_std=noise).fit(noisy)
    assert error(denoiser.signal_, clean) < 0.7 * error(denoise(noisy, noise_std="mad"), clean)
    np.testing.assert_allclose(denoiser.noise_std_, noise)
    assert denoiser.std_[1500:].mean() > 2 * denoiser.std_[:500].mean()


def test_some_samples_without_noise():
    clean, noisy = noisy_line(600)
    exact = np.arange(600) % 10 == 0
    values, noise = np.where(exact, clean, noisy), np.where(exact, 0.0, 0.3)
    found, std = denoise(values, noise_std=noise, return_std=True)
    assert np.isfinite(found).all()
    assert np.isfinite(std).all()
    assert error(found, clean) < error(denoise(values, noise_std=0.3), clean) * 1.2
    half = np.where(np.arange(600) < 300, 0.0, 0.3)
    found = denoise(np.where(half == 0, clean, noisy), noise_std=half)
    assert np.abs(found - clean)[:250].max() < 0.02


def test_noise_of_each_channel(line):
    both = np.column_stack([line, 2 * line])
    for channel_axis, values in ((1, both), (0, both.T)):
        denoiser = SmoothDenoiser(noise_std=[0.3, 0.6], channel_axis=channel_axis).fit(values)
        np.testing.assert_allclose(denoiser.noise_std_, [0.3, 0.6])
        found = np.moveaxis(denoiser.signal_, channel_axis, 1)
        np.testing.assert_allclose(found[:, 1], 2 * found[:, 0])
        np.testing.assert_allclose(found[:, 0], denoise(line, noise_std=0.3))


def test_profile_maximises_the_evidence(line):
    denoiser = SmoothDenoiser("plain", noise_std="profile", prior="ric").fit(line)
    best = denoiser.model_.objective_
    for factor in (0.8, 0.97, 1.03, 1.3):
        other = SmoothDenoiser("plain", noise_std=factor * denoiser.noise_std_, prior="ric")
        assert other.fit(line).model_.objective_ < best


@pytest.mark.slow
def test_warnings_point_to_the_caller():
    random = np.random.default_rng(0)
    walk = np.convolve(random.normal(size=4200), 0.7 ** np.arange(30), "valid")[:4096]
    walk = walk + np.cumsum(random.normal(size=4096)) * 0.02
    for call in (denoise, SmoothDenoiser().fit, SmoothDenoiser().fit_transform):
        with pytest.warns(NoiseLevelWarning, match="may be wrong") as caught:
            call(walk)
        assert caught[0].filename == __file__
    both = np.column_stack([noisy_line(4096)[1], walk])
    with pytest.warns(NoiseLevelWarning, match="^Channel 1: "):
        denoise(both, channel_axis=1)
    with pytest.warns(NoiseLevelWarning, match="^Imaginary part: |^Real part: "):
        denoise(both[:, 0] + 1j * both[:, 1])


# ------------------------------------------------------------------ channels and dimensions


def test_complex_signals():
    n = 1000
    clean = np.exp(1j * np.arange(n) / 30) * (np.arange(n) > 300)
    random = np.random.default_rng(6)
    noisy = clean + 0.2 * (random.normal(size=n) + 1j * random.normal(size=n))
    denoiser = SmoothDenoiser().fit(noisy)
    assert denoiser.signal_.dtype == np.complex128
    assert error(denoiser.signal_, clean) < 0.15 * 0.08
    assert denoiser.noise_std_ == pytest.approx(0.2, rel=0.1)
    assert denoiser.std_.dtype == np.float64
    assert denoiser.transform_weights_.shape == (2, len(denoiser.transforms_))
    given = denoise(noisy, noise_std=0.2)
    np.testing.assert_allclose(given.real, denoise(noisy.real, noise_std=0.2))
    np.testing.assert_allclose(given.imag, denoise(noisy.imag, noise_std=0.2))
    both = denoise(np.stack([noisy, 1j * noisy]), channel_axis=0, noise_std=0.2)
    np.testing.assert_allclose(both[1], 1j * both[0])


@pytest.mark.slow
@pytest.mark.parametrize("channel_axis", [0, 1, -1, -2])
def test_channels_are_denoised_each_by_itself(channel_axis):
    lines = [noisy_line(500, seed=seed)[1] for seed in range(3)]
    values = np.stack(lines, axis=channel_axis)
    denoiser = SmoothDenoiser(channel_axis=channel_axis).fit(values)
    assert denoiser.signal_.shape == values.shape == denoiser.std_.shape
    assert denoiser.noise_std_.shape == (3,)
    assert len(denoiser.noise_level_) == len(denoiser.model_) == 3
    for number, each in enumerate(lines):
        found = np.take(denoiser.signal_, number, axis=channel_axis)
        np.testing.assert_array_equal(found, denoise(each))


def test_one_channel():
    line = noisy_line(500)[1]
    denoiser = SmoothDenoiser(channel_axis=1).fit(line[:, None])
    np.testing.assert_array_equal(denoiser.signal_[:, 0], denoise(line))
    assert denoiser.noise_std_.shape == (1,)


@pytest.mark.parametrize("mode", ["quality", "plain"])
def test_columns_and_rows_are_lines(mode, line):
    expected = denoise(line, mode=mode, noise_std=0.3)
    for values in (line[:, None], line[None], line[None, :, None]):
        found, std = denoise(values, mode=mode, noise_std=0.3, channel_axis=None, return_std=True)
        assert found.shape == std.shape == values.shape
        np.testing.assert_allclose(found.squeeze(), expected)


@pytest.mark.slow
def test_colours():
    clean, noisy = noisy_colours()
    # what the channels share is better seen together
    grey = clean[..., :1] + [0.0, 0.5, 1.0]
    speckled = grey + noisy - clean
    assert error(denoise(speckled), grey) < 0.7 * error(denoise(speckled, decorrelate=False), grey)
    rotated, plain = SmoothDenoiser().fit(noisy), SmoothDenoiser(decorrelate=False).fit(noisy)
    np.testing.assert_allclose(rotated.noise_std_, 0.2, rtol=0.15)
    assert error(rotated.signal_, clean) < 1.1 * error(plain.signal_, clean)
    np.testing.assert_array_equal(plain.signal_[..., 1], denoise(noisy[..., 1]))
    first = denoise(np.moveaxis(noisy, 2, 0), channel_axis=0)
    np.testing.assert_allclose(np.moveaxis(first, 0, 2), rotated.signal_)
    assert rotated.std_.shape == noisy.shape


def test_colours_with_a_gap_in_one_of_them():
    clean, noisy = noisy_colours()
    noisy[10:14, 10:14, 0] = np.nan
    denoiser = SmoothDenoiser().fit(noisy)
    assert np.isfinite(denoiser.signal_).all()
    assert error(denoiser.signal_, clean) < 0.2 * 0.04
    # green did not lose anything
    np.testing.assert_array_equal(denoiser.signal_[..., 1], denoise(noisy[..., 1]))
    noisy[10:14, 10:14] = np.nan
    assert np.isfinite(denoise(noisy)).all()


def test_photographs():
    clean, noisy = noisy_colours(std=0.1)
    picture = (40 * noisy + 100).clip(0, 255).astype(np.uint8)
    found = denoise(picture)
    assert found.dtype == np.float64
    assert error(found, 40 * clean + 100) < 0.5 * 16
    assert 0 < found.min() < found.max() < 255


def test_last_axis_of_three_or_four_is_colour():
    random = np.random.default_rng(7)
    assert SmoothDenoiser().fit(random.normal(size=(20, 20, 4))).noise_std_.shape == (4,)
    assert isinstance(SmoothDenoiser().fit(random.normal(size=(20, 20, 5))).noise_std_, float)
    volume = random.normal(size=(20, 20, 3))
    assert isinstance(SmoothDenoiser(channel_axis=None).fit(volume).noise_std_, float)


@pytest.mark.parametrize("shape", [(20, 24, 28), (9, 10, 11, 12), (5, 40, 41), (16, 2, 30)])
def test_volumes(shape):
    grids = np.meshgrid(*map(np.arange, shape), indexing="ij")
    clean = np.sin(sum(grids) / 15)
    noisy = clean + 0.3 * np.random.default_rng(8).normal(size=shape)
    denoiser = SmoothDenoiser(channel_axis=None, noise_std=0.3).fit(noisy)
    assert denoiser.signal_.shape == denoiser.std_.shape == shape
    assert error(denoiser.signal_, clean) < (0.15 if min(shape) > 2 else 0.4) * 0.09


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100])
def test_short_signals(n):
    values = np.random.default_rng(n).normal(size=n)
    for mode in ("quality", "plain"):
        for boundary in ("symmetric", "reflect", "constant", "periodic"):
            denoiser = SmoothDenoiser(mode, noise_std=0.5, boundary=boundary).fit(values)
            assert np.isfinite(denoiser.signal_).all()
            assert np.isfinite(denoiser.std_).all()
            assert 0 <= denoiser.effective_dof_ <= n + 1e-9
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseLevelWarning)
            assert np.isfinite(denoise(values, mode=mode)).all()


@pytest.mark.parametrize("boundary", ["symmetric", "reflect", "constant", "periodic"])
def test_boundaries(boundary):
    n = 512
    clean = np.sin(2 * np.pi * np.arange(n) / n * 3)
    noisy = clean + 0.3 * np.random.default_rng(9).normal(size=n)
    assert error(denoise(noisy, boundary=boundary), clean) < 0.015
    if boundary == "periodic":
        found = denoise(np.roll(noisy, 100), boundary=boundary, noise_std=0.3)
        # cosines are averaged over a few shifts only
        expected = np.roll(denoise(noisy, boundary=boundary, noise_std=0.3), 100)
        assert error(found, expected) < 0.001


# ------------------------------------------------------------------ large signals


@pytest.mark.slow
def test_out(tmp_path):
    _, noisy = noisy_line(1600)
    expected, std = denoise(noisy, tuning=SMALL_TILES, return_std=True)
    out = np.full(1600, np.nan)
    assert denoise(noisy, tuning=SMALL_TILES, out=out) is out
    np.testing.assert_array_equal(out, expected)
    found, found_std = denoise(noisy, tuning=SMALL_TILES, out=out, return_std=True)
    assert found is out
    np.testing.assert_array_equal(found_std, std)
    disk = np.lib.format.open_memmap(tmp_path / "in.npy", "w+", np.float32, (1600,))
    disk[:] = noisy
    target = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float32, (1600,))
    disk.flush()
    source = np.load(tmp_path / "in.npy", mmap_mode="r")
    for mode in ("quality", "plain"):
        result = denoise(source, tuning=SMALL_TILES, out=target, mode=mode)
        assert result is target
        expected = denoise(noisy.astype(np.float32), tuning=SMALL_TILES, mode=mode)
        np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, atol=1e-6)
    columns = np.column_stack([noisy, noisy[::-1]])
    out = np.zeros_like(columns)
    denoise(columns, tuning=SMALL_TILES, channel_axis=1, out=out)
    np.testing.assert_array_equal(out, denoise(columns, tuning=SMALL_TILES, channel_axis=1))


def test_progress(capsys):
    _, noisy = noisy_line(2000)
    calls = []
    expected = denoise(noisy, tuning=SMALL_TILES)
    found = denoise(
        noisy, tuning=SMALL_TILES, progress=lambda done, total: calls.append((done, total))
    )
    np.testing.assert_array_equal(found, expected)
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert capsys.readouterr().err == ""
    denoise(noisy, tuning=SMALL_TILES, progress=True)
    written = capsys.readouterr().err
    assert written.endswith("4 of 4 tiles denoised\n")
    assert written.count("\r") == 4


def test_jobs():
    _, noisy = noisy_colours()
    one, two = SmoothDenoiser(n_jobs=1).fit(noisy), SmoothDenoiser(n_jobs=2).fit(noisy)
    np.testing.assert_array_equal(one.signal_, two.signal_)
    np.testing.assert_array_equal(one.std_, two.std_)


@pytest.mark.slow
def test_tiles_of_gaps_channels_and_weights():
    clean, noisy = noisy_line(1600)
    noisy[700:720] = np.nan
    both = np.column_stack([noisy, noisy])
    weights = np.linspace(0.8, 1.2, 1600)
    denoiser = SmoothDenoiser(channel_axis=1, tuning=SMALL_TILES)
    denoiser.fit(both, sample_weight=weights)
    assert np.isfinite(denoiser.signal_).all()
    assert error(denoiser.signal_, clean[:, None]) < 0.02
    np.testing.assert_allclose(denoiser.signal_[:, 0], denoiser.signal_[:, 1])


def pieces(values, size):
    return (values[at : at + size] for at in range(0, len(values), size))


@pytest.mark.parametrize("size", [1, 77, 600, 10_000])
def test_pieces_of_a_short_signal(line, size):
    expected = denoise(line)
    found = np.concatenate(list(denoise(pieces(line, size), n_samples=600)))
    np.testing.assert_array_equal(found, expected)


def test_pieces_of_a_long_signal():
    tuning = DenoisingTuning(tile_sides=(1024, 48, 16, 16), tile_overlaps=(64, 6, 2, 2))
    clean, noisy = noisy_line(5000)
    whole = denoise(noisy, noise_std=0.3, tuning=tuning)
    results = list(denoise(pieces(noisy, 333), noise_std=0.3, n_samples=5000, tuning=tuning))
    assert len(results) > 3
    found = np.concatenate(results)
    assert found.shape == (5000,)
    assert error(found, whole) < 0.3 * error(whole, clean)
    estimated = np.concatenate(list(denoise(pieces(noisy, 512), mode="plain", tuning=tuning)))
    assert error(estimated, clean) < 0.02


def test_pieces_with_a_wide_gap():
    tuning = DenoisingTuning(tile_sides=(256, 48, 16, 16), tile_overlaps=(16, 6, 2, 2))
    _, noisy = noisy_line(3000)
    noisy[1000:2000] = np.nan
    found = np.concatenate(list(denoise(pieces(noisy, 100), tuning=tuning)))
    assert len(found) == 3000
    assert np.isfinite(found[:900]).all()
    assert np.isfinite(found[2100:]).all()
    assert np.isnan(found[1400:1600]).all()


def test_pieces_may_be_anything_with_numbers(line):
    expected = denoise(line, noise_std=0.3, n_samples=None)
    for source in (
        iter([list(line[:100]), [], pd.Series(line[100:101]), pl.Series(line[101:])]),
        map(float, line),
    ):
        found = np.concatenate(list(denoise(source, noise_std=0.3, n_samples=600)))
        np.testing.assert_array_equal(found, expected)
    assert list(denoise(iter([]))) == []


# ------------------------------------------------------------------ what must hold


@pytest.mark.slow
@pytest.mark.parametrize("n", [1024, 4096, 16384])
def test_pure_noise_is_removed(n):
    freedoms, components, left = [], [], []
    for seed in range(8 if n == 1024 else 4 if n == 4096 else 1):
        noise = np.random.default_rng(seed).normal(size=n)
        denoiser = SmoothDenoiser(with_std=False).fit(noise)
        freedoms.append(denoiser.effective_dof_ / n)
        components.append(denoiser.model_.n_components_ / n)
        left.append(np.mean(denoiser.signal_**2))
    assert np.mean(freedoms) <= 0.01
    assert np.mean(components) <= 0.01
    assert max(freedoms) <= 0.03
    assert np.mean(left) <= 0.02


def test_pure_noise_in_images_is_removed():
    for seed in range(3):
        noise = np.random.default_rng(seed).normal(size=(80, 90))
        denoiser = SmoothDenoiser(with_std=False).fit(noise)
        assert denoiser.effective_dof_ / noise.size <= 0.01
        assert denoiser.model_.n_components_ / noise.size <= 0.01


@pytest.mark.parametrize("value", [0.0, 0.1, -1e-300, 1e300, 7])
@pytest.mark.parametrize("shape", [(2,), (100,), (20, 30), (5, 6, 7), (100, 2)])
def test_constants_stay(value, shape):
    values = np.full(shape, value)
    denoiser = SmoothDenoiser(channel_axis=-1 if shape[-1] == 2 < len(shape) else None)
    found = denoiser.fit_transform(values)
    np.testing.assert_array_equal(found, values)
    assert np.all(denoiser.noise_std_ == 0.0)
    np.testing.assert_array_equal(denoiser.std_, 0.0)


def test_constants_with_gaps_stay():
    values = np.full(100, 0.3)
    values[[3, 50, 99]] = np.nan
    np.testing.assert_array_equal(denoise(values), 0.3)
    np.testing.assert_allclose(denoise(np.full((20, 20, 3), 0.3)), 0.3, rtol=1e-15)
    np.testing.assert_allclose(denoise(np.full(100, 0.3), noise_std=1.0), 0.3, rtol=1e-14)
    assert denoise(values, mask=~np.isnan(values))[3] == 0.3


def test_models_without_noise():
    line = noisy_line(64)[1]
    model = SmoothDenoiser(noise_std=0.0).fit(line).model_
    assert model.effective_dof_ == model.n_components_ == 64
    np.testing.assert_allclose(model.mean(), line, atol=1e-13)
    assert SmoothDenoiser().fit(np.zeros(64)).model_.n_components_ == 0


@pytest.mark.slow
@pytest.mark.parametrize("factor", [2.0, 1e-150, 1e150, -1.0, -3.7, 1e-10])
def test_scale(factor, line):
    for values, options in (
        (line, {}),
        (line, {"mode": "plain"}),
        (noisy_image((32, 40))[1], {}),
        (line, {"noise_std": "profile", "mode": "plain"}),
    ):
        expected = SmoothDenoiser(**options).fit(values)
        found = SmoothDenoiser(**options).fit(factor * values)
        size = np.abs(values).max()
        np.testing.assert_allclose(found.signal_ / factor, expected.signal_, atol=1e-9 * size)
        np.testing.assert_allclose(found.std_ / abs(factor), expected.std_, atol=1e-9 * size)
        assert found.noise_std_ / abs(factor) == pytest.approx(expected.noise_std_, rel=1e-9)
        assert found.effective_dof_ == pytest.approx(expected.effective_dof_)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [1.0, -1000.0, 1e6])
def test_shift(offset, line):
    for values in (line, noisy_image((32, 40))[1]):
        expected, std = denoise(values, return_std=True)
        found, found_std = denoise(values + offset, return_std=True)
        tolerance = 1e-8 + 1e-12 * abs(offset)
        np.testing.assert_allclose(found - offset, expected, atol=tolerance)
        np.testing.assert_allclose(found_std, std, atol=tolerance)


def test_mirror(line):
    np.testing.assert_allclose(denoise(-line), -denoise(line), atol=1e-12)


@pytest.mark.parametrize("wavelet", ["haar", "db4", "sym8"])
@pytest.mark.parametrize("n", [128, 256])
def test_plain_flat_is_the_garrote(wavelet, n):
    values, level = noisy_line(n)[1], 3
    denoiser = SmoothDenoiser(
        "plain", prior="flat", noise_std=0.3, dictionary=wavelet, level=level
    ).fit(values)
    parts = pywt.wavedec(values, wavelet, "periodization", level=level)
    shrunk = [pywt.threshold(part, 0.3, "garrote") for part in parts]
    expected = pywt.waverec(shrunk, wavelet, "periodization")
    np.testing.assert_allclose(denoiser.signal_, expected, atol=1e-12)
    np.testing.assert_allclose(denoiser.model_.mean(), expected, atol=1e-12)
    np.testing.assert_allclose(denoiser.std_**2, denoiser.model_.variance(), atol=1e-14)


def test_fit_again_forgets(line):
    denoiser = SmoothDenoiser().fit(noisy_colours()[1])
    denoiser.set_params(with_std=False).fit(line)
    assert not hasattr(denoiser, "std_")
    np.testing.assert_array_equal(denoiser.signal_, denoise(line))
    assert isinstance(denoiser.noise_std_, float)


def test_what_was_found(line):
    denoiser = SmoothDenoiser().fit(line)
    assert denoiser.transforms_[:3] == ["haar", "db2", "sym8"]
    assert denoiser.transform_weights_.shape == denoiser.transform_mse_.shape == (5,)
    assert denoiser.transform_weights_.sum() == pytest.approx(1.0)
    only = SmoothDenoiser(dictionary="db3").fit(line)
    assert only.transforms_ == ["db3"]
    np.testing.assert_array_equal(only.transform_weights_, [1.0])
    some = SmoothDenoiser(dictionary=["haar", "cosine", "haar"], neighbours=5).fit(line)
    assert some.transforms_[0] == "haar"
    assert len(some.transforms_) == len(set(some.transforms_)) == 3
    plain = SmoothDenoiser("plain").fit(line)
    assert plain.transforms_ == ["sym8"]
    assert np.isnan(plain.transform_mse_).all()
    assert plain.effective_dof_ == pytest.approx(plain.model_.effective_dof_)
    assert SmoothDenoiser("plain", dictionary="cosine").fit(line).transforms_ == ["cosine"]


def test_intervals(line):
    denoiser = SmoothDenoiser().fit(line)
    interval = denoiser.predict_interval()
    assert interval.shape == (600, 2)
    half = norm.ppf(0.975) * denoiser.std_
    np.testing.assert_allclose(interval[:, 0], denoiser.signal_ - half)
    np.testing.assert_allclose(interval[:, 1], denoiser.signal_ + half)
    narrow = denoiser.predict_interval(0.5)
    np.testing.assert_allclose(np.diff(narrow)[:, 0], 2 * norm.ppf(0.75) * denoiser.std_)
    for coverage in (0.0, 1.0, 1.5, -0.1):
        with pytest.raises(ValueError, match="coverage must be"):
            denoiser.predict_interval(coverage)
    with pytest.raises(ValueError, match="predict_interval needs a real signal; got a complex one"):
        SmoothDenoiser(noise_std=0.3).fit(line + 1j * line).predict_interval()
    with pytest.raises(AttributeError, match="Intervals need with_std=True"):
        SmoothDenoiser(with_std=False).fit(line).predict_interval()
    with pytest.raises(NotFittedError):
        SmoothDenoiser().predict_interval()


@pytest.mark.slow
def test_unequal_channels_are_not_mixed():
    clean, noisy = noisy_colours()
    unequal = clean + (noisy - clean) * [0.2, 1.0, 3.0]
    denoiser = SmoothDenoiser().fit(unequal)
    np.testing.assert_allclose(denoiser.noise_std_, [0.04, 0.2, 0.6], rtol=0.2)
    expected = denoise(unequal, decorrelate=False)
    np.testing.assert_array_equal(denoiser.signal_, expected)
    given = denoise(unequal, noise_std=[0.04, 0.2, 0.6])
    np.testing.assert_allclose(given[..., 0], denoise(unequal[..., 0], noise_std=0.04))


@pytest.mark.parametrize("prior", ["aic", "bic", "ric", "flat", SmoothnessPrior(2.5)])
def test_priors(prior, line):
    assert error(denoise(line, prior=prior), noisy_line()[0]) < 0.09


# ------------------------------------------------------------------ other signals, scikit-learn


def test_transform_uses_the_noise_of_the_fit(line):
    denoiser = SmoothDenoiser().fit(line)
    other = noisy_line(333, seed=5)[1]
    np.testing.assert_array_equal(
        denoiser.transform(other), denoise(other, noise_std=denoiser.noise_std_)
    )
    np.testing.assert_array_equal(denoiser.transform(line), denoiser.signal_)
    np.testing.assert_array_equal(denoiser.signal_, denoise(line))  # not touched
    mask = np.arange(333) % 5 > 0
    found = denoiser.transform(other, mask=mask)
    np.testing.assert_array_equal(found, denoise(other, mask=mask, noise_std=denoiser.noise_std_))


@pytest.mark.slow
def test_transform_of_colours_with_gaps():
    _, noisy = noisy_colours()
    denoiser = SmoothDenoiser().fit(noisy)
    holed = noisy.copy()
    holed[5, 5, 0] = np.nan
    expected = denoise(holed, noise_std=denoiser.noise_std_)
    np.testing.assert_allclose(denoiser.transform(holed), expected)
    again = SmoothDenoiser().fit(holed)
    expected = denoise(noisy, noise_std=again.noise_std_)
    np.testing.assert_allclose(again.transform(noisy), expected)


def test_transform_of_something_else(line):
    denoiser = SmoothDenoiser().fit(line)
    for other in (line.reshape(20, 30), line + 0j):
        with pytest.raises(ValueError, match="axes and channels of the fitted one, of shape"):
            denoiser.transform(other)
    channels = SmoothDenoiser(channel_axis=1).fit(line.reshape(300, 2))
    with pytest.raises(ValueError, match="axes and channels of the fitted one"):
        channels.transform(line.reshape(200, 3))
    given = SmoothDenoiser(noise_std=np.full(600, 0.3)).fit(line)
    np.testing.assert_allclose(given.transform(line), given.signal_)
    with pytest.raises(ValueError, match="must be a number, one per channel, or an array"):
        given.transform(line[:300])
    with pytest.raises(NotFittedError):
        SmoothDenoiser().transform(line)
    with pytest.raises(NotFittedError):
        _ = SmoothDenoiser().model_


def test_copies(line):
    denoiser = SmoothDenoiser("plain", dictionary="db3", prior="ric", noise_std=0.25).fit(line)
    for again in (pickle.loads(pickle.dumps(denoiser)), copy.deepcopy(denoiser)):
        np.testing.assert_array_equal(again.signal_, denoiser.signal_)
        np.testing.assert_array_equal(again.transform(line[:100]), denoiser.transform(line[:100]))
        assert again.model_.objective_ == denoiser.model_.objective_
    fresh = clone(denoiser)
    assert fresh.get_params() == denoiser.get_params()
    assert not hasattr(fresh, "signal_")
    quality = SmoothDenoiser().fit(line)
    again = pickle.loads(pickle.dumps(quality))
    np.testing.assert_array_equal(again.transform(line), quality.transform(line))
    assert "SmoothDenoiser(" in repr(quality)


def test_parameters_are_only_stored():
    noise = np.full(5, 0.1)
    denoiser = SmoothDenoiser("no such mode", noise_std=noise, dictionary=3)
    assert denoiser.noise_std is noise
    assert vars(denoiser).keys() == denoiser.get_params().keys()
    assert denoiser.set_params(mode="plain").mode == "plain"


def test_pipelines(line):
    pipeline = make_pipeline(SmoothDenoiser(), SmoothDenoiser("plain", noise_std=0.01))
    assert pipeline.fit_transform(line).shape == (600,)
    # outputs are samples, not features: there is nothing to name
    assert not hasattr(SmoothDenoiser(), "get_feature_names_out")
    assert not hasattr(SmoothDenoiser(), "set_output")


IMAGE = "the rows of a two-dimensional input are neighbours in an image, not separate cases"
LENGTH = "other signals may have any length along each axis; there are no features to count"
WEIGHTS = "an image has a weight for each pixel, not for each row"
OWN_WORDS = "refused with a message of its own: a signal has no features"
EXPECTED = {
    "check_n_features_in": LENGTH,
    "check_n_features_in_after_fitting": LENGTH,
    "check_transformer_general": LENGTH,
    "check_methods_sample_order_invariance": IMAGE,
    "check_methods_subset_invariance": IMAGE,
    "check_sample_weights_pandas_series": WEIGHTS,
    "check_sample_weights_not_an_array": WEIGHTS,
    "check_sample_weights_list": WEIGHTS,
    "check_all_zero_sample_weights_error": WEIGHTS,
    "check_sample_weights_shape": WEIGHTS,
    "check_sample_weights_not_overwritten": WEIGHTS,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_complex_data": "complex signals are denoised",
    "check_dtype_object": "objects that are not numbers are refused with a message of its own",
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_fit1d": "lines are what it is for",
}


def _expected_of(estimator):
    """The data of one check are long enough to be taken for two channels, with weights by row."""
    passes = () if estimator.mode == "plain" else ("check_sample_weights_pandas_series",)
    return {name: reason for name, reason in EXPECTED.items() if name not in passes}


@pytest.mark.filterwarnings("ignore::relvec.noise.NoiseLevelWarning")
@pytest.mark.estimator_check
@parametrize_with_checks(
    [SmoothDenoiser(), SmoothDenoiser("plain")], expected_failed_checks=_expected_of
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ mistakes


LINE = noisy_line(100)[1]


def with_value(value):
    values = LINE.astype(object if isinstance(value, (str, dict)) else float)
    values[3] = value
    return values


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        (np.full(10, np.nan), "at least two observed samples; got 0 in an array of shape"),
        ([1.0, np.nan, np.nan], "at least two observed samples; got 1 in an array of shape"),
        ([], r"at least two samples; got an array of shape \(0,\)"),
        ([1.0], r"at least two samples; got an array of shape \(1,\)"),
        (np.zeros((0, 3)), r"at least two samples; .* shape \(0, 3\)"),
        (3.0, "signal must have at least one axis; got the single value"),
        (None, "signal must have at least one axis"),
        ("hello", "signal must hold numbers; got an array of type <U5"),
        (["a", "b"], "signal must hold numbers; got an array of type <U1"),
        (with_value("red"), "signal must hold numbers; got an array of objects that are not"),
        (with_value({}), "signal must hold numbers; got an array of objects that are not"),
        (np.arange(9).astype("M8[D]"), "signal must hold numbers; got an array of type datetime64"),
        (np.ma.masked_array(["a", "b"], [0, 1]), "signal must hold numbers; got an array of type"),
        (
            np.ma.masked_array(np.arange(9).astype("M8[D]"), np.arange(9) == 1),
            "signal must hold numbers; got an array of type datetime64",
        ),
        (with_value(np.inf), "signal must be finite where it is observed; got infinite values"),
        (with_value(-np.inf), "signal must be finite where it is observed; got infinite values"),
        (np.r_[with_value(np.inf), -np.inf], "signal must be finite where it is observed"),
        (pd.DataFrame({"a": LINE, "b": ["x"] * 100}), "array of objects that are not"),
        (
            1e200 * LINE,
            "too small or too large: its square .* Rescale the signal",
        ),
        (
            1e-200 * LINE,
            "too small or too large: its square .* Rescale the signal",
        ),
    ],
    ids=str,
)
def test_unusable_signals(signal, message):
    for mode in ("quality", "plain"):
        denoiser = SmoothDenoiser(mode)
        with pytest.raises(ValueError, match=message):
            denoiser.fit(signal)
        assert not hasattr(denoiser, "signal_")
        with pytest.raises(ValueError, match=message):
            denoise(signal, mode=mode)


def test_infinite_values_are_refused_whatever_is_known():
    for values in (with_value(np.inf), np.r_[with_value(np.inf), -np.inf]):
        with pytest.raises(ValueError, match="got infinite values"):
            denoise(values, noise_std=0.3)
    colours = noisy_colours()[1]
    colours[3, 4] = [np.inf, -np.inf, np.inf]
    for options in ({}, {"noise_std": 0.2}):
        with pytest.raises(ValueError, match="got infinite values"):
            denoise(colours, **options)


def test_sparse_matrices_are_refused():
    for values in (sparse.eye(20).tocsr(), sparse.csr_array(np.eye(20))):
        with pytest.raises(TypeError, match=r"got a sparse matrix.*pass signal.toarray\(\)"):
            denoise(values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": np.ones(5, bool)}, r"mask must have the shape .* \(100,\); got \(5,\)"),
        ({"mask": np.ones(100)}, r"mask must hold True \(observed\) or False .* type float64"),
        ({"mask": np.zeros(100, bool)}, "at least two observed samples; got 0"),
        ({"x": np.arange(5)}, r"x must hold one position for each of the 100 samples; .* \(5,\)"),
        ({"x": ["a"] * 100}, "x must hold one position .* type <U1"),
        ({"x": np.full(100, np.nan)}, "x must be finite: every sample needs a position"),
        ({"x": np.full(100, np.datetime64("NaT"))}, "x must be finite: every sample needs"),
        ({"sample_weight": np.ones(5)}, r"sample_weight must hold one number .* shape \(5,\)"),
        ({"sample_weight": ["a"] * 100}, "sample_weight must hold one number .* type <U1"),
        ({"sample_weight": -np.ones(100)}, "sample_weight must be finite and not negative"),
        ({"sample_weight": np.full(100, np.nan)}, "sample_weight must be finite and not neg"),
        ({"sample_weight": np.zeros(100)}, "sample_weight must not be zero everywhere"),
        ({"noise_std": -0.1}, "finite and not negative: a number, one per channel.* got -0.1"),
        ({"noise_std": np.nan}, "finite and not negative.* got nan"),
        ({"noise_std": np.inf}, "finite and not negative.* got inf"),
        ({"noise_std": None}, "finite and not negative.* got None"),
        ({"noise_std": True}, "finite and not negative.* got True"),
        ({"noise_std": 1j}, "finite and not negative.* got 1j"),
        (
            {"noise_std": np.ones(5)},
            r"broadcasts to the shape of the signal, \(100,\); got shape \(5,\)",
        ),
        ({"noise_std": np.ones((2, 100))}, "broadcasts to the shape of the signal"),
        ({"noise_std": 1e200}, "The noise level, 1e.200, is too small or too large"),
        ({"noise_std": "mda"}, "noise_std must be one of .* got 'mda'. Did you mean 'mad'?"),
        ({"mode": "qualty"}, "mode must be one of .* Did you mean 'quality'?"),
        ({"mode": None}, "mode must be one of 'quality', 'plain'; got None"),
        ({"boundary": "symetric"}, "boundary must be one of .* Did you mean 'symmetric'?"),
        ({"prior": "bci"}, "prior must be one of .* Did you mean 'bic'?"),
        ({"prior": GammaPrior()}, "needs a penalty on degrees of freedom; got GammaPrior"),
        ({"dictionary": "smy8"}, "wavelet must be orthogonal.* Did you mean 'sym8'?"),
        ({"dictionary": "cosin"}, "dictionary .* Did you mean 'cosine'?"),
        ({"dictionary": "Auto"}, "dictionary .* Did you mean 'auto'?"),
        ({"dictionary": "bior2.2"}, "Biorthogonal.* do not keep white noise white"),
        ({"dictionary": "bior2.2", "mode": "plain"}, "Biorthogonal.* do not keep white noise"),
        ({"dictionary": []}, r"dictionary must be \"auto\", a wavelet.* got \[\]"),
        ({"dictionary": 5}, "dictionary must be .* got 5"),
        ({"dictionary": None}, "dictionary must be .* got None"),
        ({"dictionary": ["haar", 3]}, "dictionary must be .* got .'haar', 3."),
        ({"dictionary": ["haar", "db2"], "mode": "plain"}, "The plain mode uses one transform"),
        ({"neighbours": 4}, "neighbours must be odd, .* got 4"),
        ({"neighbours": 0}, "neighbours must be an integer of at least 1; got 0"),
        ({"neighbours": "atuo"}, "neighbours .* Did you mean 'auto'?"),
        (
            {"neighbours": 3, "mode": "plain"},
            "In plain mode every coefficient has its own precision; got neighbours=3",
        ),
        ({"level": 3}, 'level needs mode="plain"; got level=3'),
        ({"level": -1, "mode": "plain"}, "level must be an integer of at least 0; got -1"),
        ({"level": 30, "mode": "plain"}, "level=30 is too large"),
        ({"channel_axis": 2}, "channel_axis must be .* which has 1; got 2"),
        ({"channel_axis": 0}, "channel_axis leaves no axis of samples"),
        ({"channel_axis": "last"}, "channel_axis must be one of 'auto'; got 'last'"),
        ({"out": np.zeros(5)}, r"out must be an array .* \(100,\); got shape \(5,\)"),
        ({"out": np.zeros(100, int)}, "out must be an array of floating-point .* type int64"),
        ({"out": [0.0] * 100}, "out must be an array .* got an object of type list"),
        ({"out": np.zeros(100), "x": np.arange(100)[::-1]}, "samples are in order"),
        ({"n_samples": 100}, "n_samples is only for iterators; got n_samples=100"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_unusable_options(options, message):
    with pytest.raises(ValueError, match=message):
        denoise(LINE, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"return_std": 1}, "return_std must be True or False; got 1"),
        ({"decorrelate": "yes"}, "decorrelate must be True or False; got 'yes'"),
        ({"progress": "yes"}, "progress must be True or False or a function; got 'yes'"),
        ({"neighbours": 3.0}, "neighbours must be an integer of at least 1; got 3.0"),
        ({"level": 1.5, "mode": "plain"}, "level must be an integer of at least 0; got 1.5"),
        ({"nois_std": 0.1}, "has no option 'nois_std'. Did you mean 'noise_std'"),
    ],
)
def test_options_of_the_wrong_type(options, message):
    with pytest.raises(TypeError, match=message):
        denoise(LINE, **options)
    with pytest.raises(TypeError, match="with_std must be True or False"):
        SmoothDenoiser(with_std=None).fit(LINE)


def test_standard_deviations_come_when_asked_for():
    found, std = denoise(LINE, return_std=True, with_std=False)
    assert found.shape == std.shape == (100,)


def test_signals_too_short_for_cosine_frames():
    with pytest.raises(ValueError, match='too small for frames of cosines.*mode="plain"'):
        denoise(LINE[:40], dictionary="cosine")


def test_positions_need_one_axis():
    _, image = noisy_image()
    with pytest.raises(ValueError, match="x gives the positions of samples along a line"):
        denoise(image, x=np.arange(48))


def test_results_are_not_written_over_the_signal():
    values = LINE.copy()
    with pytest.raises(ValueError, match="out must not share memory with the signal"):
        denoise(values, out=values)
    np.testing.assert_array_equal(values, LINE)
    columns = np.column_stack([LINE, np.zeros(100)])
    denoise(columns[:, 0], out=columns[:, 1])
    np.testing.assert_array_equal(columns[:, 1], denoise(LINE))


def test_results_of_several_parts_are_assembled_in_memory():
    for values in (LINE + 0j, noisy_colours()[1]):
        with pytest.raises(ValueError, match="out needs a real signal"):
            denoise(values, out=np.zeros(values.shape))
    colours, out = noisy_colours()[1], np.zeros((48, 56, 3))
    denoise(colours, out=out, decorrelate=False)
    np.testing.assert_array_equal(out, denoise(colours, decorrelate=False))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": np.zeros(100)}, "takes none of return_std, out, x, mask and sample_weight"),
        ({"return_std": True}, "takes none of return_std, out, x, mask and sample_weight"),
        ({"mask": np.ones(100, bool)}, "takes none of return_std, out, x, mask"),
        ({"x": np.arange(100)}, "takes none of return_std, out, x, mask"),
        ({"sample_weight": np.ones(100)}, "takes none of return_std, out, x, mask"),
        ({"noise_std": np.ones(100)}, r"must be one number .* got shape \(100,\)"),
        ({"noise_std": -1.0}, "finite and not negative"),
        ({"noise_std": "mda"}, "Did you mean 'mad'"),
        ({"dictionary": "smy8"}, "Did you mean 'sym8'"),
        ({"prior": GammaPrior()}, "needs a penalty on degrees of freedom"),
        ({"n_samples": 1}, "n_samples must be an integer of at least 2; got 1"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_unusable_options_of_pieces(options, message):
    with pytest.raises(ValueError, match=message):
        denoise(iter([LINE]), **options)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (
            LINE + 1j,
            "must be one-dimensional and real; got a piece of shape .100,. and type complex",
        ),
        (
            LINE.reshape(10, 10),
            r"must be one-dimensional and real; got a piece of shape \(10, 10\)",
        ),
        ("abc", "signal must hold numbers"),
        (["abc"], "signal must hold numbers"),
        ([1.0], "at least two samples"),
        (with_value(np.inf), "got infinite values"),
    ],
)
def test_unusable_pieces(piece, message):
    with pytest.raises(ValueError, match=message):
        list(denoise(iter([piece])))


# ------------------------------------------------------------------ quality


FOUR = ["Blocks", "Bumps", "HeaviSine", "Doppler"]


def translation_invariant_hard(noisy, std, wavelet="sym8", coarsest=16):
    """Hard universal threshold, averaged over all circular shifts."""
    n = len(noisy)
    depth = int(np.log2(n // coarsest))
    threshold = std * np.sqrt(2 * np.log(n))
    total = np.zeros(n)
    shifts = range(2**depth)
    for shift in shifts:
        parts = pywt.wavedec(np.roll(noisy, -shift), wavelet, "periodization", level=depth)
        parts[1:] = [pywt.threshold(part, threshold, "hard") for part in parts[1:]]
        total += np.roll(pywt.waverec(parts, wavelet, "periodization"), shift)
    return total / len(shifts)


@pytest.mark.slow
def test_better_than_translation_invariant_thresholds():
    n, ours, theirs = 1024, [], []
    for name in FOUR:
        for ratio in (3, 7):
            for seed in range(2):
                clean = make_signal(name, n)
                std = clean.std() / ratio
                noisy = clean + std * np.random.default_rng(seed).normal(size=n)
                ours.append(error(denoise(noisy), clean) / std**2)
                theirs.append(error(translation_invariant_hard(noisy, std), clean) / std**2)
    assert np.exp(np.mean(np.log(ours)) - np.mean(np.log(theirs))) < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUR)
def test_bands_cover_smooth_parts(name):
    n, covered = 2048, []
    clean = make_signal(name, n)
    std = clean.std() / 5
    bends = np.abs(np.diff(clean, 2, prepend=clean[0], append=clean[-1])) / std
    smooth = np.convolve(bends, np.ones(33), "same") < 0.3
    assert smooth.mean() > 0.5
    for seed in range(6):
        noisy = clean + std * np.random.default_rng(seed).normal(size=n)
        denoiser = SmoothDenoiser().fit(noisy)
        inside = np.abs(denoiser.signal_ - clean) < 1.96 * denoiser.std_
        covered.append(inside[smooth].mean())
    assert 0.90 < np.mean(covered) < 0.99


def test_modes_agree_on_what_matters():
    clean, noisy = noisy_line(2000)
    quality, plain = denoise(noisy), denoise(noisy, mode="plain")
    assert error(quality, clean) < error(plain, clean) < 0.3 * 0.09


@pytest.mark.slow
def test_tables_have_channels(line):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    values = np.column_stack([line, 0.1 * line[::-1], 3.0 * line, line**2, line])
    expected = denoise(values, channel_axis=1)
    for table in (pd.DataFrame(values, columns=list("abcde")), pl.DataFrame(values)):
        found = denoise(table)
        assert type(found) is type(table)
        assert list(found.columns) == list(table.columns)
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize(("name", "hint"), [("noise", "noise_std"), ("q", None)])
def test_unknown_options_are_named(line, name, hint):
    with pytest.raises(
        TypeError, match=f"Did you mean '{hint}'" if hint else "It takes boundary, "
    ) as error:
        denoise(line, **{name: 0.2})
    assert f"denoise() has no option '{name}'" in str(error.value)


def test_pieces_report_progress(line):
    told = []
    pieces = denoise(
        iter([line, line[::-1]]), noise_std=0.3, progress=lambda *state: told.append(state)
    )
    assert sum(map(len, pieces)) == 2 * len(line)
    assert told == [(1, 0)]
    list(denoise(iter([line]), n_samples=len(line), progress=lambda *state: told.append(state)))
    assert told[1:] == [(1, 1)]


@pytest.mark.parametrize("missing", [np.nan, complex(0.0, np.nan), complex(np.nan, np.nan)])
def test_complex_gaps(missing):
    random = np.random.default_rng(0)
    clean = 3.0 * np.exp(7j * np.linspace(0.0, 1.0, 512))
    noisy = clean + 0.3 * (random.normal(size=512) + 1j * random.normal(size=512))
    noisy[100:130] = missing
    found, std = denoise(noisy, return_std=True)
    gap = slice(100, 130)
    assert np.abs(found - clean)[gap].max() < 0.6
    assert std[gap].mean() > 1.1 * np.median(std)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e9])
def test_weights_may_have_any_scale(scale):
    random = np.random.default_rng(0)
    clean = make_signal("HeaviSine", 1000)
    weights = random.uniform(1.0, 4.0, 1000)
    noisy = clean + 0.6 * random.normal(size=1000) / np.sqrt(weights)
    plain = SmoothDenoiser().fit(noisy, sample_weight=weights)
    scaled = SmoothDenoiser().fit(noisy, sample_weight=scale * weights)
    np.testing.assert_allclose(scaled.signal_, plain.signal_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scaled.noise_std_, plain.noise_std_, rtol=1e-6)


def test_plain_mode_with_a_large_offset():
    random = np.random.default_rng(0)
    noisy = np.sin(np.linspace(0.0, 9.0, 512)) + 0.3 * random.normal(size=512)
    options = {"mode": "plain", "noise_std": 0.3}
    found = denoise(noisy + 1e12, **options) - 1e12
    assert np.sqrt(np.mean((found - denoise(noisy, **options)) ** 2)) < 0.1


def test_tuning_is_checked(line):
    with pytest.raises(TypeError, match="tuning must be a DenoisingTuning or None; got 'fast'"):
        SmoothDenoiser(tuning="fast").fit(line)
