"""The density benchmark must be right before its results are."""

import itertools
import json

import numpy as np
import pytest
from scipy.integrate import quad

from bench import __main__ as command
from bench.density import peers, real, suite
from bench.density.problems import BOUNDED, MARRON_WAND, PROBLEMS
from bench.density.worker import integrate_divergence, run

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("problem", [*MARRON_WAND, *BOUNDED], ids=lambda each: each.name)
def test_densities_have_integral_one_and_describe_the_draws(problem):
    def density(x):
        return float(np.exp(problem.log_density(np.array([x])))[0])

    ends = problem.support or (-8.0, 8.0)
    cuts = np.linspace(*ends, 41)
    masses = [quad(density, *part)[0] for part in itertools.pairwise(cuts)]
    assert sum(masses) == pytest.approx(1.0, abs=1e-4)
    x = problem.draw(20_000, RNG)
    shares = np.histogram(x, cuts)[0] / len(x)
    assert np.abs(shares - masses).max() < 5.0 * np.sqrt(0.25 / len(x))


def test_two_variables_have_integral_one():
    problem = PROBLEMS["three components"]
    x = np.linspace(-7.0, 7.0, 281)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    assert np.exp(problem.log_density(grid)).sum() * 0.05**2 == pytest.approx(1.0, abs=1e-3)
    assert problem.draw(10, RNG).shape == (10, 2)


def test_improved_sheather_jones_is_right_for_a_normal_sample():
    """The asymptotic optimum is 1.06 n^-0.2 = 0.266; it must not depend on units or the origin."""
    widths = [peers.improved_sheather_jones(RNG.normal(size=1000)) for _ in range(5)]
    assert np.mean(widths) == pytest.approx(0.266, rel=0.12)
    x = RNG.normal(size=500)
    width = peers.improved_sheather_jones(x)
    assert peers.improved_sheather_jones(7.0 + 100.0 * x) == pytest.approx(100.0 * width, rel=1e-3)


@pytest.mark.parametrize("name", peers.PEERS)
def test_peers_are_densities(name):
    x = RNG.normal(size=150)
    fitted = peers.PEERS[name](x, None)
    at = np.linspace(-8.0, 8.0, 1601)
    assert np.exp(fitted(at)).sum() * 0.01 == pytest.approx(1.0, abs=1e-3)
    bounded = peers.PEERS["ISJ"](np.abs(x), (0.0, 8.0))
    inside = np.linspace(0.0, 8.0, 1601)
    assert np.trapezoid(np.exp(bounded(inside)), inside) == pytest.approx(1.0, abs=1e-3)


def test_a_record_and_its_tables():
    job = {"part": "mixtures", "problem": "1 Gaussian", "n": 60, "seeds": [3, 4], "peers": True}
    record = run(job)
    assert record["status"] == "ok"
    draw = record["draws"][0]
    assert set(draw) == set(suite.METHODS)
    assert draw["relvec"]["integral"] == pytest.approx(1.0, abs=1e-6)
    assert draw["relvec"]["kl"] < 0.3
    json.dumps(record)
    tables = suite.tables("mixtures", [record])
    assert tables[0].rows[0][0] == "1 Gaussian"
    assert tables[-1].title == "Targets"


def test_page(tmp_path):
    suite.write_page({"two": "a table"}, "- facts", tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert text.startswith("# Densities")
    assert "## Two variables\n\na table" in text


def test_command_knows_the_parts():
    options = command.parse(["density", "--parts", "bounded,two"])
    assert options.parts == ("bounded", "two")


def test_divergence_is_zero_for_the_truth_and_that_of_two_normal_densities():
    problem = PROBLEMS["1 Gaussian"]
    assert integrate_divergence(problem, problem.log_density) == 0.0
    shifted = integrate_divergence(problem, lambda x: problem.log_density(x - 0.5))
    assert shifted == pytest.approx(0.5 * 0.5**2, rel=1e-6)
    two = PROBLEMS["three components"]
    tilted = integrate_divergence(two, lambda x: two.log_density(x) - 0.25)
    assert tilted == pytest.approx(0.25, rel=1e-4)


@pytest.mark.slow
def test_published_samples_are_measured_drawn_or_left_out(tmp_path, monkeypatch, capsys):
    for sample in real.REAL.values():
        x = np.sort(RNG.uniform(*sample.range, size=60)) * sample.scale
        np.savez(tmp_path / sample.file, **dict.fromkeys(("x", "waiting", "eruptions", "date"), x))
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    job = {"part": "real", "problem": "coal", "n": 60, "seeds": [0], "peers": True}
    record = run(job)
    assert set(record["draws"][0]) == set(suite.METHODS)
    (table,) = suite.tables("real", [record])
    assert table.rows[0][:2] == ["coal", "60"]
    monkeypatch.delenv("RELVEC_DATA")
    assert list(suite.run_part("real", 0, 1, quick=True)) == []
    assert "galaxies left out: it needs galaxies.npz" in capsys.readouterr().err
    assert command.main(["density", "--parts", "real"]) == 0


@pytest.mark.slow
def test_plots_of_published_samples(tmp_path, monkeypatch):
    for sample in real.REAL.values():
        x = RNG.uniform(*sample.range, size=40) * sample.scale
        columns = ("waiting", "eruptions") if sample.file == "faithful.npz" else (sample.column,)
        np.savez(tmp_path / sample.file, **dict.fromkeys(columns, x))
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    real.draw_plots(tmp_path / "plots" / "real.png")
    assert (tmp_path / "plots" / "real.png").stat().st_size > 20_000
