"""Numbers that the guide states about denoising, checked on other draws than those of the page."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_sample_images

from relvec import denoise
from relvec.datasets import SIGNAL_NAMES, make_noisy_signal
from relvec.noise import estimate_noise_level
from tests.helpers_claims import GUIDE, claimed

pytest.importorskip("pywt")

PAGE = GUIDE / "denoising.md"
SMOOTH = ("HeaviSine", "Sinc", "Cusp", "Doppler")
FAST = ("HiSine", "LoSine", "LinChirp", "TwoChirp", "QuadChirp", "MishMash")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*noise level")]


def test_coverage_of_bands_over_the_test_signals() -> None:
    pattern = r"Over the # test signals \(# samples, `snr` # and #, .*?cover # % of the samples"
    count, n, low, high, share = claimed(PAGE, pattern)
    most, worst = claimed(PAGE, r"and more than # % in nine cases of ten; the worst case is # %")
    assert count == len(SIGNAL_NAMES)
    found = []
    for number, name in enumerate(SIGNAL_NAMES):
        for snr in (low, high):
            data = make_noisy_signal(name, int(n), snr=snr, random_state=9000 + number)
            clean, std = denoise(data.noisy, return_std=True)
            found.append(100.0 * np.mean(np.abs(clean - data.clean) < 1.96 * std))
    assert np.mean(found) == pytest.approx(share, abs=2.0)
    assert np.mean(np.array(found) > most) > 0.85
    assert min(found) > worst - 5.0


def test_noise_level_of_short_signals() -> None:
    pattern = r"At # samples (\w+) errors of (\w+) exceed # %, at # (\w+) of (\w+)\."
    n, two, five, limit, fewer, also_two, three = claimed(PAGE, pattern)
    for length, share in ((n, two / five), (fewer, also_two / three)):
        errors = []
        for number, name in enumerate(SIGNAL_NAMES):
            for snr in (1, 3, 5, 7):
                data = make_noisy_signal(name, int(length), snr=snr, random_state=8000 + number)
                errors.append(abs(np.log(estimate_noise_level(data.noisy).std / data.noise_std)))
        assert np.mean(100.0 * np.array(errors) > limit) == pytest.approx(share, abs=0.1)


def test_samples_missing_at_random() -> None:
    start, end = r"With # % of # samples missing at random \(`snr=#`\)", r" on fast chirps"
    share, n, snr, slight, low, high = claimed(
        PAGE, start + r".*?at most # % .*?became (\w+) to (\w+) times as large" + end
    )
    growth = {}
    for name in (*SMOOTH, "Blocks", *FAST):
        ratios = []
        for seed in range(3):
            data = make_noisy_signal(name, int(n), snr=snr, random_state=7000 + seed)
            holes = np.random.default_rng(seed).random(int(n)) < share / 100.0
            errors = [
                np.std(denoise(signal) - data.clean)
                for signal in (data.noisy, np.where(holes, np.nan, data.noisy))
            ]
            ratios.append(errors[1] / errors[0])
        growth[name] = np.exp(np.mean(np.log(ratios)))
    assert np.mean([growth[name] for name in SMOOTH]) < 1.0 + slight / 100.0
    assert growth["Blocks"] == pytest.approx(2.0, abs=0.6)
    fast = [growth[name] for name in FAST]
    assert min(fast) > 0.75 * low
    assert max(fast) < 1.25 * high


def test_coverage_on_photographs() -> None:
    few, many, low, high = claimed(
        PAGE, r"under noise of # to # grey levels, the bands cover # to # %, less with more"
    )
    found = {few: [], many: []}
    for image in load_sample_images().images:
        grey = image.mean(axis=2)
        for part in (grey[:256, :256], grey[150:406, 200:456]):
            for noise in found:
                rng = np.random.default_rng(int(noise) + 1)
                observed = part + rng.normal(scale=noise, size=part.shape)
                clean, std = denoise(observed, return_std=True)
                found[noise].append(100.0 * np.mean(np.abs(clean - part) < 1.96 * std))
    shares = [*found[few], *found[many]]
    assert low - 3.0 < min(shares)
    assert max(shares) < high + 2.0
    assert np.mean(found[many]) < np.mean(found[few])
