"""Accuracy of the noise level: relative errors over many signals and noise levels."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.datasets import RANDOM_FAMILIES, make_random_signal, make_signal
from relvec.noise import estimate_noise_level

SPARSE = ["Blocks", "Bumps", "HeaviSine", "Piece-Regular", "Piece-Polynomial", "Ramp", "Square"]
DENSE = ["LinChirp", "TwoChirp", "HiSine", "LoSine", "QuadChirp", "MishMash", "HypChirps", "AmFm"]
RATIOS = [1, 3, 5, 7, 20]


def errors(names, n, n_draws, method="auto"):
    """``100 |log(estimate / truth)|`` for every signal, draw and signal-to-noise ratio."""
    found = []
    for i, name in enumerate(names):
        for draw in range(n_draws):
            random = np.random.RandomState(1000 * i + draw)
            if name in RANDOM_FAMILIES:
                clean = make_random_signal(name, n, random_state=random)
            else:
                clean = make_signal(name, n)
            for ratio in RATIOS:
                std = clean.std() / ratio
                level = estimate_noise_level(clean + std * random.standard_normal(n), method=method)
                found.append(100 * abs(np.log(level.std / std)))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_draws", "median", "nine_in_ten"), [(1024, 8, 5, 20), (4096, 3, 3, 8)]
)
@pytest.mark.parametrize(
    "names", [SPARSE, DENSE, RANDOM_FAMILIES], ids=["sparse", "dense", "random"]
)
def test_error_in_percent(names, n, n_draws, median, nine_in_ten):
    found = errors(names, n, n_draws)
    assert np.median(found) <= median
    assert np.quantile(found, 0.9) <= nine_in_ten


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_draws"), [(256, 8), (1024, 4), (4096, 2)])
def test_as_good_as_the_classical_estimate_where_that_is_good(n, n_draws):
    assert np.median(errors(SPARSE, n, n_draws)) < np.median(errors(SPARSE, n, n_draws, "mad"))


def test_better_than_the_classical_estimate_elsewhere():
    assert np.median(errors(DENSE, 1024, 1)) < 0.2 * np.median(errors(DENSE, 1024, 1, "mad"))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "bias"), [(256, 6), (1024, 3), (4096, 1.5)])
def test_little_bias_on_noise_alone(n, bias):
    random = np.random.default_rng(n)
    logs = [np.log(estimate_noise_level(random.normal(size=n)).std) for _ in range(60)]
    assert abs(100 * np.median(logs)) < bias
    assert 100 * np.quantile(logs, 0.9) < 4 * bias
