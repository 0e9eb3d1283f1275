"""Auxiliary variables against the likelihoods that they must integrate to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import log_softmax

from relvec.likelihoods import Bernoulli
from relvec.sampling import (
    BernoulliAugmentation,
    NegativeBinomialAugmentation,
    SoftmaxAugmentation,
    StudentTAugmentation,
    polya_gamma_mean,
)
from relvec.sampling.count_augmentation import draw_slice


def mean_score(name, k, latent, noise, parameters, n_draws=4000):
    """Mean and standard error of the score over auxiliary variables, per row."""
    augmentation = make(name, n_draws)  # all draws in one call, as repeated rows
    latent = np.tile(latent, (n_draws, 1))
    rows = augmentation.augment(k, latent, noise, parameters, np.random.default_rng(0))
    # derivative of the working log likelihood in the latent function
    scores = (rows.linear - rows.precision * latent[:, k]).reshape(n_draws, -1)
    return scores.mean(axis=0), scores.std(axis=0) / np.sqrt(n_draws)


def numerical_score(augmentation, k, latent, noise, parameters, step=1e-5):
    score = np.empty(len(latent))
    for n in range(len(latent)):
        shift = np.zeros_like(latent)
        shift[n, k] = step
        score[n] = augmentation.log_density(latent + shift, noise, parameters)
        score[n] -= augmentation.log_density(latent - shift, noise, parameters)
    return score / (2.0 * step)


WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 3.0])
OFFSET = np.array([0.5, -1.0, 0.0, 2.0, 0.3])
COUNTS = np.array([0.0, 3.0, 1.0, 12.0, 2.0])
PARAMETERS = {"counts": np.log([1.7]), "student": np.log([2.0])}


def make(name, times=1):
    """Make an augmentation of five rows, or of them repeated."""
    weight, offset = np.tile(WEIGHT, times), np.tile(OFFSET, times)
    classes = np.tile([0, 1, 1, 0, 1], times)
    if name == "bernoulli":
        return BernoulliAugmentation(classes, weight, offset)
    if name == "fractions":
        return BernoulliAugmentation(classes, np.tile([0.5, 1.5, 0.2, 1, 2.2], times), offset)
    if name == "softmax":
        offsets = np.outer(offset, [1.0, 0.0, -1.0])
        return SoftmaxAugmentation(np.tile([0, 1, 2, 1, 1], times), 3, weight, offsets)
    if name == "counts":
        return NegativeBinomialAugmentation(np.tile(COUNTS, times), weight, offset, shape=1.7)
    target = np.tile([0.1, 2.0, -9.0, 0.0, 1.0], times)
    return StudentTAugmentation(target, weight, offset, df=[2.0, 5.0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bernoulli", "fractions", "softmax", "counts", "student"])
def test_mean_score_is_that_of_the_likelihood(name):
    # Fisher's identity: the derivative of a marginal log likelihood is the mean of that of the
    # augmented one over the conditional distribution of the auxiliary variables.
    augmentation, parameters = make(name), PARAMETERS.get(name, np.empty(0))
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(5, augmentation.n_latent))
    for k in range(augmentation.n_latent):
        mean, error = mean_score(name, k, latent, 0.7, parameters)
        if name == "student":
            mean, error = mean / 0.7, error / 0.7  # precisions are in units of the noise variance
        expected = numerical_score(augmentation, k, latent, 0.7, parameters)
        assert (np.abs(mean - expected) < 4.5 * error + 1e-6).all()


def test_bernoulli_density():
    augmentation = make("bernoulli")
    latent = np.linspace(-2, 2, 5)[:, None]
    bound = Bernoulli().bind([0, 1, 1, 0, 1], WEIGHT, OFFSET)
    each = bound.log_density(latent[:, 0] + OFFSET)
    assert augmentation.log_density(latent, 1.0, np.empty(0)) == pytest.approx(each @ WEIGHT)


def test_softmax_density():
    augmentation = make("softmax")
    latent = np.random.default_rng(0).normal(size=(5, 3))
    each = log_softmax(latent + np.outer(OFFSET, [1.0, 0.0, -1.0]), axis=1)
    expected = each[np.arange(5), [0, 1, 2, 1, 1]] @ WEIGHT
    assert augmentation.log_density(latent, 1.0, np.empty(0)) == pytest.approx(expected)


def test_count_density_up_to_a_constant():
    latent = np.random.default_rng(0).normal(size=(5, 1))
    augmentation = NegativeBinomialAugmentation(COUNTS, WEIGHT, OFFSET)

    def expected(log_shape):
        r, mean = np.exp(log_shape), np.exp(latent[:, 0] + OFFSET)
        each = stats.nbinom(r, r / (r + mean)).logpmf(COUNTS)
        return each @ WEIGHT + stats.norm(2.0, 2.0).logpdf(log_shape)

    density = [augmentation.log_density(latent, 1.0, np.array([v])) for v in (-1.0, 0.5, 4.0)]
    exact = [expected(v) for v in (-1.0, 0.5, 4.0)]
    np.testing.assert_allclose(np.diff(density), np.diff(exact))


@pytest.mark.slow
def test_shape_of_counts_has_its_conditional_distribution():
    rng = np.random.default_rng(0)
    counts = rng.negative_binomial(2.0, 0.3, size=30)
    latent = np.full((30, 1), np.log(counts.mean()))
    augmentation = NegativeBinomialAugmentation(counts)

    def density(v):
        return np.exp(augmentation.log_density(latent, 1.0, np.array([v])) - top)

    top = max(augmentation.log_density(latent, 1.0, np.array([v])) for v in np.linspace(-2, 5, 50))
    total = quad(density, -4, 8)[0]
    mean = quad(lambda v: v * density(v), -4, 8)[0] / total
    square = quad(lambda v: v * v * density(v), -4, 8)[0] / total
    parameters, draws = augmentation.init_parameters(rng), []
    for _ in range(4000):
        parameters = augmentation.update_parameters(latent, 1.0, parameters, rng)
        draws.append(parameters[0])
    deviation = np.sqrt(square - mean**2)
    assert np.mean(draws) == pytest.approx(mean, abs=0.1 * deviation)
    assert np.std(draws) == pytest.approx(deviation, rel=0.08)


def test_slices_stay_in_the_support():
    rng = np.random.default_rng(0)
    value, values = 0.5, []
    for _ in range(2000):
        value = draw_slice(lambda v: 0.0 if 0.0 < v < 4.0 else -np.inf, value, rng)
        values.append(value)
    assert min(values) > 0.0
    assert max(values) < 4.0
    assert np.mean(values) == pytest.approx(2.0, abs=0.15)


def test_counts_have_the_mean_of_their_auxiliary_variables():
    rows = make("counts", 1000).augment(
        0, np.zeros((5000, 1)), 1.0, PARAMETERS["counts"], np.random.default_rng(0)
    )
    precision = rows.precision.reshape(1000, 5)
    expected = polya_gamma_mean(WEIGHT * (COUNTS + 1.7), OFFSET - PARAMETERS["counts"])
    np.testing.assert_allclose(precision.mean(axis=0), expected, rtol=0.1)
    assert (precision[:, 2] == 0.0).all()


def test_student_precisions_against_quadrature():
    # the sum of two precisions of one residual, each with density lambda^(1/2) exp(...) prior
    df, noise, residual = 4.0, 0.5, 1.3
    n_draws = 10_000
    augmentation = StudentTAugmentation(
        np.full(2 * n_draws, residual), np.tile([1.0, 2.0], n_draws), df=df
    )
    prior = stats.gamma(0.5 * df, scale=2.0 / df).pdf

    def weight(v):
        return prior(v) * np.sqrt(v) * np.exp(-0.5 * v * residual**2 / noise)

    total = quad(weight, 0, 40)[0]
    mean = quad(lambda v: v * weight(v), 0, 40)[0] / total
    second = quad(lambda v: v * v * weight(v), 0, 40)[0] / total
    rows = augmentation.augment(
        0, np.zeros((2 * n_draws, 1)), noise, np.log([df]), np.random.default_rng(0)
    )
    draws = rows.precision.reshape(n_draws, 2)
    np.testing.assert_allclose(draws.mean(axis=0), [mean, 2 * mean], rtol=0.05)
    variance = second - mean**2
    np.testing.assert_allclose(draws.var(axis=0), [variance, 2 * variance], rtol=0.12)


def test_degrees_of_freedom_have_their_conditional_probabilities():
    rng = np.random.default_rng(0)
    target, weight = rng.standard_t(3.0, size=12), rng.integers(0, 3, size=12).astype(float)
    df = np.array([1.0, 3.0, 30.0])
    augmentation = StudentTAugmentation(target, weight, df=df)
    log_density = [stats.t(v, scale=np.sqrt(0.8)).logpdf(target) @ weight for v in df]
    exact = np.exp(log_density - np.max(log_density))
    exact /= exact.sum()
    values = [
        augmentation.update_parameters(np.zeros((12, 1)), 0.8, np.log([1.0]), rng)[0]
        for _ in range(1500)
    ]
    shares = [np.mean(np.isclose(values, np.log(v))) for v in df]
    np.testing.assert_allclose(shares, exact, atol=0.04)


def test_invalid_arguments():
    with pytest.raises(ValueError, match="coded 0 or 1"):
        BernoulliAugmentation([0, 2])
    with pytest.raises(ValueError, match="coded 0 to 2"):
        SoftmaxAugmentation([0, 3], 3)
    with pytest.raises(ValueError, match="must hold counts"):
        NegativeBinomialAugmentation([0.5, 1.0])
    with pytest.raises(ValueError, match="between 0.001 and 1e6"):
        NegativeBinomialAugmentation([0, 1], shape=1e7)
    with pytest.raises(ValueError, match="df"):
        StudentTAugmentation([0.0, 1.0], df=-1.0)
