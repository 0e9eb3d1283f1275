"""Kernels, derivatives and evidence of the reference algorithms against naive loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relvec._typing import Matrix, Vector
from relvec.kernels.gradients import squared_difference_sums
from relvec.likelihoods import Bernoulli, Gaussian
from relvec.published._algebra import (
    condition,
    kernel_curvature,
    kernel_jacobian,
    mackay_precision,
    scaled_kernel,
)
from relvec.published._newton import NewtonRules, ascend, inverse_curvature
from relvec.published._objectives import FeatureObjective, TruncatedPrior, WeightObjective

RULES = NewtonRules(steps=200, gradient_stop=1e-9, gradient_scale=1.0, first=1.0, smallest=2.0**-30)


def naive_kernel(X: Matrix, Z: Matrix, theta: Vector) -> Matrix:
    return np.array([[np.exp(-sum(theta * (x - z) ** 2)) for z in Z] for x in X])


def central(function, x: Vector, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of a vector."""
    moved = [
        (np.asarray(function(x + e)) - np.asarray(function(x - e))) / (2 * step)
        for e in step * np.eye(len(x))
    ]
    return np.array(moved)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal([0.0, 30.0, -5.0], 1.0, (14, 3))  # far from the origin on purpose
    rows = np.array([0, 3, 4, 9, 12])
    return X, X[rows], rng.standard_normal(5), np.array([0.4, 0.05, 0.8]), rng


@pytest.mark.parametrize("theta", [[0.4, 0.05, 0.8], [0.4, -0.05, 0.0], [-0.1, -0.2, -0.3]])
def test_kernel_is_the_naive_one_for_weights_of_either_sign(problem, theta) -> None:
    X, Z, *_ = problem
    theta = np.array(theta)
    np.testing.assert_allclose(scaled_kernel(X, Z, theta), naive_kernel(X, Z, theta), rtol=1e-10)


def test_growing_kernel_does_not_overflow() -> None:
    X, Z = np.array([[1e3, 0.0]]), np.zeros((1, 2))
    kernel = scaled_kernel(X, Z, np.array([-5.0, 1.0]))
    assert np.isfinite(kernel).all()
    assert np.isfinite(kernel**2).all()


def test_slopes_and_curvature_are_those_of_the_naive_tensor(problem) -> None:
    X, Z, w, theta, rng = problem
    score = rng.standard_normal(len(X))
    K = naive_kernel(X, Z, theta)
    tensor = (X[:, None, :] - Z[None, :, :]) ** 2
    D = -np.einsum("j,ij,ijk->ik", w, K, tensor)
    E = np.einsum("i,j,ij,ija,ijb->ab", score, w, K, tensor, tensor)
    np.testing.assert_allclose(kernel_jacobian(X, Z, K, w), D, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel_curvature(X, Z, K, w, score), E, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        squared_difference_sums(K, X, Z), np.einsum("ij,ijk->k", K, tensor), rtol=1e-9
    )


@pytest.mark.parametrize("scale", [5.0, None], ids=["smoothed", "exact"])
@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_derivatives_in_the_feature_weights_by_finite_differences(
    problem, scale, likelihood
) -> None:
    X, Z, w, theta, rng = problem
    target = (
        Gaussian(0.3).bind(rng.standard_normal(len(X)))
        if likelihood == "gaussian"
        else Bernoulli().bind(rng.integers(0, 2, len(X)))
    )
    prior = TruncatedPrior(np.array([0.5, 2.0, 1.0]), np.ones(3, dtype=bool), scale)

    def objective(form: str) -> FeatureObjective:
        return FeatureObjective(X, Z, w, 0.2, target, prior, form)

    full = objective("full")
    gradient, curvature = full.derivatives(full.evaluate(theta))
    by_value = central(lambda x: full.evaluate(x).value, theta)
    by_gradient = -central(lambda x: full.derivatives(full.evaluate(x))[0], theta)
    np.testing.assert_allclose(gradient, by_value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(curvature, by_gradient, rtol=1e-5, atol=1e-5)

    # Gauss-Newton is the Hessian without the second derivatives of the output
    outputs = central(lambda x: full.evaluate(x).output, theta)
    bend = target.curvature(full.evaluate(theta).output)
    expected = (outputs * bend) @ outputs.T + np.diag(prior.curvature(theta))
    _, newton = objective("gauss_newton").derivatives(full.evaluate(theta))
    _, diagonal = objective("diagonal").derivatives(full.evaluate(theta))
    np.testing.assert_allclose(newton, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(diagonal, expected.diagonal(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [5.0, None], ids=["smoothed", "exact"])
def test_derivatives_in_the_sample_weights_by_finite_differences(problem, scale) -> None:
    X, Z, w, theta, rng = problem
    Phi = np.column_stack([np.ones(len(X)), naive_kernel(X, Z, theta)])
    target = Bernoulli().bind(rng.integers(0, 2, len(X)))
    prior = TruncatedPrior(rng.uniform(0.5, 2.0, 6), np.arange(6) > 0, scale)
    objective = WeightObjective(Phi, target, prior)
    x = np.concatenate([[-0.7], np.abs(w)])
    gradient, curvature = objective.derivatives(objective.evaluate(x))
    by_value = central(lambda v: objective.evaluate(v).value, x)
    by_gradient = -central(lambda v: objective.derivatives(objective.evaluate(v))[0], x)
    np.testing.assert_allclose(gradient, by_value, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(curvature, by_gradient, rtol=1e-6, atol=1e-6)


def test_exact_hessian_can_be_indefinite_and_is_made_definite() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2))
    # a target far above what the kernels can reach: the residual outweighs the slopes
    objective = FeatureObjective(
        X,
        X[:3],
        np.ones(3),
        0.0,
        Gaussian(0.1).bind(np.full(20, 20.0)),
        TruncatedPrior(np.full(2, 0.01), np.ones(2, dtype=bool), None),
        "full",
    )
    start = np.full(2, 0.5)
    _, curvature = objective.derivatives(objective.evaluate(start))
    assert np.linalg.eigvalsh(curvature)[0] < 0.0
    assert np.linalg.eigvalsh(inverse_curvature(curvature))[0] > 0.0
    trial, _ = ascend(objective, start, RULES)
    assert trial.value > objective.evaluate(start).value


@pytest.mark.parametrize("form", ["diagonal", "gauss_newton", "full"])
def test_ascent_ends_where_the_projected_gradient_vanishes(form) -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (40, 3))
    y = np.exp(-0.8 * X[:, 0] ** 2) + 0.05 * rng.standard_normal(40)
    centres, w = np.zeros((1, 3)), np.ones(1)
    prior = TruncatedPrior(np.full(3, 0.1), np.ones(3, dtype=bool), None)
    objective = FeatureObjective(X, centres, w, 0.0, Gaussian(0.01).bind(y), prior, form)
    trial, _ = ascend(objective, np.full(3, 0.3), RULES)
    gradient, _ = objective.derivatives(trial)
    x = trial.x
    assert (x >= 0.0).all()
    assert np.abs(gradient[x > 0.0]).max() < 1e-3
    assert (gradient[x == 0.0] <= 0.0).all()
    assert x[0] == pytest.approx(0.8, abs=0.15)


def test_evidence_is_the_density_of_the_targets() -> None:
    rng = np.random.default_rng(2)
    Phi, t = rng.standard_normal((9, 4)), rng.standard_normal(9)
    alpha, noise = np.array([1e-3, 0.5, 2.0, 1e6]), 0.3
    found = condition(Phi, alpha, noise, t)
    C = noise * np.eye(9) + Phi @ np.diag(1.0 / alpha) @ Phi.T
    Sigma = np.linalg.inv(Phi.T @ Phi / noise + np.diag(alpha))
    assert found.log_evidence == pytest.approx(multivariate_normal(np.zeros(9), C).logpdf(t))
    np.testing.assert_allclose(found.covariance, Sigma, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.mean, Sigma @ Phi.T @ t / noise, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        found.well_determined, 1.0 - alpha * Sigma.diagonal(), rtol=1e-6, atol=1e-12
    )


def test_evidence_survives_what_no_cholesky_would() -> None:
    x = np.linspace(-1.0, 1.0, 40)[:, None]
    Phi = scaled_kernel(x, x, np.array([0.01]))  # columns all but equal
    found = condition(Phi, np.full(40, 1e-8), 1e-14, np.sin(x[:, 0]))
    assert np.isfinite(found.log_evidence)
    assert np.isfinite(found.mean).all()


def test_precision_of_a_weight_at_zero_is_infinite() -> None:
    precision = mackay_precision(np.array([0.5, 0.5, -1e-17]), np.array([0.0, 2.0, 1.0]))
    assert precision[0] == np.inf
    assert precision[1] == 0.125
    assert precision[2] > 0.0
