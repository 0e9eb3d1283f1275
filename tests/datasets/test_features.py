"""Problems with many features: data follow the formulas of the papers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import chi2_contingency, kstest, multivariate_normal, norm
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from relvec.datasets import (
    GaussianMixtures,
    RegressionTruth,
    RingTruth,
    make_friedman,
    make_ring,
    make_sinc_and_line,
    make_twonorm,
)

THEIRS = {1: make_friedman1, 2: make_friedman2, 3: make_friedman3}
CLASSES = [make_ring, make_twonorm]
NUMBERS = [make_friedman, make_sinc_and_line]


def truth_of(make, *args, **options):
    return make(*args, return_truth=True, **options)[2]


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_friedmans_functions_are_those_of_scikit_learn(kind):
    X, values = THEIRS[kind](500, noise=0.0, random_state=0)
    truth = truth_of(make_friedman, kind)
    np.testing.assert_allclose(truth(X), values, rtol=1e-12)
    assert X.shape[1] == truth.n_features
    # the same inputs too, as both draw all of them at once
    assert (truth.low <= X).all()
    assert (truth.high >= X).all()
    np.testing.assert_allclose(X.min(axis=0), truth.low, atol=0.02 * (truth.high - truth.low).max())


def test_friedmans_functions_are_those_of_the_paper():
    x1, x2, x3, x4, x5 = 0.3, 0.9, 0.2, 0.7, 0.6
    first = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    assert truth_of(make_friedman, 1)([[x1, x2, x3, x4, x5, *np.ones(5)]])[0] == pytest.approx(
        first
    )
    x1, x2, x3, x4 = 60.0, 500.0, 0.4, 3.0
    reactance = x2 * x3 - 1 / (x2 * x4)
    second, third = (truth_of(make_friedman, kind)([[x1, x2, x3, x4]])[0] for kind in (2, 3))
    assert second == pytest.approx(np.sqrt(x1**2 + reactance**2))
    assert third == pytest.approx(np.arctan(reactance / x1))


@pytest.mark.parametrize("kind", [2, 3])
def test_the_noise_of_the_circuit_is_a_third_of_the_signal(kind):
    truth = truth_of(make_friedman, kind)
    X = np.random.default_rng(0).uniform(truth.low, truth.high, size=(1_000_000, 4))
    assert truth.noise_std == pytest.approx(truth(X).std() / 3.0, rel=3e-3)
    # over the distribution, not over the draw
    assert truth_of(make_friedman, kind, 5, random_state=1).noise_std == truth.noise_std


def test_circuit_without_resistance():
    truth = truth_of(make_friedman, 3)
    np.testing.assert_allclose(truth([[0.0, 500.0, 0.5, 2.0]]), [np.pi / 2])


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (make_friedman, {"kind": 1}),
        (make_friedman, {"kind": 2, "n_features": 7}),
        (make_friedman, {"kind": 3}),
        (make_sinc_and_line, {}),
    ],
)
def test_targets_are_the_function_plus_noise(make, options):
    X, y, truth = make(n_samples=20_000, random_state=4, return_truth=True, **options)
    assert isinstance(truth, RegressionTruth)
    noise = (y - truth(X)) / truth.noise_std
    assert kstest(noise, "norm").pvalue > 0.01
    scaled = (X - truth.low) / (truth.high - truth.low)
    for column in scaled.T:
        assert kstest(column, "uniform").pvalue > 1e-3
    quiet = make(n_samples=100, noise=0.0, random_state=4, return_truth=True, **options)
    np.testing.assert_array_equal(quiet[1], truth(quiet[0]))
    assert quiet[2].noise_std == 0.0


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_only_the_relevant_features_change_the_function(kind):
    n_features = 12
    X, _, truth = make_friedman(kind, 50, n_features=n_features, random_state=0, return_truth=True)
    assert X.shape == (50, 12)
    np.testing.assert_array_equal(truth.relevant, np.arange(5 if kind == 1 else 4))
    for column in range(n_features):
        moved = X.copy()
        moved[:, column] = 0.5 * (X[:, column] + truth.high[column])
        assert np.array_equal(truth(moved), truth(X)) == (column not in truth.relevant)


def test_sinc_and_line():
    X, y, truth = make_sinc_and_line(random_state=0, return_truth=True)
    assert X.shape == (100, 2)
    np.testing.assert_allclose(truth(X), np.sin(X[:, 0]) / X[:, 0] + 0.1 * X[:, 1])
    assert truth([[0.0, -3.0]])[0] == pytest.approx(0.7)
    assert (y - truth(X)).std() == pytest.approx(0.1, rel=0.2)
    assert np.abs(X).max() <= 10.0


@pytest.mark.parametrize("make", [*CLASSES, *NUMBERS])
def test_draws_repeat_and_the_truth_samples_the_same_distribution(make):
    X, y, truth = make(n_samples=101, random_state=5, return_truth=True)
    again, same = make(n_samples=101, random_state=5)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    for known in (truth, pickle.loads(pickle.dumps(truth))):
        more, values = known.sample(101, random_state=5)
        np.testing.assert_array_equal(more, X)
        np.testing.assert_array_equal(values, y)
    assert not np.array_equal(make(n_samples=101, random_state=6)[0], X)


@pytest.mark.parametrize("make", CLASSES)
def test_classes_are_balanced_and_in_random_order(make):
    _, y = make(101, random_state=5)
    assert np.bincount(y).tolist() == [51, 50]
    assert 20 < np.count_nonzero(np.diff(y)) < 80


def test_all_features_of_the_ring_are_jointly_standard_normal():
    X, y, truth = make_ring(40_000, 4, softness=0.05, random_state=0, return_truth=True)
    assert isinstance(truth, RingTruth)
    for column in X.T:
        assert kstest(column, "norm").pvalue > 0.01
    np.testing.assert_allclose(np.cov(X.T), np.eye(4), atol=0.03)
    assert kstest((X[:, :2] ** 2).sum(axis=1), "chi2", args=(2,)).pvalue > 0.01
    # neither the angle nor the other inputs know the class
    quadrant = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    counts = np.array([np.bincount(quadrant[y == label], minlength=4) for label in (0, 1)])
    assert chi2_contingency(counts).pvalue > 0.01
    for column in (2, 3):
        assert kstest(X[y == 1, column], "norm").pvalue > 0.01


def test_the_ring_is_around_the_other_class():
    truth = truth_of(make_ring, 4, 3)
    radius = np.sqrt(2.0 * np.log(2.0))
    at = [[0.0, 0.0, 9.0], [0.0, radius, 0.0], [-radius, 0.0, 1.0], [2.0, 0.0, 0.0]]
    np.testing.assert_allclose(truth.probability(at), [0.0, 0.5, 0.5, 1.0], atol=1e-9)


@pytest.mark.parametrize("softness", [0.005, 0.05, 0.4])
def test_probabilities_of_the_ring(softness):
    X, y, truth = make_ring(40_000, 3, softness=softness, random_state=3, return_truth=True)
    both = np.exp(truth.log_densities(X[:100]))
    density = multivariate_normal(np.zeros(3)).pdf(X[:100])
    np.testing.assert_allclose(0.5 * both.sum(axis=1), density, rtol=1e-12)
    np.testing.assert_allclose(truth.probability(X[:100]), both[:, 1] / both.sum(axis=1))
    probability = truth.probability(X)
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (probability >= low) & (probability <= low + 0.25)
        error = 0.5 / np.sqrt(max(inside.sum(), 1))
        assert abs(y[inside].mean() - probability[inside].mean()) < 4.0 * error
    u = (np.arange(100_000) + 0.5) / 100_000
    expected = np.mean(1.0 / (1.0 + np.exp(np.abs(0.5 - u) / softness)))
    assert truth.bayes_error == pytest.approx(expected, rel=1e-5)
    assert np.mean((probability > 0.5) != y) == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
def test_irrelevant_features_harm_support_vector_machines():
    # our own prototype of such a problem gave 20.3 % with 10 inputs and 47.8 % with 50
    errors = []
    for n_features in (2, 10, 50):
        grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.03 / n_features, 0.3 / n_features]}
        several = []
        for seed in range(3):
            X, y, truth = make_ring(150, n_features, random_state=seed, return_truth=True)
            X_test, y_test = truth.sample(1000, random_state=100 + seed)
            model = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
            several.append(np.mean(model.predict(X_test) != y_test))
        errors.append(np.mean(several))
    assert errors[0] < 0.05
    assert 0.15 < errors[1] < 0.28
    assert 0.42 < errors[2] < 0.52


@pytest.mark.parametrize("n_features", [1, 5, 20])
def test_twonorm(n_features):
    X, y, truth = make_twonorm(20_000, n_features, random_state=0, return_truth=True)
    assert isinstance(truth, GaussianMixtures)
    mean = 2.0 / np.sqrt(n_features)
    for label, sign in ((0, -1.0), (1, 1.0)):
        inside = X[y == label]
        np.testing.assert_allclose(inside.mean(axis=0), sign * mean, atol=0.05)
        np.testing.assert_allclose(np.atleast_2d(np.cov(inside.T)), np.eye(n_features), atol=0.05)
    # the log odds are linear: twice the sum of the inputs times the mean
    np.testing.assert_allclose(truth.log_odds(X), 2.0 * mean * X.sum(axis=1), atol=1e-9)
    error = np.mean((X.sum(axis=1) > 0.0) != y)
    assert error == pytest.approx(norm.cdf(-2.0), abs=0.005)


@pytest.mark.parametrize(
    ("make", "options", "error", "match"),
    [
        (make_friedman, {"kind": 4}, ValueError, "kind must be 1, 2 or 3; got 4"),
        (make_friedman, {"kind": True}, ValueError, "kind must be 1, 2 or 3; got True"),
        (make_friedman, {"kind": [1]}, ValueError, r"kind must be 1, 2 or 3; got \[1\]"),
        (make_friedman, {"kind": "1"}, ValueError, "kind must be 1, 2 or 3; got '1'"),
        (make_friedman, {"n_features": 4}, ValueError, "n_features must be .* at least 5; got 4"),
        (make_friedman, {"noise": -1.0}, ValueError, "noise must be a non-negative number"),
        (make_friedman, {"n_samples": 0}, ValueError, "n_samples must be .* at least 1; got 0"),
        (make_sinc_and_line, {"noise": "loud"}, TypeError, "noise must be a non-negative number"),
        (make_ring, {"n_features": 1}, ValueError, "n_features must be .* at least 2; got 1"),
        (make_ring, {"softness": 0.0}, ValueError, "softness must be a positive number; got 0.0"),
        (make_ring, {"n_samples": 1}, ValueError, "n_samples must be .* at least 2; got 1"),
        (make_twonorm, {"n_features": 0}, ValueError, "n_features must be .* at least 1; got 0"),
        (make_twonorm, {"return_truth": 1}, TypeError, "return_truth must be True or False; got 1"),
    ],
)
def test_bad_options(make, options, error, match):
    with pytest.raises(error, match=match):
        make(**options)


def test_bad_inputs():
    truth = truth_of(make_sinc_and_line)
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 2\); got shape \(2,\)"):
        truth([0.0, 1.0])
    with pytest.raises(ValueError, match="X must be finite; the value at row 0, column 1 is NaN"):
        truth([[0.0, np.nan]])
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 10\)"):
        truth_of(make_ring, 4).probability([[0.0, 1.0]])
