"""Feature relevance during a fit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.colors import to_rgba
from matplotlib.text import Text

from relvec.plotting import FeatureRelevancePathDisplay
from relvec.plotting._rows import spread_labels

SCALES = np.array(
    [[1.0, 1.0, 1.0, 1.0], [2.0, 0.3, 0.1, 0.0], [3.0, 0.2, 0.05, 0.0], [4.0, 0.1, 0.0, 0.0]]
)
OBJECTIVE = np.array([-10.0, -5.0, -4.0, -3.5])
X = np.zeros((5, 4))


class Model(BaseEstimator):
    """Knows what it is told."""

    def __init__(self, relevances=SCALES, objective=None):
        self.relevances = relevances
        self.objective = objective

    def fit(self, X, y=None):
        self.feature_names_in_ = np.array(["age", "sex", "bmi", "map"], dtype=object)
        self.feature_relevance_path_ = self.relevances
        if self.objective is not None:
            self.feature_relevance_path_objective_ = self.objective
        return self


def texts(display):
    return [label.get_text() for label in display.labels_]


def test_lines_are_the_relevances_and_end_with_a_cross():
    display = FeatureRelevancePathDisplay.from_estimator(Model().fit(X))
    assert list(display.lines_) == [0, 1]  # the largest first
    for each, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), np.arange(4))
        np.testing.assert_array_equal(line.get_ydata(), SCALES[:, each])
    np.testing.assert_array_equal(display.crosses_.get_xydata(), [[2.0, 0.05], [0.0, 1.0]])
    assert len(display.others_.get_paths()) == 2
    assert texts(display) == ["age", "sex"]
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_title(loc="left") == "2 of 4 features kept"
    assert display.objective_ax_ is None
    display.figure_.canvas.draw()


@pytest.mark.slow
def test_objective_panel():
    display = FeatureRelevancePathDisplay.from_estimator(Model(objective=OBJECTIVE).fit(X))
    (line,) = display.objective_ax_.lines
    np.testing.assert_array_equal(line.get_ydata(), OBJECTIVE)
    assert display.objective_ax_.get_position().y1 < display.ax_.get_position().y0
    assert display.objective_ax_.get_position().height < 0.4 * display.ax_.get_position().height
    assert display.objective_ax_.get_xlabel() == "iteration"
    display = FeatureRelevancePathDisplay.from_estimator(
        Model(objective=OBJECTIVE).fit(X), objective=False
    )
    assert display.objective_ax_ is None
    assert len(display.figure_.axes) == 1


@pytest.mark.slow
def test_largest_relevances_are_labelled():
    rng = np.random.default_rng(0)
    scales = np.exp(np.cumsum(rng.normal(size=(30, 50)), axis=0))
    scales[20:, :10] = 0.0
    display = FeatureRelevancePathDisplay(scales).plot()
    assert list(display.lines_) == np.argsort(-scales[-1])[:10].tolist()
    assert texts(display) == [f"x{each}" for each in np.argsort(-scales[-1])[:10]]
    assert len(display.others_.get_paths()) == 40
    for label, line in zip(display.labels_, display.lines_.values(), strict=True):
        assert to_rgba(label.get_color()) == to_rgba(line.get_color())
    assert len(FeatureRelevancePathDisplay(scales).plot(n_labels=3).labels_) == 3
    display = FeatureRelevancePathDisplay(scales).plot(n_labels=0)
    assert display.labels_ == []
    assert len(display.others_.get_paths()) == 50


@pytest.mark.slow
@pytest.mark.parametrize("size", [(3.0, 2.2), (6.4, 4.0), (8.0, 10.0)])
@pytest.mark.parametrize("n_features", [10, 2000])
def test_labels_do_not_overlap(size, n_features):
    rng = np.random.default_rng(1)
    scales = np.exp(rng.normal(scale=0.01, size=(10, n_features)))
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    display = FeatureRelevancePathDisplay(scales).plot(axes)
    figure.canvas.draw()
    # of the text alone: the box of an annotation holds its line too
    boxes = sorted(
        Text.get_window_extent(label).extents[[1, 3]].tolist() for label in display.labels_
    )
    assert len(boxes) > 3
    for (_, top), (bottom, _) in pairwise(boxes):
        assert bottom > top - 2.0
    # in the order of the ends of the lines
    heights = [label.xyann[1] for label in display.labels_]
    assert (np.diff(heights) < 0.0).all()


def test_labels_move_as_little_as_possible():
    kept, moved = spread_labels(np.array([0.5, 0.5, 0.1]), 0.1)
    np.testing.assert_array_equal(kept, [0, 1, 2])
    np.testing.assert_allclose(moved, [0.45, 0.55, 0.1])
    kept, moved = spread_labels(np.array([1.0, 0.99, 0.98]), 0.2)  # the edge holds them back
    np.testing.assert_allclose(moved, [1.0, 0.8, 0.6])
    kept, moved = spread_labels(np.array([0.2, 0.1, 0.3, 0.9]), 0.5)  # room for three
    np.testing.assert_array_equal(kept, [0, 1, 2])
    np.testing.assert_allclose(moved, [0.5, 0.0, 1.0])
    assert [len(part) for part in spread_labels(np.empty(0), 0.1)] == [0, 0]


def test_features_may_re_enter():
    scales = np.array([[1.0, 1.0], [0.0, 1.0], [2.0, 0.0], [2.0, 0.0]])
    display = FeatureRelevancePathDisplay(scales).plot()
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), [1.0, np.nan, 2.0, 2.0])
    np.testing.assert_array_equal(display.crosses_.get_xydata(), [[1.0, 1.0]])


def test_tiny_relevances_do_not_stretch_the_axis():
    display = FeatureRelevancePathDisplay([[1.0, 1.0], [2.0, 1e-200], [3.0, 0.0]]).plot()
    low, high = display.ax_.get_ylim()
    assert low > 1e-9
    assert high < 30.0
    assert low < display.crosses_.get_ydata()[0] < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("scales", [np.ones((1, 3)), np.zeros((4, 3)), np.ones((6, 1))])
def test_minimal_data(scales):
    display = FeatureRelevancePathDisplay(scales, np.zeros(len(scales))).plot()
    assert display.crosses_ is None
    n_kept, n_features = np.count_nonzero(scales[-1]), scales.shape[1]
    noun = "feature" if n_features == 1 else "features"
    assert display.ax_.get_title(loc="left") == f"{n_kept} of {n_features} {noun} kept"
    display.figure_.canvas.draw()


def test_duplicate_names():
    display = FeatureRelevancePathDisplay(SCALES, feature_names=["a", "a", "b", "c"]).plot()
    assert texts(display) == ["a", "a"]
    assert len(display.lines_) == 2


@pytest.mark.slow
def test_given_axes_are_used():
    figure, axes = pyplot.subplots(2)
    display = FeatureRelevancePathDisplay(SCALES, OBJECTIVE).plot(axes)
    assert [display.ax_, display.objective_ax_] == list(axes)
    assert display.figure_ is figure
    with pytest.raises(
        ValueError, match="ax must be 2 matplotlib axes, for the relevances and the"
    ):
        FeatureRelevancePathDisplay(SCALES, OBJECTIVE).plot(axes[0])
    assert (
        FeatureRelevancePathDisplay(SCALES, OBJECTIVE).plot(axes[0], objective=False).ax_ is axes[0]
    )
    part = pyplot.figure().subfigures(1, 2)[0]
    assert FeatureRelevancePathDisplay(SCALES).plot(part.subplots()).figure_ is part


def test_bad_data():
    with pytest.raises(
        ValueError, match="relevances must be a matrix of numbers with one row per step"
    ):
        FeatureRelevancePathDisplay([1.0, 2.0])
    with pytest.raises(ValueError, match="relevances must be finite and non-negative"):
        FeatureRelevancePathDisplay([[1.0, -2.0]])
    with pytest.raises(ValueError, match="objective must have 4 values, one per step; got 2"):
        FeatureRelevancePathDisplay(SCALES, OBJECTIVE[:2])
    with pytest.raises(ValueError, match="n_labels must be an integer of at least 0"):
        FeatureRelevancePathDisplay(SCALES).plot(n_labels=-1)
    with pytest.raises(NotFittedError):
        FeatureRelevancePathDisplay.from_estimator(Model())
    with pytest.raises(
        TypeError, match="stores the relevances after each step in feature_relevance_path_; Linear"
    ):
        FeatureRelevancePathDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]))
