"""Friedman's functions with learnt scales: tasks, printed columns, plots."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from reproduce.engine import Results, Settings
from reproduce.experiments import tipping_input_scales as module

FIGURES = """
[slides]
eta_rvr = [
  ["friedman1", 2.92, 2.80, 0.27, 116.6, 59.4, 11.5],
  ["friedman2", 4140.0, 3505.0, 2593.0, 110.3, 6.9, 3.9],
  ["friedman3", 0.0202, 0.0164, 0.0119, 106.5, 11.5, 6.4],
]
"""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return Settings(tmp_path, is_quick=True)


@pytest.fixture
def results(settings):
    values = {}
    for task in module.EXPERIMENT.stages[0](settings, Results({}, {})):
        _, kind, seed = task.arguments
        n = 10 if kind == 1 else 4
        scale = np.linspace(1.0, 0.0, n)
        values[task.key] = {
            "mse": seed - module.SEED + kind,
            "n_vectors": 5.0,
            "scale": scale,
            "relevance": scale,
            "n_inputs": n - 1,
            "seconds": 0.1,
            "converged": True,
        }
    return Results(values, dict.fromkeys(values, 0.1))


@pytest.mark.slow
def test_scales_find_the_inputs_that_matter():
    outcome = module.fit(None, module.MAIN, 1, 3)
    assert outcome["mse"] < 0.5
    assert np.all(np.array(outcome["scale"][:5]) > 0.0)
    assert outcome["n_inputs"] < 8


def test_cells_are_those_of_learnt_scales(results, settings):
    cells = module.EXPERIMENT.cells(results, settings)
    assert [cell.published for cell in cells] == [0.27, 11.5, 2593.0, 3.9, 0.0119, 6.4]
    # draws 0 and 1 of function #2
    assert cells[2].ours == 2.5
    assert cells[2].line == "Friedman #2"


def test_tables_have_a_row_for_each_model(results, settings):
    tables = module.EXPERIMENT.tables(results, settings)
    assert len(tables) == 6
    for table in tables:
        assert [row[0] for row in table.rows] == list(module.MODELS)
        assert {len(row) for row in table.rows} == {len(table.head)}
    assert tables[3].rows[0] == ["ard", "100", "100", "100", "0"]


def test_plots(results, settings):
    figures = module.EXPERIMENT.figures(results, settings)
    assert set(figures) == {"tipping_input_scales", "tipping_input_scales_errors"}
    scales, bars = figures.values()
    assert [len(axes.get_xticks()) for axes in scales.axes] == [10, 4, 4]
    labels = [label.get_text() for label in bars.axes[1].get_xticklabels()]
    assert labels == ["printed\n2593", "ours\n2.5"]
