"""Reports and notebook summaries of sampled models."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import (
    SampledRVMClassifier,
    SampledRVMRegressor,
    SampledSparseBayesClassifier,
    SampledSparseBayesRegressor,
)
from relvec.bases import LinearBasis
from relvec.reporting import make_report
from relvec.reporting.notebook import list_findings, render_summary
from relvec.reporting.sampling import get_evidence_subject
from relvec.reporting.subject import Subject

pytestmark = pytest.mark.slow
SHORT = {"n_chains": 2, "n_draws": 50, "max_doublings": 0, "random_state": 0}
X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 1] + 0.5 * X[:, 2] + 0.3 * np.random.default_rng(1).normal(size=60)
THREE = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]


def fitted(model, inputs=X, y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(inputs, y)


@pytest.fixture(scope="module")
def linear():
    frame = pd.DataFrame(X, columns=["age", "bmi", "<b>"])
    return fitted(SampledSparseBayesRegressor(LinearBasis(), **SHORT), frame), frame


@pytest.fixture(scope="module")
def report(linear):
    return make_report(linear[0], linear[1], Y, cv=3, target="price")


def get_section(html, key):
    return re.search(f'<section id="{key}">.*?</section>', html, re.DOTALL).group()


def test_the_section_on_sampling(linear, report):
    section = get_section(report.html, "sampling")
    assert "The chains have NOT converged: of the quantities that count, largest R-hat" in section
    for words in ("bulk ESS", "MCSE", "Rival models", "Trace: noise", "Ranks: ", "chain 2"):
        assert words in section
    assert f"{linear[0].models_[0][1]:.3f}" in section
    assert "bmi" in section
    assert "&lt;b&gt;" in section
    assert "<b>, " not in section
    assert re.search(r"regression function</dt><dd>[\d.]+ times as wide", section)


def test_sections_that_need_weights_are_left_out(report):
    keys = re.findall('<section id="([a-z-]+)">', report.html)
    assert keys == ["performance", "plots", "sampling", "evidence", "model"]
    assert report.bias_variance is None


def test_evidence_is_that_of_the_evidence_model_and_says_so(linear, report):
    assert report.evidence.log_evidence == linear[0].evidence_model_.log_evidence_
    assert "values of the model of highest evidence (evidence_model_)" in report.html


def test_tiles_findings_and_lead(report):
    assert "average over sampled models of" in report.html
    assert "The chains have not converged (R-hat" in report.html
    assert "Its chains are short" in get_section(report.html, "performance")
    assert report.metrics["3-fold cross-validation"]["rmse"] < 0.5


def test_a_kernel_model_of_one_feature():
    model = fitted(SampledRVMRegressor(gamma=0.5, **SHORT), X[:, :1], np.sin(X[:, 0]) + 0.1 * Y)
    page = make_report(model, X[:, :1], np.sin(X[:, 0]) + 0.1 * Y, cv=0).html
    section = get_section(page, "sampling")
    assert "Inclusion: relevance vectors" in section
    assert "Inclusion: features" not in section
    assert "Weighted basis functions" not in page


def test_a_kernel_model_of_several_features_in_a_pipeline():
    model = fitted(make_pipeline(StandardScaler(), SampledRVMRegressor(gamma=0.1, **SHORT)))
    page = make_report(model, X, Y, cv=0, held_out=(X[:20], Y[:20])).html
    assert "Inclusion: features" in get_section(page, "sampling")
    subject = Subject.build(model, X, Y, names=None, target="y", rows="auto")
    evidence = get_evidence_subject(subject)
    assert evidence.model is model[-1].evidence_model_
    np.testing.assert_array_equal(evidence.X, model[:-1].transform(X))


@pytest.mark.parametrize(
    "model", [SampledRVMClassifier(gamma=0.1), SampledSparseBayesClassifier(LinearBasis())]
)
def test_classifiers(model):
    y = THREE if isinstance(model, SampledSparseBayesClassifier) else Y > 0.0
    model = fitted(model.set_params(**SHORT), X, y)
    report = make_report(model, X, y, cv=0)
    section = get_section(report.html, "sampling")
    assert "largest difference of probabilities" in section
    assert "noise" not in section.lower()
    assert report.metrics["training rows"]["error_rate"] < 0.5


def test_other_targets_than_those_of_the_fit(linear):
    page = make_report(linear[0], linear[1], 2.0 * Y, cv=0).html
    assert "The given targets are not the training targets" in page


def test_summary_in_a_notebook(linear):
    findings = dict(list_findings(linear[0]))
    assert re.fullmatch(r"[\d.]+ \(95 % interval \d to \d\), of 3", findings["basis functions"])
    assert findings["draws"] == "2 chains of 50"
    assert findings["chains"].startswith("not converged: ")
    assert "age" in findings["feature inclusion probability"]
    html = render_summary(linear[0])
    assert "&lt;b&gt;" in html
    assert linear[0]._repr_html_().count("not converged") == 1
    assert not list_findings(SampledSparseBayesRegressor())
