"""Series have the function, the order and the noise that are stated."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from relvec.datasets import SERIES_NAMES, make_series


@pytest.mark.parametrize("name", SERIES_NAMES)
def test_times_increase_and_noise_is_as_stated(name):
    X, y, truth = make_series(name, 4000, random_state=1, return_truth=True)
    assert (np.diff(X[:, 0]) >= 0.0).all()
    assert (truth.low <= X).all()
    assert (truth.high >= X).all()
    z = (y - truth(X)) / truth.noise_std
    # 4000 values: the standard errors of mean and standard deviation are 0.016 and 0.011
    assert abs(z.mean()) < 0.06
    assert abs(z.std() - 1.0) < 0.045
    np.testing.assert_array_equal(make_series(name, 4000, random_state=1)[1], y)
    assert not np.array_equal(make_series(name, 4000, random_state=2)[1], y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(truth))(X), truth(X))


def test_noise_is_a_multiple_of_the_function():
    for name in ("growsine", "trendseason", "smooth"):
        _, _, truth = make_series(name, noise=0.5, random_state=0, return_truth=True)
        x = np.linspace(truth.low, truth.high, 5001)
        assert truth.noise_std == pytest.approx(0.5 * truth(x).std(), rel=0.01)
    stds = {n: make_series(n, return_truth=True)[2].noise_std for n in ("report", "noise")}
    assert stds == {"report": 0.25, "noise": 1.0}


def test_functions_are_those_of_the_table():
    at = 3.3
    values = {
        name: make_series(name, return_truth=True)[2]([[at]])[0]
        for name in ("growsine", "trendseason", "report", "noise")
    }
    assert values["growsine"] == pytest.approx(at * np.sin(2.0 * np.pi * at / 1.7 + 0.4))
    assert values["trendseason"] == pytest.approx(
        0.6 * at + 1.2 * np.exp(np.sin(2.0 * np.pi * at / 2.3))
    )
    assert values["report"] == pytest.approx(0.5 * np.sin(at) + 0.5 * at - 0.02 * (at - 5.0) ** 2)
    assert values["noise"] == 0.0


def test_the_smooth_function_has_its_length_scale_also_after_the_data():
    """Correlation of values at a distance of one length-scale: exp(-1/2)."""
    x = np.linspace(0.0, 15.0, 16)
    draws = np.array(
        [
            [truth(at[:, np.newaxis]) for at in (x, x + 1.2)]
            for seed in range(60)
            for truth in [make_series("smooth", 1, random_state=seed, return_truth=True)[2]]
        ]
    )
    first, second = draws[:, 0, :12].ravel(), draws[:, 1, :12].ravel()
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(np.exp(-0.5), abs=0.08)
    assert np.std(draws[:, :, 12:15]) == pytest.approx(1.0, abs=0.15)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="growsine"):
        make_series("growsin")
