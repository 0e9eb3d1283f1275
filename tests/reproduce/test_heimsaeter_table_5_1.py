"""Samples and inputs chosen together: printed columns, units of inputs, words, plots."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from reproduce.common.published import VARIABLE
from reproduce.common.regressions import HALVES
from reproduce.engine import Kind, Results, Settings
from reproduce.experiments import heimsaeter_table_5_1 as module

FIGURES = """
[heimsaeter.table_5_1]
rows = [
  ["sinc_unif", 100, 1, 10.1, 9.2, 1.0, 1.0, 0.023, 0.017],
  ["friedman1", 240, 10, 28.4, 18.0, 10.0, 7.0, 1.60, 1.14],
  ["diabetes", 20, 2, 20.1, 3.3, 10.0, 7.3, 61.24, 55.54],
  ["boston", 20, 2, 32.1, 11.0, 13.0, 3.3, 6.21, 5.87],
]
[heimsaeter.other]
friedman1_features = "features 1-5 kept in 100% of repetitions, 6-10 in about 35-40%"
diabetes_features = "some"
boston_features = "the first always"
"""
DATA = Path(os.environ.get(VARIABLE, "/nowhere"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(40, 2)) * [1.0, 100.0]
    rows = np.array([np.sort(rng.permutation(40)[:20]) for _ in range(3)])
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    for name, part in HALVES.items():
        arrays = {"X": X, "y": y, "feature_names": np.array(["a", "b"]), part: rows}
        np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path


@pytest.fixture
def settings(folder):
    return Settings(folder, repetitions=2)


@pytest.fixture
def results(settings):
    widths = {"sinc_unif": 1, "friedman1": 10}
    values = {}
    for task in module.EXPERIMENT.stages[0](settings, Results({}, {})):
        label, name, draw = task.arguments
        scale = np.ones(widths.get(name, 2))
        scale[6:] = 0.0
        values[task.key] = {
            "rmse": 1.0 + draw,
            "n_vectors": 4.0 if label == module.RVM else 2.0,
            "scale": scale,
            "n_inputs": int(scale.sum()),
            "seconds": 0.1,
            "converged": True,
        }
    return Results(values, dict.fromkeys(values, 0.1))


def test_printed_columns_are_told_apart(results, settings):
    cells = module.EXPERIMENT.cells(results, settings)
    assert len(cells) == 4 * 2 * 3 + 2
    found = {(cell.line, cell.column, cell.model): cell for cell in cells}
    for column, plain, choosing in (
        ("vectors", 28.4, 18.0),
        ("features", 10.0, 7.0),
        ("RMSE", 1.60, 1.14),
    ):
        assert found["Friedman #1", column, "RVM"].published == plain
        assert found["Friedman #1", column, "DRVM"].published == choosing
    assert found["Friedman #1", "vectors", "RVM"].ours == 4.0
    assert found["Friedman #1", "features", "RVM"].kind is Kind.PLAIN
    assert found["Friedman #1", "features", "DRVM"].truth == 5
    assert found["Boston", "features", "DRVM"].kind is Kind.SIZE
    assert found["Sinc", "RMSE", "DRVM"].unit == 1e-3
    assert found["Boston", "RMSE", "RVM"].ours == 1.5


def test_frequencies_that_are_printed_as_numbers(results, settings):
    *_, relevant, others = module.EXPERIMENT.cells(results, settings)
    assert (relevant.published, relevant.ours, relevant.truth) == (100.0, 100.0, 100.0)
    assert (others.published, others.ours, others.truth) == (37.5, 20.0, 0.0)
    assert others.unit == 5.0


def test_percentages_of_a_text():
    assert module.percentages("x in 100%, others in about 35-40% of 20") == [
        (100.0, 1.0),
        (37.5, 5.0),
    ]


def test_tables_and_plot(results, settings):
    tables = module.EXPERIMENT.tables(results, settings)
    titles = [table.title.partition(":")[0] for table in tables]
    assert titles == [*module.LINES.values(), *list(module.LINES.values())[1:]]
    assert [row[0] for row in tables[0].rows] == list(module.MODELS)
    assert tables[3].rows[-1][0] == "AlternatingDRVM, standardised"
    assert tables[-1].title.endswith("the thesis: the first always")
    assert tables[-1].head == ["", "a", "b"]
    (figure,) = module.EXPERIMENT.figures(results, settings).values()
    heights = [[bar.get_height() for bar in axes.patches] for axes in figure.axes]
    assert heights[0] == [100.0] * 6 + [0.0] * 4
    assert [len(each) for each in heights] == [10, 10, 2, 2]


@pytest.mark.slow
def test_units_matter_to_the_published_algorithm_only(folder):
    raw, standard = (
        module.fit(folder, module.REFERENCE, name, 0)["rmse"]
        for name in ("boston", module.STANDARD)
    )
    assert raw != pytest.approx(standard, rel=1e-2)
    raw, standard = (
        module.fit(folder, module.DRVM, name, 0) for name in ("boston", module.STANDARD)
    )
    assert raw["rmse"] == pytest.approx(standard["rmse"], rel=1e-3)
    assert raw["n_inputs"] == standard["n_inputs"]


@pytest.mark.slow
def test_models_fit_a_line(folder):
    for label in (module.RVM, module.REFERENCE, "least squares"):
        outcome = module.fit(folder, label, "sinc_unif", 0)
        assert outcome["rmse"] < (0.5 if label == "least squares" else 0.05), label
        assert outcome["n_inputs"] == 1


@pytest.mark.skipif(not (DATA / "boston.npz").is_file(), reason="data are not there")
def test_published_data():
    assert module.fit(DATA, module.RVM, "boston", 0)["rmse"] == pytest.approx(6.2, abs=1.5)
    assert len(module.fit(DATA, "least squares", "diabetes", 0)["scale"]) == 10
