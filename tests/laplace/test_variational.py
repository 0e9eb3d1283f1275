"""The Gaussian nearest to a posterior: its conditions and what it is for, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from relvec.laplace.variational import VariationalTuning, find_nearest_gaussian
from relvec.likelihoods import Softmax
from tests.laplace.test_mode import several, softmax_mode

FINE = VariationalTuning(n_points=4096, tol=1e-5, max_steps=300)


def dense_effects(design):
    """Of all weights on all logits, (n_rows, n_classes, n_weights)."""
    return np.moveaxis(design.all_effects(), 0, 1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_average_gradient_vanishes_and_precision_is_the_average_curvature(intercept, weighted):
    columns, sizes, theta, labels = several(n=25, intercept=intercept, weighted=weighted)
    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    weights, hessian = find_nearest_gaussian(mode, labels, FINE)
    effects, prior = dense_effects(mode.design), np.diag(mode.hessian.precision)
    rows = np.ones(25) if labels.weight is None else labels.weight
    draws = np.random.default_rng(0).multivariate_normal(weights, hessian.covariance, 40_000)
    logits = np.einsum("nkp,dp->dnk", effects, draws) + labels.offset_or_zero
    y = softmax(logits, axis=-1)
    residual = np.eye(3)[labels.classes] - y.mean(axis=0)
    gradient = np.einsum("nkp,nk,n->p", effects, residual, rows) - prior @ weights
    products = np.einsum("dnk,dnl->nkl", y, y, optimize=True) / len(y)
    spread = y.mean(axis=0)[:, :, None] * np.eye(3) - products
    curvature = np.einsum("nkp,nkl,nlq,n->pq", effects, spread, effects, rows, optimize=True)
    std = np.sqrt(hessian.covariance.diagonal())
    assert np.abs(hessian.covariance @ gradient / std).max() < 0.02
    np.testing.assert_allclose(
        np.linalg.inv(hessian.covariance), curvature + prior, rtol=0.03, atol=0.03
    )


def separable(n=30):
    """Three classes that one atom each tells apart, with weak priors."""
    rng = np.random.default_rng(0)
    target = np.arange(n) % 3
    columns = np.eye(3)[target] + 0.1 * rng.normal(size=(n, 3))
    return columns, (1, 1, 1), np.full(3, np.log(1 / 25.0)), Softmax(3).bind(target)


def lower_bound(weights, covariance, mode, labels, draws):
    """Log evidence less the Kullback-Leibler divergence of a Gaussian, up to a constant."""
    sample = weights + draws @ np.linalg.cholesky(covariance).T
    logits = mode.design.latent(sample.T) + labels.offset_or_zero
    own = log_softmax(logits, axis=-1)[:, np.arange(len(labels.classes)), labels.classes]
    prior = -0.5 * (sample**2) @ mode.hessian.precision
    return (own.sum(axis=1) + prior).mean() + 0.5 * np.linalg.slogdet(covariance)[1]


@pytest.mark.slow
def test_it_is_nearer_than_the_gaussian_around_the_mode():
    columns, sizes, theta, labels = separable()
    mode = softmax_mode(columns, sizes, theta, labels)
    weights, hessian = find_nearest_gaussian(mode, labels)
    draws = np.random.default_rng(1).normal(size=(20_000, len(weights)))
    found = lower_bound(weights, hessian.covariance, mode, labels, draws)
    around_mode = lower_bound(mode.weights, mode.hessian.covariance, mode, labels, draws)
    assert found > around_mode + 0.5
    weights, hessian = find_nearest_gaussian(mode, labels, FINE)
    best = lower_bound(weights, hessian.covariance, mode, labels, draws)
    assert found == pytest.approx(best, abs=0.3)
    for shift in np.vstack([np.eye(5), -np.eye(5)]):
        assert best > lower_bound(weights + shift, hessian.covariance, mode, labels, draws)
    for factor in (0.5, 2.0):
        assert best > lower_bound(weights, factor * hessian.covariance, mode, labels, draws)


def test_probabilities_of_separable_classes_are_those_of_the_posterior():
    """By importance sampling; those of the Laplace approximation are far too imprecise."""
    columns, sizes, theta, labels = separable()
    mode = softmax_mode(columns, sizes, theta, labels)
    weights, hessian = find_nearest_gaussian(mode, labels)
    root = np.linalg.cholesky(1.5 * hessian.covariance)
    draws = np.random.default_rng(2).standard_t(5, size=(40_000, len(weights)))
    sample = weights + draws @ root.T
    logits = mode.design.latent(sample.T)
    own = log_softmax(logits, axis=-1)[:, np.arange(len(labels.classes)), labels.classes]
    log_weight = own.sum(axis=1) - 0.5 * (sample**2) @ mode.hessian.precision
    log_weight += 3.0 * np.log1p(draws**2 / 5.0).sum(axis=1)
    weight = softmax(log_weight)
    assert 1.0 / (weight**2).sum() > 1000.0
    exact = np.einsum("d,dnk->nk", weight, softmax(logits, axis=-1))

    def error(mean, covariance):
        effects = dense_effects(mode.design)
        joint = np.einsum("nkp,pq,nlq->nkl", effects, covariance, effects)
        return np.abs(Softmax(3).predict(mode.design.latent(mean), joint).mean - exact).max()

    assert error(weights, hessian.covariance) < 0.02
    assert error(mode.weights, mode.hessian.covariance) > 0.05


def test_order_of_rows_and_classes_makes_no_difference():
    columns, sizes, theta, labels = several(n=25, sizes=(2, 1, 2), offset=False)
    mode = softmax_mode(columns, sizes, theta, labels)
    weights, hessian = find_nearest_gaussian(mode, labels)
    expected = mode.design.latent(weights)
    rows = np.random.default_rng(0).permutation(25)
    # classes 0, 1, 2 become 2, 0, 1
    atoms, names = np.array([2, 3, 4, 0, 1]), np.array([2, 0, 1])
    other = Softmax(3).bind(names[labels.classes[rows]])
    there = softmax_mode(columns[rows][:, atoms], (1, 2, 2), theta[atoms], other)
    moved, precision = find_nearest_gaussian(there, other)
    np.testing.assert_allclose(there.design.latent(moved)[:, names], expected[rows], atol=1e-8)
    assert precision.log_det == pytest.approx(hessian.log_det, abs=1e-8)
    np.testing.assert_allclose(
        precision.covariance[:5, :5], hessian.covariance[np.ix_(atoms, atoms)], atol=1e-8
    )


def test_blocks_of_rows_give_the_same():
    columns, sizes, theta, labels = several(n=25, weighted=True)
    mode = softmax_mode(columns, sizes, theta, labels)
    weights, _ = find_nearest_gaussian(mode, labels)
    blocks = find_nearest_gaussian(mode, labels, VariationalTuning(block_entries=500))[0]
    np.testing.assert_allclose(blocks, weights, rtol=1e-9)


def test_without_weights_there_is_nothing_to_do():
    labels = Softmax(3).bind([0, 1, 2], offset=np.zeros((3, 3)))
    mode = softmax_mode(np.empty((3, 0)), (0, 0, 0), np.empty(0), labels, intercept=False)
    assert len(find_nearest_gaussian(mode, labels)[0]) == 0
