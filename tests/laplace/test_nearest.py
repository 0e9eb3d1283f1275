"""Nearest Gaussian of one latent function, and averaged likelihoods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from relvec.laplace import find_mode
from relvec.laplace.nearest import find_nearest_regression
from relvec.likelihoods import NegativeBinomial, Poisson
from relvec.likelihoods.averaged import AveragedLikelihood

COUNTS = np.array([0.0, 1.0, 4.0, 12.0])
VARIANCE = np.array([0.3, 1.0, 0.1, 2.0])
F = np.array([-1.0, 0.5, 1.0, 2.0])
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@pytest.mark.parametrize("recipe", [Poisson(), NegativeBinomial(1.7)])
def test_averages_agree_with_quadrature(recipe):
    bound = recipe.bind(COUNTS, offset=0.2)
    averaged = bound.averaged_over(VARIANCE)
    for name in ("log_density", "slope", "curvature", "curvature_slope"):
        values = [getattr(bound, name)(F + node * np.sqrt(VARIANCE)) for node in NODES]
        found = getattr(averaged, name)(F)
        np.testing.assert_allclose(found, WEIGHTS @ np.array(values), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("recipe", [Poisson(), NegativeBinomial(1.7)])
def test_derivatives_agree_with_differences(recipe):
    averaged, h = recipe.bind(COUNTS).averaged_over(VARIANCE), 1e-5
    for function, derivative, sign in (
        (averaged.log_density, averaged.slope, 1.0),
        (averaged.slope, averaged.curvature, -1.0),
        (averaged.curvature, averaged.curvature_slope, 1.0),
    ):
        difference = sign * (function(F + h) - function(F - h)) / (2.0 * h)
        np.testing.assert_allclose(derivative(F), difference, rtol=1e-6, atol=1e-8)


def test_closed_form_of_poisson_agrees_with_the_general_average():
    bound = Poisson().bind(COUNTS)
    general = AveragedLikelihood(bound.recipe, COUNTS, None, None, bound, np.sqrt(VARIANCE))
    closed = bound.averaged_over(VARIANCE)
    np.testing.assert_allclose(general.log_density(F), closed.log_density(F), rtol=1e-5)


@pytest.mark.parametrize("recipe", [Poisson(), NegativeBinomial(1.7)])
def test_fixed_point_equations_hold(recipe):
    rng = np.random.default_rng(0)
    columns, log_precision = rng.normal(size=(40, 3)), np.log([1.0, 4.0, 0.5])
    bound = recipe.bind(rng.poisson(np.exp(columns[:, 0])), rng.integers(1, 3, size=40))
    mode = find_mode(columns, log_precision, bound)
    curvature, response = find_nearest_regression(mode, bound)
    design = np.column_stack([columns, np.ones(40)])
    precision = design.T @ (design * curvature[:, None]) + np.diag([1.0, 4.0, 0.5, 0.0])
    covariance = np.linalg.inv(precision)
    mean = covariance @ design.T @ (curvature * response)
    variance = np.einsum("ij,jk,ik->i", design, covariance, design)
    averaged = bound.averaged_over(variance)
    # E slope = A w, and the precision is the averaged negative Hessian.
    slope = design.T @ bound.apply_weights(averaged.slope(design @ mean))
    np.testing.assert_allclose(slope, np.array([1.0, 4.0, 0.5, 0.0]) * mean, atol=1e-2)
    expected = bound.apply_weights(averaged.curvature(design @ mean))
    np.testing.assert_allclose(curvature, expected, rtol=1e-3)


@pytest.mark.parametrize("total", [1, 2, 10])
def test_rate_of_few_events_is_that_of_the_gamma_posterior(total):
    bound = Poisson().bind([total, 0])
    mode = find_mode(np.empty((2, 0)), np.empty(0), bound)
    curvature, response = find_nearest_regression(mode, bound)
    mean, variance = np.average(response, weights=curvature), 1.0 / curvature.sum()
    assert 2.0 * np.exp(mean + variance / 2.0) == pytest.approx(total, rel=1e-4)
    assert mean + np.log(2.0) == pytest.approx(stats.loggamma(total).mean(), abs=0.1 / total)
