"""A line by Gaussians of two widths: what is drawn agrees with the theory, cells with the print."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from reproduce.engine import Results, Settings
from reproduce.experiments import lalchand_chapter_7 as chapter

PRINTED = """
[lalchand]
fig_7_6 = { width = 1, basis_functions = 17, iterations = 237 }
fig_7_7 = { width = 2, basis_functions = 8, iterations = 45 }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(PRINTED)
    rng = np.random.default_rng(0)
    places = {"grid": np.linspace(-10, 10, 60), "rand": np.sort(rng.uniform(-10, 10, 60))}
    arrays = {f"x_{name}": x for name, x in places.items()}
    arrays |= {f"f_{name}": chapter._function(x) for name, x in places.items()}
    np.savez(tmp_path / "lalchand.npz", unit_noise=rng.standard_normal((2, 60)), **arrays)
    return tmp_path


def test_factors_of_a_report_give_the_precisions_of_its_weights(folder):
    found = chapter.report(folder, "grid", 2.0, 0.1)
    x, _, y = chapter._data(folder, "grid", 0.1, 0)
    model = chapter._model(x, y, 2.0, chapter.TextbookSolver())
    at_maximum = found["sparsity"] ** 2 / (found["quality"] - found["sparsity"])
    np.testing.assert_allclose(at_maximum, model.weight_precision_, rtol=0.01)
    assert found["evidence"][-1] == pytest.approx(model.log_evidence_)
    assert found["cuts"][-1] == model.n_iter_


def test_a_fit_finds_the_noise_and_the_default_has_no_less_evidence(folder):
    found = chapter.fit(folder, "grid", 2.0, 0.1, 1)
    assert found["noise"] == pytest.approx(0.1, rel=0.4)
    assert found["rms"] < 0.1
    assert found["default_evidence"] > found["evidence"] - 0.01


@pytest.mark.slow
def test_cells_and_plots(folder):
    settings = Settings(folder, is_quick=True)
    values = {
        task.key: {"size": 10 * task.arguments[1], "steps": 7, "rms": 0.1, "noise": 0.1}
        | {"evidence": 1.0, "default_size": 3, "default_rms": 0.1, "default_evidence": 2.0}
        for task in chapter._tasks(settings, Results({}, {}))
        if task.call is chapter.fit
    }
    drawn = chapter.report(folder, "rand", 2.0, 0.5)
    values |= {f"report/{setup.key}": drawn for setup in chapter.PICTURES.values()}
    results = Results(values, {})
    cells = chapter.EXPERIMENT.cells(results, settings)
    assert [cell.published for cell in cells] == [17, 237, 8, 45]
    assert [cell.ours for cell in cells] == [10, 7, 20, 7]
    shown, levels = chapter.EXPERIMENT.tables(results, settings)
    assert [row[-1] for row in shown.rows] == ["+1.00"] * 6
    assert [row[1] for row in levels.rows] == ["0.05", "0.1", "0.2", "0.3", "0.5"] * 2
    assert len(chapter.EXPERIMENT.figures(results, settings)) == 7
