"""Names, words and pictures of inputs and of what they explain."""

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
from relvec.reporting.along import effect_figures, inputs_by_effect, rows_at_values
from relvec.reporting.figures import relevance_figure
from relvec.reporting.findings import about_fit
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


def subject_of(model, X=TABLE, y=PRICE, names=NAMES):
    return Subject.of(model.fit(X, y), X, y, names=names, target="price", rows="auto")


def text_of(html):
    return re.sub(r"<[^>]+>", " ", html)


@pytest.fixture(scope="module")
def scaled():
    return subject_of(encoded(RVMRegressor(length_scales="ard", random_state=0)))


def test_columns_are_called_by_the_names_that_were_given():
    model = encoded(SparseBayesRegressor(LinearBasis())).fit(TABLE, PRICE)
    words = text_of(make_report(model, TABLE, PRICE, names=NAMES, target="price", **FAST).html)
    assert "Columns and weights" in words
    assert re.search(r"With \d columns? its predictions of price", words)
    assert "What a column adds to the prediction of price when it rises by one" in words
    assert "area" in words
    assert not re.search(r"\bx\d\b|[Vv]ector", words)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "words"),
    [(["low", "high"], "the log odds"), (["low", "middle", "high"], "the logit of a class")],
)
def test_columns_of_classes(labels, words):
    place = np.digitize(PRICE, np.quantile(PRICE, np.linspace(0, 1, len(labels) + 1)[1:-1]))
    y = np.array(labels)[place]
    model = encoded(SparseBayesClassifier(LinearBasis(), multi_class="one_vs_rest")).fit(TABLE, y)
    html = make_report(model, TABLE, y, names=NAMES, **FAST).html
    assert f"What a column adds to {words} when it rises by one" in html
    assert not re.search(r"\bx\d\b", text_of(html))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("basis", "unit"),
    [
        (LinearBasis(), "column"),
        (KernelBasis(gamma=1e-3), "vector"),
        (PolynomialBasis(2), "term"),
        (KernelBasis(gamma=1e-3) + LinearBasis(), "term"),
    ],
)
def test_what_a_weight_belongs_to_has_a_name(basis, unit):
    subject = subject_of(encoded(SparseBayesRegressor(basis)))
    assert subject.unit == unit
    assert subject.counted(1) == f"1 {unit}"
    assert subject.counted(2) == f"2 {unit}s"


def test_precomputed_kernels_have_vectors():
    gram = np.exp(-1e-4 * (AREA[:, None] - AREA) ** 2)
    assert subject_of(RVMRegressor("precomputed"), gram, names=None).unit == "vector"


def test_nothing_kept_is_said_in_the_words_of_the_basis():
    y = RNG.normal(size=N)
    subject = subject_of(SparseBayesRegressor(LinearBasis()), RNG.normal(size=(N, 2)), y, None)
    assert not len(subject.model.relevance_)
    report = make_report(subject.estimator, subject.X, y, **FAST)
    assert "Without columns its" in text_of(report.html)
    assert "No column was kept" in text_of(report.html)


@pytest.mark.slow
def test_inputs_are_in_the_order_of_what_they_explain(scaled):
    model = scaled.model
    order = order_features(model)
    used = int(np.count_nonzero(model.feature_relevance_))
    assert 0 < used < len(NAMES)
    assert (np.diff(model.feature_gain_[order[:used]]) <= 0).all()
    assert (model.feature_relevance_[order[used:]] == 0).all()
    assert NAMES[order[0]] == "area"
    # what bends most here is not what explains most, or this test would show nothing
    assert np.argmax(model.feature_relevance_) != order[0]
    titles = [figure.title for figure in effect_figures(scaled, scaled.space())]
    assert titles == [f"Effect of {NAMES[i]}" for i in order[:used]]


def test_the_picture_of_inputs_shows_both(scaled):
    figure = relevance_figure(scaled)
    assert "log evidence it brings" in figure.svg
    assert f"brings {scaled.model.feature_gain_[0]:.0f} nats" in figure.svg
    assert figure.svg.count(">bends ") == np.count_nonzero(scaled.model.feature_relevance_)
    assert "not how fast the function bends" in figure.caption


def test_without_gains_relevance_orders_inputs():
    class Bent:
        feature_relevance_ = np.array([0.1, 0.0, 2.0])
        feature_gain_ = np.full(3, np.nan)

    assert order_features(Bent()).tolist() == [2, 0, 1]


def test_without_scales_effects_are_in_the_order_of_their_size():
    X = RNG.normal(size=(N, 4)) * [1.0, 100.0, 1.0, 1.0]
    y = 2.0 * X[:, 0] + 0.1 * X[:, 1] + 0.01 * RNG.normal(size=N)
    model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    subject = Subject.of(model, X, y, names=None, target="y", rows="auto")
    assert set(inputs_by_effect(subject, subject.space()).tolist()) == set(
        model.relevance_.tolist()
    )
    assert inputs_by_effect(subject, subject.space())[:2].tolist() == [1, 0]


def test_few_values_are_points_with_error_bars(scaled):
    space = scaled.space()
    figures = {figure.title: figure for figure in effect_figures(scaled, space)}
    line, town = figures["Effect of area"], figures["Effect of town = Wien"]
    assert 'class="area model soft"' in line.svg
    assert "area model soft" not in town.svg
    assert town.svg.count("<circle") == 2
    assert re.findall(r'text-anchor="middle">(.*?)</text>', town.svg)[:2] == ["0", "1"]
    mean, std = scaled.model.predict(
        [[*np.median(TABLE.drop("town").to_numpy(), axis=0), town] for town in (0.0, 1.0)],
        return_std=True,
    )
    for value, a, b in zip((0, 1), mean, std, strict=True):
        assert f"town = Wien {value}: {a:.0f} ± {b:.3g}; " in town.svg


def test_levels_that_exclude_one_another_are_not_both_on():
    marks = np.column_stack([AREA, TOWN == "Graz", TOWN == "Wien"]).astype(float)
    rows = rows_at_values(marks, 2, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(rows[:, 1:], [[1.0, 0.0], [0.0, 1.0]])
    assert (rows[:, 0] == np.median(AREA)).all()


def test_values_that_differ_in_every_row_are_a_line():
    X = np.linspace(0.0, 1.0, 7)[:, None] * [1.0, 2.0]
    y = X[:, 0] + np.array([0.1, -0.1, 0.0, 0.1, 0.0, -0.1, 0.0])
    subject = subject_of(SparseBayesRegressor(LinearBasis()), X, y, None)
    figures = effect_figures(subject, subject.space())
    assert figures
    assert all("area model soft" in figure.svg for figure in figures)


def test_gaps_in_the_table_do_not_hide_effects():
    X = np.column_stack([AREA, ROOMS])
    X[::10, 1] = np.nan
    y = AREA + 20.0 * ROOMS
    subject = subject_of(
        make_pipeline(SimpleImputer(strategy="most_frequent"), SparseBayesRegressor(LinearBasis())),
        X,
        y,
        ["area", "rooms"],
    )
    figures = {figure.title: figure for figure in effect_figures(subject, subject.space())}
    assert figures["Effect of rooms"].svg.count("<circle") == len(np.unique(ROOMS))


@pytest.mark.slow
def test_the_table_says_of_what_its_figures_are(scaled):
    html = make_report(scaled.estimator, TABLE, PRICE, cv=2, n_bootstrap=0).html
    assert "A figure is of all these predictions at once" in html


def test_a_report_is_written_in_one_step(sinc_report, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o600)

    def fail(*_):
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no room"):
            sinc_report.save(path)
    assert path.read_text() == "old"
    assert sinc_report.save(path) == path
    assert path.read_text(encoding="utf-8") == sinc_report.html
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["page.html"]


def test_places_that_hold_no_file(sinc, sinc_report, tmp_path):
    for path, error, words in (
        (tmp_path, IsADirectoryError, "is a folder; give the name of a file in it"),
        (tmp_path / "no" / "page.html", FileNotFoundError, "does not exist; make it first"),
    ):
        with pytest.raises(error, match=words):
            sinc_report.save(path)
        with pytest.raises(error, match=words):
            make_report(sinc[0], None, None, path=path)  # it is seen before the work


def test_a_cap_on_columns_is_not_mended_by_kernels():
    class Full:
        converged_, reached_max_active_, relevance_ = True, True, [0]

    class About:
        model, unit, units = Full, "column", "columns"

    class Facts:
        log_evidence_gain = 10.0

    (found,) = about_fit(About, Facts)
    assert found.words.startswith("The cap on columns was reached")
    assert "kernels" not in found.words


def test_one_input_of_few_values_has_no_curve():
    flag = (TOWN == "Wien").astype(float)[:, None]
    model = SparseBayesRegressor(LinearBasis()).fit(flag, PRICE)
    html = make_report(model, flag, PRICE, names=["Wien"], **FAST).html
    assert "<h3>Effect of Wien</h3>" in html
    assert "<h3>Fit</h3>" not in html
