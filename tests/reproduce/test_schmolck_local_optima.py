"""Runs in random order: where they end, what is said of many of them, and which print is meant."""

import numpy as np
import pytest

pytest.importorskip("pywt")
pytest.importorskip("matplotlib")

from reproduce.common.run_statistics import join, n_unique, scaled_unique, summarise
from reproduce.engine import Kind, Results, Settings
from reproduce.experiments import schmolck_local_optima as optima

PRINTED = """
[schmolck.other.sinc_local_minima]
symmlet_BIC = { MSE = 0.0017, data_MSE = 0.0055, S = 8 }
lspline3_BIC = { min_MSE = 0.0009, min_data_MSE = 0.0043, mean_MSE = 0.0083, max_MSE = 0.1006, max_data_MSE = 0.1142, oversmoothed_runs = 40, mean_MSE_without = 0.0013, unique_solutions = 568 }
lspline3_None = { min_MSE = 0.0010, min_data_MSE = 0.0043, mean_MSE = 0.0043, oversmoothed_runs = 32, unique_solutions = 38 }
[schmolck.other.blockssinc_local_minima]
None_converged = 81
runs = 1000
None_MSE_range = [4.4054, 4.4102]
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(PRINTED)
    rng = np.random.default_rng(0)
    arrays = {"sinc_64": np.sinc(np.linspace(-10, 10, 64) / np.pi), "blockssinc_256": np.ones(256)}
    for n in (64, 256):
        noise = rng.standard_normal((2, n))
        arrays[f"unit_noise_{n}"] = noise / noise.std(axis=1, ddof=1, keepdims=True)
    np.savez(tmp_path / "schmolck_signals.npz", **arrays)
    return tmp_path


@pytest.mark.slow
def test_the_order_decides_where_splines_end_but_not_wavelets(folder):
    ends = {}
    for dictionary in ("lspline", "symmlet"):
        what = ("sinc", dictionary, "bic", 0, 10, (0, 1, 2, 0), True)
        runs = optima.random_runs(folder, *what)
        assert runs["objective"][0] == runs["objective"][3]
        ends[dictionary] = runs
    assert n_unique(ends["lspline"]["atoms"]) > 1
    assert np.ptp(ends["symmlet"]["objective"]) < 1e-6
    default = optima.best_of_default(folder, "sinc", "symmlet", "bic", 0)
    assert default["atoms"] == ends["symmlet"]["atoms"][0]


def test_an_end_is_judged_against_truth_and_data(folder):
    runs = optima.random_runs(folder, "sinc", "lspline", "flat", 1, 40, (5,), True)
    _, truth, y = optima._data(folder, "sinc", 1)
    assert (y - truth).std(ddof=1) == pytest.approx(truth.std(ddof=1) / 5.0)
    curve = np.array(runs["curve"][0])
    assert runs["mse"][0] == pytest.approx(np.mean((curve - truth) ** 2), abs=1e-5)
    assert runs["data_mse"][0] == pytest.approx(np.mean((curve - y) ** 2), abs=1e-5)


def test_what_is_said_of_many_runs():
    runs = {"mse": [0.001, 0.1, 0.003], "data_mse": [0.004, 0.11, 0.005], "atoms": [[1], [2], [1]]}
    found = summarise(runs)
    assert found["min_data_MSE"] == 0.004
    assert found["max_data_MSE"] == 0.11
    assert found["oversmoothed_runs"] == pytest.approx(1000 / 3)
    assert found["mean_MSE_without"] == pytest.approx(0.002)
    assert np.isnan(summarise({"mse": [0.2], "data_mse": [0.2]})["mean_MSE_without"])
    assert len(join([runs, runs])["mse"]) == 6


def test_unique_solutions_of_other_draws_are_scaled_to_as_many_runs():
    first = {"atoms": [[i] for i in (1, 1, 2, 3, 4, 5)]}
    other = {"atoms": [[1], [2], [3]]}
    np.testing.assert_allclose(scaled_unique([first, other]), [5.0, 5.0 * 3 / 2])


def fake(arguments):
    """Return runs of which every second is oversmoothed."""
    signal, *_, seeds, _ = arguments
    n, count = optima.N[signal], len(seeds)
    error = [0.2 if seed % 2 else 0.001 for seed in seeds]
    return {
        "objective": [float(seed) for seed in seeds],
        "mse": error,
        "data_mse": [2.0 * each for each in error],
        "noise": [0.005] * count,
        "steps": [100] * count,
        "converged": [signal == "sinc"] * count,
        "atoms": [[0, 1 + seed % 3] for seed in seeds],
        "log_alpha": [[0.0, 1.0]] * count,
        "curve": [[0.0] * n] * count,
    }


@pytest.fixture
def faked(folder):
    settings = Settings(folder, is_quick=True)
    values = {}
    for task in optima.EXPERIMENT.stages[0](settings, Results({}, {})):
        if task.call is optima.random_runs:
            values[task.key] = fake(task.arguments)
        else:
            values[task.key] = {"objective": 50.0, "mse": 0.001, "atoms": [0, 1]}
    return Results(values, {}), settings


def test_cells_stand_next_to_the_print_they_mean(faked):
    cells = {(cell.line, cell.column): cell for cell in optima.EXPERIMENT.cells(*faked)}
    line = "Sinc, lspline 3.0, BIC"
    bad = cells[line, "oversmoothed of 1000"]
    assert (bad.published, bad.ours, bad.kind) == (40, 500.0, Kind.ERROR)
    assert cells[line, "largest MSE"].published == 0.1006
    assert cells[line, "unique solutions"].ours == 3
    assert ("Sinc, lspline 3.0, None", "largest MSE") not in cells
    mixed = "BlocksSinc, Haar and lspline, None"
    failed = cells[mixed, "runs not converged"]
    assert (failed.published, failed.ours) == (919, 1000.0)
    assert cells[mixed, "smallest total squared error"].ours == pytest.approx(256 * 0.001)


def test_tables_and_plots(faked):
    default, schedule = optima.EXPERIMENT.tables(*faked)
    assert default.rows[0][1] == "2 of 2"
    assert default.rows[0][3] == "+49.000"
    assert [row[1] for row in schedule.rows] == ["10", "20", "40"] * 2
    figures = optima.EXPERIMENT.figures(*faked)
    assert [name[-4:] for name in figures] == ["2_19", "2_20", "2_21", "2_22", "2_23"]
