"""Stein's unbiased risk estimate, and the weights that minimise it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.datasets import make_signal
from relvec.denoising.blend import blend_transforms, denoise_with_transform, minimise_on_simplex
from relvec.denoising.transforms import TransformChoice

pytest.importorskip("pywt")

CHOICES = [
    TransformChoice("haar", 1),
    TransformChoice("db2", 3),
    TransformChoice("sym8", 3),
    TransformChoice("cosine", 3, 32),
]


def monte_carlo_divergence(values, noise, c, choice, boundary, n_probes, seed=0):
    """Monte Carlo trace of the derivative, weighted by the noise, and its standard error."""
    random = np.random.default_rng(seed)
    step, found = 1e-5, []
    for _ in range(n_probes):
        probe = random.choice([-1.0, 1.0], size=values.shape)
        above = denoise_with_transform(values + step * probe, noise, c, choice, boundary).mean
        below = denoise_with_transform(values - step * probe, noise, c, choice, boundary).mean
        found.append(float(np.sum(noise * probe * (above - below)) / (2 * step)))
    return np.mean(found), np.std(found) / np.sqrt(n_probes)


@pytest.mark.slow
@pytest.mark.parametrize("heteroscedastic", [False, True])
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.label)
def test_divergence_of_a_periodic_signal(choice, heteroscedastic):
    """For a periodic signal the divergence is exact, as every shifted transform is orthonormal.

    Other signals are padded with their mirror image, whose dependence on the data is neglected.
    """
    n = 256
    values = 3 * np.sin(np.arange(n) / 9) * (np.arange(n) < 100)
    values = values + np.random.default_rng(1).normal(size=n)
    noise = 1.0 + 0.8 * np.sin(np.arange(n) / 30) if heteroscedastic else 1.0
    found = denoise_with_transform(values, noise, 2.0, choice, "periodic").divergence
    expected, error = monte_carlo_divergence(values, noise, 2.0, choice, "periodic", 60)
    # uneven noise is correlated in the coefficients, which the divergence neglects
    slack = 0.1 * expected if heteroscedastic else 1e-3 * expected
    assert found == pytest.approx(expected, abs=4 * error + slack)


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.label)
def test_divergence_of_a_mirrored_signal_is_close(choice):
    n = 512
    values = 3 * np.sin(np.arange(n) / 9) * (np.arange(n) < 200)
    values = values + np.random.default_rng(2).normal(size=n)
    found = denoise_with_transform(values, 1.0, 2.0, choice, "symmetric").divergence
    expected, error = monte_carlo_divergence(values, 1.0, 2.0, choice, "symmetric", 40)
    assert found == pytest.approx(expected, abs=4 * error + 0.12 * expected)


@pytest.mark.slow
def test_divergence_of_an_image():
    rows, columns = np.mgrid[:32, :32]
    values = 4.0 * (rows + columns < 30) + np.random.default_rng(3).normal(size=(32, 32))
    for choice in (
        TransformChoice("haar", 3),
        TransformChoice("sym8", 5),
        TransformChoice("cosine", 3, 8),
    ):
        found = denoise_with_transform(values, 1.0, 3.0, choice, "periodic").divergence
        expected, error = monte_carlo_divergence(values, 1.0, 3.0, choice, "periodic", 25)
        assert found == pytest.approx(expected, abs=4 * error + 1e-3 * expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Blocks", "Doppler"])
def test_risk_estimates_are_unbiased(name):
    n, n_draws = 512, 70
    clean = make_signal(name, n)
    clean = 5 * clean / clean.std()
    random = np.random.default_rng(4)
    gaps, actual = [], []
    for _ in range(n_draws):
        noisy = clean + random.normal(size=n)
        centre = noisy.mean()
        estimates = [
            denoise_with_transform(noisy - centre, 1.0, 3.0, choice, "symmetric")
            for choice in CHOICES
        ]
        estimated = [
            np.mean((a.mean + centre - noisy) ** 2) + 2 * a.divergence / n for a in estimates
        ]
        true = [np.mean((a.mean + centre - clean) ** 2) for a in estimates]
        gaps.append(np.subtract(estimated, true) - 1.0)
        actual.append(true)
    gaps, true = np.array(gaps), np.mean(actual, axis=0)
    # The noise of the draws is common to all: differences are known best.
    differences = gaps - gaps[:, :1]
    error = differences.std(axis=0) / np.sqrt(n_draws)
    assert (np.abs(differences.mean(axis=0)) <= 4 * error + 0.08 * true).all()
    error = gaps.std(axis=0) / np.sqrt(n_draws)
    assert (np.abs(gaps.mean(axis=0)) <= 4 * error + 0.1 * true).all()


def test_blend_is_the_weighted_mean_of_its_estimates():
    values = np.sin(np.arange(300) / 20) + 0.3 * np.random.default_rng(5).normal(size=300)
    result = blend_transforms(values, 0.09, 2.5, CHOICES, "symmetric", want_variance=True)
    level = values.mean()
    estimates = [
        denoise_with_transform(values - level, 0.09, 2.5, choice, "symmetric", want_variance=True)
        for choice in CHOICES
    ]
    assert result.weights.sum() == pytest.approx(1.0)
    assert (result.weights >= 0.0).all()
    mean = level + sum(w * a.mean for w, a in zip(result.weights, estimates, strict=True))
    variance = sum(w * a.variance for w, a in zip(result.weights, estimates, strict=True))
    np.testing.assert_allclose(result.mean, mean, atol=1e-13)
    np.testing.assert_allclose(result.variance, variance + 0.09 / 300, atol=1e-13)
    assert result.mse <= result.transform_mse.min() + 1e-12
    residual = np.square([level + a.mean - values for a in estimates]).mean(axis=1)
    divergences = np.array([a.divergence for a in estimates])
    np.testing.assert_allclose(
        result.transform_mse, residual + 2 * divergences / 300 - 0.09, atol=1e-13
    )


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(200,), (24, 40), (10, 12, 14)])
@pytest.mark.parametrize("boundary", ["symmetric", "reflect", "constant", "periodic"])
def test_array_of_equal_noise_equals_a_number(shape, boundary):
    values = np.random.default_rng(6).normal(size=shape)
    values[: shape[0] // 2] += 3.0
    cosine = TransformChoice("cosine", 3, 8 if len(shape) < 3 else 4)
    transforms = [TransformChoice("haar", 3), TransformChoice("sym8", 3), cosine]
    one = blend_transforms(values, 1.2, 2.0, transforms, boundary, want_variance=True)
    many = blend_transforms(
        values, np.full(shape, 1.2), 2.0, transforms, boundary, want_variance=True
    )
    np.testing.assert_allclose(many.mean, one.mean, atol=1e-10)
    np.testing.assert_allclose(many.variance, one.variance, atol=1e-9)
    np.testing.assert_allclose(many.weights, one.weights, atol=1e-8)
    np.testing.assert_allclose(many.transform_mse, one.transform_mse, atol=1e-9)
    assert many.effective_dof == pytest.approx(one.effective_dof)


@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (1, 20, 1, 30)])
def test_axes_of_length_one_change_nothing(shape):
    values = np.random.default_rng(7).normal(size=shape)
    values.flat[: values.size // 2] += 3.0
    transforms = (
        CHOICES
        if len(shape) == 2
        else [TransformChoice("haar", 3), TransformChoice("cosine", 3, 8)]
    )
    for noise in (1.0, np.full(shape, 1.0)):
        found = blend_transforms(values, noise, 2.0, transforms, "symmetric", want_variance=True)
        flat = blend_transforms(
            values.squeeze(),
            np.squeeze(noise) if np.ndim(noise) else noise,
            2.0,
            transforms,
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
def test_minimum_on_the_simplex(n, rank, offset, exponent, seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, rank))
    penalty = offset * random.uniform(size=n)
    form = root @ root.T + penalty[:, None] + penalty
    weights = minimise_on_simplex(form * 2.0**exponent)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    grid = np.array([point for point in itertools.product(range(13), repeat=n) if sum(point) == 12])
    values = np.einsum("ki,ij,kj->k", grid / 12, form, grid / 12)
    assert weights @ form @ weights <= values.min() + 1e-9 * (1 + np.abs(form).max())


def test_minimum_on_the_simplex_of_equal_transforms():
    weights = minimise_on_simplex(np.ones((3, 3)))
    assert weights.sum() == pytest.approx(1.0)
    assert minimise_on_simplex(np.zeros((2, 2))).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(minimise_on_simplex(np.array([[2.0, 3.0], [3.0, 9.0]])), [1.0, 0.0])
