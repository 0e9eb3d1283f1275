"""Random signals: repeatable, different from seed to seed, standardised."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.datasets import RANDOM_FAMILIES, make_random_signal


@pytest.mark.parametrize("n", [16, 65, 1024])
@pytest.mark.parametrize("family", RANDOM_FAMILIES)
def test_standardised_and_repeatable(family, n):
    for seed in range(5):
        signal = make_random_signal(family, n, random_state=seed)
        assert signal.shape == (n,)
        assert signal.mean() == pytest.approx(0.0, abs=1e-12)
        assert signal.std() == pytest.approx(1.0)
        np.testing.assert_array_equal(signal, make_random_signal(family, n, random_state=seed))


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
def test_every_seed_is_another_signal(family):
    draws = [make_random_signal(family, 256, random_state=seed) for seed in range(4)]
    assert abs(np.corrcoef(draws)[np.triu_indices(4, 1)]).max() < 0.95


def test_unknown_family():
    with pytest.raises(ValueError, match="family must be one of .* Did you mean 'chirps'?"):
        make_random_signal("chirp")
