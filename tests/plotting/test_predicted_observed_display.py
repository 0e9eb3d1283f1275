"""Predicted against observed targets."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec import RVMRegressor
from relvec.plotting import PredictedObservedDisplay

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 2))
Y = X[:, 0] + 0.3 * RNG.normal(size=80)
MODEL = RVMRegressor(gamma=0.1).fit(X, Y)


def test_coverage_is_that_of_the_intervals():
    display = PredictedObservedDisplay.from_estimator(MODEL, X, Y, coverage=0.5, name="dose")
    low, high = MODEL.predict_interval(X, coverage=0.5).T
    inside = (low <= Y) & (high >= Y)
    assert display.coverage_ == pytest.approx(inside.mean())
    np.testing.assert_array_equal(display.points_.get_xdata(), Y[inside])
    np.testing.assert_array_equal(display.outside_.get_xdata(), Y[~inside])
    assert len(display.bars_.get_segments()) == len(Y)
    assert display.ax_.get_xlabel() == "observed dose"
    display.figure_.canvas.draw()


def test_without_std_all_points_have_one_style():
    display = PredictedObservedDisplay.from_predictions([0.0, 1.0], [0.0, 3.0])
    assert display.coverage_ is None
    assert display.bars_ is None
    assert len(display.points_.get_xdata()) == 2
    assert len(display.outside_.get_xdata()) == 0


def test_many_points_have_no_error_bars():
    zeros = np.zeros(500)
    display = PredictedObservedDisplay.from_predictions(zeros, zeros, zeros + 1.0)
    assert display.bars_ is None
    assert display.coverage_ == 1.0


def test_bad_input():
    with pytest.raises(ValueError, match="y_pred must have 2 values, as many as y_true; got 1"):
        PredictedObservedDisplay([0.0, 1.0], [0.0])
    with pytest.raises(ValueError, match="std must have 2 values"):
        PredictedObservedDisplay([0.0, 1.0], [0.0, 1.0], std=[1.0])
    with pytest.raises(ValueError, match="nothing to plot"):
        PredictedObservedDisplay([], [])
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        PredictedObservedDisplay([0.0], [0.0]).plot(coverage=1.0)
