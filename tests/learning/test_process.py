"""The evidence of a Gaussian process against the density of contrasts, and its derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic

from relvec.kernels import Laplacian
from relvec.learning.process import Process

RNG = np.random.default_rng(2)
X = RNG.normal(size=(15, 3))
T = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2]) + 0.1 * RNG.normal(size=(15, 2))
U = np.column_stack([X[:, 0], X[:, 1] * X[:, 2] + 3.0])
SCALE = np.array([0.8, 0.3, 0.1])


def brute_evidence(kernel, scale, g, h=0.0, U=None, X=X, T=T):
    """Log density of n - 1 contrasts of every standardised target, at its best noise."""
    n = len(X)
    A = null_space(np.ones((1, n))).T
    root = np.sqrt(scale)
    C = np.eye(n) + g * kernel(X * root)
    if U is not None:
        columns = (U - U.mean(axis=0)) / U.std(axis=0)
        C = C + h * columns @ columns.T
    C = A @ C @ A.T
    total = 0.0
    for t in T.T:
        contrasts = A @ (t / t.std())
        noise = contrasts @ np.linalg.solve(C, contrasts) / (n - 1)
        total += multivariate_normal(np.zeros(n - 1), noise * C).logpdf(contrasts)
        total += 0.5 * (n - 1) * math.log(2.0 * math.pi)  # constants are left out
    return total


@pytest.mark.parametrize("kernel", [RBF(0.9), Matern(1.1, nu=1.5), Laplacian(0.7)], ids=repr)
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("explicit", [None, U])
def test_is_the_density_of_contrasts(kernel, n_targets, explicit):
    process = Process(X, T[:, :n_targets], None, explicit)
    point = process.evaluate(kernel, SCALE, math.log(7.0), math.log(0.4), slopes=False)
    expected = brute_evidence(kernel, SCALE, 7.0, 0.4, explicit, T=T[:, :n_targets])
    assert point.log_evidence == pytest.approx(expected, abs=1e-9)


def test_neither_an_offset_nor_a_unit_of_the_targets_matters():
    one = Process(X, T).evaluate(RBF(), SCALE, 1.0)
    other = Process(X, 1e5 + 30.0 * T).evaluate(RBF(), SCALE, 1.0)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-7)


@pytest.mark.parametrize("explicit", [False, True])
def test_weights_count_copies(explicit):
    counts = np.array([1, 2, 3] * 5)
    rows = np.repeat(np.arange(15), counts)
    at = (RBF(0.9), SCALE, 1.3, 0.2)
    columns = U if explicit else None
    weighted = Process(X, T, counts.astype(float), columns).evaluate(*at)
    copies = Process(X[rows], T[rows], None, U[rows] if explicit else None).evaluate(*at)
    assert weighted.log_evidence == pytest.approx(copies.log_evidence, abs=1e-8)
    assert weighted.log_signal == pytest.approx(copies.log_signal, abs=1e-8)
    assert weighted.log_explicit == pytest.approx(copies.log_explicit, abs=1e-8)
    np.testing.assert_allclose(weighted.scale, copies.scale, atol=1e-8)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.9),
        RBF([1.0, 0.5, 2.0]),
        Matern(1.1, nu=2.5),
        Laplacian(0.7),
        ConstantKernel(2.0) * RationalQuadratic(1.0, 0.7) + RBF(3.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives(kernel, weighted):
    weight = np.linspace(0.5, 2.5, 15) if weighted else None
    process = Process(X, T, weight, U)
    point = process.evaluate(kernel, SCALE, 1.2, -0.5, kernel.theta)

    def value(scale=SCALE, signal=1.2, explicit=-0.5, theta=None):
        theta = kernel.theta if theta is None else theta
        return process.evaluate(kernel, scale, signal, explicit, theta, slopes=False).log_evidence

    step = 1e-5
    close = {"rel": 1e-5, "abs": 1e-6}
    assert point.log_evidence == value()
    assert point.log_signal == pytest.approx(
        (value(signal=1.2 + step) - value(signal=1.2 - step)) / (2 * step), **close
    )
    assert point.log_explicit == pytest.approx(
        (value(explicit=-0.5 + step) - value(explicit=-0.5 - step)) / (2 * step), **close
    )
    for k, e in enumerate(step * np.eye(3)):
        slope = (value(SCALE + e) - value(SCALE - e)) / (2 * step)
        assert point.scale[k] == pytest.approx(slope, **close)
    theta = np.array(kernel.theta)
    for k, e in enumerate(step * np.eye(len(theta))):
        slope = (value(theta=theta + e) - value(theta=theta - e)) / (2 * step)
        assert point.theta[k] == pytest.approx(slope, **close)


def test_derivative_of_features_that_are_left_out():
    scale = np.array([0.8, 0.0, 0.1])
    process = Process(X, T)
    inside = process.evaluate(RBF(0.9), scale, 1.2)
    everywhere = process.evaluate(RBF(0.9), scale, 1.2, everywhere=True)
    assert inside.scale[1] == 0.0
    np.testing.assert_allclose(inside.scale[[0, 2]], everywhere.scale[[0, 2]], rtol=1e-10)
    step = 1e-6

    def value(extra):
        return process.evaluate(
            RBF(0.9), scale + extra * np.eye(3)[1], 1.2, slopes=False
        ).log_evidence

    slope = (4.0 * value(step) - value(2.0 * step) - 3.0 * value(0.0)) / (2.0 * step)
    assert everywhere.scale[1] == pytest.approx(slope, rel=1e-4)


def test_left_out_features_have_no_effect():
    scale = np.array([0.8, 0.0, 0.1])
    with_it = Process(X, T).evaluate(RBF(0.9), scale, 1.2)
    without = Process(X[:, [0, 2]], T).evaluate(RBF(0.9), scale[[0, 2]], 1.2)
    assert with_it.log_evidence == without.log_evidence


def test_constant_targets_and_columns_say_nothing():
    with_constant = np.column_stack([T, np.full(15, 3.0)])
    one, other = Process(X, T), Process(X, with_constant, None, np.ones((15, 2)))
    assert other.explicit is None
    at = (RBF(0.9), SCALE, 1.2)
    assert one.evaluate(*at).log_evidence == other.evaluate(*at).log_evidence
    assert Process(X, np.ones((15, 1))).is_empty
    assert Process(X[:2], T[:2]).is_empty
    assert not one.is_empty


def test_what_is_no_covariance_has_no_evidence():
    assert Process(X, T).evaluate(lambda A, B: -(A @ B.T), SCALE, 3.0) is None
