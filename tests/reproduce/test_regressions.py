"""Data of the regressions of the papers, what is measured on them, and kernlab's width."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from relvec import RVMRegressor
from relvec.datasets import make_friedman
from reproduce.common.class_datasets import Split
from reproduce.common.kernlab import estimate_gamma, make_rvm
from reproduce.common.regressions import (
    HALVES,
    HEAD,
    draw_friedman,
    draw_sinc,
    judge,
    kept,
    read_half,
    read_names,
    row,
)


def test_friedman_is_judged_without_noise():
    draw = draw_friedman(3, 5)
    X, y, truth = make_friedman(3, random_state=5, return_truth=True)
    np.testing.assert_array_equal(draw.X, X)
    np.testing.assert_array_equal(draw.y, y)
    np.testing.assert_array_equal(draw.y_test, truth(draw.X_test))
    assert draw.X_test.shape == (1000, 4)
    assert not np.isin(draw.X_test, X).any()


def test_sinc_has_uniform_noise_or_none():
    draw = draw_sinc(0)
    noise = draw.y - np.sinc(draw.X[:, 0] / np.pi)
    assert np.abs(noise).max() <= 0.1
    assert noise.std() == pytest.approx(0.1 / math.sqrt(3.0), rel=0.2)
    assert draw.y_test.max() == pytest.approx(1.0, abs=1e-3)
    assert not np.array_equal(draw.y, draw_sinc(1).y)
    np.testing.assert_array_equal(draw_sinc(None).y, np.sinc(draw.X[:, 0] / np.pi))


@pytest.mark.parametrize("name", HALVES)
def test_halves_have_no_rows_in_common(tmp_path, name):
    X = np.arange(12.0).reshape(6, 2)
    rows = np.array([[0, 2, 4], [1, 2, 3]])
    arrays = {"X": X, "y": X[:, 0], "feature_names": np.array(["a", "b"]), HALVES[name]: rows}
    np.savez(tmp_path / f"{name}.npz", **arrays)
    split = read_half(tmp_path, name, 1)
    np.testing.assert_array_equal(split.X, X[[1, 2, 3]])
    np.testing.assert_array_equal(split.y_test, X[[0, 4, 5], 0])
    assert read_names(tmp_path, name) == ["a", "b"]


def test_errors_are_those_of_the_test_rows():
    X = np.arange(8.0)[:, np.newaxis]
    outcome = judge(LinearRegression(), Split(X, 2.0 * X[:, 0], X, 2.0 * X[:, 0] + 3.0))
    assert outcome["mse"] == pytest.approx(9.0)
    assert outcome["rmse"] == pytest.approx(3.0)
    assert math.isnan(outcome["n_vectors"])
    assert outcome["n_inputs"] == 1
    assert row("line", [outcome] * 2, "rmse")[:4] == ["line", "3", "–", "1"]
    assert len(row("line", [outcome], "mse")) == 2 + len(HEAD)


def test_scales_say_which_inputs_are_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(60, 2)) * [1.0, 10.0]
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=60)
    model = RVMRegressor(length_scales="ard")
    outcome = judge(model, Split(X, y, X, y))
    np.testing.assert_array_equal(kept([outcome]), [[True, False]])
    assert outcome["n_inputs"] == 1
    assert outcome["n_vectors"] == len(model.relevance_)
    np.testing.assert_allclose(outcome["relevance"], model.feature_relevance_, rtol=1e-6)


def test_width_is_estimated_from_distances_of_pairs():
    """Of points on a line, |x - z| is below t with probability 1 - (1 - t / length)^2."""
    X = np.linspace(-10.0, 10.0, 4001)[:, np.newaxis]
    small, large = (20.0 * (1.0 - math.sqrt(1.0 - share)) for share in (0.1, 0.9))
    expected = (small**-2 + large**-2) / 2.0
    found = [estimate_gamma(X, seed) for seed in range(10)]
    assert len(set(found)) == 10
    assert np.mean(found) == pytest.approx(expected, rel=0.1)


def test_pairs_of_equal_rows_do_not_count():
    X = np.repeat([[0.0], [2.0]], 50, axis=0)
    assert estimate_gamma(X, 0) == pytest.approx(0.25)


def test_machine_has_that_width_and_no_constant():
    draw = draw_sinc(0)
    model = make_rvm(draw.X, 3, noise_variance=0.01)
    assert model.gamma == estimate_gamma(draw.X, 3)
    model.fit(draw.X, draw.y)
    assert model.intercept_ == 0.0
    assert model.noise_variance_ == 0.01
    assert not hasattr(model, "length_scale_")
