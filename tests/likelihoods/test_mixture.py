"""Averages over a Gaussian latent value, against sums over a very fine grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm, poisson

from relvec.likelihoods import Bernoulli, Gaussian, Poisson, Softmax


@pytest.mark.parametrize(("mean", "variance"), [(5.0, 0.5), (6.0, 1.0), (14.0, 0.1), (1.0, 9.0)])
@pytest.mark.parametrize("place", [-1.0, 0.3, 2.5])
def test_log_probability_of_counts(mean, variance, place):
    deviation = np.sqrt(variance)
    count = np.floor(np.exp(mean + place * deviation))
    fine = np.linspace(mean - 10 * deviation, mean + 10 * deviation, 200_001)
    terms = poisson.logpmf(count, np.exp(fine)) + norm.logpdf(fine, mean, deviation)
    expected = logsumexp(terms) + np.log(fine[1] - fine[0])
    prediction = Poisson().predict(np.array([mean]), np.array([variance]))
    assert prediction.log_density([count])[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "variance"), [(1.0, 9.0), (17.0, 1.0), (0.0, 16.0), (22.0, 1.0)])
def test_quantiles_of_counts_are_numbers(mean, variance):
    """Medians of counts are near those of their rates, whose median is exp(mean)."""
    prediction = Poisson().predict(np.array([mean]), np.array([variance]))
    median = prediction.quantile(0.5)[0]
    assert abs(median - np.exp(mean)) <= 1.0 + 0.01 * np.exp(mean)
    low, high = prediction.interval(0.95)[0]
    assert 0.0 <= low <= median <= high
    assert prediction.quantile(1e-12)[0] <= low


@pytest.mark.parametrize(
    ("mean", "deviation", "count"),
    [(2.0, 0.1, 100), (3.0, 0.05, 100), (10.0, 0.1, 2000), (5.0, 0.1, 600), (0.0, 0.1, 20)],
)
def test_log_probability_of_outliers(mean, deviation, count):
    """What they say of the latent value is many standard deviations away."""
    fine = np.linspace(mean - 3.0, mean + 8.0, 400_001)
    terms = poisson.logpmf(count, np.exp(fine)) + norm.logpdf(fine, mean, deviation)
    expected = logsumexp(terms) + np.log(fine[1] - fine[0])
    prediction = Poisson().predict(np.array([mean]), np.array([deviation**2]))
    assert prediction.log_density([count])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "prediction",
    [
        Poisson().predict(np.array([1.0]), np.array([0.3])),
        Gaussian().predict(np.array([1.0]), np.array([0.3])),
        Bernoulli().predict(np.array([1.0]), np.array([0.3])),
        Softmax(3).predict(np.zeros((1, 3)), np.eye(3)[None]),
    ],
    ids=lambda prediction: type(prediction).__name__,
)
def test_all_predictions_refuse_alike(prediction):
    for level in (-0.1, 0.0, 1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="level must be a number strictly between 0 and 1"):
            prediction.quantile(level)
        with pytest.raises(ValueError, match="coverage must be a number strictly between 0 and 1"):
            prediction.interval(level)
    with pytest.raises(ValueError, match=r"one entry per prediction, shape \(1,\)"):
        prediction.log_density([1, 2])


def test_no_uncertainty_is_the_distribution_itself():
    prediction = Poisson().predict(np.array([2.0]), np.array([0.0]))
    assert prediction.log_density([7.0])[0] == pytest.approx(poisson.logpmf(7, np.exp(2.0)))
    assert prediction.mean[0] == pytest.approx(np.exp(2.0))


class TestHugeRates:
    """From rates of 1e8 on an expansion takes the place of SciPy's functions."""

    RATE = np.array([1.5e8, 1e10])  # where both are right

    def test_as_scipy_says(self):
        counts = Poisson().distribution(np.log(self.RATE))
        for level in (1e-4, 0.025, 0.5, 0.9, 0.999):
            np.testing.assert_allclose(counts.ppf(level), poisson.ppf(level, self.RATE), atol=1.0)
            at = poisson.ppf(level, self.RATE)
            np.testing.assert_allclose(counts.cdf(at), poisson.cdf(at, self.RATE), rtol=1e-4)
            np.testing.assert_allclose(counts.logpmf(at), poisson.logpmf(at, self.RATE), atol=1e-4)

    @pytest.mark.parametrize("mean", [30.0, 41.0, 60.0, 300.0])
    def test_far_beyond_whole_numbers_they_are_those_of_the_rate(self, mean):
        prediction = Poisson().predict(np.array([mean]), np.array([0.04]))
        assert prediction.mean[0] == pytest.approx(np.exp(mean + 0.02))
        for level in (0.025, 0.5, 0.975):  # of a log-normal rate: nothing else is uncertain
            rate = np.exp(mean + 0.2 * norm.ppf(level))
            # nodes of the average are a fifteenth of a deviation apart
            assert prediction.quantile(level)[0] == pytest.approx(rate, rel=0.2 / 15.0)
        if mean < 50.0:  # the rate of a count is else known better than numbers can tell
            density = prediction.log_density([np.exp(mean)])[0]
            assert density == pytest.approx(-mean - np.log(0.2 * np.sqrt(2.0 * np.pi)), abs=1e-3)
        draws = prediction.sample(2000, random_state=0)
        assert np.log(draws).std() == pytest.approx(0.2, rel=0.1)
