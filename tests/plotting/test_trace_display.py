"""Draws of chains."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec.plotting import TraceDisplay

RNG = np.random.default_rng(0)
TRACES = {"noise std": RNG.normal(1.0, 0.1, size=(3, 120)), "size": RNG.poisson(4.0, size=(3, 120))}


class Sampled(BaseEstimator):
    def fit(self, X, y=None):
        self.traces_ = TRACES
        return self


MODEL = Sampled().fit(None)


def test_lines_are_the_draws():
    display = TraceDisplay.from_estimator(MODEL)
    assert list(display.lines_) == ["noise std", "size"]
    assert len(display.axes_) == 4
    for name, draws in TRACES.items():
        lines = display.lines_[name]
        np.testing.assert_array_equal([line.get_ydata() for line in lines], draws)
    assert display.axes_[0].get_title(loc="left").startswith("noise std: R-hat 1.0")
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim()
    display.figure_.canvas.draw()


def test_histograms_sum_to_one_and_have_a_bin_for_each_count():
    display = TraceDisplay.from_estimator(make_pipeline(StandardScaler(), MODEL), names="size")
    for patch, draws in zip(display.histograms_["size"], TRACES["size"], strict=True):
        share, edges, _ = patch.get_data()
        assert share.sum() == pytest.approx(1.0)
        np.testing.assert_array_equal(edges[:-1] + 0.5, np.arange(TRACES["size"].max() + 1))
        np.testing.assert_allclose(share * 120, np.bincount(draws, minlength=len(share)))


def test_names_choose_and_order():
    display = TraceDisplay.from_draws(TRACES, names=["size", "noise std"])
    assert list(display.lines_) == ["size", "noise std"]
    with pytest.raises(ValueError, match="names must be one of 'noise std', 'size'; got 'sizes'"):
        TraceDisplay.from_draws(TRACES, names="sizes")


def test_constant_draws():
    display = TraceDisplay.from_draws({"a": np.full((2, 20), 0.3), "b": np.zeros((2, 20))})
    assert display.axes_[0].get_title(loc="left") == "a: constant"
    display.figure_.canvas.draw()


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2)
    display = TraceDisplay.from_estimator(MODEL, names="size", ax=axes)
    assert display.axes_ == list(axes)
    assert display.figure_ is figure
    with pytest.raises(ValueError, match="ax must be 4 matplotlib axes"):
        TraceDisplay.from_estimator(MODEL, ax=axes)


def test_bad_input():
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimator(Sampled())
    with pytest.raises(TypeError, match="TraceDisplay needs .* traces_; LinearRegression has no"):
        TraceDisplay.from_estimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(ValueError, match="at least one quantity"):
        TraceDisplay({})
    with pytest.raises(ValueError, match=r"draws\['a'\] must be numbers of shape .*got .*\(3,\)"):
        TraceDisplay({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="must be finite"):
        TraceDisplay({"a": [[1.0, np.nan]]})
