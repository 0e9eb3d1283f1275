"""Gain in held-out log predictive density over the null model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from relvec import RVMClassifier, RVMRegressor
from relvec.reporting import make_report
from relvec.reporting.null_model import HeldOutGain, compute_held_out_gain
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(7)
X = RNG.uniform(-3.0, 3.0, size=(40, 1))
Y = np.sin(X[:, 0]) + 0.2 * RNG.normal(size=40)
MODEL = RVMRegressor(gamma=0.5).fit(X, Y)
SUBJECT = Subject.build(MODEL, X, Y, names=None, target="y", rows="training")
FAST = {"cv": 3, "n_bootstrap": 0}


def test_null_model_of_a_cross_validation_leaves_the_row_out():
    mean, std = RNG.normal(size=40), np.full(40, 0.7)
    evaluated = PredictionSet("cv", False, Y, np.arange(40), mean, std, is_cross_validated=True)
    difference = []
    for i in range(40):
        rest = np.delete(Y, i)
        null = stats.norm(rest.mean(), np.sqrt(rest.var(ddof=1) * (1.0 + 1.0 / 39.0)))
        difference.append(stats.norm(mean[i], 0.7).logpdf(Y[i]) - null.logpdf(Y[i]))
    gain = compute_held_out_gain(SUBJECT, evaluated)
    assert gain.total == pytest.approx(np.sum(difference))
    assert gain.std == pytest.approx(np.std(difference, ddof=1) * np.sqrt(40))


def test_null_model_of_held_out_rows_is_fitted_to_the_training_rows():
    y = np.array([0.0, 1.0, 5.0])
    evaluated = PredictionSet("held-out rows", False, y, np.arange(3), y, np.full(3, 0.5))
    null = stats.norm(Y.mean(), np.sqrt(Y.var(ddof=1) * (1.0 + 1.0 / 40.0)))
    expected = np.sum(stats.norm(y, 0.5).logpdf(y) - null.logpdf(y))
    assert compute_held_out_gain(SUBJECT, evaluated).total == pytest.approx(expected)


def test_null_model_of_classes_is_their_frequencies():
    labels = np.array(["a"] * 15 + ["b"] * 25)
    model = RVMClassifier(gamma=0.5).fit(X, labels)
    subject = Subject.build(model, X, labels, names=None, target="y", rows="training")
    probability = np.full((2, 2), 0.5)
    evaluated = PredictionSet(
        "new", False, np.array(["a", "b"]), np.arange(2), probability=probability
    )
    expected = np.log([0.5, 0.5]) - np.log([16 / 42, 26 / 42])
    assert compute_held_out_gain(subject, evaluated).total == pytest.approx(expected.sum())


def test_training_rows_give_no_held_out_gain():
    evaluated = PredictionSet("training rows", True, Y, np.arange(40), Y, np.ones(40))
    assert compute_held_out_gain(SUBJECT, evaluated) is None
    assert not HeldOutGain(3.0, 2.0).is_significant
    assert HeldOutGain(5.0, 2.0).is_significant


@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_raises_the_evidence_but_gives_no_significant_gain(seed):
    rng = np.random.default_rng(seed)
    inputs, noise = rng.uniform(-3.0, 3.0, size=(60, 1)), rng.normal(size=60)
    report = make_report(RVMRegressor(gamma=50.0).fit(inputs, noise), inputs, noise, **FAST)
    assert report.evidence.log_evidence_gain > 1.0
    assert not report.held_out_gain.is_significant
    assert "On held-out rows the model is not significantly better than" in report.html
    assert "very strong" not in report.html


def test_a_signal_gives_a_significant_gain():
    report = make_report(MODEL, X, Y, **FAST)
    assert report.held_out_gain.total > 10.0
    assert "not significantly better" not in report.html
