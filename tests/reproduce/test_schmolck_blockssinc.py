"""Figures 2.14 and 2.15 of Schmolck (2008): the data, the height that is inferred, the cells."""

import numpy as np
import pytest

pytest.importorskip("pywt")

from relvec.datasets import make_signal
from reproduce.engine import Results, Settings
from reproduce.experiments.schmolck_blockssinc import (
    EXPERIMENT,
    HEIGHTS,
    LINES,
    fit_line,
    likely_height,
    make_draw,
)

FIGURES = """
[schmolck.other]
blockssinc_fig_2_14 = { SNR = 7.0, prior = "RIC", N_inferred = 64, tpspline3 = { MSE = 0.379, S = 72 }, haar = { MSE = 0.020, S = 75 }, haar_plus_tpspline = { MSE = 0.009, S = 88 }, rvm_none_haar_plus_tpspline = { MSE = 0.024, S = 419 } }
"""  # noqa: E501


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return Settings(folder=tmp_path, repetitions=1, is_quick=True)


@pytest.fixture
def results(settings):
    values = {}
    for stage in EXPERIMENT.stages:
        tasks = stage(settings, Results(values, {}))
        values |= {task.key: task.call(settings.folder, *task.arguments) for task in tasks}
    return Results(values, {})


def test_one_signal_follows_the_other():
    blocks, sinc, noisy = make_draw(128, 7.0, 3.0, 0)
    np.testing.assert_allclose(blocks[:64], make_signal("blocks", 64, grid="linspace"))
    np.testing.assert_allclose(sinc[64:], 3.0 * make_signal("sinc", 64))
    assert not blocks[64:].any()
    assert not sinc[:64].any()
    clean = blocks + sinc
    assert (noisy - clean).std(ddof=1) == pytest.approx(clean.std(ddof=1) / 7.0)


@pytest.mark.slow
def test_contributions_add_up_and_are_counted():
    value = fit_line(None, "haar_plus_tpspline", 128, 7.0, 4.0, 0)
    assert sum(value["by_part"]) == value["n_components"]
    error = np.mean((np.sum(value["parts"], axis=0) - value["clean"]) ** 2)
    assert value["error"] == pytest.approx(error)
    assert "separation" not in fit_line(None, "haar", 128, 7.0, 4.0, 0)


def test_the_height_is_the_one_whose_line_is_nearest():
    def line(n_components, error):
        return {"n_components": n_components, "error": error}

    values = {f"height {height}/haar/0": line(40, 0.1) for height in HEIGHTS}
    values |= {f"height {height}/haar/1": line(44, 0.2) for height in HEIGHTS}
    values |= {"height 5/haar/0": line(74, 0.019), "height 5/haar/1": line(76, 0.021)}
    printed = {"haar": {"MSE": 0.020, "S": 75}}
    assert likely_height(Results(values, {}), printed) == 5


@pytest.mark.slow
def test_cells_tables_and_plots(results, settings):
    cells = EXPERIMENT.cells(results, settings)
    assert [cell.published for cell in cells] == [0.379, 72, 0.020, 75, 0.009, 88, 0.024, 419]
    assert [cell.model for cell in cells[::2]] == ["sRVM", "sRVM", "sRVM", "RVM"]
    assert [cell.is_test for cell in cells[::2]] == [True, False, True, False]
    heights, chosen, described = EXPERIMENT.tables(results, settings)
    assert len(heights.rows) == len(HEIGHTS)
    assert len(chosen.rows) == len(described.rows) == len(LINES)
    figures = EXPERIMENT.figures(results, settings)
    assert [len(figure.axes) for figure in figures.values()] == [3, 2]
