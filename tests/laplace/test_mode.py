"""Modes, evidences and their derivatives against dense formulas and numerical integration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import softmax

from relvec.dictionaries import DenseDictionary
from relvec.laplace import find_mode
from relvec.laplace.hessian import Design
from relvec.laplace.pairs import PairDesign, PairPosterior
from relvec.likelihoods import Bernoulli, Softmax
from tests.helpers_labels import dense_softmax_evidence, softmax_effects

FORMS = [(intercept, weighted) for intercept in (True, False) for weighted in (True, False)]


def binary(seed=0, n=40, k=4, *, intercept=True, weighted=False, offset=True):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(n, k)) + 0.5
    target = (rng.random(n) < 0.6).astype(float)
    weight = rng.uniform(0.3, 2.0, n) if weighted else None
    given = rng.normal(size=n) if offset else None
    return atoms, rng.normal(size=k), Bernoulli().bind(target, weight, given)


def several(seed=0, n=40, sizes=(2, 0, 3), *, intercept=True, weighted=False, offset=True):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, sum(sizes))) + 0.5
    target = rng.integers(0, len(sizes), n)
    weight = rng.uniform(0.3, 2.0, n) if weighted else None
    given = rng.normal(size=(n, len(sizes))) if offset else None
    labels = Softmax(len(sizes)).bind(target, weight, given)
    return columns, sizes, rng.normal(size=sum(sizes)), labels


def softmax_mode(columns, sizes, theta, labels, start=None, *, intercept=True):
    return find_mode(columns, theta, labels, start, has_intercept=intercept, sizes=sizes)


def reference(mode, labels):
    return mode.design.hessian(
        mode.design.compute_reference_curvature(labels), mode.hessian.precision
    )


def posterior_of(mode):
    design, k = mode.design, mode.design.n_atoms
    return PairPosterior(
        weights=mode.weights,
        sizes=design.sizes,
        place=np.arange(k),
        shift=np.zeros(k),
        contrast=design.contrast,
        factor=mode.hessian.factor,
        scale=mode.hessian.scale,
    )


def differences(function, theta, step=1e-4):
    units = step * np.eye(len(theta))
    return np.array([(function(theta + e) - function(theta - e)) / (2 * step) for e in units])


# ------------------------------------------------------------------ two classes


@pytest.mark.parametrize(("intercept", "weighted"), FORMS)
def test_binary_mode_and_evidence_against_dense_formulas(intercept, weighted):
    atoms, theta, labels = binary(intercept=intercept, weighted=weighted)
    mode = find_mode(atoms, theta, labels, has_intercept=intercept)
    contrast = np.array([[0.0], [1.0]]) if intercept else np.empty((2, 0))
    effects = softmax_effects(atoms, (0, 4), contrast)
    precision = np.append(np.exp(theta), [0.0] * intercept)
    offset = np.column_stack([np.zeros(len(atoms)), labels.offset])
    value, weights, covariance = dense_softmax_evidence(
        effects, labels.target.astype(int), precision, labels.weight, offset
    )
    assert mode.log_evidence == pytest.approx(value, abs=1e-5)
    np.testing.assert_allclose(mode.weights, weights, atol=1e-5)
    np.testing.assert_allclose(mode.hessian.covariance, covariance, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("c", [0.0, 0.8])
@pytest.mark.parametrize(("intercept", "weighted"), FORMS)
def test_binary_gradient_against_differences(intercept, weighted, c):
    atoms, theta, labels = binary(intercept=intercept, weighted=weighted)

    def value(theta):
        mode = find_mode(atoms, theta, labels, has_intercept=intercept)
        return mode.log_evidence - c * mode.hessian.degrees_of_freedom.sum()

    found = find_mode(atoms, theta, labels, has_intercept=intercept).gradient(labels, c, exact=True)
    np.testing.assert_allclose(found, differences(value, theta), atol=2e-6)


@pytest.mark.parametrize(("intercept", "weighted"), FORMS)
def test_reference_degrees_and_what_an_atom_adds(intercept, weighted):
    atoms, theta, labels = binary(intercept=intercept, weighted=weighted, k=5)
    precision = np.exp(theta)

    def hessian(columns, precision):
        design = Design(columns, has_intercept=intercept)
        return design.hessian(
            design.compute_reference_curvature(labels), np.append(precision, [0.0] * intercept)
        )

    whole = hessian(atoms, precision)
    slopes = differences(
        lambda theta: hessian(atoms, np.exp(theta)).degrees_of_freedom.sum(), theta
    )
    np.testing.assert_allclose(-whole.degrees_of_freedom_slope(1.0), slopes, atol=1e-7)
    penalty = np.array([0.3, 1.0, 0.0, 2.0, 0.5])
    slopes = differences(
        lambda theta: penalty @ hessian(atoms, np.exp(theta)).degrees_of_freedom, theta
    )
    np.testing.assert_allclose(-whole.degrees_of_freedom_slope(penalty), slopes, atol=1e-7)
    rows = 0.25 * (np.ones(len(atoms)) if labels.weight is None else labels.weight)
    centred = atoms - rows @ atoms / rows.sum() if intercept else atoms
    gram = centred.T @ (rows[:, None] * centred)
    dense = np.trace(np.linalg.solve(gram + np.diag(precision), gram))
    assert whole.degrees_of_freedom.sum() == pytest.approx(dense, rel=1e-9)
    part = hessian(atoms[:, :4], precision[:4])
    _, s, r = part.compute_entry_statistics(DenseDictionary(atoms), (1.0, 1.0))
    added = r[4, 0] / (precision[4] + s[4, 0])
    assert whole.degrees_of_freedom.sum() - part.degrees_of_freedom.sum() == pytest.approx(
        added, rel=1e-8
    )
    _, s, r = part.compute_entry_statistics(DenseDictionary(atoms), (penalty, penalty[:4]))
    added = r[4, 0] / (precision[4] + s[4, 0])
    total_penalty = penalty @ whole.degrees_of_freedom - penalty[:4] @ part.degrees_of_freedom
    assert total_penalty == pytest.approx(added, rel=1e-8)


def test_binary_evidence_is_near_the_integral():
    rng = np.random.default_rng(3)
    x = rng.normal(size=30)
    target = (rng.random(30) < 1 / (1 + np.exp(-x))).astype(float)
    labels = Bernoulli().bind(target)
    mode = find_mode(x[:, None], np.array([0.3]), labels)
    alpha = np.exp(0.3)

    def density(w, b):
        prior = np.sqrt(alpha / (2 * np.pi)) * np.exp(-0.5 * alpha * w * w)
        return prior * np.exp(labels.total_log_density(x * w + b) - mode.log_evidence)

    integral = dblquad(density, -5, 5, -8, 8, epsabs=1e-5)[0]
    assert np.log(integral) == pytest.approx(0.0, abs=0.05)


def test_mode_of_nothing_and_of_one_class():
    empty = find_mode(np.empty((6, 0)), np.empty(0), Bernoulli().bind([0, 1, 0, 0, 1, 0]))
    assert empty.weights[0] == pytest.approx(np.log(0.5), abs=1e-6)
    alone = find_mode(np.empty((6, 0)), np.empty(0), Bernoulli().bind(np.ones(6)))
    assert np.isfinite(alone.log_evidence)
    bare = find_mode(
        np.empty((4, 0)), np.empty(0), Bernoulli().bind([0, 1, 1, 0]), has_intercept=False
    )
    assert bare.log_evidence == pytest.approx(4 * np.log(0.5))


def test_step_limit_leaves_a_consistent_mode():
    atoms, theta, labels = binary()
    cut = find_mode(atoms, theta, labels, max_steps=1)
    assert cut.n_steps == 1
    expected = cut.hessian.rows @ np.square(cut.design.columns)
    np.testing.assert_allclose(
        1.0 / cut.hessian.scale**2 - cut.hessian.precision, expected, rtol=1e-9
    )


# ------------------------------------------------------------------ several classes


@pytest.mark.parametrize(("intercept", "weighted"), FORMS)
def test_softmax_mode_and_evidence_against_dense_formulas(intercept, weighted):
    columns, sizes, theta, labels = several(intercept=intercept, weighted=weighted)
    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    design = mode.design
    effects = softmax_effects(columns, sizes, design.contrast)
    precision = np.append(np.exp(theta), [0.0] * (2 * intercept))
    value, weights, covariance = dense_softmax_evidence(
        effects, labels.classes, precision, labels.weight, labels.offset
    )
    assert mode.log_evidence == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(mode.weights, weights, atol=1e-5)
    np.testing.assert_allclose(mode.hessian.covariance, covariance, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("c", [0.0, 0.8])
@pytest.mark.parametrize(("intercept", "weighted"), FORMS)
def test_softmax_gradient_against_differences(intercept, weighted, c):
    columns, sizes, theta, labels = several(intercept=intercept, weighted=weighted)

    def value(theta):
        mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
        return mode.log_evidence - c * mode.hessian.degrees_of_freedom.sum()

    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    np.testing.assert_allclose(
        mode.gradient(labels, c, exact=True), differences(value, theta), atol=2e-6
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_fixed_curvature_gradient_is_that_of_the_quadratic_model(intercept):
    columns, sizes, theta, labels = several(intercept=intercept)
    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    n = len(theta)
    data = mode
    gram = np.linalg.inv(mode.hessian.covariance) - np.diag(mode.hessian.precision)
    target = gram @ mode.weights + mode.hessian.precision * mode.weights

    def value(theta):
        # with the curvature held, -log|H| / 2 and the quadratic are explicit
        precision = np.append(np.exp(theta), np.zeros(data.design.n_weights - n))
        hessian = gram + np.diag(precision)
        fit = 0.5 * target @ np.linalg.solve(hessian, target)
        return fit + 0.5 * theta.sum() - 0.5 * np.linalg.slogdet(hessian)[1]

    np.testing.assert_allclose(
        mode.gradient(labels, exact=False), differences(value, theta), atol=1e-6
    )


def test_softmax_bound_is_bohnings():
    columns, sizes, theta, labels = several(weighted=True)
    mode = softmax_mode(columns, sizes, theta, labels)
    bound = reference(mode, labels)
    effects = softmax_effects(columns, sizes, mode.design.contrast)
    fixed = 0.5 * (np.eye(3) - 1.0 / 3.0)
    gram = np.einsum("n,nki,kl,nlj->ij", labels.weight, effects, fixed, effects)
    hessian = gram + np.diag(mode.hessian.precision)
    np.testing.assert_allclose(bound.covariance, np.linalg.inv(hessian), rtol=1e-6, atol=1e-9)
    # the intercepts have no penalty
    own = (1.0 - mode.hessian.precision * np.linalg.inv(hessian).diagonal())[:5].sum()
    assert bound.degrees_of_freedom.sum() == pytest.approx(own)

    def degrees(theta):
        return reference(
            softmax_mode(columns, sizes, theta, labels), labels
        ).degrees_of_freedom.sum()

    np.testing.assert_allclose(
        -bound.degrees_of_freedom_slope(1.0), differences(degrees, theta), atol=1e-7
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("sizes", [(2, 0, 3), (0, 0, 0)])
def test_entry_statistics_against_the_larger_model(intercept, sizes):
    rng = np.random.default_rng(5)
    columns, sizes, theta, labels = several(sizes=sizes, intercept=intercept, weighted=True)
    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    curvature = mode.hessian
    fresh = rng.normal(size=(len(columns), 2))
    _, s, r = curvature.compute_entry_statistics(DenseDictionary(fresh), (1.0, 1.0))
    assert r is not None
    for k in range(3):
        where = sum(sizes[: k + 1])
        grown = tuple(size + (j == k) for j, size in enumerate(sizes))
        design = PairDesign(
            np.insert(columns, where, fresh[:, 1], axis=1), grown, has_intercept=intercept
        )
        for alpha in (0.3, 5.0):
            larger = design.hessian(
                curvature.rows._replace(
                    mean_effects=design.mean_effects(curvature.rows.probability)
                ),
                np.insert(mode.hessian.precision, where, alpha),
            )
            assert larger.log_det - curvature.log_det == pytest.approx(np.log(alpha + s[1, k]))
            added = larger.degrees_of_freedom.sum() - (
                curvature.degrees_of_freedom.sum() if sum(sizes) else 0.0
            )
            assert added == pytest.approx(r[1, k] / (alpha + s[1, k]), rel=1e-6)


def test_softmax_evidence_is_near_the_integral():
    rng = np.random.default_rng(4)
    x = rng.normal(size=25)
    target = rng.integers(0, 3, 25)
    labels = Softmax(3).bind(target)
    mode = softmax_mode(x[:, None], (0, 1, 0), np.array([0.2]), labels, intercept=False)
    alpha = np.exp(0.2)

    def density(w):
        logits = np.zeros((25, 3))
        logits[:, 1] = w * x
        value = (logits[np.arange(25), target] - np.log(np.exp(logits).sum(axis=1))).sum()
        prior = np.sqrt(alpha / (2 * np.pi)) * np.exp(-0.5 * alpha * w * w)
        return prior * np.exp(value - mode.log_evidence)

    assert np.log(quad(density, -8, 8)[0]) == pytest.approx(0.0, abs=0.03)


def test_two_softmax_classes_are_the_binary_model():
    atoms, theta, labels = binary(offset=False, weighted=True)
    mode = find_mode(atoms, theta, labels)
    classes = Softmax(2).bind(labels.target, labels.weight)
    same = softmax_mode(atoms, (0, 4), theta, classes)
    # the one contrast is the logit over the square root of two
    assert same.log_evidence == pytest.approx(mode.log_evidence - 0.5 * np.log(2.0), abs=1e-8)
    np.testing.assert_allclose(same.weights[:4], mode.weights[:4], atol=1e-6)
    np.testing.assert_allclose(same.latent[:, 1] - same.latent[:, 0], mode.latent, atol=1e-6)
    np.testing.assert_allclose(
        same.gradient(classes, 0.5, exact=True), mode.gradient(labels, 0.5, exact=True), atol=1e-6
    )
    one, two = reference(mode, labels), reference(same, classes)
    assert two.degrees_of_freedom.sum() == pytest.approx(one.degrees_of_freedom.sum(), rel=1e-6)
    np.testing.assert_allclose(
        two.degrees_of_freedom_slope(1.0), one.degrees_of_freedom_slope(1.0), atol=1e-7
    )


def test_class_without_rows_is_regular():
    columns, sizes, theta, _ = several(n=20)
    labels = Softmax(3).bind(np.arange(20) % 2)
    mode = softmax_mode(columns, sizes, theta, labels)
    assert np.isfinite(mode.log_evidence)
    assert np.isfinite(mode.hessian.covariance).all()
    again = softmax_mode(columns, sizes, theta, labels, mode.weights)
    assert again.log_evidence == pytest.approx(mode.log_evidence, abs=1e-6)


# ------------------------------------------------------------------ predictions


def test_softmax_posterior_predicts_like_its_mode():
    columns, sizes, theta, labels = several(offset=False)
    mode = softmax_mode(columns, sizes, theta, labels)
    posterior = posterior_of(mode)
    np.testing.assert_allclose(posterior.predict(columns), mode.latent, atol=1e-12)
    assert posterior.intercept.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(posterior.coef != 0.0, np.repeat(np.eye(3), [2, 0, 3], axis=1))
    np.testing.assert_allclose(
        columns @ posterior.coef.T + posterior.intercept, mode.latent, atol=1e-12
    )
    # the joint distribution of all weights, brute force
    draws = np.random.default_rng(0).multivariate_normal(
        mode.weights, mode.hessian.covariance, 40_000
    )
    many = mode.design.latent(draws.T)
    mean, covariance = posterior.moments(columns)
    np.testing.assert_allclose(mean, mode.latent, atol=1e-12)
    np.testing.assert_allclose(covariance[7], np.cov(many[:, 7].T), rtol=0.05, atol=0.02)
    found = Softmax(3, n_points=256).predict(mean, covariance).mean
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, softmax(many, axis=-1).mean(axis=0), atol=0.01)


def test_softmax_posterior_of_shifted_atoms_that_classes_share():
    columns, sizes, theta, labels = several(offset=False)
    columns[:, 3] = columns[:, 1]  # of the first class and of the last
    posterior = posterior_of(softmax_mode(columns, sizes, theta, labels))
    distinct, shift = columns[:, [0, 1, 2, 4]] + 7.0, np.full(4, 7.0)
    shared = replace(posterior, place=np.array([0, 1, 2, 1, 3]), shift=shift)
    np.testing.assert_allclose(shared.predict(distinct), posterior.predict(columns), atol=1e-12)
    linear = distinct @ shared.coef.T + shared.intercept
    np.testing.assert_allclose(linear, posterior.predict(columns), atol=1e-12)
    with pytest.raises(ValueError, match="broadcast"):
        posterior.predict(columns[:, :2])


@pytest.mark.parametrize("intercept", [True, False])
def test_averaged_log_density_against_draws(intercept):
    columns, sizes, theta, labels = several(intercept=intercept, weighted=True)
    mode = softmax_mode(columns, sizes, theta, labels, intercept=intercept)
    rng = np.random.default_rng(0)
    draws = rng.multivariate_normal(mode.weights, mode.hessian.covariance, size=20_000)
    logits = mode.design.latent(draws.T) + labels.offset_or_zero
    chance = softmax(logits, axis=-1)[:, np.arange(len(labels.target)), labels.classes]
    expected = labels.weight @ np.log(chance.mean(axis=0))
    variance = mode.design.relative_variances(labels.classes, mode.hessian.covariance)
    averaged = labels.averaged_log_density(mode.latent, variance)
    assert averaged == pytest.approx(expected, rel=0.05)
    assert labels.null_log_density < 0.0
