"""Content of reports, and the computations behind them."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import (
    PFCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SmoothDenoiser,
    SparseBayesRegressor,
)
from relvec.bases import LinearBasis
from relvec.reporting import make_report
from relvec.reporting.evidence import compute_evidence_summary
from relvec.reporting.findings import assess_intervals, collect_findings
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
Y = 2.0 * X[:, 0] + np.sin(X[:, 1]) + 0.2 * RNG.normal(size=60)
KINDS = np.digitize(Y, [-1.0, 1.0])
FAST = {"cv": 2, "n_bootstrap": 2}


class Page(HTMLParser):
    """Tags, ids, links and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.links, self.open, self.words = [], [], [], []
        self.headings = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        names = ("src", "href", "action", "data", "poster", "srcset", "xlink:href", "background")
        self.links += [given[name] for name in names if name in given]
        if tag not in ("meta", "link", "br", "path", "circle", "rect", "image"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("path", "circle", "rect", "image"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)
        if self.open and self.open[-1] in ("h2", "h3"):
            self.headings.append(data)

    @property
    def text(self):
        return " ".join(self.words)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sinc_report", "snake_report"])
def test_page_is_valid_and_self_contained(name, request):
    report = request.getfixturevalue(name)
    page = Page(report.html)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link.startswith("data:") or link[1:] in page.ids
    own = re.sub(r"data:image/png;base64,[\w+/=]+", "", report.html)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bfetch\(|XMLHttpRequest", own)
    assert "default-src &#x27;none&#x27;" in report.html
    assert len(report.html) < 300_000


def test_sections_of_a_regression(sinc_report):
    page = Page(sinc_report.html)
    for heading in (
        "Predictive performance",
        "Bias–variance decomposition",
        "Fit",
        "Predicted vs. observed",
        "Coverage of predictive intervals",
        "Standardised residuals",
        "Normal Q–Q plot",
        "Weighted basis functions",
        "Weights",
        "Evidence (marginal likelihood)",
        "Relevance vectors and weights",
        "Model",
    ):
        assert heading in page.headings
    assert "height" in page.text
    assert "90 rows, training" in page.text
    assert "90 rows, held out" in page.text


def test_sections_of_a_classification(snake_report):
    page = Page(snake_report.html)
    for heading in (
        "Decision surface",
        "Confusion matrix",
        "Reliability diagram",
        "ROC curve",
        "Weights",
    ):
        assert heading in page.headings
    assert "Bias–variance decomposition" not in page.headings


def test_metrics_agree_with_the_model(sinc, sinc_report):
    model, inputs, y = sinc
    trained = sinc_report.metrics["training rows"]
    assert trained["mse"] == pytest.approx(np.mean((y - model.predict(inputs)) ** 2))
    density = model.log_predictive_density(inputs, y).mean()
    assert trained["mlpd"] == pytest.approx(density)
    out_of_fold = sinc_report.metrics["3-fold cross-validation"]
    assert out_of_fold["mse"] > trained["mse"]
    assert sinc_report.evidence.log_evidence == model.log_evidence_
    assert sinc_report.bias_variance.n_fits == 10


def test_cross_validation_agrees_with_scikit_learn(snake, snake_report):
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    model, inputs, y = snake
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, inputs, y, cv=folds)
    error = snake_report.metrics["3-fold cross-validation"]["error_rate"]
    assert error == pytest.approx(np.mean(predicted != y))


def test_table_contains_all_relevance_vectors(sinc, sinc_report):
    model = sinc[0]
    rows = re.findall(r'<td data-value="([^"]+)">', sinc_report.html.split("sortable", 1)[1])
    weights = [float(value) for value in rows[::4]]
    np.testing.assert_allclose(weights, model.coef_)
    np.testing.assert_allclose([float(v) for v in rows[3::4]], model.relevance_vectors_[:, 0])


def test_held_out_rows_are_evaluated_last(sinc):
    model, inputs, y = sinc
    new = np.linspace(-9.0, 9.0, 30)[:, None]
    report = make_report(model, inputs, y, held_out=(new, np.zeros(30)), **FAST)
    assert list(report.metrics)[-1] == "held-out rows"
    assert report.metrics["held-out rows"]["mse"] == pytest.approx(np.mean(model.predict(new) ** 2))


def test_other_rows_are_not_taken_for_training_rows(sinc):
    model, inputs, y = sinc
    assert list(make_report(model, inputs + 0.01, y, **FAST).metrics) == ["given rows"]
    shuffled = np.random.default_rng(0).permutation(len(y))
    names = list(make_report(model, inputs[shuffled], y[shuffled], **FAST).metrics)
    assert names == ["training rows", "2-fold cross-validation"]
    forced = make_report(model, inputs, y, rows="new", **FAST)
    assert forced.bias_variance is None
    assert np.isnan(forced.evidence.aic)
    page = Page(forced.html)
    assert "AIC" not in page.text
    assert "the likelihood is not available" in page.text


def test_training_metrics_alone_give_a_warning(sinc):
    page = Page(make_report(*sinc, cv=0, n_bootstrap=0).html)
    assert "All metrics are computed on training rows" in page.text
    assert "Training rows: optimistic." in page.text
    assert "Bias–variance decomposition" not in page.headings


def test_report_is_saved_and_displayed(sinc, sinc_report, tmp_path):
    report = make_report(*sinc, path=tmp_path / "report.html", **FAST)
    assert report.path.read_text(encoding="utf-8") == report.html
    assert sinc_report.save(str(tmp_path / "again.html")).exists()
    shown = sinc_report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<h1>" not in shown  # escaped, inside the frame
    assert repr(sinc_report).startswith("Report('Sinc'")


@pytest.mark.slow
def test_reports_are_reproducible(sinc):
    first, again = (make_report(*sinc, cv=2, n_bootstrap=3) for _ in range(2))
    assert again.html == first.html


@pytest.mark.slow
def test_names_and_labels_are_escaped():
    bad = "<script>alert(1)</script>"
    names = [bad, "b&c", '"quoted"']
    labels = np.array([bad, "other"])[(Y > 0).astype(int)]
    table = pd.DataFrame(X, columns=names)
    for model, y in (
        (RVMRegressor().fit(table, Y), Y),
        (RVMClassifier(gamma=0.3).fit(table, labels), labels),
    ):
        report = make_report(model, table, y, target=bad, title=bad, **FAST)
        assert bad not in report.html
        assert report.html.count("<script>") == 1
        assert Page(report.html).open == []


@pytest.mark.slow
@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame])
def test_column_names_of_data_frames_are_used(container):
    table = container({"age": X[:, 0], "bmi": X[:, 1], "pressure": X[:, 2]})
    page = Page(make_report(RVMRegressor(gamma=0.1).fit(table, Y), table, Y, **FAST).html)
    assert "Effect of pressure" in page.headings


@pytest.mark.slow
def test_given_names_are_used():
    given = make_report(
        RVMRegressor(gamma=0.1).fit(X, Y), X, Y, names=["age", "bmi", "pulse"], **FAST
    )
    assert "Effect of pulse" in Page(given.html).headings


def kernel_matrix():
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "inputs", "y"),
    [
        (SparseBayesRegressor(LinearBasis()), X, Y),
        (SparseBayesRegressor(LinearBasis()), sparse.csr_matrix(X), Y),
        (SparseBayesRegressor(LinearBasis(), min_gain=1e6), X, Y),
        (SparseBayesRegressor(LinearBasis(), prior="laplace"), X, Y),
        (RVMRegressor("precomputed"), kernel_matrix(), Y),
        (make_pipeline(StandardScaler(), RVMRegressor(gamma=0.2)), X, Y),
        (RVMRegressor(gamma=1.0), X, np.ones(60)),
        (PFCVMClassifier(), X, KINDS > 0),
        (RVMClassifier(gamma=0.2), X, KINDS),
        (RVMClassifier(gamma=0.2, multi_class="one_vs_rest"), X, KINDS),
        (RVMClassifier(gamma=1.0), X[:, :1], np.array(["no", "yes"])[(Y > 0).astype(int)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_kinds_of_models(model, inputs, y):
    report = make_report(model.fit(inputs, y), inputs, y, **FAST)
    page = Page(report.html)
    assert page.open == []
    assert list(report.metrics) == ["training rows", "2-fold cross-validation"]
    assert not re.search(r'(?:cx|cy|[xy]|width|height)="-?(?:nan|inf)', report.html)


def test_no_cross_validation_with_a_class_of_one_row():
    y = np.arange(60) == 7
    report = make_report(RVMClassifier(gamma=0.3).fit(X, y), X, y, cv=5)
    assert list(report.metrics) == ["training rows"]


@pytest.mark.slow
def test_bad_input(sinc):
    model, inputs, y = sinc
    with pytest.raises(TypeError, match="regressor or classifier of relvec.*LinearRegression"):
        make_report(LinearRegression().fit(X, Y), X, Y)
    signal = np.sin(np.arange(64.0)) + np.random.default_rng(0).normal(size=64)
    with pytest.raises(TypeError, match="got SmoothDenoiser"):
        make_report(SmoothDenoiser(noise_std=1.0).fit(signal), X, Y)
    with pytest.raises(NotFittedError):
        make_report(RVMRegressor(), X, Y)
    with pytest.raises(ValueError, match="same rows, at least 2; got 90 and 3"):
        make_report(model, inputs, y[:3])
    two = np.column_stack([Y, Y])
    both = RVMRegressor(gamma=0.1).fit(X, two)
    with pytest.raises(ValueError, match=r"one target; y has shape \(60, 2\)"):
        make_report(both, X, two)
    with pytest.raises(ValueError, match="rows must be one of.*got 'train'. Did you mean"):
        make_report(model, inputs, y, rows="train")
    with pytest.raises(ValueError, match="cv must be 0 .* or at least 2 folds; got 1"):
        make_report(model, inputs, y, cv=1)
    with pytest.raises(ValueError, match="held_out must be a pair"):
        make_report(model, inputs, y, held_out=inputs, **FAST)
    with pytest.raises(ValueError, match="3 names, one per feature; got 1"):
        make_report(RVMRegressor(gamma=0.1).fit(X, Y), X, Y, names=["a"])
    known = RVMClassifier(gamma=0.3).fit(X, KINDS)
    with pytest.raises(ValueError, match="labels that are not among the classes of the model"):
        make_report(known, X, KINDS + 5)


@pytest.mark.slow
def test_matplotlib_is_not_needed():
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "import numpy as np\n"
        "from relvec import RVMRegressor\n"
        "from relvec.reporting import make_report\n"
        "X = np.linspace(0, 6, 30)[:, None]; y = np.sin(X[:, 0])\n"
        "model = RVMRegressor(gamma=1.0, noise_variance=0.01).fit(X, y)\n"
        "print(len(make_report(model, X, y, cv=0, n_bootstrap=0).html) > 20_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize(("scale", "is_news"), [(1.03, False), (1.2, True), (0.8, True)])
def test_slight_miscoverage_is_not_reported(sinc, scale, is_news):
    subject = Subject.build(*sinc, names=None, target="y", rows="new")
    y = np.random.default_rng(0).normal(size=100_000)
    rows = PredictionSet(
        "rows", False, y, np.arange(len(y)), np.zeros(len(y)), np.full(len(y), scale)
    )
    texts = [
        each.text for each in collect_findings(subject, [rows], compute_evidence_summary(subject))
    ]
    assert any("standard deviations are too" in text for text in texts) == is_news


def test_long_names_are_shortened():
    labels = np.array([f"a very long name of class {i}" for i in range(6)])
    kinds = labels[np.digitize(Y, [-2.0, -1.0, 0.0, 1.0, 2.0])]
    table = pd.DataFrame(X[:, :2], columns=["n" * 300, "m" * 300])
    model = RVMClassifier(gamma=0.3, multi_class="one_vs_rest").fit(table, kinds)
    html = make_report(model, table, kinds, cv=0).html
    words = re.findall(r"<text[^>]*>([^<]*)</text>", html)
    assert max(map(len, words)) < 80
    below = re.findall(r'text-anchor="middle">(a very[^<]*)</text>', html)
    assert len(below) == 6
    assert max(map(len, below)) <= 8


@pytest.mark.slow
def test_pipeline_with_imputation():
    holes = X.copy()
    holes[4, 1] = np.nan
    model = make_pipeline(SimpleImputer(), RVMRegressor(gamma=0.2)).fit(holes, Y)
    report = make_report(model, holes, Y, **FAST)
    assert list(report.metrics) == ["training rows", "2-fold cross-validation"]
    assert Page(report.html).open == []


def test_heavy_tails_are_reported():
    rng = np.random.default_rng(0)
    small = rng.random(1000) < 0.9
    errors = np.where(small, 0.1, 2.4) * rng.normal(size=1000)
    evaluated = PredictionSet(
        "new", False, errors, np.arange(1000), np.zeros(1000), np.full(1000, 1.0)
    )
    (found,) = assess_intervals(evaluated)
    assert not found.is_good
    assert "but 50 % intervals cover 9" in found.text
    assert "heavier tails" in found.text
    normal = dataclasses.replace(evaluated, y=rng.normal(size=1000))
    (found,) = assess_intervals(normal)
    assert found.is_good


def test_extrapolation_has_a_plot_and_a_finding():
    far = X + np.array([30.0, 0.0, 0.0])
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    report = make_report(model, X, Y, held_out=(far, Y), **FAST)
    assert "60 of 60 rows are extrapolations" in report.html
    assert "<h3>Extrapolation</h3>" in report.html
    near = make_report(model, X, Y, **FAST)
    assert "<h3>Extrapolation</h3>" not in near.html
