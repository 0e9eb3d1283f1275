"""Inclusion probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec.plotting import InclusionDisplay


class Sampled(BaseEstimator):
    def fit(self, X, y=None):
        self.inclusion_probability_ = np.array([0.1, 0.9, 0.5, 1.0, 0.003])
        return self

    def inclusion_table(self, n_most):
        order = np.argsort(-self.inclusion_probability_)[:n_most]
        return [(f"atom {index}", self.inclusion_probability_[index]) for index in order]


MODEL = Sampled().fit(None)


def get_labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_are_the_largest_probabilities():
    display = InclusionDisplay.from_estimator(make_pipeline(StandardScaler(), MODEL), n_most=3)
    assert get_labels(display) == ["atom 3", "atom 1", "atom 2"]
    assert [bar.get_width() for bar in display.bars_] == [1.0, 0.9, 0.5]
    assert display.note_.get_text() == "and 2 less probable ones"
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]
    display.figure_.canvas.draw()


def test_all_bars_without_a_note():
    display = InclusionDisplay.from_estimator(MODEL)
    assert len(display.bars_) == 5
    assert display.note_ is None
    written = [text.get_text() for text in display.ax_.texts]
    assert written == ["100 %", "90 %", "50 %", "10 %", "<1 %"]
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert colours[0] == colours[1] != colours[2] == colours[4]


def test_plain_arrays():
    display = InclusionDisplay([0.2, 0.7], n_others=1).plot(n_most=1)
    assert get_labels(display)[:1] == ["1"]
    assert display.note_.get_text() == "and 2 less probable ones"
    empty = InclusionDisplay([]).plot()
    assert empty.note_.get_text() == "no basis functions: the model is constant"
    empty.figure_.canvas.draw()


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = InclusionDisplay.from_estimator(MODEL, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_bad_input():
    with pytest.raises(NotFittedError):
        InclusionDisplay.from_estimator(Sampled())
    with pytest.raises(TypeError, match="inclusion_table; LinearRegression does not have it"):
        InclusionDisplay.from_estimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(ValueError, match="between 0 and 1; got 0.5 to 1.5"):
        InclusionDisplay([0.5, 1.5])
    with pytest.raises(ValueError, match="names must have 2 entries"):
        InclusionDisplay([0.5, 0.5], names=["a"])
    with pytest.raises(ValueError, match="n_most"):
        InclusionDisplay([0.5]).plot(n_most=0)
