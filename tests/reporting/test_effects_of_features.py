"""Names, relevance and effects of features in reports."""

from __future__ import annotations

import os
import re
import stat

import numpy as np
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from relvec import RVMRegressor, SparseBayesClassifier, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.describing import order_features
from relvec.reporting import make_report
from relvec.reporting.figures import make_relevance_figure
from relvec.reporting.findings import assess_fit
from relvec.reporting.function_figures import (
    make_effect_figures,
    make_rows_at_values,
    order_features_by_effect,
)
from relvec.reporting.subject import Subject

RNG = np.random.default_rng(8)
N = 120
AREA = RNG.uniform(30.0, 200.0, N)
ROOMS = RNG.integers(1, 9, N).astype(float)
TOWN = RNG.choice(["Graz", "Wien"], N, p=[0.7, 0.3])
TABLE = pl.DataFrame(
    {"area": AREA, "rooms": ROOMS, "town": TOWN, "door": RNG.integers(1, 90, N).astype(float)}
)
PRICE = 3.0 * AREA + 60.0 * (TOWN == "Wien") + 60.0 * np.sin(1.2 * ROOMS)
PRICE += 10.0 * RNG.normal(size=N)
NAMES = ["area", "rooms", "door", "town = Wien"]
FAST = {"cv": 0, "n_bootstrap": 0}


def encoded(model):
    encode = ColumnTransformer(
        [
            ("n", "passthrough", ["area", "rooms", "door"]),
            ("l", OneHotEncoder(drop="first"), ["town"]),
        ]
    )
    return make_pipeline(encode, model)


def build_subject(model, X=TABLE, y=PRICE, names=NAMES):
    return Subject.build(model.fit(X, y), X, y, names=names, target="price", rows="auto")


def strip_tags(html):
    return re.sub(r"<[^>]+>", " ", html)


@pytest.fixture(scope="module")
def scaled():
    return build_subject(encoded(RVMRegressor(length_scales="ard", random_state=0)))


def test_features_have_the_given_names():
    model = encoded(SparseBayesRegressor(LinearBasis())).fit(TABLE, PRICE)
    words = strip_tags(make_report(model, TABLE, PRICE, names=NAMES, target="price", **FAST).html)
    assert "Features and weights" in words
    assert re.search(r"RMSE of price on training rows: .* The model has \d features?\.", words)
    assert "Change in the prediction of price per unit increase of each feature." in words
    assert "area" in words
    assert not re.search(r"\bx\d\b|[Vv]ector", words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "words"),
    [(["low", "high"], "the log odds"), (["low", "middle", "high"], "the logit of a class")],
)
def test_weight_captions_of_classifiers(labels, words):
    place = np.digitize(PRICE, np.quantile(PRICE, np.linspace(0, 1, len(labels) + 1)[1:-1]))
    y = np.array(labels)[place]
    model = encoded(SparseBayesClassifier(LinearBasis(), multi_class="one_vs_rest")).fit(TABLE, y)
    html = make_report(model, TABLE, y, names=NAMES, **FAST).html
    assert f"Change in {words} per unit increase of each feature." in html
    assert not re.search(r"\bx\d\b", strip_tags(html))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("basis", "unit"),
    [
        (LinearBasis(), "feature"),
        (KernelBasis(gamma=1e-3), "relevance vector"),
        (PolynomialBasis(2), "basis function"),
        (KernelBasis(gamma=1e-3) + LinearBasis(), "basis function"),
    ],
)
def test_unit_of_each_basis(basis, unit):
    subject = build_subject(encoded(SparseBayesRegressor(basis)))
    assert subject.unit == unit
    assert subject.count_units(1) == f"1 {unit}"
    assert subject.count_units(2) == f"2 {unit}s"


def test_precomputed_kernels_have_relevance_vectors():
    gram = np.exp(-1e-4 * (AREA[:, None] - AREA) ** 2)
    assert build_subject(RVMRegressor("precomputed"), gram, names=None).unit == "relevance vector"


def test_empty_model_is_reported_by_unit():
    y = RNG.normal(size=N)
    subject = build_subject(SparseBayesRegressor(LinearBasis()), RNG.normal(size=(N, 2)), y, None)
    assert not len(subject.model.relevance_)
    report = make_report(subject.estimator, subject.X, y, **FAST)
    assert "The model has no features." in strip_tags(report.html)
    assert "No feature was selected: the prediction is constant." in strip_tags(report.html)


@pytest.mark.slow
def test_features_are_ordered_by_gain(scaled):
    model = scaled.model
    order = order_features(model)
    used = int(np.count_nonzero(model.feature_relevance_))
    assert 0 < used < len(NAMES)
    assert (np.diff(model.feature_gain_[order[:used]]) <= 0).all()
    assert (model.feature_relevance_[order[used:]] == 0).all()
    assert NAMES[order[0]] == "area"
    # the order by relevance must differ here from that by gain for this test to be meaningful
    assert np.argmax(model.feature_relevance_) != order[0]
    titles = [figure.title for figure in make_effect_figures(scaled, scaled.space())]
    assert titles == [f"Effect of {NAMES[i]}" for i in order[:used]]


def test_relevance_figure_shows_gain_and_relevance(scaled):
    figure = make_relevance_figure(scaled)
    assert "gain in log evidence" in figure.svg
    assert f", gain {scaled.model.feature_gain_[0]:.0f} nats" in figure.svg
    assert figure.svg.count(">relevance ") == np.count_nonzero(scaled.model.feature_relevance_)
    assert "loss of log evidence if the feature is removed" in figure.caption


def test_without_gains_features_are_ordered_by_relevance():
    class Model:
        feature_relevance_ = np.array([0.1, 0.0, 2.0])
        feature_gain_ = np.full(3, np.nan)

    assert order_features(Model()).tolist() == [2, 0, 1]


def test_without_relevances_features_are_ordered_by_effect():
    X = RNG.normal(size=(N, 4)) * [1.0, 100.0, 1.0, 1.0]
    y = 2.0 * X[:, 0] + 0.1 * X[:, 1] + 0.01 * RNG.normal(size=N)
    model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    subject = Subject.build(model, X, y, names=None, target="y", rows="auto")
    assert set(order_features_by_effect(subject, subject.space()).tolist()) == set(
        model.relevance_.tolist()
    )
    assert order_features_by_effect(subject, subject.space())[:2].tolist() == [1, 0]


def test_discrete_features_are_points_with_error_bars(scaled):
    space = scaled.space()
    figures = {figure.title: figure for figure in make_effect_figures(scaled, space)}
    line, town = figures["Effect of area"], figures["Effect of town = Wien"]
    assert 'class="area model soft"' in line.svg
    assert "area model soft" not in town.svg
    assert town.svg.count("<circle") == 2
    assert re.findall(r'text-anchor="middle">(.*?)</text>', town.svg)[:2] == ["0", "1"]
    rows = [[*np.median(TABLE.drop("town").to_numpy(), axis=0), town] for town in (0.0, 1.0)]
    mean, interval = scaled.model.predict(rows), scaled.model.predict_interval(rows)
    for value, a, (low, high) in zip((0, 1), mean, interval, strict=True):
        assert f"town = Wien {value}: {a:.0f} ({low:.0f} to {high:.0f}); " in town.svg


def test_indicators_of_one_categorical_variable_are_exclusive():
    marks = np.column_stack([AREA, TOWN == "Graz", TOWN == "Wien"]).astype(float)
    rows = make_rows_at_values(marks, 2, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(rows[:, 1:], [[1.0, 0.0], [0.0, 1.0]])
    assert (rows[:, 0] == np.median(AREA)).all()


def test_distinct_values_give_a_curve():
    X = np.linspace(0.0, 1.0, 7)[:, None] * [1.0, 2.0]
    y = X[:, 0] + np.array([0.1, -0.1, 0.0, 0.1, 0.0, -0.1, 0.0])
    subject = build_subject(SparseBayesRegressor(LinearBasis()), X, y, None)
    figures = make_effect_figures(subject, subject.space())
    assert figures
    assert all("area model soft" in figure.svg for figure in figures)


def test_effects_with_missing_values():
    X = np.column_stack([AREA, ROOMS])
    X[::10, 1] = np.nan
    y = AREA + 20.0 * ROOMS
    subject = build_subject(
        make_pipeline(SimpleImputer(strategy="most_frequent"), SparseBayesRegressor(LinearBasis())),
        X,
        y,
        ["area", "rooms"],
    )
    figures = {figure.title: figure for figure in make_effect_figures(subject, subject.space())}
    assert figures["Effect of rooms"].svg.count("<circle") == len(np.unique(ROOMS))


@pytest.mark.slow
def test_pooled_metrics_are_explained(scaled):
    html = make_report(scaled.estimator, TABLE, PRICE, cv=2, n_bootstrap=0).html
    assert "Its metrics pool the out-of-fold predictions of all rows" in html


def test_report_is_written_atomically(sinc_report, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o600)

    def fail(*_):
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no space"):
            sinc_report.save(path)
    assert path.read_text() == "old"
    assert sinc_report.save(path) == path
    assert path.read_text(encoding="utf-8") == sinc_report.html
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["page.html"]


def test_invalid_paths_raise_early(sinc, sinc_report, tmp_path):
    for path, error, words in (
        (tmp_path, IsADirectoryError, "is a folder; give the name of a file in it"),
        (tmp_path / "no" / "page.html", FileNotFoundError, "does not exist; create it first"),
    ):
        with pytest.raises(error, match=words):
            sinc_report.save(path)
        with pytest.raises(error, match=words):
            make_report(sinc[0], None, None, path=path)  # checked before any computation


def test_cap_on_the_active_set_of_a_linear_model():
    class Full:
        converged_, reached_max_active_, relevance_ = True, True, [0]

    class About:
        model, unit, units = Full, "feature", "features"

    class Facts:
        log_evidence_gain = 10.0

    (found,) = assess_fit(About, Facts)
    assert found.text.startswith("The cap on the active set was reached")
    assert "kernels" not in found.text


def test_a_single_discrete_feature_has_no_curve():
    flag = (TOWN == "Wien").astype(float)[:, None]
    model = SparseBayesRegressor(LinearBasis()).fit(flag, PRICE)
    html = make_report(model, flag, PRICE, names=["Wien"], **FAST).html
    assert "<h3>Effect of Wien</h3>" in html
    assert "<h3>Fit</h3>" not in html
