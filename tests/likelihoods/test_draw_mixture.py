"""Mixtures over draws against sums over components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm, t

from relvec.likelihoods import DrawMixturePrediction

RNG = np.random.default_rng(0)
MEANS = RNG.normal(size=(4, 6))
VARIANCES = RNG.uniform(0.01, 2.0, size=(4, 6))
DF = np.array([2.5, 3.0, 5.0, 10.0, 30.0, 100.0])
TARGETS = np.array([-3.0, 0.1, 0.4, 50.0])
GAUSSIAN = DrawMixturePrediction(MEANS, VARIANCES)
STUDENT = DrawMixturePrediction(MEANS, VARIANCES, DF)
SHARED = DrawMixturePrediction(MEANS, VARIANCES[:1], DF)
KINDS = pytest.mark.parametrize("mixture", [GAUSSIAN, STUDENT, SHARED], ids=["normal", "t", "rows"])


def components(mixture, row):
    scale = np.sqrt(np.broadcast_to(mixture.variances, MEANS.shape)[row])
    if mixture.df is None:
        return norm(mixture.means[row], scale)
    return t(mixture.df, mixture.means[row], scale)


@KINDS
def test_moments_and_densities(mixture):
    each = [components(mixture, row) for row in range(4)]
    mean = [one.mean().mean() for one in each]
    square = [(one.var() + one.mean() ** 2).mean() for one in each]
    variance = np.array(square) - np.array(mean) ** 2
    np.testing.assert_allclose(mixture.mean, mean)
    np.testing.assert_allclose(mixture.variance, variance)
    np.testing.assert_allclose(mixture.std, np.sqrt(variance))
    pairs = list(zip(each, TARGETS, strict=True))
    density = [np.log(one.pdf(target).mean()) for one, target in pairs if target < 10.0]
    np.testing.assert_allclose(mixture.log_density(TARGETS)[:3], density)
    np.testing.assert_allclose(mixture.cdf(TARGETS), [one.cdf(y).mean() for one, y in pairs])


@KINDS
@pytest.mark.parametrize("level", [1e-4, 0.025, 0.5, 0.9, 1.0 - 1e-6])
def test_quantiles(mixture, level):
    expected = []
    for row in range(4):
        one = components(mixture, row)
        ends = one.ppf(level).min() - 1.0, one.ppf(level).max() + 1.0
        expected.append(brentq(lambda y, one=one: one.cdf(y).mean() - level, *ends, xtol=1e-13))
    error = np.abs(mixture.quantile(level) - expected)
    assert (error <= 1e-6 * mixture.std).all()


@KINDS
def test_interval(mixture):
    interval = mixture.interval(0.9)
    np.testing.assert_array_equal(interval[:, 0], mixture.quantile(0.5 - 0.45))
    covered = mixture.cdf(interval[:, 1]) - mixture.cdf(interval[:, 0])
    np.testing.assert_allclose(covered, 0.9, atol=1e-5)


@KINDS
def test_samples(mixture):
    draws = mixture.sample(20000, random_state=0)
    assert draws.shape == (4, 20000)
    for level in (0.1, 0.5, 0.95):
        below = (draws <= mixture.quantile(level)[:, None]).mean(axis=1)
        np.testing.assert_allclose(below, level, atol=0.015)
    np.testing.assert_array_equal(draws, mixture.sample(20000, random_state=0))


def test_density_far_away_is_finite():
    for mixture in (GAUSSIAN, STUDENT):
        assert np.isfinite(mixture.log_density(np.full(4, 1e8))).all()


def test_two_degrees_of_freedom_have_no_variance():
    few = DrawMixturePrediction(MEANS, VARIANCES, np.full(6, 2.0))
    assert np.isinf(few.variance).all()
    assert np.isfinite(few.interval(0.95)).all()


def test_components_without_variance_are_steps():
    steps = DrawMixturePrediction(np.array([[0.0, 1.0, 2.0, 3.0]]), np.zeros((1, 4)))
    np.testing.assert_allclose(steps.cdf([1.5]), 0.5)
    np.testing.assert_allclose(steps.quantile(0.3), 1.0, atol=1e-5)
    single = DrawMixturePrediction(np.array([[3.0]]), np.zeros((1, 1)))
    np.testing.assert_array_equal(single.interval(0.9), [[3.0, 3.0]])


@pytest.mark.parametrize("exponent", [-400, 400])
def test_unit_of_the_targets(exponent):
    factor = 2.0**exponent
    scaled = DrawMixturePrediction(MEANS * factor, VARIANCES * factor**2, DF)
    np.testing.assert_allclose(scaled.interval(0.9), factor * STUDENT.interval(0.9), rtol=1e-9)
    np.testing.assert_allclose(
        scaled.log_density(TARGETS * factor),
        STUDENT.log_density(TARGETS) - exponent * np.log(2.0),
        rtol=1e-9,
    )


def test_refusals():
    with pytest.raises(ValueError, match="level"):
        GAUSSIAN.quantile(1.0)
    with pytest.raises(ValueError, match="coverage"):
        GAUSSIAN.interval(0.0)
    with pytest.raises(ValueError, match="shape"):
        GAUSSIAN.cdf([0.0, 1.0])
