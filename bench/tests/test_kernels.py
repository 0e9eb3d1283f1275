"""The suite of kernel search must be right before its results are."""

import json
import warnings

import numpy as np
import pytest

import relvec
from bench import __main__ as command
from bench.accuracy.forecasts import NormalForecast
from bench.kernels import published, seasonal, suite, tabulate, worker
from bench.kernels.forecasts import LogForecast, SimulatedForecast, is_positive
from bench.kernels.methods import METHODS, NAMES, OURS, SEARCHES, methods_of
from bench.kernels.problems import CALENDARS, FILE, PARTS, STRUCTURES, Rows, draw, read_series
from bench.kernels.processes import find_period

N = 60


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of short monthly or yearly series; records are kept there as well."""
    arrays = {}
    for name, calendar in CALENDARS.items():
        place = np.arange(N)
        x = 1950.0 + calendar.step * place
        y = 200.0 + 2.0 * place + 40.0 * np.sin(2.0 * np.pi * place / 12.0) + place % 3
        rows = np.column_stack([x, y])
        arrays[f"{name}_train"], arrays[f"{name}_test"] = rows[: N - 6], rows[N - 6 :]
    np.savez(tmp_path / FILE, **arrays)
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    monkeypatch.setattr(suite, "RESULTS", tmp_path / "results")
    return tmp_path


class KernelSearch:
    """A line with a band, which gives itself the name of a structure."""

    def __init__(self, mode="accuracy", effort="balanced"):
        self.mode, self.effort = mode, effort

    def fit(self, X, y):
        self.level_, self.std_ = y.mean(), y.std()
        self.expression_, self.transform_ = "LIN x PER", "identity"
        return self

    def predict(self, X, return_std=False):
        mean = np.full(len(X), self.level_)
        return (mean, np.full(len(X), self.std_)) if return_std else mean

    def predict_interval(self, X, coverage=0.95, include_noise=True):
        half = 1.96 * self.std_ * (1.0 if include_noise else 1e3)
        return self.predict(X)[:, np.newaxis] + [-half, half]


@pytest.fixture
def search(monkeypatch):
    monkeypatch.setattr(relvec, "KernelSearchRegressor", KernelSearch, raising=False)


def run_here(part, problem, method, seeds=(0,), is_development=False):
    job = {"part": part, "problem": problem, "method": method, "seeds": list(seeds)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in the worker
        return worker.run({**job, "is_development": is_development})


def test_development_does_not_read_the_last_tenth(data):
    arrays = dict(np.load(data / FILE))
    arrays["mauna_test"] = np.full_like(arrays["mauna_test"], np.nan)
    arrays["mauna_train"] = arrays["mauna_train"][::-1]  # internet is not in order of time
    np.savez(data / FILE, **arrays)
    rows = read_series("mauna", is_development=True)
    assert (len(rows.y), len(rows.y_test)) == (48, 6)
    everything = np.vstack([rows.X, rows.X_test])
    assert np.isfinite(everything).all()
    assert (np.diff(everything[:, 0]) > 0.0).all()
    assert read_series("calls", is_development=False).y_test.shape == (6,)


@pytest.mark.parametrize("problem", STRUCTURES)
def test_structures_are_drawn_with_functions_to_compare(problem):
    rows = draw("structure", problem, 3, is_development=False)
    assert np.isfinite(rows.y).all()
    assert len(rows.X_test) == len(rows.y_test)
    if rows.X_after is not None:
        width = np.ptp(rows.X_test)
        assert rows.X_after.min() == rows.X_test.max()
        assert np.ptp(rows.X_after) == pytest.approx(0.4 * width)


def test_structures_are_compared_whatever_their_order():
    same = worker.normalise_structure
    assert same("PER x LIN + SE") == same("SE + LIN × PER")
    assert same("LIN + LIN") != same("LIN")
    assert same("LIN x LIN") != same("LIN + LIN")
    assert same("SE(x0, x1) + LIN(x3)") == same("LIN(x3) + SE(x0, x1)")


def test_grid_takes_means_and_leaves_gaps():
    x = np.array([0.0, 1.0, 1.02, 3.0, 4.01]) / 12.0
    rows = Rows(x[:, None], np.array([1.0, 2.0, 4.0, 5.0, 6.0]), x, x, CALENDARS["mauna"])
    grid = seasonal.Grid.of(rows)
    np.testing.assert_array_equal(grid.values, [1.0, 3.0, np.nan, 5.0, 6.0])
    np.testing.assert_array_equal(grid.filled, [1.0, 3.0, 4.0, 5.0, 6.0])
    np.testing.assert_array_equal(grid.steps_ahead(np.array([[5.0], [7.02]]) / 12.0), [1, 3])


def test_seasons_and_periods_are_found():
    place = np.arange(120.0)
    wave = np.sin(2.0 * np.pi * place / 10.0)
    assert seasonal.find_season(wave) % 10 == 0
    noise = np.random.default_rng(0).normal(size=120)
    assert seasonal.find_season(np.cumsum(noise)) == 1
    found = find_period(place / 7.0, 0.3 * place + 5.0 * wave + 0.1 * noise)
    assert found == pytest.approx(10.0 / 7.0, rel=0.03)


def test_seasonal_naive_repeats_the_last_season_exactly():
    place = np.arange(60)
    season = np.tile(np.arange(12.0) ** 2, 6)
    x = (1950.0 + place / 12.0)[:, None]
    rows = Rows(x, season[:60], x, season[:60], CALENDARS["airline"])
    later = (1955.0 + np.arange(12) / 12.0)[:, None]
    np.testing.assert_array_equal(
        seasonal.fit_naive(rows).forecast(later).mean, np.arange(12.0) ** 2
    )


def test_log_forecasts_are_densities_with_their_intervals():
    forecast = LogForecast(np.array([1.0]), 0.4)
    y = np.linspace(1e-4, 60.0, 200_001)
    density = np.exp([LogForecast(np.ones(1), 0.4).log_density(y)]).ravel()
    assert np.trapezoid(density, y) == pytest.approx(1.0, abs=1e-4)
    low, high = forecast.interval(0.95)[0]
    inside = (y >= low) & (y <= high)
    assert np.trapezoid(density[inside], y[inside]) == pytest.approx(0.95, abs=1e-3)
    assert forecast.mean == pytest.approx([np.e])
    paths = np.random.default_rng(1).normal(3.0, 2.0, size=(1, 40_000))
    simulated = SimulatedForecast(np.array([3.0]), paths).interval(0.95)
    np.testing.assert_allclose(simulated, NormalForecast([3.0], 2.0).interval(0.95), atol=0.1)
    assert is_positive(np.array([1.0, 2.0]))
    assert not is_positive(np.array([-1.0, 2.0]))
    assert not is_positive(np.array([10.0, 11.0]))


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in NAMES if "series" in METHODS[m].parts])
def test_methods_of_series_forecast(data, search, method):
    if not METHODS[method].is_installed:
        pytest.skip(f"needs {METHODS[method].package}")
    record = run_here("series", "airline", method)
    (found,) = record["draws"]
    assert 0.0 <= found["coverage"] <= 1.0
    assert np.isfinite(found["mlpd"])
    assert found["cpu"] >= 0.0
    if method in ("GP periodic", "seasonal naive", "ETS", "SARIMAX"):
        assert found["rmse"] < 30.0  # the level of the series differs by 100 from its mean
    json.dumps(record)


def test_a_search_is_judged_by_its_structure_and_its_band_without_noise(search):
    record = run_here("structure", "growsine", OURS, seeds=(0, 1))
    for found in record["draws"]:
        assert found["is_exact"]
        assert found["coverage"] == 1.0
        assert found["rmse"] == pytest.approx(found["scale"], rel=0.2)
    assert not run_here("structure", "smooth", OURS)["draws"][0]["is_exact"]
    record["date"] = "2020-01-01"
    exact, *others, targets = tabulate.tables("structure", [record])
    assert exact.rows == [["growsine", "PER x LIN", "2 of 2"]]
    assert targets.rows[0] == ["share of exact structures, growsine", "1", "≥ 0.9", "met"]
    assert others[0].title.startswith("RMSE")


def fake_series(relative, is_development=False):
    """Records whose relative RMSE is given, the same on all series, by method."""
    return [
        {
            "part": "series",
            "problem": problem,
            "method": method,
            "is_development": is_development,
            "status": "ok",
            "date": "2020-01-01",
            "draws": [
                {
                    "rmse": value * published.BEST_RMSE[problem],
                    "coverage": 0.95,
                    "mlpd": -1.0,
                    "cpu": 2.0,
                    "structure": "LIN",
                    "warp": "log",
                }
            ],
        }
        for problem in PARTS["series"]
        for method, value in relative.items()
    ]


def test_tables_of_series_compare_with_what_is_published():
    found = tabulate.tables("series", fake_series({OURS: 1.0, "linear": 3.0}))
    relative, targets = found[0], found[-1]
    assert relative.head == ("series", OURS, "linear", *published.ABCD)
    rows = {row[0]: row[1:] for row in relative.rows}
    assert rows["calls"] == ["1.00", "3.00", "2.98", "1.00"]
    assert rows["median"] == ["1.00", "3.00", "1.27", "2.03"]
    assert rows["at or below ABCD-accuracy"][:3] == ["8 of 8", "1 of 8", "8 of 8"]
    assert [row[3] for row in targets.rows[:2]] == ["met", "met"]
    in_development = tabulate.tables("series", fake_series({OURS: 1.0, "linear": 2.0}, True))
    assert in_development[0].rows[0] == ["airline", "0.50", "1.00"]


def test_published_ratios_have_one_best_method():
    for name, ratios in published.RELATIVE.items():
        assert len(ratios) == len(published.METHODS)
        assert min(ratios) == 1.0
        assert published.BEST_RMSE[name] > 0.0


def test_records_are_kept_for_later_pages(data, monkeypatch):
    monkeypatch.setattr(suite, "run_worker", lambda module, job: worker.run(job))
    arguments = {"problems": ["airline", "gas"], "methods": ["linear"]}
    first = list(suite.run_part("series", 1000, None, False, **arguments))
    assert [record["problem"] for record in first] == ["airline", "gas"]
    arguments["methods"] = ["seasonal naive"]
    both = list(suite.run_part("series", 1000, None, False, **arguments))
    assert tabulate.tables("series", both)[-1].title != "Runs"
    both[0]["date"] = "2020-01-01"
    assert [record["method"] for record in both].count("linear") == 2
    kept = list(suite.run_part("series", 1000, None, False, methods=()))
    assert len(kept) == 4
    assert tabulate.tables("series", both)[-1].title == "Runs"
    assert list(suite.run_part("series", 0, None, False, methods=(), is_development=True)) == []


def test_sets_that_are_absent_are_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    monkeypatch.setattr(suite, "RESULTS", tmp_path / "results")
    assert list(suite.run_part("series", 0, 1, quick=True)) == []
    assert f"airline left out: it needs {FILE}" in capsys.readouterr().err


def test_regression_and_page(tmp_path):
    draws = [
        {"rmse": 3.0, "mlpd": -0.5, "coverage": 0.9, "cpu": 1.0},
        {"rmse": 5.0, "mlpd": -0.7, "coverage": 1.0, "cpu": 1.0},
    ]
    record = {"problem": "uci_yacht", "method": "GP ARD", "status": "ok", "draws": draws}
    record["date"] = "2020-01-01"
    (rmse, *_) = tabulate.tables("regression", [record])
    assert rmse.rows == [["uci_yacht", "4.000 (1.000)"]]
    assert tabulate.tables("regression", [{**record, "status": "failed"}]) == []
    suite.write_page({"regression": rmse.markdown()}, "- facts", tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert text.startswith("# Kernel search")
    assert "## Published sets of several features\n\n**RMSE**" in text


def test_command_knows_parts_methods_and_development(capsys):
    options = command.parse(
        ["kernels", "--parts", "series", "--methods", "GP smooth,ETS", "--development"]
    )
    assert options.parts == ("series",)
    assert command._choose_kernels(options) == {
        "methods": ("GP smooth", "ETS"),
        "problems": None,
        "is_development": True,
    }
    for wrong in (["kernels", "--development", "--write-readme"], ["density", "--development"]):
        with pytest.raises(SystemExit):
            command.parse(wrong)
    assert "not on the page" in capsys.readouterr().err


def test_every_problem_has_methods_of_both_sides():
    for part, problems in PARTS.items():
        for problem in problems:
            methods = methods_of(part, problem)
            assert set(SEARCHES) < set(methods)
            assert "GP periodic" not in methods or problem not in ("friedman1", "uci_boston")
