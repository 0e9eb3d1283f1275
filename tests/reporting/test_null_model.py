"""What a model knows of held-out rows beyond the targets alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from relvec import RVMClassifier, RVMRegressor
from relvec.reporting import make_report
from relvec.reporting.null_model import HeldOutGain, held_out_gain
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(7)
X = RNG.uniform(-3.0, 3.0, size=(40, 1))
Y = np.sin(X[:, 0]) + 0.2 * RNG.normal(size=40)
MODEL = RVMRegressor(gamma=0.5).fit(X, Y)
SUBJECT = Subject.of(MODEL, X, Y, names=None, target="y", rows="training")
FAST = {"cv": 3, "n_bootstrap": 0}


def test_in_a_cross_validation_the_null_model_is_that_of_the_other_rows():
    mean, std = RNG.normal(size=40), np.full(40, 0.7)
    judged = Sample("cv", False, Y, np.arange(40), mean, std, is_cross_validated=True)
    difference = []
    for i in range(40):
        rest = np.delete(Y, i)
        null = stats.norm(rest.mean(), np.sqrt(rest.var(ddof=1) * (1.0 + 1.0 / 39.0)))
        difference.append(stats.norm(mean[i], 0.7).logpdf(Y[i]) - null.logpdf(Y[i]))
    gain = held_out_gain(SUBJECT, judged)
    assert gain.total == pytest.approx(np.sum(difference))
    assert gain.std == pytest.approx(np.std(difference, ddof=1) * np.sqrt(40))


def test_of_held_out_rows_it_is_that_of_the_training_rows():
    y = np.array([0.0, 1.0, 5.0])
    judged = Sample("held-out rows", False, y, np.arange(3), y, np.full(3, 0.5))
    null = stats.norm(Y.mean(), np.sqrt(Y.var(ddof=1) * (1.0 + 1.0 / 40.0)))
    expected = np.sum(stats.norm(y, 0.5).logpdf(y) - null.logpdf(y))
    assert held_out_gain(SUBJECT, judged).total == pytest.approx(expected)


def test_of_classes_it_is_their_shares():
    labels = np.array(["a"] * 15 + ["b"] * 25)
    model = RVMClassifier(gamma=0.5).fit(X, labels)
    subject = Subject.of(model, X, labels, names=None, target="y", rows="training")
    probability = np.full((2, 2), 0.5)
    judged = Sample("new", False, np.array(["a", "b"]), np.arange(2), probability=probability)
    expected = np.log([0.5, 0.5]) - np.log([16 / 42, 26 / 42])
    assert held_out_gain(subject, judged).total == pytest.approx(expected.sum())


def test_rows_that_were_seen_say_nothing():
    judged = Sample("training rows", True, Y, np.arange(40), Y, np.ones(40))
    assert held_out_gain(SUBJECT, judged) is None
    assert not HeldOutGain(3.0, 2.0).is_shown
    assert HeldOutGain(5.0, 2.0).is_shown


@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_raises_the_evidence_but_is_not_called_knowledge(seed):
    rng = np.random.default_rng(seed)
    inputs, noise = rng.uniform(-3.0, 3.0, size=(60, 1)), rng.normal(size=60)
    report = make_report(RVMRegressor(gamma=50.0).fit(inputs, noise), inputs, noise, **FAST)
    assert report.evidence.log_evidence_gain > 1.0
    assert not report.held_out_gain.is_shown
    assert "Rows it has not seen do not show that it predicts better" in report.html
    assert "very strong" not in report.html


def test_a_signal_is_called_knowledge():
    report = make_report(MODEL, X, Y, **FAST)
    assert report.held_out_gain.total > 10.0
    assert "do not show that it predicts better" not in report.html
