"""The lower envelope: no selection bias, never far below the noise, correct diagnostics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relvec.noise.envelope import compute_upper_bounds, estimate_lower_envelope
from relvec.noise.patches import estimate_from_patches
from relvec.noise.regions import Regions
from relvec.noise.scale import clipped_scale


def noise(n_blocks, size=32, seed=0):
    return np.random.default_rng(seed).normal(size=(n_blocks, size))


def test_bounds_against_a_loop():
    blocks = noise(40) * np.linspace(1, 3, 40)[:, np.newaxis]
    bounds = {bound.fraction: bound for bound in compute_upper_bounds(Regions("x", blocks), 64)}
    assert list(bounds) == [1.0, 0.5, 0.25]
    white, black = blocks[:, ::2], blocks[:, 1::2]
    quiet_white = sorted(range(40), key=lambda i: sum(white[i] ** 2))[:10]
    quiet_black = sorted(range(40), key=lambda i: sum(black[i] ** 2))[:10]
    expected = clipped_scale(black[quiet_white]) * clipped_scale(white[quiet_black])
    assert bounds[0.25].log_scale == pytest.approx(0.5 * math.log(expected))
    assert bounds[0.25].standard_error == pytest.approx(0.92 / math.sqrt(320))
    assert bounds[1.0].log_scale == pytest.approx(math.log(clipped_scale(blocks)))


def test_choosing_quiet_blocks_is_not_biased():
    logs = {0.5: [], 0.25: [], 0.125: [], 0.0625: []}
    for seed in range(150):
        for bound in compute_upper_bounds(Regions("x", noise(256, seed=seed)), 64)[1:]:
            logs[bound.fraction].append(bound.log_scale)
    for fraction, values in logs.items():
        error = np.std(values) / math.sqrt(len(values))
        assert np.mean(values) == pytest.approx(0.0, abs=max(4 * error, 0.004)), fraction
        assert np.std(values) == pytest.approx(0.92 / math.sqrt(fraction * 256 * 32), rel=0.25)


def test_finds_the_empty_regions():
    found = []
    for seed in range(20):
        blocks = noise(256, seed=seed)
        blocks[:200] += 10 * noise(200, seed=100 + seed)
        busy = Regions("busy", 10 * noise(256, seed=200 + seed))
        found.append(estimate_lower_envelope([busy, Regions("quiet", blocks)], 64))
    assert np.mean([each.std for each in found]) == pytest.approx(1.0, abs=0.03)
    # 56 of 256 blocks are empty: an eighth fits into them, a quarter does not.
    assert {each.source for each in found} <= {f"the quietest 1/{k} of quiet" for k in (4, 8, 16)}


def test_signal_can_only_add():
    random = np.random.default_rng(3)
    for _ in range(20):
        blocks = noise(128, seed=random.integers(1 << 30))
        signal = random.standard_t(1, size=blocks.shape) * (random.random(blocks.shape) < 0.3)
        assert estimate_lower_envelope([Regions("x", blocks + signal)], 64).std > 0.93


def test_diagnosis():
    clean = estimate_lower_envelope([Regions("x", noise(500))], 64)
    assert clean.null_fraction == pytest.approx(1.0, abs=0.03)
    assert clean.core_ratio == pytest.approx(1.0, abs=0.03)
    assert clean.quiet_fraction == pytest.approx(1.0, abs=0.06)
    # Every coefficient is loud or quiet: below the level found nothing is Gaussian.
    heavy = np.random.default_rng(0).standard_cauchy((500, 32))
    assert estimate_lower_envelope([Regions("x", heavy)], 64).core_ratio > 1.03


def test_nothing_to_measure():
    envelope = estimate_lower_envelope(
        [Regions("x", np.zeros((10, 16))), Regions("y", np.empty((0, 4)))], 64
    )
    assert envelope.std == 0.0
    assert envelope.standard_error == math.inf


def test_patch_covariances_against_numpy():
    plane = np.random.default_rng(0).normal(size=(40, 50))
    plane += np.add.outer(np.sin(np.arange(40)), np.cos(np.arange(50)))
    windows = np.lib.stride_tricks.sliding_window_view(plane, (5, 5)).reshape(-1, 25)
    windows = windows[np.argsort(windows.var(axis=1))]
    for i in range(20):
        n = int((1 - 0.05 * i) * len(windows))
        variances = np.linalg.eigvalsh(np.cov(windows[:n].T))
        if variances[6] - variances[0] < 9.8 * variances[0] / math.sqrt(n):
            expected = math.sqrt(variances[:7].mean())
            break
    assert estimate_from_patches(plane[np.newaxis]) == pytest.approx(expected)


def test_patches_of_noise():
    plane = np.random.default_rng(1).normal(size=(1, 256, 256))
    assert estimate_from_patches(plane) == pytest.approx(0.98, abs=0.02)
    assert estimate_from_patches(np.zeros((1, 64, 64))) == 0.0
