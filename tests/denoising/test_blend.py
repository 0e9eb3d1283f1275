"""Stein's estimate of the error, and the weights it chooses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.datasets import make_signal
from relvec.denoising.blend import attempt, blend, simplex_minimum
from relvec.denoising.recipes import Recipe

pytest.importorskip("pywt")

RECIPES = [Recipe("haar", 1), Recipe("db2", 3), Recipe("sym8", 3), Recipe("cosine", 3, 32)]


def divergence(values, noise, c, recipe, boundary, n_probes, seed=0):
    """Monte Carlo trace of the derivative, weighted by the noise, and its standard error."""
    random = np.random.default_rng(seed)
    step, found = 1e-5, []
    for _ in range(n_probes):
        probe = random.choice([-1.0, 1.0], size=values.shape)
        above = attempt(values + step * probe, noise, c, recipe, boundary).mean
        below = attempt(values - step * probe, noise, c, recipe, boundary).mean
        found.append(float(np.sum(noise * probe * (above - below)) / (2 * step)))
    return np.mean(found), np.std(found) / np.sqrt(n_probes)


@pytest.mark.slow
@pytest.mark.parametrize("heteroscedastic", [False, True])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.label)
def test_penalty_is_the_divergence_of_a_periodic_signal(recipe, heteroscedastic):
    """Every shifted transform is orthonormal: the divergence is the mean of the sums of slopes.

    Beyond the ends of other signals lies their mirror image, which the penalty does not know.
    """
    n = 256
    values = 3 * np.sin(np.arange(n) / 9) * (np.arange(n) < 100)
    values = values + np.random.default_rng(1).normal(size=n)
    noise = 1.0 + 0.8 * np.sin(np.arange(n) / 30) if heteroscedastic else 1.0
    found = attempt(values, noise, 2.0, recipe, "periodic").penalty
    expected, error = divergence(values, noise, 2.0, recipe, "periodic", 60)
    # uneven noise is no longer white in the coefficients, which the penalty neglects
    slack = 0.1 * expected if heteroscedastic else 1e-3 * expected
    assert found == pytest.approx(expected, abs=4 * error + slack)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.label)
def test_penalty_of_a_mirrored_signal_is_close(recipe):
    n = 512
    values = 3 * np.sin(np.arange(n) / 9) * (np.arange(n) < 200)
    values = values + np.random.default_rng(2).normal(size=n)
    found = attempt(values, 1.0, 2.0, recipe, "symmetric").penalty
    expected, error = divergence(values, 1.0, 2.0, recipe, "symmetric", 40)
    assert found == pytest.approx(expected, abs=4 * error + 0.12 * expected)


@pytest.mark.slow
def test_image_penalty_is_the_divergence():
    rows, columns = np.mgrid[:32, :32]
    values = 4.0 * (rows + columns < 30) + np.random.default_rng(3).normal(size=(32, 32))
    for recipe in (Recipe("haar", 3), Recipe("sym8", 5), Recipe("cosine", 3, 8)):
        found = attempt(values, 1.0, 3.0, recipe, "periodic").penalty
        expected, error = divergence(values, 1.0, 3.0, recipe, "periodic", 25)
        assert found == pytest.approx(expected, abs=4 * error + 1e-3 * expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Blocks", "Doppler"])
def test_errors_are_unbiased(name):
    n, n_draws = 512, 70
    clean = make_signal(name, n)
    clean = 5 * clean / clean.std()
    random = np.random.default_rng(4)
    gaps, actual = [], []
    for _ in range(n_draws):
        noisy = clean + random.normal(size=n)
        centre = noisy.mean()
        tried = [attempt(noisy - centre, 1.0, 3.0, recipe, "symmetric") for recipe in RECIPES]
        estimated = [np.mean((a.mean + centre - noisy) ** 2) + 2 * a.penalty / n for a in tried]
        true = [np.mean((a.mean + centre - clean) ** 2) for a in tried]
        gaps.append(np.subtract(estimated, true) - 1.0)
        actual.append(true)
    gaps, true = np.array(gaps), np.mean(actual, axis=0)
    # The noise of the draws is common to all: differences are known best.
    differences = gaps - gaps[:, :1]
    error = differences.std(axis=0) / np.sqrt(n_draws)
    assert (np.abs(differences.mean(axis=0)) <= 4 * error + 0.08 * true).all()
    error = gaps.std(axis=0) / np.sqrt(n_draws)
    assert (np.abs(gaps.mean(axis=0)) <= 4 * error + 0.1 * true).all()


def test_blend_is_the_weighted_mean_of_its_attempts():
    values = np.sin(np.arange(300) / 20) + 0.3 * np.random.default_rng(5).normal(size=300)
    result = blend(values, 0.09, 2.5, RECIPES, "symmetric", want_variance=True)
    level = values.mean()
    attempts = [
        attempt(values - level, 0.09, 2.5, recipe, "symmetric", want_variance=True)
        for recipe in RECIPES
    ]
    assert result.weights.sum() == pytest.approx(1.0)
    assert (result.weights >= 0.0).all()
    mean = level + sum(w * a.mean for w, a in zip(result.weights, attempts, strict=True))
    variance = sum(w * a.variance for w, a in zip(result.weights, attempts, strict=True))
    np.testing.assert_allclose(result.mean, mean, atol=1e-13)
    np.testing.assert_allclose(result.variance, variance + 0.09 / 300, atol=1e-13)
    assert result.error <= result.errors.min() + 1e-12
    residual = np.square([level + a.mean - values for a in attempts]).mean(axis=1)
    penalty = np.array([a.penalty for a in attempts])
    np.testing.assert_allclose(result.errors, residual + 2 * penalty / 300 - 0.09, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(200,), (24, 40), (10, 12, 14)])
@pytest.mark.parametrize("boundary", ["symmetric", "reflect", "constant", "periodic"])
def test_array_of_equal_noise_is_the_number(shape, boundary):
    values = np.random.default_rng(6).normal(size=shape)
    values[: shape[0] // 2] += 3.0
    cosine = Recipe("cosine", 3, 8 if len(shape) < 3 else 4)
    recipes = [Recipe("haar", 3), Recipe("sym8", 3), cosine]
    one = blend(values, 1.2, 2.0, recipes, boundary, want_variance=True)
    many = blend(values, np.full(shape, 1.2), 2.0, recipes, boundary, want_variance=True)
    np.testing.assert_allclose(many.mean, one.mean, atol=1e-10)
    np.testing.assert_allclose(many.variance, one.variance, atol=1e-9)
    np.testing.assert_allclose(many.weights, one.weights, atol=1e-8)
    np.testing.assert_allclose(many.errors, one.errors, atol=1e-9)
    assert many.freedom == pytest.approx(one.freedom)


@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (1, 20, 1, 30)])
def test_axes_of_length_one_change_nothing(shape):
    values = np.random.default_rng(7).normal(size=shape)
    values.flat[: values.size // 2] += 3.0
    recipes = RECIPES if len(shape) == 2 else [Recipe("haar", 3), Recipe("cosine", 3, 8)]
    for noise in (1.0, np.full(shape, 1.0)):
        found = blend(values, noise, 2.0, recipes, "symmetric", want_variance=True)
        flat = blend(
            values.squeeze(),
            np.squeeze(noise) if np.ndim(noise) else noise,
            2.0,
            recipes,
            "symmetric",
            want_variance=True,
        )
        assert found.mean.shape == found.variance.shape == shape
        np.testing.assert_allclose(found.mean.squeeze(), flat.mean)
        np.testing.assert_allclose(found.variance.squeeze(), flat.variance)


@pytest.mark.slow
@given(
    n=st.integers(1, 4),
    rank=st.integers(1, 6),
    offset=st.floats(-2, 2),
    exponent=st.sampled_from([-300, -8, 0, 8, 300]),
    seed=st.integers(0, 10_000),
)
def test_least_on_the_simplex(n, rank, offset, exponent, seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, rank))
    penalty = offset * random.uniform(size=n)
    form = root @ root.T + penalty[:, None] + penalty
    weights = simplex_minimum(form * 2.0**exponent)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    grid = np.array([point for point in itertools.product(range(13), repeat=n) if sum(point) == 12])
    values = np.einsum("ki,ij,kj->k", grid / 12, form, grid / 12)
    assert weights @ form @ weights <= values.min() + 1e-9 * (1 + np.abs(form).max())


def test_least_on_the_simplex_of_equal_recipes():
    weights = simplex_minimum(np.ones((3, 3)))
    assert weights.sum() == pytest.approx(1.0)
    assert simplex_minimum(np.zeros((2, 2))).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(simplex_minimum(np.array([[2.0, 3.0], [3.0, 9.0]])), [1.0, 0.0])
