"""Reports and notebook summaries of constructed kernels."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from relvec import KernelSearchRegressor
from relvec.reporting import make_report
from relvec.reporting.notebook import list_findings, render_summary
from relvec.reporting.structure_figures import make_date_ticks

T = np.arange(84.0)[:, np.newaxis]
Y = (
    0.1 * T[:, 0]
    + np.sin(2 * np.pi * T[:, 0] / 12)
    + 0.2 * np.random.default_rng(0).normal(size=84)
)
DATES = np.arange("2010-01", "2017-01", dtype="datetime64[M]").astype("datetime64[D]")


@pytest.fixture(scope="module")
def model():
    return KernelSearchRegressor(effort="fast").fit(T, Y)


@pytest.fixture(scope="module")
def report(model):
    return make_report(model, T, Y, cv=2, unit="months", target="sales")


def get_section(html, key):
    return re.search(f'<section id="{key}">.*?</section>', html, re.DOTALL).group()


def test_sections(model, report):
    keys = re.findall('<section id="([a-z-]+)">', report.html)
    assert keys == ["structure", "performance", "plots", "evidence", "model"]
    section = get_section(report.html, "structure")
    for line in model.explain("months").splitlines():
        assert line.removeprefix("- ") in section
    assert section.count("<figure") == 1 + len(model.components_)
    for each in model.structures_[:10]:
        assert f'<td class="words">{each.name}' in section
    assert report.bias_variance is None
    assert report.evidence.log_evidence == model.log_evidence_


def test_rolling_origins_do_not_use_later_rows(model, report):
    metrics = report.metrics["2 rolling origins"]
    assert "Rolling origins: the second half" in get_section(report.html, "performance")
    pieces = []
    for start, end in ((42, 63), (63, 84)):
        fold = KernelSearchRegressor(effort="fast").fit(T[:start], Y[:start])
        pieces.append(Y[start:end] - fold.predict(T[start:end]))
    expected = np.sqrt(np.mean(np.concatenate(pieces) ** 2))
    assert metrics["rmse"] == pytest.approx(expected, rel=1e-6)
    training = report.metrics["training rows"]
    assert training["mlpd"] == pytest.approx(model.log_predictive_density(T, Y).mean(), rel=1e-6)
    inside = model.predict_interval(T, 0.8)
    covered = np.mean((inside[:, 0] <= Y) & (inside[:, 1] >= Y))
    assert training["coverage_80"] == pytest.approx(covered)


def test_rows_in_another_order_are_the_same(model, report):
    order = np.random.default_rng(1).permutation(84)
    other = make_report(model, T[order], Y[order], cv=2)
    first, second = (each.metrics["2 rolling origins"]["rmse"] for each in (report, other))
    assert first == pytest.approx(second, rel=1e-6)


def test_whose_rows_they_are(model):
    assert "training rows" in make_report(model, T, Y, cv=0).metrics
    later = make_report(model, T + 84.0, Y, cv=0)
    assert list(later.metrics) == ["given rows"]
    mixed = make_report(model, np.vstack([T, T[-5:] + 5.0]), np.r_[Y, Y[-5:] + 1.0], cv=0).html
    assert "84 of 89 given rows are training rows" in mixed


def test_dates_and_held_out_rows():
    index = pd.DatetimeIndex(DATES)
    model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(index[:72], Y[:72])
    report = make_report(model, index[:72], Y[:72], held_out=(index[72:], Y[72:]), cv=0)
    assert list(report.metrics) == ["training rows", "held-out rows"]
    assert ">2012</text>" in report.html
    assert model.report(DATES[:72], Y[:72], cv=0).title.startswith("KernelSearchRegressor")


def test_no_structure():
    y = np.random.default_rng(4).normal(size=84)
    model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(T, y)
    assert model.expression_ == "none"
    html = make_report(model, T, y, cv=0).html
    assert "No structure was found: the prediction is nearly constant." in html


def test_summary_in_a_notebook(model):
    findings = dict(list_findings(model))
    assert findings["structure"] == model.expression_
    assert float(findings["periods"].split(",")[0]) == pytest.approx(12.0, rel=0.01)
    assert float(findings["noise (standard deviation)"]) == pytest.approx(0.2, rel=0.3)
    assert model.expression_ in render_summary(model)
    assert model.expression_ in model._repr_html_()
    assert not list_findings(KernelSearchRegressor())


@pytest.mark.parametrize(
    ("start", "end", "first"),
    [("1950-03-01", "2020-01-01", "1960"), ("2020-01-05", "2020-02-05", "2020-01-09")],
)
def test_ticks_of_dates(start, end, first):
    low, high = (np.datetime64(each).astype(float) for each in (start, end))
    ticks = make_date_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert ticks[0][1] == first
    for day, text in ticks:
        assert np.datetime64(text).astype("datetime64[D]").astype(float) == day
