"""Likelihoods of labels against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax

from relvec.likelihoods import Bernoulli, Softmax
from relvec.likelihoods.bernoulli import marginalise_log_odds
from relvec.likelihoods.softmax import softmax_probabilities


def test_bernoulli_working_response_is_the_second_order_expansion():
    rng = np.random.default_rng(0)
    logit, target = rng.normal(size=7), np.array([0.0, 1, 1, 0, 1, 0, 1])
    weight = rng.uniform(0.5, 2.0, 7)
    labels = Bernoulli().bind(target, weight)
    ((curvature, response),) = labels.working_responses(logit)
    step = 1e-4

    def value(shift):
        return labels.total_log_density(logit + shift)

    for n in range(7):
        unit = step * np.eye(7)[n]
        slope = (value(unit) - value(-unit)) / (2 * step)
        bend = (value(unit) - 2 * value(0 * unit) + value(-unit)) / step**2
        assert curvature[n] == pytest.approx(-bend, abs=1e-6)
        assert curvature[n] * (response[n] - logit[n]) == pytest.approx(slope, abs=1e-7)


def test_saturated_labels_stay_finite():
    logit = np.array([-1e4, 1e4])
    assert Bernoulli().bind([0, 1]).total_log_density(logit) == 0.0
    ((curvature, response),) = Bernoulli().bind([1, 0]).working_responses(logit)
    assert np.isfinite(response).all()
    assert (curvature > 0).all()


def test_moderated_probability_against_quadrature():
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    for mean, variance in [(0.5, 0.3), (2.0, 4.0), (-3.0, 10.0)]:
        exact = weights @ expit(mean + np.sqrt(variance) * points) / weights.sum()
        found = expit(marginalise_log_odds(np.array([mean]), np.array([variance])))[0]
        assert found == pytest.approx(exact, abs=0.02)


def test_softmax_against_scipy():
    rng = np.random.default_rng(1)
    logits = 3.0 * rng.normal(size=(9, 4))
    target = rng.integers(0, 4, 9)
    weight = rng.uniform(0.0, 2.0, 9)
    expected = softmax(logits, axis=1)
    np.testing.assert_allclose(softmax_probabilities(logits), expected, rtol=1e-13)
    each = np.log(expected[np.arange(9), target])
    assert Softmax(4).bind(target).total_log_density(logits) == pytest.approx(each.sum())
    assert Softmax(4).bind(target, weight).total_log_density(logits) == pytest.approx(weight @ each)


def test_softmax_of_huge_logits_is_finite():
    logits = np.array([[1e5, 0.0, -1e5], [-1e5, -1e5, -1e5]])
    found = softmax_probabilities(logits)
    np.testing.assert_allclose(found, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])
    labels = Softmax(3).bind([1, 2])
    assert labels.total_log_density(logits) == pytest.approx(-1e5 - np.log(3.0))
    assert (labels.floored_probabilities(logits) > 0).all()
    np.testing.assert_allclose(labels.floored_probabilities(logits).sum(axis=1), 1.0)


def test_class_responses_expand_the_softmax_in_one_logit():
    rng = np.random.default_rng(2)
    logits, target = rng.normal(size=(6, 3)), rng.integers(0, 3, 6)
    weight = rng.uniform(0.5, 2.0, 6)
    step = 1e-4
    labels = Softmax(3).bind(target, weight)
    for k, (curvature, response) in enumerate(labels.working_responses(logits)):
        for n in range(6):
            shift = np.zeros((6, 3))
            shift[n, k] = step
            values = [labels.total_log_density(logits + sign * shift) for sign in (-1, 0, 1)]
            slope = (values[2] - values[0]) / (2 * step)
            bend = (values[2] - 2 * values[1] + values[0]) / step**2
            assert curvature[n] == pytest.approx(-bend, abs=1e-6)
            assert curvature[n] * (response[n] - logits[n, k]) == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("label", [-1, 2, 3, 0.5, np.nan])
def test_predictions_refuse_labels_that_are_no_class(label):
    two = Bernoulli().predict(np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="coded 0 or 1"):
        two.log_density([0, label])
    if label == 2:
        return
    three = Softmax(3).predict(np.zeros((2, 3)), np.stack([np.eye(3)] * 2))
    with pytest.raises(ValueError, match="coded 0 to 2"):
        three.log_density([0, label])


@pytest.mark.parametrize("shift", [-60.0, 0.0, 30.0])
def test_the_null_logit_takes_up_an_offset(shift):
    labels = Bernoulli().bind([0, 1, 1, 1], offset=np.array([0.5, -0.5, 0.5, -0.5]) + shift)
    assert labels.null_latent() == pytest.approx(
        Bernoulli().bind([0, 1, 1, 1], offset=[0.5, -0.5, 0.5, -0.5]).null_latent() - shift
    )
    assert np.isfinite(Bernoulli().bind([1, 1], offset=[shift, shift]).null_latent())
