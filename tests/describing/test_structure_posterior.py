"""Sums of components and contrasts of them, against dense Gaussian process algebra."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import KernelSearchRegressor
from relvec.kernels.expansions import Harmonics, Line, SlopeWalk, Smooth, Step, Walk
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.posterior import ColumnPosterior, KernelPosterior
from relvec.learning.structures.structure import DIFFUSE_VARIANCE, Component, Structure

U = np.linspace(-1.0, 1.0, 60)[:, np.newaxis]
TARGET = np.sin(4.0 * U[:, 0]) + U[:, 0] + 0.1 * np.random.default_rng(0).normal(size=60)
STRUCTURE = Structure(
    (
        Component.of(SlopeWalk(n_terms=60), log_variance=0.0),
        Component.of(Harmonics(period=0.2), Line(origin=-1.0), log_variance=-2.0),
        Component.of(Step(origin=0.1), log_variance=-1.0),
        Component.of(Smooth(length_scale=0.5), log_variance=-1.0),
    ),
    np.log(0.02),
)
NEW = np.array([[-0.8], [0.05], [0.15], [0.9], [1.1]])


def prior(places, U, V):
    total = np.zeros((len(U), len(V)))
    for place in places:
        component = STRUCTURE.components[place]
        total += np.exp(component.log_variance) * component.product.covariance(U, V)
        if place == 0:
            total += DIFFUSE_VARIANCE * U @ V.T
    return total


def dense(places, contrasts):
    everything = prior(range(4), U, U) + DIFFUSE_VARIANCE + 0.02 * np.eye(len(U))
    cross = contrasts @ prior(places, NEW, U)
    covariance = contrasts @ prior(places, NEW, NEW) @ contrasts.T
    solved = np.linalg.solve(everything, np.column_stack([TARGET, cross.T]))
    return cross @ solved[:, 0], np.diag(covariance - cross @ solved[:, 1:])


@pytest.mark.parametrize("places", [[0], [1], [2, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("is_contrast", [False, True])
def test_sums_of_components_and_contrasts(places, is_contrast):
    contrasts = np.array([[-1.0, 1, 0, 0, 0], [0, -0.5, 0, 0.5, 0]]) if is_contrast else None
    mean, variance = dense(places, np.eye(5) if contrasts is None else contrasts)
    found = KernelPosterior(STRUCTURE, U, TARGET).predict_sum(NEW, places, contrasts)
    np.testing.assert_allclose(found.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.variance, variance, atol=1e-7)


def columns_of(U, places):
    """Columns of the components at some places, zero for the others, the intercept first."""
    blocks = [np.full((len(U), 1), -1 in places), U * (0 in places)]
    for place, component in enumerate(STRUCTURE.components):
        blocks.append(component.product.columns(U) * (place in places))
    return np.hstack(blocks)


@pytest.mark.parametrize("places", [[0], [1], [2, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("is_contrast", [False, True])
def test_sums_of_columns_and_contrasts(places, is_contrast):
    contrasts = np.array([[-1.0, 1, 0, 0, 0], [0, -0.5, 0, 0.5, 0]]) if is_contrast else None
    design = columns_of(U, [-1, 0, 1, 2, 3])
    variances = [np.full(2, np.log(DIFFUSE_VARIANCE))]
    variances += [component.log_variances() for component in STRUCTURE.components]
    precision = design.T @ design / 0.02 + np.diag(np.exp(-np.concatenate(variances)))
    wanted = columns_of(NEW, places) if contrasts is None else contrasts @ columns_of(NEW, places)
    covariance = np.linalg.inv(precision)
    store = ColumnStore(U, TARGET)
    found = ColumnPosterior(STRUCTURE, store).predict_sum(NEW, places, contrasts)
    # columns of negligible prior variance are left out
    mean = wanted @ covariance @ design.T @ TARGET / 0.02
    np.testing.assert_allclose(found.mean, mean, atol=1e-5)
    np.testing.assert_allclose(found.variance, np.diag(wanted @ covariance @ wanted.T), atol=1e-5)


@pytest.mark.parametrize("make", [KernelPosterior, None])
def test_components_and_intercept_add_up(make):
    if make is None:
        posterior = ColumnPosterior(STRUCTURE, ColumnStore(U, TARGET))
    else:
        posterior = KernelPosterior(STRUCTURE, U, TARGET)
    parts = posterior.predict_components(U)
    rest = posterior.predict(U).mean - sum(part.mean for part in parts)
    # the slope belongs to the component of a wandering slope, so only a constant is left
    np.testing.assert_allclose(rest, rest[0], atol=1e-8)


@pytest.fixture(scope="module")
def model():
    t = np.arange(90.0)
    rng = np.random.default_rng(3)
    y = 5.0 + 0.2 * t + (1.0 + t / 30.0) * np.sin(2 * np.pi * t / 10) + 0.3 * rng.normal(size=90)
    return KernelSearchRegressor(effort="fast", mode="interpretable").fit(t[:, np.newaxis], y)


def test_parts_of_a_model_are_those_of_decompose(model):
    X = np.linspace(0.0, 100.0, 31)[:, np.newaxis]
    found = model.decompose(X)
    for place in range(len(model.components_)):
        mean, std = model.predict_part(X, [place])
        np.testing.assert_allclose(mean, found.mean[:, place], atol=1e-8)
        np.testing.assert_allclose(std, found.std[:, place], atol=1e-8)
    mean, std = model.predict_latent(X, return_std=True)
    np.testing.assert_allclose(mean, found.total, atol=1e-10)
    np.testing.assert_allclose(model.predict_latent(X), mean)
    expected = model.predict(X, return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(std, expected, rtol=1e-6)
    rest = found.intercept
    np.testing.assert_allclose(rest, rest[0], atol=1e-8)


def test_the_loss_without_several_components(model):
    for place, component in enumerate(model.components_):
        assert model.compute_score_loss([place]) == pytest.approx(component.score_loss, abs=1e-9)
    both = model.compute_score_loss(range(len(model.components_)))
    assert model.transform_ == "identity"
    rows, n = model.training_rows_, 90.0
    # Only the intercept, of prior variance 10 in units of the variance of the targets: the targets
    # are centred, so their mean is zero and the noise variance has a maximum in closed form but for
    # the determinant, which is searched here.
    noise = np.var(rows.target) * np.exp(np.linspace(-0.2, 0.2, 2001))
    log_det = (n - 1.0) * np.log(noise) + np.log(noise + n * 10.0 * np.var(rows.target))
    evidence = -0.5 * (n * np.log(2.0 * np.pi) + log_det + n * np.var(rows.target) / noise)
    null = evidence.max() - 0.5 * np.log(n)  # the noise variance is a parameter
    assert both == pytest.approx(model.score_ - null, abs=1e-3)


def test_training_rows_are_those_given(model):
    rows = model.training_rows_
    np.testing.assert_allclose(rows.inputs[:, 0], np.arange(90.0), atol=1e-12)
    assert rows.weight.sum() == 90.0
    np.testing.assert_array_equal(model.convert_inputs([[3.0]]), [[3.0]])


def test_a_level_is_zero_before_the_record():
    walk = Structure((Component.of(Walk()),), 0.0)
    found = KernelPosterior(walk, U, TARGET).predict_sum(np.array([[-1.0]]), [0])
    assert found.mean == pytest.approx([0.0])
