"""What the data say of the scales of a fitted model, against dense matrices."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from relvec.bases import KernelAtoms
from relvec.kernels import Laplacian, ScaledInputs
from relvec.learning.learnt import LearntLengthScales
from relvec.learning.length_scale_uncertainty import _follow, measure_scale_uncertainty
from relvec.moments import SufficientStatistics
from relvec.posterior import condition
from tests.learning.test_sparse_evidence import (
    CENTERS,
    NO_LINES,
    SCALE,
    WEIGHT,
    N,
    P,
    T,
    X,
    dense,
    jacobian,
    make,
    posterior_weights,
)


def fit_at(kernel, scale, theta, weight=None, *, centre=True, noise=None, target=T):
    """Return the model of these precisions, with the kernels of these scales."""
    atoms = KernelAtoms(ScaledInputs(kernel, scale), CENTERS)
    statistics = SufficientStatistics(len(CENTERS)).update(atoms.evaluate(X), target, weight)
    moments = statistics.moments(centre=centre)
    posterior = condition(
        moments, np.arange(len(CENTERS)), theta, has_intercept=centre, noise_variance=noise
    )
    return SimpleNamespace(atoms=atoms, posterior=posterior, weight=weight)


def follow(fit, changes):
    return _follow(fit.atoms, fit.posterior, X, fit.weight, changes)


def information(fit, changes=None):
    kept = np.count_nonzero(fit.atoms.kernel.scale)
    return follow(fit, np.eye(kept) if changes is None else changes)[1]


def test_information_is_that_of_the_evidence():
    model, *_ = make(others=NO_LINES)
    theta = np.array([-1.0, 0.5, -2.0, 0.2])
    np.testing.assert_allclose(
        information(fit_at(RBF(0.9), SCALE, theta)), model.information(theta, SCALE), rtol=1e-9
    )


def test_information_of_some_features():
    model, *_ = make(others=NO_LINES)
    theta, scale, kept = np.zeros(4), np.array([0.6, 0.0, 0.05]), np.array([0, 2])
    whole = model.information(theta, scale)
    fit = fit_at(RBF(0.9), scale, theta)
    np.testing.assert_allclose(information(fit), whole[np.ix_(kept, kept)], rtol=1e-9)
    together = information(fit, scale[kept, None])
    np.testing.assert_allclose(together, [[scale @ whole @ scale]], rtol=1e-8)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("noise", [None, 0.05])
def test_uncertainty_is_that_of_the_joint_gaussian(centre, weight, noise):
    """Weights, intercept and scales together, linear around where they are."""
    options = {"centre": centre, "weight": weight, "noise": noise, "others": NO_LINES}
    _, objective, kernel, others = make(**options)
    theta = np.array([-1.0, 0.5, -2.0, 0.2])
    quadratic, _, _, inverse, Phi, prior, _ = dense(
        centre, weight, objective, kernel, others, theta, SCALE
    )
    noise = noise or quadratic / objective.n_effective
    weights = posterior_weights(Phi, prior, inverse)
    w = np.ones(N) if weight is None else weight
    columns = [Phi, *([np.ones((N, 1))] if centre else []), jacobian(kernel, weights, SCALE)]
    design = np.hstack(columns)
    scale_precision = np.array([3.0, 20.0, 150.0])
    of_intercept = np.zeros(int(centre))
    own = np.concatenate([1.0 / (noise * prior), of_intercept, scale_precision])
    joint = np.linalg.inv(np.diag(own) + design.T @ (w[:, None] * design) / noise)

    new = np.random.default_rng(3).normal(size=(7, P))
    there = ScaledInputs(kernel, SCALE)(new, CENTERS)
    rows = np.hstack(
        [there, *([np.ones((7, 1))] if centre else []), jacobian(kernel, weights, SCALE, new)]
    )
    total = np.einsum("ij,jk,ik->i", rows, joint, rows)
    n_weights = len(CENTERS) + centre
    inner = np.linalg.inv(
        np.diag(own[:n_weights])
        + design[:, :n_weights].T @ (w[:, None] * design[:, :n_weights]) / noise
    )
    plain = np.einsum("ij,jk,ik->i", rows[:, :n_weights], inner, rows[:, :n_weights])

    fit = fit_at(kernel, SCALE, theta, weight, centre=centre, noise=options["noise"])
    uncertainty, known = follow(fit, np.eye(P))
    covariance = np.linalg.inv(known + np.diag(scale_precision))
    np.testing.assert_allclose(covariance, joint[n_weights:, n_weights:], rtol=1e-4)
    root = np.linalg.cholesky(covariance)
    extra = np.square(uncertainty.directions(new) @ root).sum(axis=1)
    np.testing.assert_allclose(extra, total - plain, rtol=1e-4, atol=1e-9)


def test_uncertainty_of_features_in_the_model():
    scale = np.array([0.6, 0.0, 0.05])
    uncertainty, _ = follow(fit_at(RBF(0.9), scale, np.zeros(4)), np.diag([0.1, 0.01]))
    other = X.copy()
    other[:, 1] = 77.0
    np.testing.assert_allclose(uncertainty.directions(other), uncertainty.directions(X))
    assert uncertainty.directions(X).shape == (N, 2)


def learnt_scales(kind="ard"):
    spread = np.array([1.0, 2.0, 0.5])
    return LearntLengthScales(
        kernel=ScaledInputs(RBF(0.9), SCALE),
        scale=SCALE,
        relevance=SCALE * spread**2,
        spread=spread,
        gain=np.ones(P),
        kind=kind,
        group=kind,
        path=np.empty((0, P)),
        path_objective=np.empty(0),
    )


@pytest.mark.parametrize("kind", ["ard", "isotropic"])
def test_directions_of_a_model_are_independent_changes_of_its_scales(kind):
    fit = fit_at(RBF(0.9), SCALE, np.array([-1.0, 0.5, -2.0, 0.2]))
    learnt = learnt_scales(kind)
    std, [uncertainty] = measure_scale_uncertainty(learnt, X, [fit], [None])
    assert (std > 0.0).all()
    assert uncertainty.directions(X).shape == (N, P if kind == "ard" else 1)
    variance = np.square(uncertainty.changes).sum(axis=1) * learnt.spread**4
    np.testing.assert_allclose(np.sqrt(variance), std, rtol=1e-9)


def test_what_was_not_learnt_is_not_known():
    fit = fit_at(RBF(0.9), SCALE, np.zeros(4))
    std, follows = measure_scale_uncertainty(learnt_scales("none"), X, [fit], [None])
    assert np.isinf(std).all()
    assert follows == [None]


# ------------------------------------------------------------------ labels


def latent_fit(kernel, weights, precision, curvature, has_intercept):
    """Return a latent function at its mode: a regression with these weights of rows."""
    atoms = ScaledInputs(kernel, SCALE)(X, CENTERS)
    norm = SufficientStatistics(4).update(atoms, T, curvature).moments(centre=has_intercept)
    norm = norm.column_norm
    log_lam = np.log(precision) - 2.0 * np.log(norm)
    fit = fit_at(kernel, SCALE, log_lam, curvature, centre=has_intercept, noise=1.0)
    fit.posterior = replace(fit.posterior, unit_mean=weights * norm)
    return fit


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("kernel", [RBF(0.9), Matern(1.0, nu=2.5), Laplacian(0.4)], ids=repr)
def test_what_labels_say_is_that_of_the_dense_covariance(kernel, has_intercept):
    rng = np.random.default_rng(2)
    weights, precision = rng.normal(size=4), rng.uniform(0.1, 5.0, 4)
    curvature = rng.uniform(0.01, 0.25, N)
    Phi = ScaledInputs(kernel, SCALE)(X, CENTERS)
    inverse = np.linalg.inv(np.diag(1.0 / curvature) + (Phi / precision) @ Phi.T)
    if has_intercept:
        ones = inverse @ np.ones(N)
        inverse = inverse - np.outer(ones, ones) / ones.sum()
    D = jacobian(kernel, weights, SCALE)
    fit = latent_fit(kernel, weights, precision, curvature, has_intercept)
    found = information(fit)
    np.testing.assert_allclose(found, D.T @ inverse @ D, rtol=1e-5, atol=1e-8)
    together = information(fit, SCALE[:, None])
    np.testing.assert_allclose(together, [[SCALE @ found @ SCALE]], rtol=1e-8)


def test_precisions_of_all_sizes_are_no_trouble():
    weights, curvature = np.ones(4), np.full(N, 0.2)
    precision = np.array([1e-12, 1.0, 1e6, 1e12])
    found = information(latent_fit(RBF(), weights, precision, curvature, True))
    assert np.isfinite(found).all()
    assert (np.linalg.eigvalsh(found) > -1e-9).all()
