"""Log noise variance as a function of the inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from relvec.bases import LinearBasis
from relvec.learning.noise_dictionary import Level, NoiseTuning, build_noise_dictionary
from relvec.learning.noise_variance import (
    HeteroscedasticNoise,
    _find_variational,
    fit_noise_variance,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(2.0, 5.0, size=(300, 1))
LOG_VARIANCE = 1.5 * (X[:, 0] - 3.5)
SQUARE = np.exp(LOG_VARIANCE) * RNG.normal(size=300) ** 2


def fit(X, square, weight=None, level=None):
    dictionary = build_noise_dictionary(X, weight, level)
    columns, groups = dictionary.evaluate(X), dictionary.find_groups(X)
    return fit_noise_variance(dictionary, columns, groups, square, weight)


def make_level(X, coef):
    atoms = LinearBasis().bind(X).atoms
    return Level(atoms, np.asarray(coef, dtype=float), 1.0)


def test_log_variance_is_recovered_with_an_honest_band():
    inside = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        square = np.exp(LOG_VARIANCE) * rng.normal(size=300) ** 2
        mean, variance = fit(X, square).model.log_variance(X)
        mean += np.log(square.mean())  # variances are relative to the mean square
        assert np.sqrt(np.mean((mean - LOG_VARIANCE) ** 2)) < 0.4
        inside.append(np.abs(mean - LOG_VARIANCE) < 1.96 * np.sqrt(variance))
    assert 0.85 < np.mean(inside) <= 1.0


def test_constant_squares_have_no_model():
    kept = [
        fit(X, np.random.default_rng(seed).normal(size=300) ** 2) is not None for seed in range(20)
    ]
    # Without a required gain about a third of irrelevant variance components stay, shrunken.
    assert np.mean(kept) < 0.7
    assert fit(X, np.full(300, 2.0)) is None
    assert fit(X, np.zeros(300)) is None


def test_derivative_of_the_evidence_in_log_variances():
    # d log N(t | 0, diag(exp(g)) + K) / dg_n = (exp(-g_n) (r_n^2 + v_n) - 1) / 2
    rng = np.random.default_rng(1)
    phi, g = rng.normal(size=(12, 3)), rng.normal(size=12)
    t = phi @ rng.normal(size=3) + np.exp(0.5 * g) * rng.normal(size=12)

    def evidence(g):
        return multivariate_normal(np.zeros(12), np.diag(np.exp(g)) + phi @ phi.T).logpdf(t)

    covariance = np.linalg.inv(phi.T @ (phi * np.exp(-g)[:, None]) + np.eye(3))
    mean = covariance @ phi.T @ (np.exp(-g) * t)
    square = (t - phi @ mean) ** 2 + np.einsum("ij,jk,ik->i", phi, covariance, phi)
    formula = 0.5 * (np.exp(-g) * square - 1.0)
    steps = 1e-5 * np.eye(12)
    numeric = [(evidence(g + step) - evidence(g - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(formula, numeric, rtol=1e-6)


def test_variational_gaussian_is_stationary():
    rng = np.random.default_rng(2)
    design = np.column_stack([rng.normal(size=(80, 2)), np.ones(80)])
    precision, rows = np.array([0.5, 2.0]), rng.integers(1, 4, size=80).astype(float)
    square = np.exp(design @ [1.0, -0.5, 0.3]) * rng.normal(size=80) ** 2
    mean, covariance = _find_variational(
        design, precision, square, rows, np.zeros(3), 0.01 * np.eye(3), max_steps=200
    )
    variance = np.einsum("ij,jk,ik->i", design, covariance, design)
    rate = 0.5 * rows * square * np.exp(0.5 * variance - design @ mean)
    prior = np.append(precision, 0.0)
    np.testing.assert_allclose(design.T @ (rate - 0.5 * rows), prior * mean, atol=0.05)
    inverse = design.T @ (design * rate[:, None]) + np.diag(prior)
    np.testing.assert_allclose(np.linalg.inv(inverse), covariance, atol=2e-4)


def test_bound_is_below_the_evidence_and_close():
    # One weight and no intercept: the terms of the bound against the integral over the weight.
    rng = np.random.default_rng(3)
    z = rng.normal(size=25)
    square = np.exp(0.8 * z) * rng.normal(size=25) ** 2
    precision = 1.3

    def log_joint(u):
        g = u * z
        each = -0.5 * (np.log(2 * np.pi) + g + square * np.exp(-g))
        return each.sum() - 0.5 * precision * u * u + 0.5 * np.log(precision / (2 * np.pi))

    peak = max(map(log_joint, np.linspace(-3, 3, 601)))
    exact = peak + np.log(quad(lambda u: np.exp(log_joint(u) - peak), -8, 8, points=[0, 1])[0])
    best = -np.inf
    for m in np.linspace(0.0, 2.0, 41):
        for s in np.linspace(0.02, 0.5, 41):
            v = s * z * z
            expected = -0.5 * (np.log(2 * np.pi) + m * z + square * np.exp(-m * z + 0.5 * v))
            kl = 0.5 * (precision * (m * m + s) - 1.0 - np.log(precision) - np.log(s))
            # the split of the library: a regression with variances exp(g - s / 2), and the rest
            variance = np.exp(m * z - 0.5 * v)
            regression = -0.5 * (np.log(2 * np.pi * variance) + square / variance)
            np.testing.assert_allclose(expected.sum(), (regression - 0.25 * v).sum())
            best = max(best, expected.sum() - kl)
    assert exact - 0.1 < best < exact


def test_components_are_the_mixture_over_the_log_variance():
    model = fit(X, SQUARE).model
    new = np.array([[2.1], [4.9]])
    mean, variance = model.log_variance(new)
    noise = model.components(new)
    np.testing.assert_allclose(noise.total_variance, np.exp(mean + 0.5 * variance), rtol=1e-6)
    draws = np.exp(mean + np.sqrt(variance) * RNG.normal(size=(200_000, 2)))
    kurtosis = (noise.variance**2 * noise.weight).sum(axis=1)
    np.testing.assert_allclose(kurtosis, (draws**2).mean(axis=0), rtol=0.02)


def test_far_away_the_noise_is_that_of_the_training_rows():
    model = fit(X, SQUARE).model
    far = np.array([[-50.0], [80.0]])
    mean, variance = model.log_variance(far)
    at, own = model.log_variance(X)
    np.testing.assert_allclose(mean, at.mean(), rtol=1e-8)
    np.testing.assert_allclose(variance, np.mean((at - at.mean()) ** 2 + own), rtol=1e-8)
    # continuous at the limits of the data, and never outside the range that was seen
    low, high = X.min(), X.max()
    near = model.log_variance(np.array([[low - 1e-6], [low], [high], [high + 1e-6]]))[0]
    np.testing.assert_allclose(near[[0, 3]], near[[1, 2]], atol=1e-6)
    beyond = model.log_variance(np.linspace(-20, 30, 500)[:, None])[0]
    assert at.min() - 1e-9 <= beyond.min()
    assert beyond.max() <= at.max() + 1e-9


def test_weights_are_copies_of_rows():
    count = np.random.default_rng(4).integers(0, 4, size=300)
    rows = np.repeat(np.arange(300), count)
    weighted, copied = fit(X, SQUARE, count.astype(float)), fit(X[rows], SQUARE[rows])
    np.testing.assert_allclose(weighted.variance[rows], copied.variance, rtol=1e-5)
    np.testing.assert_allclose(weighted.divergence, copied.divergence, rtol=1e-5)
    new = np.array([[2.5], [9.0]])
    for mine, other in zip(
        weighted.model.log_variance(new), copied.model.log_variance(new), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(
        weighted.model.row_variance(X, SQUARE, count.astype(float)), weighted.variance, rtol=1e-12
    )


def test_units_of_squares_and_inputs_do_not_matter():
    plain, scaled = fit(X, SQUARE), fit(1e4 * X - 7.0, 1e-6 * SQUARE)
    np.testing.assert_allclose(scaled.variance, plain.variance, rtol=1e-4)


def test_noise_that_grows_with_the_level():
    rng = np.random.default_rng(5)
    inputs = rng.normal(size=(400, 3))
    level = make_level(inputs, [1.0, 1.0, 0.0])
    truth = np.exp(0.8 * level.evaluate(inputs))
    square = truth * rng.normal(size=400) ** 2
    found = fit(sparse.csr_array(inputs), square, level=level)  # sparse: level only
    assert not len(found.model.dictionary.features)
    assert np.corrcoef(np.log(found.variance), np.log(truth))[0, 1] > 0.97
    np.testing.assert_array_equal(found.model.dictionary.extrapolation(inputs), 0.0)


def test_dictionary():
    rng = np.random.default_rng(6)
    inputs = np.column_stack([rng.normal(size=(50, 2)), np.full(50, 3.0)])
    level = make_level(inputs, [1.0, 0.0, 0.0])
    tuning = NoiseTuning(n_centers=7)
    dictionary = build_noise_dictionary(inputs, None, level, np.array([1]), tuning)
    np.testing.assert_array_equal(dictionary.features, [0, 1])  # the third is constant
    np.testing.assert_array_equal(dictionary.near, [1])
    groups = dictionary.find_groups(inputs)
    # two linear columns, seven centres in two widths, the level linear and in two widths
    np.testing.assert_array_equal(np.bincount(groups), [1, 1, 7, 7, 1, 4, 7])
    columns = dictionary.evaluate(inputs)
    assert columns.shape == (50, len(groups))
    np.testing.assert_allclose(columns[:, :2].mean(axis=0), 0.0, atol=1e-12)
    order = rng.permutation(50)
    again = build_noise_dictionary(inputs[order], None, level, np.array([1]), tuning)
    np.testing.assert_allclose(again.evaluate(inputs), columns, atol=1e-12)
    # columns do not extrapolate
    limit = inputs.max(axis=0)
    np.testing.assert_array_equal(
        dictionary.evaluate((limit + np.array([100.0, 0.0, 0.0]))[None])[:, 0],
        dictionary.evaluate(limit[None])[:, 0],
    )


def test_nothing_to_depend_on():
    constant = np.ones((30, 2))
    assert build_noise_dictionary(constant, None, make_level(constant, [0.0, 0.0])) is None
    many = np.random.default_rng(7).normal(size=(30, 60))
    assert build_noise_dictionary(many, None, None) is None
    texts = np.array(["a", "b", "c"], dtype=object)[:, None]
    assert build_noise_dictionary(texts, None, None) is None


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e200])
def test_extreme_squares_are_finite(scale):
    found = fit(X, np.where(SQUARE < 0.1, 0.0, SQUARE) * scale)
    assert found is not None
    assert isinstance(found.model, HeteroscedasticNoise)
    assert np.isfinite(np.log(found.variance)).all()
    assert np.isfinite(found.model.components(X).variance).all()
