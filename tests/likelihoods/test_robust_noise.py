"""Heavy-tailed noise: against numerical integration, and fits against their optimality."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from relvec.likelihoods import ContaminatedNoise, ScaleMixturePrediction, StudentNoise
from relvec.likelihoods.robust_noise import OUTLIER_RATIO, GaussianNoise, weighted_median

ONE = np.zeros((1, 1))
NOISES = [StudentNoise(0.7, 1.0), StudentNoise(0.7, 3.5), ContaminatedNoise(0.7, 0.1, 50.0)]


def draw_errors(noise, n, seed):
    mixture = noise.components(np.zeros((n, 1)))
    return np.sqrt(noise.variance) * mixture.sample(1, np.random.default_rng(seed))[:, 0]


def predict(noise, variance):
    """Predictive distribution at one row whose function value has this variance."""
    mixture = noise.components(ONE)
    return ScaleMixturePrediction(
        np.zeros(1), variance + noise.variance * mixture.variance, mixture.weight
    )


@pytest.mark.parametrize("df", [1.0, 1.7, 3.0, 8.0, 40.0])
def test_the_mixture_is_student_t_noise_far_into_the_tails(df):
    errors = np.concatenate([[0.0, 0.5], np.logspace(0.0, 3.0, 25)])
    mixture = StudentNoise(1.0, df).components(np.zeros((len(errors), 1)))
    prediction = ScaleMixturePrediction(np.zeros(len(errors)), mixture.variance, mixture.weight)
    np.testing.assert_allclose(
        prediction.log_density(errors), stats.t.logpdf(errors, df), atol=1e-3
    )
    tail = prediction.cdf(-errors)
    far = stats.t.sf(errors, df)
    np.testing.assert_allclose(tail[far > 1e-300], far[far > 1e-300], rtol=1e-3)
    for level in (0.6, 0.975, 0.999):
        quantile = prediction.quantile(level)[0]
        assert quantile == pytest.approx(stats.t.ppf(level, df), rel=1e-3)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("error", [0.0, 2.0, 30.0])
def test_predictions_are_the_noise_convolved_with_the_function(noise, error):
    spread = 0.6
    convolved, _ = quad(
        lambda f: (
            np.exp(noise.log_density(np.array([(error - f) ** 2])))[0]
            * stats.norm.pdf(f, scale=spread)
        ),
        -8.0 * spread,
        8.0 * spread,
        epsabs=0.0,
        epsrel=1e-10,
    )
    found = predict(noise, spread**2).log_density(np.array([error]))[0]
    assert found == pytest.approx(np.log(convolved), abs=1e-3)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_variational_bound_of_one_error_is_its_log_density(noise):
    """It is E log N(e | 0, s / u) - KL(q(u) | p(u)), with the optimal q(u), for any mixture."""
    squared = np.array([0.3, 40.0])
    mixture = noise.components(np.zeros((2, 1)))
    variances = noise.variance * mixture.variance
    joint = mixture.weight * np.exp(-0.5 * squared[:, None] / variances) / np.sqrt(variances)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    density = -0.5 * (np.log(2.0 * np.pi * variances) + squared[:, None] / variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(posterior > 0.0, posterior * np.log(posterior / mixture.weight), 0.0)
    bound = (posterior * density).sum(axis=1) - divergence.sum(axis=1)
    np.testing.assert_allclose(bound, noise.log_density(squared), atol=1e-3)
    # and the row weight is the mean of u under q(u)
    weight = (posterior / mixture.variance).sum(axis=1)
    np.testing.assert_allclose(weight, noise.row_weight(squared), rtol=2e-3)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_fisher_information(noise):
    def square_of_score(error):
        squared = np.array([error**2])
        score = error * noise.row_weight(squared)[0] / noise.variance
        return score**2 * np.exp(noise.log_density(squared))[0]

    ends = [0.0, 1.0, 3.0, 8.0, 30.0, 300.0, 1e5]
    parts = [quad(square_of_score, *pair)[0] for pair in pairwise(ends)]
    errors = draw_errors(noise, 50_000, 0)
    mean_weight = noise.row_weight(errors**2).mean()
    expected = 2.0 * sum(parts) * noise.variance / mean_weight
    assert noise.information_ratio == pytest.approx(expected, rel=0.02)


def test_outlier_probability_of_student_t_noise_is_a_posterior_of_the_precision():
    noise, squared = StudentNoise(2.0, 2.5), 30.0

    def joint(u):
        prior = stats.gamma.pdf(u, noise.df / 2.0, scale=2.0 / noise.df)
        return prior * stats.norm.pdf(np.sqrt(squared), scale=np.sqrt(noise.variance / u))

    low, _ = quad(joint, 0.0, 1.0 / OUTLIER_RATIO)
    high, _ = quad(joint, 1.0 / OUTLIER_RATIO, 50.0)
    found = noise.outlier_probability(np.array([squared]))[0]
    assert found == pytest.approx(low / (low + high), rel=1e-5)


@pytest.mark.parametrize("df", [1.0, 3.0, 30.0])
def test_a_fit_of_student_t_noise_is_a_maximum(df):
    rng = np.random.default_rng(5)
    squared, count = rng.standard_t(df, size=300) ** 2, rng.integers(0, 3, 300).astype(float)
    found = StudentNoise().fit(squared, count, 1e-12)
    best = count @ found.log_density(squared)
    for variance, freedom in ((1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99)):
        other = StudentNoise(variance * found.variance, freedom * found.df)
        if 1.0 <= other.df <= 200.0:
            assert count @ other.log_density(squared) < best
    from_afar = StudentNoise(100.0, 150.0).fit(squared, count, 1e-12)
    assert count @ from_afar.log_density(squared) == pytest.approx(best, abs=1e-4)


def test_a_fit_of_contaminated_noise_is_a_maximum():
    errors = draw_errors(ContaminatedNoise(1.0, 0.15, 100.0), 400, 1)
    squared, count = errors**2, np.ones(400)
    found = ContaminatedNoise().fit(squared, count, 1e-12)
    best = count @ found.log_density(squared)
    for name in ("variance", "share", "ratio"):
        for factor in (0.97, 1.03):
            values = {"variance": found.variance, "share": found.share, "ratio": found.ratio}
            values[name] *= factor
            assert count @ ContaminatedNoise(**values).log_density(squared) < best


def test_expectation_maximisation_is_monotone_at_the_smallest_ratio(monkeypatch):
    squared = np.random.default_rng(2).normal(size=200) ** 2 * np.linspace(0.5, 2.0, 200)
    monkeypatch.setattr(ContaminatedNoise, "max_iter", 1)
    noise, values = ContaminatedNoise(1.0, 0.3, 20.0), []
    for _ in range(60):
        noise = noise.fit(squared, np.ones(200), 1e-12)
        values.append(noise.log_density(squared).sum())
    assert noise.ratio == OUTLIER_RATIO
    assert np.diff(values).min() > -1e-9


@pytest.mark.parametrize("make", [StudentNoise, ContaminatedNoise, GaussianNoise])
def test_frequency_weights_are_copies(make):
    rng = np.random.default_rng(3)
    squared, count = rng.standard_cauchy(80) ** 2, rng.integers(0, 4, 80)
    weighted = make().fit(squared, count.astype(float), 1e-12)
    copied = make().fit(np.repeat(squared, count), np.ones(count.sum()), 1e-12)
    for name in vars(weighted):
        assert getattr(weighted, name) == pytest.approx(getattr(copied, name), rel=1e-4)


@pytest.mark.parametrize("make", [StudentNoise, ContaminatedNoise, GaussianNoise])
@pytest.mark.parametrize(
    "squared",
    [
        np.zeros(20),
        np.ones(20),
        np.full(3, 1e-200),
        np.append(np.zeros(20), 1e20),
        np.append(np.ones(20), 1e18),
        np.repeat([0.0, 1.0], 15),
        np.array([4.0]),
    ],
    ids=["zeros", "ones", "tiny", "one", "far", "half", "single"],
)
def test_degenerate_errors(make, squared):
    noise = make().fit(squared, np.ones(len(squared)), 1e-10)
    assert noise.variance >= 1e-10
    assert np.isfinite(noise.log_density(squared)).all()
    assert (noise.row_weight(squared) > 0.0).all()
    probability = noise.outlier_probability(squared)
    assert ((probability >= 0.0) & (probability <= 1.0)).all()
    assert noise.components(ONE).weight.sum() == pytest.approx(1.0)


def test_weighted_median_does_not_count_rows_of_weight_zero():
    assert weighted_median(np.array([1.0, 2.0, 50.0, 60.0]), np.array([1.0, 1.0, 0.0, 0.0])) == 1.0
