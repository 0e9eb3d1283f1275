"""Pólya-Gamma variables against exact moments, transforms and distribution functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from relvec.sampling import polya_gamma_mean, polya_gamma_variance, sample_polya_gamma
from relvec.sampling.polya_gamma import N_TERMS

TILTS = [0.0, 1e-9, 0.3, 2.0, 3.1, 3.2, 7.0, 1e3, 1e8]


def log_cosh(x):
    return x + np.log1p(np.exp(-2.0 * x)) - np.log(2.0)


def log_transform(s, shape, tilt):
    """Logarithm of ``E exp(-s w)``: ``(cosh(z / 2) / cosh(sqrt(z^2 / 4 + s / 2)))^b``."""
    root = np.sqrt(0.25 * tilt**2 + 0.5 * np.asarray(s))
    return shape * (log_cosh(0.5 * tilt) - log_cosh(root))


def cdf_of_shape_one(tilt, points=40_000):
    """Return the distribution function of PG(1, z), from the alternating series of its density."""
    x = np.geomspace(1e-3, 12.0, points)
    n = np.arange(60)[:, None]
    left = (2.0 / (np.pi * x)) ** 1.5 * np.pi * (n + 0.5) * np.exp(-2.0 * (n + 0.5) ** 2 / x)
    right = np.pi * (n + 0.5) * np.exp(-0.5 * ((n + 0.5) * np.pi) ** 2 * x)
    density = ((-1.0) ** n * np.where(x < 0.64, left, right)).sum(axis=0)
    density *= np.cosh(0.5 * tilt) * np.exp(-0.125 * tilt**2 * x)
    below = np.concatenate([[0.0], np.cumsum(np.diff(x) * 0.5 * (density[1:] + density[:-1]))])
    assert below[-1] == pytest.approx(1.0, abs=1e-6)
    return lambda w: np.interp(4.0 * w, x, below)


def brute_force(shape, tilt, n_draws, n_terms, rng):
    """Draw by the first terms of the sum of gamma variables, with the mean of the others."""
    k = np.arange(1, n_terms + 1) - 0.5
    scale = 0.5 / ((np.pi * k) ** 2 + 0.25 * tilt**2)
    draws = np.array([rng.standard_gamma(shape, n_terms) @ scale for _ in range(n_draws)])
    return draws + polya_gamma_mean(shape, tilt) - shape * scale.sum()


def test_moments_are_those_of_the_sum_of_gamma_variables():
    k = np.arange(1, 2_000_001) - 0.5
    for tilt in (0.0, 0.05, 0.099, 0.1, 0.5, 4.0, 50.0):
        scale = 0.5 / ((np.pi * k) ** 2 + 0.25 * tilt**2)
        mean, variance = polya_gamma_mean(1.5, tilt), polya_gamma_variance(1.5, tilt)
        assert mean == pytest.approx(1.5 * (scale.sum() + 0.5 / (np.pi**2 * 2e6)), rel=1e-10)
        assert variance == pytest.approx(1.5 * (scale**2).sum(), rel=1e-10)


def test_moments_are_finite_at_any_tilt():
    tilts = np.array([0.0, 1e-320, 1e-160, 1e-8, 1e3, 1e100, 1e300])
    mean, variance = polya_gamma_mean(1.0, tilts), polya_gamma_variance(1.0, tilts)
    np.testing.assert_allclose(mean[:4], 0.25)
    np.testing.assert_allclose(variance[:4], 1.0 / 24.0)
    np.testing.assert_allclose(mean[4:], 0.5 / tilts[4:])
    assert variance[4] == pytest.approx(0.5e-9)
    assert np.isfinite(variance).all()
    np.testing.assert_array_equal(polya_gamma_mean(2.0, -tilts), 2.0 * mean)


@pytest.mark.slow
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("shape", [1.0, 3.0, 0.3, 2.5, 40.0])
def test_draws_have_the_moments_and_the_laplace_transform(shape, tilt):
    draws = sample_polya_gamma(np.full(50_000, shape), tilt, np.random.default_rng(5))
    mean, variance = polya_gamma_mean(shape, tilt), polya_gamma_variance(shape, tilt)
    away = (draws - mean) / np.sqrt(variance)
    assert (draws > 0.0).all()
    assert abs(away.mean()) < 4.0 / np.sqrt(len(draws))
    assert abs((away**2).mean() - 1.0) < 4.0 * (away**2).std() / np.sqrt(len(draws))
    # at a distance from zero where the transform of the standardised variable is informative
    for s in np.array([0.3, 1.0]) / np.sqrt(variance):
        terms = np.exp(-s * (draws - mean))
        error = terms.std() / np.sqrt(len(draws))
        if tilt < 1e4:  # beyond, the logarithm of the transform is lost to cancellation
            exact = np.exp(log_transform(s, shape, tilt) + s * mean)
            assert abs(terms.mean() - exact) < 4.5 * error


@pytest.mark.parametrize("tilt", [0.0, 1.5, 3.0, 3.3, 10.0])
def test_draws_of_shape_one_follow_the_exact_distribution(tilt):
    draws = sample_polya_gamma(np.ones(20_000), -tilt, np.random.default_rng(2))
    assert stats.kstest(draws, cdf_of_shape_one(tilt)).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "tilt"), [(1.0, 0.0), (2.0, 4.0), (0.5, 1.0), (7.3, 0.5)])
def test_draws_follow_ten_thousand_terms_of_the_convolution(shape, tilt):
    rng = np.random.default_rng(8)
    reference = brute_force(shape, tilt, 2000, 10_000, rng)
    draws = sample_polya_gamma(np.full(20_000, shape), tilt, rng)
    assert stats.ks_2samp(draws, reference).pvalue > 0.01


@pytest.mark.parametrize(
    ("shape", "tilt", "most"),
    [
        (0.01, 0.0, 2e-2),
        (0.1, 10.0, 1e-4),
        (0.5, 5.0, 3e-7),
        (2.0, 10.0, 3e-8),
        (5.0, 30.0, 1e-6),
        (0.1, 100.0, 2e-3),
        (0.5, 100.0, 8e-4),
        (0.5, 1e5, 1e-6),
    ],
)
def test_error_of_the_truncated_convolution(shape, tilt, most):
    # Two distribution functions differ by at most the integral of the difference of their
    # characteristic functions over pi t.
    std = float(np.sqrt(polya_gamma_variance(shape, tilt)))
    log_t = np.linspace(np.log(1e-4 / std), np.log(1e-4 / std) + 40.0, 4000)
    t = np.exp(log_t)
    k = np.arange(1, N_TERMS + 1) - 0.5
    scale = 0.5 / ((np.pi * k) ** 2 + 0.25 * tilt**2)
    mean = polya_gamma_mean(shape, tilt) - shape * scale.sum()
    variance = polya_gamma_variance(shape, tilt) - shape * (scale**2).sum()
    drawn = -shape * np.log(1.0 - 1j * t[:, None] * scale).sum(axis=1)
    precision = mean**2 / variance
    remainder = precision * (1.0 - np.sqrt(1.0 - 2j * t * mean / precision))
    difference = np.exp(log_transform(-1j * t, shape, tilt)) - np.exp(drawn + remainder)
    assert np.trapezoid(np.abs(difference), log_t) / np.pi < most


def test_rows_have_their_own_shape_and_tilt():
    shape = np.tile([0.0, 1.0, 3.0, 0.4, 12.0], 8000).reshape(200, 200)
    tilt = np.repeat([0.0, 1.0, -2.0, 50.0], 50)[:, None]
    draws = sample_polya_gamma(shape, tilt, np.random.default_rng(0))
    assert draws.shape == (200, 200)
    mean, variance = polya_gamma_mean(shape, tilt), polya_gamma_variance(shape, tilt)
    assert (draws[shape == 0.0] == 0.0).all()
    assert (draws[shape > 0.0] > 0.0).all()
    z = (draws - mean)[shape > 0.0] / np.sqrt(variance[shape > 0.0])
    assert abs(z.mean()) < 4.0 / np.sqrt(z.size)
    for b in (1.0, 3.0, 0.4, 12.0):
        for rows in range(0, 200, 50):
            group = ((draws - mean) / np.sqrt(np.maximum(variance, 1e-300)))[rows : rows + 50]
            group = group[shape[rows : rows + 50] == b]
            assert abs(group.mean()) < 4.0 / np.sqrt(group.size)


def test_extreme_tilts():
    for shape in (1.0, 2.0, 0.5, 30.0):
        tilts = np.array([1e-300, 1e12, 1e100, 1e160, 1e300])
        draws = sample_polya_gamma(shape, tilts, np.random.default_rng(1))
        assert draws[0] > 0.0
        np.testing.assert_allclose(draws[1:], 0.5 * shape / tilts[1:], rtol=1e-5)


def test_scalars_and_empty_arrays():
    rng = np.random.default_rng(3)
    assert sample_polya_gamma(1, 0.5, rng).shape == ()
    assert sample_polya_gamma([], [], rng).shape == (0,)
    assert sample_polya_gamma(np.zeros(3), 1.0, rng).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [1.0, 3.0, 0.7])
def test_draws_depend_on_the_generator_only(shape):
    one, same, other = (
        sample_polya_gamma(np.full(50, shape), np.linspace(-3.0, 8.0, 50), rng)
        for rng in map(np.random.default_rng, (7, 7, 8))
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


def test_bad_arguments():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="shape must be finite and not negative.*from -1.0"):
        sample_polya_gamma([1.0, -1.0], 0.0, rng)
    with pytest.raises(ValueError, match="tilt must be finite.*nan"):
        sample_polya_gamma(1.0, [0.0, np.nan], rng)
    with pytest.raises(ValueError, match="tilt must be finite.*inf"):
        sample_polya_gamma(1.0, -np.inf, rng)
