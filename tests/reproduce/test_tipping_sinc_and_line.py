"""sinc(x1) + 0.1 x2: how models are read, the floor, printed figures, plot."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec.bases import PolynomialBasis
from relvec.datasets import make_sinc_and_line
from reproduce.engine import Kind, Results, Settings
from reproduce.experiments import tipping_sinc_and_line as module

FIGURES = """
[tipping2001.examples]
sinc_plus_linear = { N = 100, noise_sd = 0.1, svm_rms = 0.0194, svm_vectors = 75, \
rvm_rms = 0.0053, rvm_functions = 8, rvm_sigma = 0.101, w_x1 = 0.0, w_x2 = 0.102, w_x1sq = 0.0, \
w_x2sq = 0.0, w_x1x2 = 0.0, eta1 = 0.0997, eta2 = 0.0002 }
"""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return Settings(tmp_path, repetitions=5)


@pytest.fixture
def results(settings):
    values = {}
    for task in module.EXPERIMENT.stages[0](settings, Results({}, {})):
        label, seed = task.arguments
        draw = seed - module.SEED
        values[task.key] = {
            "rms": 0.01 if label == module.MAIN else 0.05,
            "rms_test": 0.06,
            "n_functions": 8,
            "weights": [10.0 * (draw == 0), 0.1 + 0.001 * draw, 0.0, 0.0, 0.0],
            "eta": [0.1 * (1 + draw), 0.0],
            "sigma": 0.1,
            "converged": True,
            "surface": np.zeros(len(module.SIDE) ** 2) if draw == 0 else [],
        }
    return Results(values, dict.fromkeys(values, 0.1))


def test_floor_is_the_noise_that_a_fit_takes_in():
    rng = np.random.default_rng(0)
    directions, _ = np.linalg.qr(rng.normal(size=(100, 8)))
    taken = directions @ (directions.T @ (0.1 * rng.normal(size=(100, 4000))))
    assert math.sqrt(np.mean(taken**2)) == pytest.approx(module.floor(0.1, 8, 100), rel=0.02)


def test_explicit_columns_are_named_in_the_order_of_the_basis():
    """The basis has x1 x2 before x2^2, and no constant."""
    atoms = PolynomialBasis(degree=2).bind(np.ones((3, 2))).atoms
    assert atoms.names(["x1", "x2"]) == ["x1", "x2", "x1^2", "x1 x2", "x2^2"]

    class Model:
        relevance_ = np.array([7, 10, 13, 14])
        coef_ = np.array([9.0, 1.0, 2.0, 3.0])
        learnt_length_scales_ = SimpleNamespace(scale=np.array([0.1, 0.0]))

    parts = module._read(Model(), 10)
    assert parts.n_kernels == 1
    found = dict(zip(module.COLUMNS, parts.weights, strict=True))
    assert found == {"x1": 1.0, "x2": 0.0, "x1sq": 0.0, "x2sq": 3.0, "x1x2": 2.0}


@pytest.mark.slow
@pytest.mark.parametrize("label", module.SCHEMES)
def test_schemes_fit_the_example(label):
    fit = module.fit(None, label, 0)
    if label == module.SUPPORT:
        assert 0.05 < fit["rms"] < fit["rms_test"] < 0.3
        return
    assert 0.01 < fit["rms"] < fit["rms_test"] < 0.08
    assert fit["weights"][1] == pytest.approx(0.1, abs=0.02)
    assert fit["n_functions"] > np.count_nonzero(fit["weights"])
    assert fit["sigma"] == pytest.approx(0.1, rel=0.3)


@pytest.mark.slow
def test_surface_is_on_the_grid_of_the_plot():
    fit = module.fit(None, module.MAIN, module.SEED)
    _, _, truth = make_sinc_and_line(random_state=0, return_truth=True)
    x1, x2 = np.meshgrid(module.SIDE, module.SIDE)
    expected = truth(np.column_stack([x1.ravel(), x2.ravel()]))
    assert math.sqrt(np.mean((fit["surface"] - expected) ** 2)) < 0.1


def test_cells_hold_printed_figures_against_the_right_models(results, settings):
    cells = {(cell.column, cell.model): cell for cell in module.EXPERIMENT.cells(results, settings)}
    assert cells["RMSE", "SVM"].published == 0.0194
    assert cells["RMSE", "SVM"].ours == pytest.approx(0.05)
    assert cells["RMSE", "RVM"].published == 0.0053
    assert cells["RMSE", "RVM"].ours == pytest.approx(0.01)
    assert cells["functions", "RVM"].published == 8
    # a median does not see the one draw with a large weight
    assert cells["weight of x1", "RVM"].ours == 0.0
    assert cells["weight of x1", "RVM"].truth == 0.0
    assert cells["weight of x2", "RVM"].ours == pytest.approx(0.102)
    assert cells["weight of x2", "RVM"].truth == 0.1
    assert cells["η1", "RVM"].kind is Kind.PLAIN
    assert cells["η1", "RVM"].ours == pytest.approx(0.3)


def test_standard_error_of_a_median():
    values = np.random.default_rng(0).normal(size=(2000, 101))
    errors = [module._median_cell("", 0.0, each, kind=Kind.PLAIN).standard_error for each in values]
    spread = np.std(np.median(values, axis=1))
    assert np.mean(errors) == pytest.approx(spread, rel=0.05)


def test_tables_and_plot(results, settings):
    errors, chosen = module.EXPERIMENT.tables(results, settings)
    assert errors.rows[0][0] == "published RVM"
    assert errors.rows[0][5] == "0.028"
    assert [row[0] for row in errors.rows[1:]] == list(module.SCHEMES)
    assert chosen.rows[0][:3] == [module.MAIN, "20", "100"]
    figures = module.EXPERIMENT.figures(results, settings)
    assert [len(each.axes) for each in figures.values()] == [3]
