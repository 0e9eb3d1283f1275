"""Two-class problems: densities, class probabilities and samples agree."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import kstest, multivariate_normal

from relvec.datasets import (
    GaussianMixtures,
    TwoClassTruth,
    UniformIntervals,
    make_overlapping_uniforms,
    make_ripley_mixture,
    make_snake,
)

MAKERS = [make_snake, make_ripley_mixture, make_overlapping_uniforms]


def densities(truth, points):
    """Density of each class, from SciPy's normal distribution."""
    covariance = np.diag(truth.std**2)
    return [
        np.mean([multivariate_normal(center, covariance).pdf(points) for center in centers], axis=0)
        for centers in truth.centers
    ]


def bayes(truth, step=0.02):
    """Error and cross-entropy of the best classifier, and total mass, by the rectangle rule."""
    both = np.concatenate(truth.centers)
    low, high = both.min(axis=0) - 6.0 * truth.std, both.max(axis=0) + 6.0 * truth.std
    axes = [np.arange(*ends, step) for ends in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    zero, one = densities(truth, grid)
    total = zero + one
    entropy = -(xlogy(zero, zero / total) + xlogy(one, one / total))
    return [0.5 * step**2 * float(each.sum()) for each in (np.minimum(zero, one), entropy, total)]


@pytest.mark.parametrize(
    ("make", "error", "cross_entropy"),
    [(make_snake, 0.112, 0.263), (make_ripley_mixture, 0.0893, 0.2145)],
)
def test_bayes_errors_are_those_of_the_docstrings(make, error, cross_entropy):
    truth = make(4, return_truth=True)[2]
    found_error, found_entropy, mass = bayes(truth)
    assert mass == pytest.approx(1.0, abs=1e-6)
    assert found_error == pytest.approx(error, abs=5e-4)
    assert found_entropy == pytest.approx(cross_entropy, abs=1e-3)


@pytest.mark.parametrize("make", [make_snake, make_ripley_mixture])
def test_probabilities_are_those_of_the_densities(make):
    X, _, truth = make(200, random_state=0, return_truth=True)
    zero, one = densities(truth, X)
    np.testing.assert_allclose(truth.probability(X), one / (zero + one), rtol=1e-9)
    np.testing.assert_allclose(np.exp(truth.log_densities(X)), np.column_stack([zero, one]))
    np.testing.assert_allclose(truth.log_odds(X), np.log(one / zero), atol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
def test_class_frequencies_match_the_probabilities(make):
    X, y, truth = make(40_000, random_state=3, return_truth=True)
    probability = truth.probability(X)
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (probability >= low) & (probability <= low + 0.25)
        if inside.any():
            error = np.sqrt(max(0.25 / inside.sum(), 1e-12))
            assert abs(y[inside].mean() - probability[inside].mean()) < 4.0 * error


@pytest.mark.parametrize("make", MAKERS)
def test_draws_repeat_are_balanced_and_in_random_order(make):
    X, y = make(101, random_state=5)
    again, same = make(101, random_state=5)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    assert X.shape == (101, make(2, return_truth=True)[2].n_features)
    assert np.bincount(y).tolist() == [51, 50]
    assert 20 < np.count_nonzero(np.diff(y)) < 80
    assert not np.array_equal(make(101, random_state=6)[0], X)


@pytest.mark.parametrize("make", MAKERS)
def test_the_truth_samples_the_same_distribution(make):
    X, y, truth = make(50, random_state=0, return_truth=True)
    assert isinstance(truth, TwoClassTruth)
    more, labels = truth.sample(50, random_state=0)
    np.testing.assert_array_equal(more, X)
    np.testing.assert_array_equal(labels, y)
    assert set(truth.draw(np.ones(7, dtype=int)).shape) == {7, truth.n_features}


def test_snake_centres_follow_a_sine():
    truth = make_snake(
        2,
        n_half_periods=2,
        n_gaussians=5,
        length=4.0,
        amplitude=0.5,
        separation=3.0,
        spread=(0.1, 0.2),
        return_truth=True,
    )[2]
    assert isinstance(truth, GaussianMixtures)
    zero, one = truth.centers
    np.testing.assert_allclose(zero[:, 0], [-2.0, -1.0, 0.0, 1.0, 2.0])
    np.testing.assert_allclose(zero[:, 1] + 1.5, [0.0, 0.5, 0.0, -0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(one - zero, [[0.0, 3.0]] * 5)
    np.testing.assert_array_equal(truth.std, [0.1, 0.2])


def test_one_gaussian_is_in_the_middle():
    truth = make_snake(2, n_gaussians=1, amplitude=0.0, separation=0.0, return_truth=True)[2]
    np.testing.assert_array_equal(truth.centers, np.zeros((2, 1, 2)))
    np.testing.assert_allclose(truth.probability([[3.0, 1.0]]), [0.5])


def test_probabilities_far_away_neither_overflow_nor_vanish():
    truth = make_ripley_mixture(2, return_truth=True)[2]
    assert np.isfinite(truth.log_odds([[1e3, 1e3], [-1e3, -1e3]])).all()


def test_overlapping_uniforms():
    X, y, truth = make_overlapping_uniforms(random_state=0, return_truth=True)
    assert isinstance(truth, UniformIntervals)
    assert X.shape == (1000, 1)
    assert kstest(X[y == 1, 0], "uniform", args=(0.0, 1.0)).pvalue > 0.01
    assert kstest(X[y == 0, 0], "uniform", args=(0.5, 1.0)).pvalue > 0.01
    at = [[-0.1], [0.2], [0.5], [0.7], [1.0], [1.2], [1.6]]
    zero, infinite = 0.0, np.inf
    np.testing.assert_array_equal(
        truth.log_odds(at), [np.nan, infinite, zero, zero, zero, -infinite, np.nan]
    )
    np.testing.assert_array_equal(truth.probability(at), [np.nan, 1, 0.5, 0.5, 0.5, 0, np.nan])
    # a quarter: half of the inputs are where a coin decides
    probability = truth.probability(truth.sample(100_000, random_state=1)[0])
    error = np.minimum(probability, 1.0 - probability).mean()
    assert error == pytest.approx(0.25, abs=0.003)


def test_ripleys_own_sample_is_from_the_same_mixture():
    directory = os.environ.get("RELVEC_DATA")
    if directory is None or not (Path(directory) / "ripley_synth.npz").exists():
        pytest.skip("RELVEC_DATA has no ripley_synth.npz")
    with np.load(Path(directory) / "ripley_synth.npz") as data:
        X, y = data["X_test"], data["y_test"]
    truth = make_ripley_mixture(2, return_truth=True)[2]
    assert np.mean((truth.probability(X) > 0.5) != y) == pytest.approx(0.08, abs=5e-4)
    for label, centers in enumerate(truth.centers):
        nearest = np.argmin(((X[y == label, None] - centers) ** 2).sum(axis=2), axis=1)
        means = [X[y == label][nearest == place].mean(axis=0) for place in (0, 1)]
        np.testing.assert_allclose(means, centers, atol=0.04)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_samples": 1}, ValueError, "n_samples must be an integer of at least 2; got 1"),
        ({"n_samples": 10.0}, TypeError, "n_samples must be an integer of at least 2; got 10.0"),
        ({"n_half_periods": 0}, ValueError, "n_half_periods must be an integer of at least 1"),
        ({"n_gaussians": 0}, ValueError, "n_gaussians must be an integer of at least 1"),
        ({"length": 0.0}, ValueError, "length must be a positive number; got 0.0"),
        ({"amplitude": -1.0}, ValueError, "amplitude must be a non-negative number; got -1.0"),
        ({"separation": "far"}, TypeError, "separation must be a non-negative number; got 'far'"),
        ({"spread": 0.0}, ValueError, "spread must be a positive number or a pair of them"),
        ({"spread": (0.1, 0.2, 0.3)}, ValueError, "spread must be a positive number or a pair"),
        ({"spread": (0.1, -0.2)}, ValueError, r"spread\[1\] must be a positive number"),
        ({"return_truth": "yes"}, TypeError, "return_truth must be True or False; got 'yes'"),
    ],
)
def test_bad_options(options, error, match):
    with pytest.raises(error, match=match):
        make_snake(**options)


@pytest.mark.parametrize("method", ["probability", "log_odds", "log_densities"])
def test_bad_inputs(method):
    truth = make_snake(2, return_truth=True)[2]
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 2\); got shape \(2,\)"):
        getattr(truth, method)([0.0, 1.0])
    with pytest.raises(ValueError, match="X must be finite; the value at row 0, column 1 is NaN"):
        getattr(truth, method)([[0.0, np.nan]])
