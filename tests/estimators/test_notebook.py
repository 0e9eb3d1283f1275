"""What models show of themselves in a notebook."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.reporting import Report
from relvec.reporting.notebook import list_findings

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3))
Y = 2.0 * X[:, 1] + np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=60)


def html_of(model):
    return model._repr_mimebundle_()["text/html"]


def rows_of(model):
    """Labels and values below the diagram."""
    table = html_of(model).rpartition("<table")[2]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table)
    return [re.sub("<[^>]*>", "", cell).strip() for cell in cells]


def test_before_the_fit_there_is_only_the_diagram():
    assert list_findings(RVMRegressor()) == []
    model = RVMRegressor()
    assert "log evidence (nats)" not in html_of(model)
    assert "RVMRegressor" in html_of(model)


def test_the_summary_says_what_the_attributes_say():
    model = RVMRegressor(gamma=0.3).fit(X, Y)
    found = dict(list_findings(model))
    assert found["relevance vectors"] == f"{len(model.relevance_)} of 60"
    assert float(found["noise (standard deviation)"]) == pytest.approx(
        model.noise_variance_**0.5, rel=1e-3
    )
    assert float(found["log evidence (nats)"]) == pytest.approx(model.log_evidence_, rel=1e-3)
    assert float(found["effective degrees of freedom"]) == pytest.approx(
        model.effective_dof_, rel=1e-3
    )
    assert "converged" not in found
    assert rows_of(model)[:2] == ["relevance vectors", found["relevance vectors"]]


@pytest.mark.slow
def test_inputs_are_ordered_by_what_they_explain():
    frame = pd.DataFrame(X, columns=["idle", "strong", "<b>weak</b>"])
    model = DRVMRegressor().fit(frame, 3.0 * X[:, 1] + np.sin(2.0 * X[:, 2]))
    shown = rows_of(model)
    order = [
        frame.columns[i] for i in np.argsort(-model.feature_gain_) if model.feature_gain_[i] > 0
    ]
    names = [cell for cell in shown if cell in ("strong", "idle") or "weak" in cell]
    assert names == [name.replace("<", "&lt;").replace(">", "&gt;") for name in order]
    assert "<b>weak" not in html_of(model).rpartition("<table")[2]


def test_classes_and_terms_have_their_words():
    labels = np.where(Y > 0, "high", "low & slow")
    found = dict(list_findings(RVMClassifier(gamma=0.3).fit(X, labels)))
    assert found["classes"] == "high, low & slow"
    assert "noise (standard deviation)" not in found
    model = SparseBayesRegressor(LinearBasis()).fit(X, Y)
    assert dict(list_findings(model))["basis functions"] == f"{len(model.relevance_)} of 3"


def test_several_outputs_are_listed():
    model = RVMRegressor(gamma=0.3).fit(X, np.column_stack([Y, -Y]))
    assert dict(list_findings(model))["noise (standard deviation)"].count(", ") == 1
    assert "<table" in html_of(model)


def test_what_went_wrong_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RVMRegressor(gamma=1e4).fit(X, Y)
    assert model.reached_max_active_
    assert "not identifiable" in dict(list_findings(model))["active-set cap"]


def test_scikit_learn_decides_whether_diagrams_are_shown():
    model = RVMRegressor(gamma=0.3).fit(X, Y)
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")
    assert model._repr_html_().endswith("</table>")


def test_inside_a_pipeline_the_diagram_is_that_of_scikit_learn():
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.3)).fit(X, Y)
    assert "log evidence (nats)" not in html_of(pipeline)


def test_report_is_that_of_the_room_of_reports(tmp_path):
    model = RVMRegressor(gamma=0.3).fit(X, Y)
    report = model.report(X, Y, title="Mine", cv=0, n_bootstrap=0, path=tmp_path / "page.html")
    assert isinstance(report, Report)
    assert report.title == "Mine"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html


def test_report_before_the_fit():
    with pytest.raises(NotFittedError):
        RVMRegressor().report(X, Y)


def test_a_method_with_an_underscore_is_no_fitted_attribute():
    assert "report" not in vars(clone(RVMRegressor(gamma=0.3).fit(X, Y)))
    with pytest.raises(NotFittedError):
        RVMRegressor().predict(X)
