"""Objective during a fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor
from relvec.datasets import make_snake
from relvec.plotting import EvidenceTraceDisplay

X, Y = make_snake(100, random_state=0)
MODEL = RVMClassifier(gamma=1.0).fit(X, Y)


def test_line_is_the_trace_of_the_objective():
    display = EvidenceTraceDisplay.from_estimator(MODEL)
    line = display.lines_["RVMClassifier"]
    np.testing.assert_array_equal(line.get_ydata(), MODEL.trace_)
    assert line.get_ydata()[-1] == pytest.approx(MODEL.objective_)
    assert (np.diff(line.get_ydata()) >= 0.0).all()
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == f"RVMClassifier, final value {MODEL.objective_:.2f}"
    display.figure_.canvas.draw()


def test_gaps_to_the_final_value():
    display = EvidenceTraceDisplay({"a": [1.0, 10.0, 11.0, 11.0]}).plot(kind="gap")
    np.testing.assert_array_equal(display.lines_["a"].get_ydata(), [10.0, 1.0, np.nan, np.nan])
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_ylabel() == "gap to the final value (nats)"


def test_regressors_with_one_target_and_with_several():
    rng = np.random.default_rng(0)
    x = np.linspace(-10.0, 10.0, 60)[:, np.newaxis]
    targets = np.column_stack([np.sinc(x[:, 0] / np.pi), np.sin(x[:, 0])])
    targets += 0.1 * rng.normal(size=targets.shape)
    one = RVMRegressor(gamma=0.1).fit(x, targets[:, 0])
    display = EvidenceTraceDisplay.from_estimator({"one": one, "labels": MODEL})
    assert list(display.lines_) == ["one", "labels"]
    assert display.lines_["one"].get_ydata()[-1] == pytest.approx(one.objective_)
    both = RVMRegressor(gamma=0.1).fit(x, targets)
    display = EvidenceTraceDisplay.from_estimator(both)
    assert list(display.lines_) == ["RVMRegressor, target 0", "RVMRegressor, target 1"]
    ends = [line.get_ydata()[-1] for line in display.lines_.values()]
    np.testing.assert_allclose(ends, both.objective_)


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = EvidenceTraceDisplay.from_estimator(MODEL, kind="gap", ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_bad_input():
    with pytest.raises(TypeError, match="stores the objective after each step.*LogisticRegression"):
        EvidenceTraceDisplay.from_estimator(LogisticRegression().fit(X, Y))
    with pytest.raises(NotFittedError):
        EvidenceTraceDisplay.from_estimator(RVMClassifier())
    with pytest.raises(ValueError, match="kind must be one of 'objective', 'gap'; got 'gaps'"):
        EvidenceTraceDisplay.from_estimator(MODEL, kind="gaps")
    with pytest.raises(ValueError, match="at least one fit"):
        EvidenceTraceDisplay({})
    with pytest.raises(ValueError, match="'a'.* is empty"):
        EvidenceTraceDisplay({"a": []})
