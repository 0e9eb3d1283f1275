"""Log odds of overlapping classes, of which the truth is known."""

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec.datasets import make_overlapping_uniforms
from reproduce.engine import Results, Settings
from reproduce.experiments.tipping_log_odds import EXPERIMENT, GRID, OVERLAP, fit, judge, rescaled

TRUE_ODDS = np.where(OVERLAP, 0.0, np.where(GRID < 0.5, 1e3, -1e3))


def test_the_truth_has_the_bayes_error():
    found = judge(TRUE_ODDS)
    assert found["error"] == pytest.approx(25.0)
    assert found["entropy"] == pytest.approx(math.log(2.0) / 2.0)
    assert found["overlap"] == 0.0


def test_expectations_are_those_of_many_rows():
    odds = 3.0 - 5.0 * GRID
    found = judge(odds)
    X, y = make_overlapping_uniforms(40_000, random_state=0)
    drawn = np.interp(X[:, 0], GRID, odds)
    assert found["error"] == pytest.approx(100.0 * np.mean((drawn > 0.0) != y), abs=1.0)
    losses = np.logaddexp(0.0, np.where(y == 1, -drawn, drawn))
    assert found["entropy"] == pytest.approx(losses.mean(), abs=0.01)


@pytest.mark.parametrize("scale", [-0.1, 50.0])
def test_rescaling_finds_the_best_line(scale):
    """Which no scale of the output, nor its sign, may change."""
    best = judge(rescaled(3.0 - 4.0 * GRID))["entropy"]
    assert judge(rescaled(scale * (0.2 + GRID)))["entropy"] == pytest.approx(best, abs=1e-5)
    assert best < judge(1.0 - 2.0 * GRID)["entropy"]


@pytest.mark.slow
def test_relevance_vectors_give_odds_and_support_vectors_do_not():
    values = {f"{model}/{i}": fit(None, model, 7) for model in ("RVM", "SVM") for i in range(2)}
    rvm, svm = values["RVM/0"], values["SVM/0"]
    assert rvm["error"] == pytest.approx(25.0, abs=1.0)
    assert svm["error"] == pytest.approx(25.0, abs=1.0)
    assert rvm["entropy"] < 0.38 < svm["entropy"]
    results, settings = Results(values, {}), Settings()
    (table,) = EXPERIMENT.tables(results, settings)
    assert [row[0] for row in table.rows] == ["truth", "RVM", "SVM, the best A and B"]
    (figure,) = EXPERIMENT.figures(results, settings).values()
    assert len(figure.axes[0].get_legend().get_texts()) == 3
