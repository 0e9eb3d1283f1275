"""Transforms of targets against numerical derivatives, and predictions against draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import lognorm, norm, yeojohnson

from relvec.likelihoods import (
    GaussianPrediction,
    IdentityTransform,
    LogTransform,
    NoiseMixture,
    ScaleMixturePrediction,
    TransformedPrediction,
    YeoJohnsonTransform,
)

POSITIVE = [
    LogTransform(),
    YeoJohnsonTransform(1.0, 0.3, 0.8, of_log=True),
    YeoJohnsonTransform(1.6, 0.3, 0.8, of_log=True),
    YeoJohnsonTransform(2.0, -1.0, 0.5, of_log=True),
]
ANY_SIGN = [
    IdentityTransform(),
    *(YeoJohnsonTransform(power, 0.7, 2.0) for power in (0.0, 1e-9, 0.3, 1.0, 1.4, 2.0)),
]
ALL = [*POSITIVE, *ANY_SIGN]
VALUES = np.array([0.01, 0.4, 0.699, 0.701, 1.0, 3.0, 50.0])


def targets_of(transform):
    return VALUES if transform in POSITIVE else np.concatenate([-VALUES[::-1], VALUES])


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_inverse(transform):
    y = targets_of(transform)
    np.testing.assert_allclose(transform.inverse(transform.forward(y)), y, rtol=1e-10, atol=1e-10)
    assert (np.diff(transform.forward(y)) > 0.0).all()


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_slope_against_differences(transform):
    y = targets_of(transform)
    step = 1e-5 * np.abs(y)
    slope = (transform.forward(y + step) - transform.forward(y - step)) / (2.0 * step)
    np.testing.assert_allclose(transform.log_slope(y), np.log(slope), atol=1e-6)


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0, 1.7, 2.0])
def test_yeo_johnson_is_that_of_scipy(power):
    u = np.linspace(-5.0, 5.0, 21)
    ours = YeoJohnsonTransform(power).forward(u)
    np.testing.assert_allclose(ours, yeojohnson(u, power), atol=1e-12)


def test_mirror_images():
    """The power 2 - p of mirrored targets is the power p of the targets."""
    y = np.linspace(-4.0, 4.0, 17)
    one, other = YeoJohnsonTransform(0.3), YeoJohnsonTransform(1.7)
    np.testing.assert_allclose(one.forward(y), -other.forward(-y), atol=1e-14)


@pytest.mark.parametrize(
    ("power", "scale", "of_log"),
    [(-0.1, 1.0, False), (2.1, 1.0, False), (0.9, 1.0, True), (1.0, 0.0, False), (1.0, -1.0, True)],
)
def test_parameters_without_a_mean_are_refused(power, scale, of_log):
    with pytest.raises(ValueError, match="power between"):
        YeoJohnsonTransform(power, 0.0, scale, of_log=of_log)


@pytest.mark.parametrize("transform", ALL, ids=repr)
@pytest.mark.parametrize(("mean", "std"), [(0.0, 0.1), (0.5, 1.0), (-1.0, 1.5)])
def test_moments_against_integrals(transform, mean, std):
    def integrate(function):
        # split where the second derivative of a Yeo-Johnson transform jumps
        places = np.unique(np.clip([-12.0, -mean / std, 0.0, 4.0, 16.0], -12.0, 16.0))
        return sum(
            quad(lambda t: function(transform.inverse(mean + std * t)) * norm.pdf(t), a, b)[0]
            for a, b in itertools.pairwise(places)
        )

    expected = integrate(lambda y: y)
    spread = integrate(lambda y: (y - expected) ** 2)
    found = transform.moments(np.array([mean]), np.array([std**2]))
    assert found[0][0] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert found[1][0] == pytest.approx(spread, rel=1e-4)


def test_numbers_beyond_the_range_of_floating_point_numbers():
    """Linear models extrapolate; an exponential of their prediction must remain a number."""
    for transform in [LogTransform(), YeoJohnsonTransform(0.0), YeoJohnsonTransform(2.0)]:
        base = GaussianPrediction(np.array([-1e4, 1e4]), np.array([1.0, 9.0]))
        known = TransformedPrediction(base, transform)
        for values in (known.mean, known.variance, known.interval(0.9)):
            assert np.isfinite(values).all()


def test_log_normal_distribution():
    known = TransformedPrediction(
        GaussianPrediction(np.array([0.3, -1.0]), np.array([0.5, 2.0])), LogTransform()
    )
    expected = lognorm(np.sqrt([0.5, 2.0]), scale=np.exp([0.3, -1.0]))
    np.testing.assert_allclose(known.mean, expected.mean())
    np.testing.assert_allclose(known.std, expected.std())
    np.testing.assert_allclose(known.quantile(0.1), expected.ppf(0.1))
    np.testing.assert_allclose(known.interval(0.8).T, expected.ppf([[0.1], [0.9]]))
    y = np.array([0.7, 2.0])
    np.testing.assert_allclose(known.log_density(y), expected.logpdf(y))
    assert known.log_density([0.0, -1.0]).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("transform", [LogTransform(), YeoJohnsonTransform(0.4, 1.0, 2.0)])
def test_mixtures_against_draws(transform):
    weight = np.array([0.8, 0.2])
    base = ScaleMixturePrediction(np.array([0.2]), np.array([[0.1, 0.9]]), weight)
    known = TransformedPrediction(base, transform)
    draws = known.sample(400_000, random_state=0)[0]
    error = 4.0 / np.sqrt(len(draws))
    # mean and variance are those of a normal distribution of the same variance
    normal = TransformedPrediction(GaussianPrediction(base.mean, base.variance), transform)
    np.testing.assert_array_equal(known.mean, normal.mean)
    np.testing.assert_array_equal(known.std, normal.std)
    low, high = known.interval(0.9)[0]
    assert np.mean(draws < low) == pytest.approx(0.05, abs=error)
    assert np.mean(draws > high) == pytest.approx(0.05, abs=error)
    grid = np.linspace(low - 3.0 * (high - low), high + 6.0 * (high - low), 20_001)
    density = np.exp(
        TransformedPrediction(
            ScaleMixturePrediction(
                np.full(len(grid), 0.2), np.tile([0.1, 0.9], (20_001, 1)), weight
            ),
            transform,
        ).log_density(grid)
    )
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("transform", [LogTransform(), YeoJohnsonTransform(0.4, 1.0, 2.0)])
def test_mean_given_the_function(transform):
    """Without noise: the mean over noise of the target, against draws of noise and function."""
    mean, variance = np.array([0.4]), np.array([0.2])
    noise = NoiseMixture(np.array([[0.3, 1.0]]), np.array([0.7, 0.3]))
    function = TransformedPrediction(GaussianPrediction(mean, variance), transform, noise)
    whole = TransformedPrediction(
        ScaleMixturePrediction(mean, variance[:, None] + noise.variance, noise.weight), transform
    )
    np.testing.assert_allclose(function.mean, whole.mean, rtol=1e-6)
    rng = np.random.default_rng(1)
    f = mean + np.sqrt(variance) * rng.normal(size=(300, 1))
    errors = noise.sample(40_000, rng)
    curve = transform.inverse(f + errors).mean(axis=1)
    np.testing.assert_allclose(function.find_target(f.T)[0], curve, rtol=0.05, atol=0.05)
    assert function.variance[0] == pytest.approx(curve.var(), rel=0.3)
    assert function.variance[0] < whole.variance[0]
    low, high = function.interval(0.9)[0]
    assert np.mean((low < curve) & (curve < high)) == pytest.approx(0.9, abs=0.07)
    with pytest.raises(NotImplementedError, match="Include the noise"):
        function.log_density([1.0])
