"""Gaussian scale mixtures: against numerical integration, sampling and the Gaussian case."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from relvec.likelihoods import GaussianPrediction, NoiseMixture, ScaleMixturePrediction

MEAN = np.array([1.0, -2.0, 1e6])
VARIANCES = np.array([[1.0, 9.0, 100.0], [0.01, 0.02, 0.03], [4.0, 4.0, 4.0]])
WEIGHTS = (np.array([0.7, 0.2, 0.1]), np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [1.0, 0.0, 0.0]]))


def density(row, weight, away):
    each = weight if weight.ndim == 1 else weight[row]
    return sum(
        w * norm.pdf(away, scale=np.sqrt(v)) for w, v in zip(each, VARIANCES[row], strict=True)
    )


@pytest.mark.parametrize("weight", WEIGHTS)
def test_density_distribution_and_quantiles_agree(weight):
    mixed = ScaleMixturePrediction(MEAN, VARIANCES, weight)
    for level in (1e-6, 0.025, 0.5, 0.8, 1.0 - 1e-9):
        where = mixed.quantile(level)
        np.testing.assert_allclose(mixed.cdf(where), level, rtol=1e-6)
    away = np.array([0.3, -0.4, 7.0])
    expected = [np.log(density(row, weight, each)) for row, each in enumerate(away)]
    np.testing.assert_allclose(mixed.log_density(MEAN + away), expected, rtol=1e-9)
    for row in range(3):
        end = 12.0 * np.sqrt(VARIANCES[row].max())
        total = quad(lambda x, row=row: density(row, weight, x) * x**2, -end, end, limit=500)[0]
        assert mixed.variance[row] == pytest.approx(total, rel=1e-6)
    inside = mixed.interval(0.9)
    np.testing.assert_allclose(mixed.cdf(inside[:, 1]) - mixed.cdf(inside[:, 0]), 0.9, rtol=1e-8)


def test_one_component_is_gaussian():
    mixed = ScaleMixturePrediction(MEAN, VARIANCES[:, :1], np.ones(1))
    normal = GaussianPrediction(MEAN, VARIANCES[:, 0])
    np.testing.assert_allclose(mixed.interval(0.95), normal.interval(0.95))
    np.testing.assert_allclose(mixed.log_density(MEAN + 1.0), normal.log_density(MEAN + 1.0))
    np.testing.assert_allclose(mixed.std, normal.std)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_draws_have_the_distribution(weight):
    mixed = ScaleMixturePrediction(MEAN, VARIANCES, weight)
    draws = mixed.sample(40_000, random_state=0)
    for level in (0.05, 0.5, 0.9):
        below = np.mean(draws <= mixed.quantile(level)[:, None], axis=1)
        np.testing.assert_allclose(below, level, atol=0.01)
    noise = NoiseMixture(VARIANCES, weight).sample(40_000, np.random.default_rng(0))
    np.testing.assert_allclose(noise.var(axis=1), mixed.variance, rtol=0.1)


def test_far_tails_do_not_underflow():
    mixed = ScaleMixturePrediction(MEAN, VARIANCES, WEIGHTS[0])
    assert np.isfinite(mixed.log_density(MEAN + 1e4)).all()


def test_bad_levels_and_targets_are_refused():
    mixed = ScaleMixturePrediction(MEAN, VARIANCES, WEIGHTS[0])
    with pytest.raises(ValueError, match="level"):
        mixed.quantile(1.0)
    with pytest.raises(ValueError, match="coverage"):
        mixed.interval(0.0)
    with pytest.raises(ValueError, match="target"):
        mixed.log_density(np.zeros(2))
