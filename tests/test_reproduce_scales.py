"""Tables about scales of inputs computed again: data, reading, verdicts, command."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from relvec import RVMRegressor
from relvec.bases import PolynomialBasis
from relvec.datasets import make_friedman
from reproduce import input_scales, sinc_and_line, table_5_1
from reproduce.__main__ import main, parse
from reproduce.label_sets import Split
from reproduce.repetitions import Line, Method, Outcome, Target, judge, printed_cells, repeat
from reproduce.sinc_and_line import Fit, floor, misses

FIGURES = """
[slides]
eta_rvr = [["friedman2", 4140.0, 3505.0, 2593.0, 110.3, 6.9, 3.9]]
[tipping2001.examples]
sinc_plus_linear = { N = 100, noise_sd = 0.1, svm_rms = 0.0194, svm_vectors = 75, \
rvm_rms = 0.0053, rvm_functions = 8, rvm_sigma = 0.101, w_x1 = 0.0, w_x2 = 0.102, w_x1sq = 0.0, \
w_x2sq = 0.0, w_x1x2 = 0.0, eta1 = 0.0997, eta2 = 0.0002 }
[heimsaeter.table_5_1]
rows = [
  ["sinc_unif", 100, 1, 10.1, 9.2, 1.0, 1.0, 0.023, 0.017],
  ["friedman1", 240, 10, 28.4, 18.0, 10.0, 7.0, 1.60, 1.14],
  ["diabetes", 20, 2, 20.1, 3.3, 10.0, 7.3, 61.24, 55.54],
  ["boston", 20, 2, 32.1, 11.0, 13.0, 3.3, 6.21, 5.87],
]
[heimsaeter.other]
boston_features = "the first always"
"""
EXAMPLE = {"rvm_rms": 0.02, "rvm_functions": 8}
TARGET = Target("RVM", 2.0, 4.0)
COUNTED = np.array([True, False])


def outcome(error, n_vectors=4.0, kept=COUNTED, converged=True):
    return Outcome(error, n_vectors, kept, 0.1, converged)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(40, 2)) * [1.0, 100.0]
    rows = np.array([np.sort(rng.permutation(40)[:20]) for _ in range(3)])
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    for name, part in table_5_1.SPLITS.items():
        arrays = {"X": X, "y": y, "feature_names": np.array(["a", "b"]), part: rows}
        np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path


# ------------------------------------------------------------------ repetitions


@pytest.mark.parametrize(
    ("errors", "vectors", "expected"),
    [
        ((1.0, 1.2), 6.0, []),
        # standard error 0.1, of the difference to a mean of 100 draws 0.1 sqrt(1.02)
        ((2.1, 2.3), 6.0, []),
        ((2.11, 2.31), 6.0, ["error"]),
        ((1.0, 1.2), 6.1, ["vectors"]),
        ((3.0, 3.2), 9.0, ["error", "vectors"]),
    ],
)
def test_printed_figures_are_reached_or_not(errors, vectors, expected):
    line = Line("", [outcome(error, vectors) for error in errors], TARGET)
    assert line.standard_error() == pytest.approx(0.1)
    assert line.misses == expected
    assert line.cells[-1] == ("no: " + ", ".join(expected) if expected else "yes")


def test_figures_that_are_no_numbers_are_not_reached():
    assert Line("", [outcome(math.nan)] * 2, TARGET).misses == ["error"]
    assert Line("", [outcome(1.0, math.nan)] * 2, TARGET).misses == ["vectors"]


def test_a_line_without_a_target_has_no_verdict():
    line = Line("us", [outcome(1.0, math.nan), outcome(2.0, math.nan, ~COUNTED, False)], None)
    assert line.misses == []
    assert line.cells == ["us", "1.5 ± 0.5", "–", "1", "2", "0.1", "50", "–"]
    np.testing.assert_array_equal(line.frequencies, [0.5, 0.5])


def test_printed_lines():
    cells = printed_cells(TARGET)
    assert cells[:4] == ["printed RVM", "2", "4", "–"]
    assert printed_cells(TARGET._replace(inputs=7.3))[3] == "7.3"
    assert len(cells) == len(Line("", [outcome(1.0)] * 2, None).cells)


def test_errors_are_those_of_the_test_rows():
    X = np.arange(8.0)[:, np.newaxis]
    draw = Split(X, 2.0 * X[:, 0], X, 2.0 * X[:, 0] + 3.0)
    method = Method("line", LinearRegression, None)
    assert judge(method, draw, "MSE").error == pytest.approx(9.0)
    assert judge(method, draw, "RMSE").error == pytest.approx(3.0)
    assert math.isnan(judge(method, draw, "MSE").n_vectors)


def test_inputs_are_standardised_on_request():
    seen = []

    class Spy(LinearRegression):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    draw = input_scales.draw_friedman(2, 0)
    for choice in (False, True):
        judge(Method("spy", Spy, None, is_standardised=choice), draw, "MSE")
    np.testing.assert_array_equal(seen[0], draw.X)
    np.testing.assert_allclose(seen[1].std(axis=0), 1.0)


def test_slow_methods_see_the_first_draws_only(capsys):
    draws = [input_scales.draw_friedman(1, i) for i in range(3)]
    methods = [Method("all", LinearRegression, None), Method("few", LinearRegression, "RVM", 2)]
    lines = repeat("Friedman", methods, draws, [TARGET], "MSE")
    assert [len(line.outcomes) for line in lines] == [3, 2]
    assert [line.target for line in lines] == [None, TARGET]
    assert "Friedman, few: " in capsys.readouterr().err


# ------------------------------------------------------------------ data


def test_friedman_is_judged_without_noise():
    draw = input_scales.draw_friedman(3, 5)
    X, y, truth = make_friedman(3, random_state=5, return_truth=True)
    np.testing.assert_array_equal(draw.X, X)
    np.testing.assert_array_equal(draw.y, y)
    np.testing.assert_array_equal(draw.y_test, truth(draw.X_test))
    assert draw.X_test.shape == (1000, 4)
    assert not np.isin(draw.X_test, X).any()


def test_sinc_has_uniform_noise():
    draw = table_5_1.draw_sinc(0)
    noise = draw.y - np.sinc(draw.X[:, 0] / np.pi)
    assert np.abs(noise).max() <= 0.1
    assert noise.std() == pytest.approx(0.1 / math.sqrt(3.0), rel=0.2)
    assert draw.y_test.max() == pytest.approx(1.0, abs=1e-3)
    assert not np.array_equal(draw.y, table_5_1.draw_sinc(1).y)


def test_splits_have_no_rows_in_common(folder):
    names, splits = table_5_1.read_splits(folder, "boston", 2)
    assert names == ["a", "b"]
    assert len(splits) == 2
    for split in splits:
        assert split.X.shape == split.X_test.shape == (20, 2)
        assert not np.isin(split.X, split.X_test).any()


# ------------------------------------------------------------------ printed figures


def test_printed_columns_are_told_apart(folder):
    support, common, learnt = input_scales.read_targets(folder)[2]
    assert support == Target("SVR", 4140.0, 110.3)
    assert common == Target("RVR", 3505.0, 6.9)
    assert learnt == Target("η-RVR", 2593.0, 3.9)
    plain, choosing = table_5_1.read_targets(folder)["friedman1"]
    assert plain == Target("RVM", 1.60, 28.4, 10.0)
    assert choosing == Target("DRVM", 1.14, 18.0, 7.0)


# ------------------------------------------------------------------ sinc and line


def test_floor_is_the_noise_that_a_fit_takes_in():
    rng = np.random.default_rng(0)
    directions, _ = np.linalg.qr(rng.normal(size=(100, 8)))
    taken = directions @ (directions.T @ (0.1 * rng.normal(size=(100, 4000))))
    assert math.sqrt(np.mean(taken**2)) == pytest.approx(floor(0.1, 8, 100), rel=0.02)
    assert floor(0.1, 8, 100) == pytest.approx(0.0283, abs=1e-4)


@pytest.mark.parametrize(
    ("errors", "n_functions", "expected"),
    [
        # the standard deviation of draws is 0.014
        ((0.02, 0.04), 12, []),
        ((0.03, 0.05), 12, ["rms"]),
        ((0.01, 0.01), 13, ["functions"]),
    ],
)
def test_example_is_reached_or_not(errors, n_functions, expected):
    fits = [Fit(e, e, n_functions, np.zeros(5), np.ones(2), 0.1, True) for e in errors]
    assert misses(EXAMPLE, fits) == expected


def test_explicit_columns_are_named_in_the_order_of_the_basis():
    """The basis has x1 x2 before x2^2, and no constant."""
    atoms = PolynomialBasis(degree=2).bind(np.ones((3, 2))).atoms
    assert atoms.names(["x1", "x2"]) == ["x1", "x2", "x1^2", "x1 x2", "x2^2"]

    class Model:
        relevance_ = np.array([7, 10, 13, 14])
        coef_ = np.array([9.0, 1.0, 2.0, 3.0])
        input_scale_ = np.array([0.1, 0.0])

    parts = sinc_and_line._read(Model(), 10)
    assert parts.n_kernels == 1
    assert dict(zip(sinc_and_line.COLUMNS, parts.weights, strict=True)) == {
        "x1": 1.0,
        "x2": 0.0,
        "x1sq": 0.0,
        "x2sq": 3.0,
        "x1x2": 2.0,
    }


@pytest.mark.parametrize("scheme", sinc_and_line.SCHEMES, ids=lambda scheme: scheme.label)
def test_schemes_fit_the_example(scheme):
    fit = sinc_and_line.judge(scheme, 0)
    if not scheme.is_relevance:
        assert 0.05 < fit.rms_train < fit.rms_test < 0.3
        return
    assert 0.01 < fit.rms_train < fit.rms_test < 0.08
    assert fit.weights[1] == pytest.approx(0.1, abs=0.02)
    assert fit.n_functions >= np.count_nonzero(fit.weights) + 1
    assert fit.noise_std == pytest.approx(0.1, rel=0.3)


# ------------------------------------------------------------------ commands


def test_defaults_are_those_of_the_table():
    assert (parse(["input_scales"]).draws, parse(["input_scales"]).seed) == (100, 20_000)
    assert (parse(["table_2_1"]).draws, parse(["table_2_1"]).seed) == (40, 0)
    given = parse(["table_5_1", "--draws", "3", "--seed", "0"])
    assert (given.draws, given.seed) == (3, 0)


def test_input_scales(folder, monkeypatch, tmp_path, capsys):
    page = tmp_path / "README.md"
    page.write_text("<!-- table:input_scales -->\n<!-- /table:input_scales -->\n")
    monkeypatch.setattr("reproduce.__main__.README", page)
    few = (input_scales.METHODS[0], input_scales.METHODS[3])
    monkeypatch.setattr(input_scales.tables, "__defaults__", (few,))
    monkeypatch.setattr(sinc_and_line.tables, "__defaults__", (sinc_and_line.SCHEMES[:1],))
    command = ["input_scales", "--draws", "2", "--data", str(folder), "--write-readme"]
    assert main(command) == 0
    assert "Friedman #2, ard: " in capsys.readouterr().err
    text = page.read_text()
    assert "python -m reproduce input_scales --draws 2 --seed 20000" in text
    assert "| printed η-RVR | 2593 | 3.9 |" in text
    assert "| isotropic | 100 | 100 | 100 | 100 |" in text
    assert "| printed RVM | 0.0053 | – | – | 8 | 0.028 |" in text
    assert str(folder) not in text


def test_table_5_1(folder):
    found = table_5_1.tables(folder, 2, 0, table_5_1.METHODS[1:])
    titles = [table.title.partition(":")[0] for table in found]
    problems = ["Sinc", "Friedman #1", "Diabetes", "Boston", "Boston, standardised"]
    assert titles == problems + problems[1:]
    names = ["RVMRegressor()", "AlternatingDRVM", "least squares"]
    assert [row[0] for row in found[0].rows][2:] == names
    assert [row[0] for row in found[4].rows][2:] == ["AlternatingDRVM"]
    assert "the thesis: the first always" in found[-1].title
    assert found[-1].head == ["", "a", "b"]
    assert [row[0] for row in found[-2].rows] == names[:2]


@pytest.mark.parametrize("method", table_5_1.METHODS, ids=lambda method: method.label)
def test_units_matter_only_where_the_table_says_so(folder, method):
    _, (split, *_) = table_5_1.read_splits(folder, "boston", 1)
    raw, standard = (
        judge(method._replace(is_standardised=choice), split, "RMSE") for choice in (False, True)
    )
    if method.label in table_5_1.HAS_UNITS:
        assert raw.error != pytest.approx(standard.error, rel=1e-2)
        return
    assert raw.error == pytest.approx(standard.error, rel=1e-3)
    np.testing.assert_array_equal(raw.kept, standard.kept)


DATA = Path(os.environ.get("RELVEC_DATA", "/nowhere"))


@pytest.mark.skipif(not (DATA / "boston.npz").is_file(), reason="data are not there")
def test_published_data():
    problems = table_5_1.problems(DATA, 2, 0)
    printed = table_5_1.read_targets(DATA)
    assert {problem.name for problem in problems} == set(printed)
    shapes = {problem.name: problem.draws[0].X.shape for problem in problems}
    assert shapes["diabetes"] == (221, 10)
    assert shapes["boston"] == (253, 13)
    method = Method("", RVMRegressor, None)
    assert judge(method, problems[3].draws[0], "RMSE").error < 5.0
    assert set(input_scales.read_targets(DATA)) == {1, 2, 3}
