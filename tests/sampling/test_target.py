"""Noise densities and Bayes factors of single atoms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from relvec.priors import InverseGamma
from relvec.sampling import BetaBinomialSize
from relvec.sampling.collapsed import make_target
from relvec.sampling.target import KnownNoise, UnknownNoise
from tests.helpers_sampling import fix_last, make_moments, small_problem

D = np.array([1e-6, 1e-3, 2.0])
S = np.array([1.0, 0.4, 1e-9, 0.0])
Q = np.array([1.2, -0.5, 1e-5, 0.0])


@pytest.mark.parametrize("noise", [UnknownNoise(7.5), KnownNoise(0.3)], ids=repr)
@pytest.mark.parametrize("error", [1.5, np.array([1.5, 2.0, 0.9, 4.0])], ids=["same", "own"])
def test_gains_are_differences_of_log_likelihoods(noise, error):
    gains = noise.gains(D[:, np.newaxis] + S, Q, error)
    assert gains.shape == (3, 4)
    before = np.broadcast_to(error, 4)
    for k, d in enumerate(D):
        for i in range(4):
            after = before[i] - 0.5 * Q[i] ** 2 / (d + S[i])
            expected = noise.log_likelihood(after) - noise.log_likelihood(before[i])
            assert gains[k, i] == pytest.approx(expected, abs=1e-8)


def test_gain_is_finite_if_nothing_is_left_to_explain():
    gains = UnknownNoise(7.5).gains(np.array([[1.0 + 1e-12]]), np.array([2.0]), 2.0)
    assert np.isfinite(gains).all()


def test_unknown_noise_integrates_the_inverse_gamma_density():
    noise, error = UnknownNoise(4.0), 2.5

    def density(log_variance):
        return math.exp(-4.0 * log_variance - error * math.exp(-log_variance))

    total = quad(density, -8.0, 12.0)[0]
    assert math.log(total) - math.lgamma(4.0) == pytest.approx(noise.log_likelihood(error))
    rng = np.random.default_rng(0)
    drawn = np.array([noise.draw(error, rng) for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(error / 3.0, rel=0.03)
    assert (error / drawn).var() == pytest.approx(4.0, rel=0.05)


def test_known_noise_is_not_drawn():
    assert KnownNoise(0.3).draw(2.0, np.random.default_rng(0)) == 0.3


@pytest.mark.parametrize("power", [1.0, 0.25, 0.0])
@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_weigh(power, scale):
    _, _, target = small_problem(noise_variance=1.0)
    target = replace(target, power=power)
    factor, shares = target.weigh(S, scale * Q, 3.0)
    d = target.precision[:, np.newaxis]
    gains = power * (0.5 * np.log(d / (d + S)) + target.noise.gains(d + S, scale * Q, 3.0))
    assert np.allclose(factor, logsumexp(gains, axis=0) - math.log(7), rtol=1e-9)
    expected = np.exp(gains - gains.max(axis=0))
    assert np.allclose(shares / shares.max(axis=0), expected, atol=1e-12)


def test_defaults():
    _, _, target = small_problem()
    assert target.noise == UnknownNoise(5.5)  # 12 samples, less one for the intercept
    assert isinstance(target.size_prior, BetaBinomialSize)
    assert target.n_movable == 6
    assert not len(target.immovable)
    assert not len(target.fixed_atoms)


def test_noise_prior_and_known_noise():
    assert small_problem(noise_prior=InverseGamma(2.0, 3.0))[2].noise == UnknownNoise(7.5)
    assert small_problem(noise_prior=InverseGamma(2.0, 3.0))[2].rate == pytest.approx(3.0)
    target = small_problem(noise_variance=0.4)[2]
    assert target.noise == KnownNoise(0.4)
    assert target.rate == 0.0


def test_fixed_atoms():
    target = fix_last(small_problem()[2], 1.0, 2.0)
    assert np.array_equal(target.fixed_atoms, [4, 5])
    assert np.array_equal(target.immovable, [4, 5])
    assert target.n_movable == 4


def test_no_atoms():
    target = make_target(make_moments(np.empty((5, 0)), np.arange(5.0)))
    factor, shares = target.weigh(np.empty(0), np.empty(0), 1.0)
    assert factor.shape == (0,)
    assert shares.shape == (7, 0)
