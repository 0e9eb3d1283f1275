"""The evidence of a Gaussian process of logits against that of scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from relvec.learning import label_process

RNG = np.random.default_rng(4)
X = RNG.normal(size=(24, 3))
LOGIT = 3.0 * X[:, 0] - 2.0 * X[:, 1] ** 2 + 1.0 + RNG.logistic(size=24)
Y = (LOGIT > 0.0).astype(float)[:, None]
CLASSES = np.eye(3)[np.digitize(LOGIT, [-2.0, 1.0])]
U = np.column_stack([X[:, 2], X[:, 0] * X[:, 1]])
SCALE = np.array([0.8, 0.3, 0.1])


class LabelProcess(label_process.LabelProcess):
    """With modes that are exact."""

    def __init__(self, *data):
        super().__init__(*data, settled=1e-13)


@pytest.mark.parametrize("signal", [0.5, 4.0, 100.0])
@pytest.mark.parametrize("base", [RBF, lambda length: Matern(length, nu=1.5)])
def test_is_the_evidence_of_scikit_learn(signal, base):
    kernel = ConstantKernel(signal) * base(1.0 / np.sqrt(SCALE)) + ConstantKernel(25.0)
    peer = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000).fit(X, Y[:, 0])
    point = LabelProcess(X, Y).at(base(1.0), SCALE, math.log(signal), slopes=False)
    assert point.log_evidence == pytest.approx(
        peer.log_marginal_likelihood(peer.kernel_.theta), abs=1e-7
    )


def test_slopes_are_those_of_scikit_learn():
    kernel = ConstantKernel(4.0) * RBF(1.0 / np.sqrt(SCALE)) + ConstantKernel(25.0)
    peer = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000).fit(X, Y[:, 0])
    _, slopes = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    point = LabelProcess(X, Y).at(RBF(1.0), SCALE, math.log(4.0))
    assert point.log_signal == pytest.approx(slopes[0], abs=1e-5)
    np.testing.assert_allclose(SCALE * point.scale, -0.5 * slopes[1:4], atol=1e-5)


def test_explicit_columns_add_to_the_covariance():
    columns = (U - U.mean(axis=0)) / U.std(axis=0)
    both = np.hstack([X * np.sqrt(SCALE), columns])

    def kernel(A, B):
        inner = np.exp(-0.5 * ((A[:, None, :3] - B[None, :, :3]) ** 2).sum(axis=2))
        return inner + 0.25 * A[:, 3:] @ B[:, 3:].T

    with_them = LabelProcess(X, Y, None, U).at(RBF(1.0), SCALE, 0.0, math.log(0.25))
    by_hand = LabelProcess(both, Y).at(kernel, np.ones(5), 0.0, slopes=False)
    assert with_them.log_evidence == pytest.approx(by_hand.log_evidence, abs=1e-9)


@pytest.mark.parametrize("kernel", [RBF(1.1), ConstantKernel(2.0) * Matern([1.0, 0.5, 2.0])])
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives(kernel, weighted):
    weight = np.linspace(0.5, 2.5, 24) if weighted else None
    process = LabelProcess(X, CLASSES, weight, U)
    point = process.evaluate(kernel, SCALE, 1.2, -0.5, kernel.theta)

    def value(scale=SCALE, signal=1.2, explicit=-0.5, theta=None):
        theta = kernel.theta if theta is None else theta
        return process.evaluate(kernel, scale, signal, explicit, theta, slopes=False).log_evidence

    def slope(move):
        """Fourth order, wide steps: the mode is only known to the root of rounding errors."""
        h = 1e-2
        return (8.0 * (move(h) - move(-h)) - (move(2.0 * h) - move(-2.0 * h))) / (12.0 * h)

    close = {"rel": 1e-5, "abs": 3e-6}
    assert point.log_signal == pytest.approx(slope(lambda d: value(signal=1.2 + d)), **close)
    assert point.log_explicit == pytest.approx(slope(lambda d: value(explicit=d - 0.5)), **close)
    log_scale = np.log(SCALE)
    for k, e in enumerate(np.eye(3)):
        expected = slope(lambda d, e=e: value(np.exp(log_scale + d * e)))
        assert SCALE[k] * point.scale[k] == pytest.approx(expected, **close)
    theta = np.array(kernel.theta)
    assert len(point.theta) == len(theta)
    for k, e in enumerate(np.eye(len(theta))):
        expected = slope(lambda d, e=e: value(theta=theta + d * e))
        assert point.theta[k] == pytest.approx(expected, **close)


@pytest.mark.parametrize("explicit", [False, True])
def test_weights_count_copies(explicit):
    counts = np.array([1, 2, 3] * 8)
    rows = np.repeat(np.arange(24), counts)
    at = (RBF(0.9), SCALE, 1.3, 0.2)
    weighted = LabelProcess(X, CLASSES, counts.astype(float), U if explicit else None).at(*at)
    copies = LabelProcess(X[rows], CLASSES[rows], None, U[rows] if explicit else None).at(*at)
    assert weighted.log_evidence == pytest.approx(copies.log_evidence, abs=1e-7)
    assert weighted.log_signal == pytest.approx(copies.log_signal, abs=1e-6)
    assert weighted.log_explicit == pytest.approx(copies.log_explicit, abs=1e-6)
    np.testing.assert_allclose(weighted.scale, copies.scale, atol=1e-6)


def test_classes_add_up():
    together = LabelProcess(X, CLASSES).at(RBF(1.0), SCALE, 1.0)
    alone = [LabelProcess(X, column[:, None]).at(RBF(1.0), SCALE, 1.0) for column in CLASSES.T]
    assert together.log_evidence == pytest.approx(sum(p.log_evidence for p in alone))
    assert together.log_signal == pytest.approx(sum(p.log_signal for p in alone))
    np.testing.assert_allclose(together.scale, sum(p.scale for p in alone), rtol=1e-9)


def test_both_classes_are_treated_alike():
    one = LabelProcess(X, Y).at(RBF(1.0), SCALE, 1.0)
    other = LabelProcess(X, 1.0 - Y).at(RBF(1.0), SCALE, 1.0)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)


def test_a_class_that_does_not_occur_says_nothing():
    with_empty = np.column_stack([CLASSES, np.zeros(24)])
    at = (RBF(1.0), SCALE, 1.0)
    assert LabelProcess(X, with_empty).at(*at).log_evidence == pytest.approx(
        LabelProcess(X, CLASSES).at(*at).log_evidence
    )
    assert LabelProcess(X, np.ones((24, 1))).is_empty


def test_memory_of_the_last_mode_does_not_change_the_answer():
    process = LabelProcess(X, CLASSES)
    fresh = process.evaluate(RBF(1.0), SCALE, 1.0).log_evidence
    for signal in (9.0, -6.0):
        process.evaluate(RBF(0.1), 50.0 * SCALE, signal)
    assert process.evaluate(RBF(1.0), SCALE, 1.0).log_evidence == pytest.approx(fresh, abs=1e-7)


def test_separable_labels_are_no_trouble():
    labels = (X[:, :1] > 0.0).astype(float)
    point = LabelProcess(X, labels).at(RBF(1.0), SCALE, LabelProcess.signal_bounds[1])
    assert np.isfinite(point.log_evidence)
    assert np.isfinite(point.scale).all()
