"""Detection of training rows among the given rows."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from sklearn.datasets import load_iris

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.reporting import make_report

NONE = {"cv": 0, "n_bootstrap": 0}


def notes(report):
    return [unescape(each) for each in re.findall(r'<li class="warn">(.*?)</li>', report.html)]


def lead(report):
    return unescape(re.search(r'class="lead">(.*?)</p>', report.html).group(1))


def test_a_subset_of_the_training_rows_is_detected(sinc):
    model, inputs, y = sinc
    some = np.sort(np.r_[model.relevance_[:2], np.setdiff1d(np.arange(90), model.relevance_)[:30]])
    report = make_report(model, inputs[some], y[some], **NONE)
    assert list(report.metrics) == ["given rows"]
    assert "training rows" in lead(report)
    count = len(model.relevance_)
    assert any(
        f"2 of {count} relevance vectors are among the given rows" in note for note in notes(report)
    )
    declared = make_report(model, inputs[some], y[some], rows="new", **NONE)
    assert "held-out rows" in lead(declared)
    assert not any("vectors are among" in note for note in notes(declared))


def test_training_rows_in_single_precision_are_recognised(sinc):
    model, inputs, y = sinc
    report = make_report(model, inputs.astype(np.float32), y.astype(np.float32), **NONE)
    assert list(report.metrics) == ["training rows"]
    assert not any("are not the training targets" in note for note in notes(report))


def test_additional_rows_are_detected(sinc):
    model, inputs, y = sinc
    more = make_report(model, np.r_[inputs, inputs + 0.5], np.r_[y, y], **NONE)
    assert any("are not the training targets" in note for note in notes(more))
    assert not any(
        "are not the training targets" in note for note in notes(make_report(*sinc, **NONE))
    )


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}])
def test_other_targets_are_detected_without_relevance_vectors(options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] + 3.0 + 0.1 * rng.normal(size=50)
    model = SparseBayesRegressor(LinearBasis(), **options).fit(X, y)
    assert notes(make_report(model, X, y, **NONE))[0].startswith(
        "All metrics are computed on training rows"
    )
    other = make_report(model, X, y + 0.1 * X[:, 1], **NONE)
    assert any("are not the training targets" in note for note in notes(other))


def test_held_out_rows_that_are_training_rows_are_detected(sinc):
    model, inputs, y = sinc
    all_of_them = make_report(model, inputs, y, held_out=(inputs, y), **NONE)
    assert any(
        "90 of 90 held-out rows are also training rows" in note for note in notes(all_of_them)
    )
    assert "training rows" in lead(all_of_them)
    mixed = np.r_[inputs[:4], inputs[:20] + 0.3], np.r_[y[:4], y[:20]]
    assert any(
        "4 of 24 held-out rows" in note
        for note in notes(make_report(model, inputs, y, held_out=mixed, **NONE))
    )
    fresh = make_report(model, inputs, y, held_out=(inputs + 0.3, y), **NONE)
    assert not any("are also training rows" in note for note in notes(fresh))
    assert "held-out rows" in lead(fresh)


def test_training_rows_of_classifiers_are_detected():
    X, y = load_iris(return_X_y=True)
    model = RVMClassifier(gamma=0.5).fit(X[::2], y[::2])
    part = np.setdiff1d(np.arange(0, 150, 2), 2 * model.relevance_[:1])
    report = make_report(model, X[part], y[part], **NONE)
    assert any("vectors are among the given rows" in note for note in notes(report))
    twice = make_report(model, X[::2], y[::2], held_out=(X[::2], y[::2]), **NONE)
    assert any("75 of 75 held-out rows" in note for note in notes(twice))


@pytest.mark.slow
def test_lead_sentence_for_constant_and_unpredictable_targets():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 1))
    flat = make_report(RVMRegressor(gamma=1.0).fit(X, np.ones(30)), X, np.ones(30), cv=2)
    assert "nan" not in lead(flat)
    assert "The model has no relevance vectors." in lead(flat)
    assert "the target is constant" in lead(flat)
    y = rng.normal(size=30)
    noise = make_report(RVMRegressor(gamma=1.0, prior="ric").fit(X, y), X, y, cv=3)
    assert noise.metrics["3-fold cross-validation"]["r2"] < 0.0
    assert "worse than predicting the mean" in lead(noise)


def test_invalid_targets_raise(sinc):
    model, inputs, y = sinc
    with pytest.raises(
        ValueError, match=r"y must be finite; the value at position 3 is nan \(1 of"
    ):
        make_report(model, inputs, np.where(np.arange(90) == 3, np.nan, y), **NONE)
    with pytest.raises(ValueError, match="y must be numeric for a report of a regressor"):
        make_report(model, inputs, np.full(90, "high"), **NONE)
    both = RVMRegressor(gamma=0.1).fit(inputs, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"shape \(90,\) and the model has 2 targets"):
        make_report(both, inputs, y)
