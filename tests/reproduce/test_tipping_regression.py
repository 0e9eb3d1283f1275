"""Tipping's benchmarks of regression: draws, the search, ratios, cells."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.svm import SVR

pytest.importorskip("matplotlib")

from relvec import RVMRegressor
from reproduce.common.class_datasets import Split
from reproduce.common.ratios import compute_ratio_of_means
from reproduce.common.regression_datasets import SEED, draw
from reproduce.common.regression_fits import (
    cross_validate_rvm,
    cross_validate_svm,
    fit_rvm,
    fit_svm,
)
from reproduce.common.regression_table import SETS
from reproduce.common.regressions import draw_friedman
from reproduce.engine import Results, Settings
from reproduce.experiments import tipping_regression
from reproduce.experiments.tipping_regression import EXPERIMENT, fit, search

FIGURES = """
[tipping2001.regression]
rows = [
  ["sinc_gauss", 100, 1, 0.378, 0.326, 45.2, 6.7],
  ["sinc_unif", 100, 1, 0.215, 0.187, 44.3, 7.0],
  ["friedman2", 240, 4, 4140.0, 3505.0, 110.3, 6.9],
  ["friedman3", 240, 4, 0.0202, 0.0164, 106.5, 11.5],
  ["boston", 481, 13, 8.04, 7.46, 142.8, 39.0],
  ["normalised_mean", 0, 0, 1.00, 0.86, 1.00, 0.15],
]
[tipping2001.friedman1]
rows = [["friedman1", 240, 10, 2.92, 2.80, 0.27, 116.6, 59.4, 11.5]]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    rng = np.random.default_rng(0)
    x, x_test = np.linspace(-10, 10, 30), np.linspace(-10, 10, 60)
    np.savez(
        tmp_path / "tipping_sinc.npz",
        x=x,
        f=np.sinc(x / np.pi),
        x_test=x_test,
        f_test=np.sinc(x_test / np.pi),
        noise_gauss=0.1 * rng.normal(size=(3, 30)),
        noise_unif=rng.uniform(-0.1, 0.1, (3, 30)),
    )
    X = 5.0 + 3.0 * rng.normal(size=(40, 2))
    rows = np.array([rng.permutation(40)[:32] for _ in range(3)]).astype(np.int16)
    np.savez(tmp_path / "boston.npz", X=X, y=X[:, 0] + 0.1 * rng.normal(size=40), train_481=rows)
    return tmp_path


@pytest.fixture
def small():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = 3.0 * np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    return Split(X[:30], y[:30], X[30:], y[30:])


def test_draws_are_as_described(folder):
    sinc = draw(folder, "sinc_unif", 1)
    assert sinc.X.shape == (30, 1)
    noise = sinc.y - np.load(folder / "tipping_sinc.npz")["f"]
    np.testing.assert_allclose(noise, np.load(folder / "tipping_sinc.npz")["noise_unif"][1])
    boston = draw(folder, "boston", 2)
    assert boston.X.shape == (32, 2)
    assert boston.X_test.shape == (8, 2)
    np.testing.assert_allclose(boston.X.mean(axis=0), 0.0, atol=1e-12)
    whole = np.load(folder / "boston.npz")["y"]
    np.testing.assert_array_equal(np.sort(np.r_[boston.y, boston.y_test]), np.sort(whole))
    with pytest.raises(ValueError, match="friedman9"):
        draw(folder, "friedman9", 0)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_friedman_is_tested_without_noise_on_the_scale_of_training_rows(folder, kind):
    split, raw = draw(folder, f"friedman{kind}", 3), draw_friedman(kind, SEED + 3)
    np.testing.assert_array_equal(split.y_test, raw.y_test)
    mean, scale = raw.X.mean(axis=0), raw.X.std(axis=0)
    np.testing.assert_allclose(split.X_test, (raw.X_test - mean) / scale)
    assert split.X.shape == (240, 10 if kind == 1 else 4)


@pytest.mark.slow
def test_cross_validation_is_the_mean_square_of_rows_held_out(small):
    expected, expected_svm = np.zeros(len(small.y)), np.zeros(len(small.y))
    for rows, held in KFold(5, shuffle=True, random_state=7).split(small.X):
        gamma = 1.0 / (2.0 * 1.5**2)
        model = RVMRegressor(kernel="rbf", gamma=gamma).fit(small.X[rows], small.y[rows])
        expected[held] = (model.predict(small.X[held]) - small.y[held]) ** 2
        scale = small.y[rows].std()
        machine = SVR(gamma=gamma, C=10.0 * scale, epsilon=0.2 * scale)
        machine.fit(small.X[rows], small.y[rows])
        expected_svm[held] = (machine.predict(small.X[held]) - small.y[held]) ** 2
    assert cross_validate_rvm(small, 1.5, 5, 7) == pytest.approx(expected.mean())
    points = [(1.0, 0.4), (10.0, 0.2)]
    found = cross_validate_svm(small, 1.5, points, 5, 7)
    assert found[1] == pytest.approx(expected_svm.mean())
    assert found[0] != pytest.approx(found[1])


def test_the_search_does_not_look_at_test_rows(small):
    spoilt = small._replace(y_test=small.y_test + 1e6)
    assert cross_validate_rvm(small, 1.0, 2, 0) == cross_validate_rvm(spoilt, 1.0, 2, 0)
    assert fit_rvm(small, 1.0).error < fit_rvm(spoilt, 1.0).error


def test_the_svm_does_not_depend_on_the_unit_of_targets(small):
    found = fit_svm(small, 1.0, 10.0, 0.1)
    scaled = fit_svm(small._replace(y=50.0 * small.y, y_test=50.0 * small.y_test), 1.0, 10.0, 0.1)
    assert scaled.error == pytest.approx(2500.0 * found.error, rel=0.05)
    assert found.converged


def test_errors_of_sinc_are_roots(folder):
    found = fit(folder, "RVM", "sinc_gauss", 0, (0.5,))
    split = draw(folder, "sinc_gauss", 0)
    assert found["error"] == pytest.approx(np.sqrt(fit_rvm(split, 0.5).error))
    assert len(search(folder, "SVM", "sinc_gauss", 0.5, 0, 2)["errors"]) == 12


def test_the_error_of_a_ratio_of_paired_means():
    rng = np.random.default_rng(2)
    common = rng.normal(size=(2000, 50))
    a = 3.0 + common + 0.2 * rng.normal(size=(2000, 50))
    b = 4.0 + common
    ratios = [compute_ratio_of_means(x, y) for x, y in zip(a, b, strict=True)]
    spread = np.std([ratio.value for ratio in ratios])
    assert np.mean([ratio.error for ratio in ratios]) == pytest.approx(spread, rel=0.05)
    assert compute_ratio_of_means([2.0], [4.0]) == (0.5, 0.0)


def results_like(errors, vectors):
    """Make up results: two repetitions, one width that is best."""
    values = {}
    for name in SETS:
        for factor in tipping_regression.RVM_FACTORS:
            for place in range(5):
                key = f"search/RVM/{name}/{factor:.3g}/{place}"
                values[key] = {"errors": [abs(factor - 2.0)]}
        for factor in tipping_regression.SVM_FACTORS:
            rows = [abs(factor - 4.0) + k for k in range(12)][::-1]
            for place in range(5):
                values[f"search/SVM/{name}/{factor:.3g}/{place}"] = {"errors": rows}
        for model in ("RVM", "SVM"):
            for place in range(2):
                values[f"fit/{model}/{name}/{place}"] = {
                    "error": errors[model] * (1 + place),
                    "n_vectors": vectors[model] + place,
                    "converged": True,
                }
        for factor in (1.41, 2.83):
            for place in range(2):
                key = f"beside/{name}/{factor}/{place}"
                values[key] = {"error": factor + place, "n_vectors": 7}
    return Results(values, dict.fromkeys(values, 0.0))


def test_cells_read_their_own_columns_and_means_are_of_five_sets(folder):
    settings = Settings(folder, 2)
    results = results_like({"RVM": 1.0, "SVM": 2.0}, {"RVM": 10, "SVM": 40})
    cells = EXPERIMENT.cells(results, settings)
    printed = {(c.line, c.model, c.kind.value): c.published for c in cells}
    assert printed["sinc, Gaussian noise", "RVM", "error"] == 0.0326
    assert printed["sinc, uniform noise", "SVM", "error"] == 0.0215
    assert printed["Friedman #2", "RVM", "error"] == 3505.0
    assert printed["Friedman #1", "RVM", "error"] == 2.80
    assert printed["Friedman #1", "RVM", "size"] == 59.4
    assert printed["Friedman #1", "SVM", "size"] == 116.6
    assert printed["Boston", "RVM", "size"] == 39.0
    means = [c for c in cells if c.line == "Mean over the SVM's"]
    assert [c.published for c in means] == [0.86, 0.15]
    assert [c.ours for c in means] == pytest.approx([0.5, 10.5 / 40.5])
    assert means[0].standard_error == pytest.approx(0.0)
    single = compute_ratio_of_means([10, 11], [40, 41]).error
    assert means[1].standard_error == pytest.approx(single / np.sqrt(5.0))
    assert len(cells) == 2 * 2 * len(SETS) + 2


def test_the_fits_take_what_the_search_found(folder):
    settings = Settings(folder, 2)
    results = results_like({"RVM": 1.0, "SVM": 2.0}, {"RVM": 10, "SVM": 40})
    chosen = {
        task.arguments[0]: task.arguments[3] for task in EXPERIMENT.stages[1](settings, results)
    }
    assert chosen == {"RVM": (2.0,), "SVM": (4.0, 100.0, 0.4)}


def test_the_picture_and_the_table(folder):
    settings = Settings(folder, 2)
    results = results_like({"RVM": 1.0, "SVM": 2.0}, {"RVM": 10, "SVM": 40})
    assert len(EXPERIMENT.figures(results, settings)["tipping_regression"].axes) == 2
    chosen, beside = EXPERIMENT.tables(results, settings)
    assert chosen.rows[0][1:3] == ["2", "4"]
    assert chosen.rows[0][3:] == ["100", "0.4", "100", "100"]
    assert [row[1] for row in beside.rows[:3]] == ["1.41", "2 (chosen)", "2.83"]
    assert [row[2].split()[0] for row in beside.rows[:3]] == ["1.91", "1.5", "3.33"]


def test_widths_at_the_ends_have_one_next_to_them(folder):
    settings = Settings(folder, 2)
    assert tipping_regression._beside(tipping_regression.RVM_FACTORS[0]) == [
        tipping_regression.RVM_FACTORS[1]
    ]
    assert tipping_regression._beside(tipping_regression.RVM_FACTORS[-1]) == [
        tipping_regression.RVM_FACTORS[-2]
    ]
    results = results_like({"RVM": 1.0, "SVM": 2.0}, {"RVM": 10, "SVM": 40})
    tasks = EXPERIMENT.stages[2](settings, results)
    assert {round(task.arguments[3][0], 2) for task in tasks} == {1.41, 2.83}
