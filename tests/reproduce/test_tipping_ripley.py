"""Ripley's data, by relevance and support vectors."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec import RVMClassifier
from relvec.datasets import make_ripley_mixture
from reproduce.engine import Results, Settings
from reproduce.experiments import tipping_ripley
from reproduce.experiments.tipping_ripley import EXPERIMENT, N_PIXELS, fit, surface

FIGURES = """
[tipping2001.examples.ripley_100]
rvm_error_pct = 9.3
rvm_vectors = 4
svm_error_pct = 10.6
svm_vectors = 38
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    X, y = make_ripley_mixture(60, random_state=0)
    X_test, y_test = make_ripley_mixture(200, random_state=1)
    rows = np.array([np.random.default_rng(i).permutation(60)[:40] for i in range(2)])
    parts = {"X_train": X, "y_train": y, "X_test": X_test, "y_test": y_test}
    np.savez(tmp_path / "ripley_synth.npz", **parts, subset100=rows)
    return tmp_path


@pytest.fixture
def few_penalties(monkeypatch):
    monkeypatch.setattr(tipping_ripley, "C_VALUES", (1.0,))


def test_a_draw_is_fitted_at_the_printed_width(folder):
    with np.load(folder / "ripley_synth.npz") as file:
        rows = file["subset100"][1]
        model = RVMClassifier(gamma=4.0).fit(file["X_train"][rows], file["y_train"][rows])
        wrong = model.predict(file["X_test"]) != file["y_test"]
    found = fit(folder, "RVM", 1)
    assert found["error"] == pytest.approx(100.0 * wrong.mean())
    np.testing.assert_array_equal(found["vectors"], model.relevance_)


def test_support_vectors_are_more(folder, few_penalties):
    machine, other = (fit(folder, model, 0) for model in ("RVM", "SVM"))
    assert other["error"] < 30.0
    assert machine["n_vectors"] < other["n_vectors"]


def test_cells_and_plot(folder, few_penalties):
    values = {f"fit/{model}/0": fit(folder, model, 0) for model in ("RVM", "SVM")}
    values |= {f"surface/{model}": surface(folder, model, 0) for model in ("RVM", "SVM")}
    results, settings = Results(values, {}), Settings(folder)
    cells = EXPERIMENT.cells(results, settings)
    assert [(cell.model, cell.published) for cell in cells] == [
        ("RVM", 9.3),
        ("RVM", 4),
        ("SVM", 10.6),
        ("SVM", 38),
    ]
    assert np.shape(values["surface/RVM"]["output"]) == (N_PIXELS, N_PIXELS)
    (figure,) = EXPERIMENT.figures(results, settings).values()
    assert f"{values['fit/SVM/0']['n_vectors']} vectors" in figure.axes[0].get_title()
