"""Feature relevance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.plotting import FeatureRelevanceDisplay

NAMES = ["age", "sex", "bmi", "map"]
RELEVANCE = np.array([0.5, 0.0, 20.0, 0.01])
STD = np.array([0.1, np.nan, 5.0, 0.02])


class Model(BaseEstimator):
    """Knows what it is told."""

    def __init__(self, relevance=RELEVANCE, std=None, probability=None):
        self.relevance = relevance
        self.std = std
        self.probability = probability

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.feature_relevance_ = self.relevance
        if self.std is not None:
            self.feature_relevance_std_ = self.std
        if self.probability is not None:
            self.feature_inclusion_probability_ = self.probability
        return self


X = np.random.default_rng(0).normal(size=(20, 4))


def rows(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def ends(display):
    return np.array([segment[:, 0] for segment in display.whiskers_.get_segments()])


def test_points_are_the_relevances_the_largest_on_top():
    display = FeatureRelevanceDisplay.from_estimator(Model(std=STD).fit(X), feature_names=NAMES)
    np.testing.assert_array_equal(display.relevance, RELEVANCE)
    np.testing.assert_array_equal(display.shown_, [2, 0, 3, 1])
    assert rows(display) == ["bmi", "age", "map", "sex"]
    np.testing.assert_array_equal(
        display.points_.get_xydata(), [[20.0, 0.0], [0.5, 1.0], [0.01, 2.0]]
    )
    np.testing.assert_array_equal(display.dropped_.get_ydata(), [3.0])
    low, high = display.ax_.get_ylim()
    assert low > 3.0 > 0.0 > high  # the first row is on top
    assert display.ax_.get_xscale() == "log"
    assert display.note_ is None
    display.figure_.canvas.draw()


def test_error_bars_are_one_standard_deviation():
    display = FeatureRelevanceDisplay(RELEVANCE, std=STD).plot()
    order = [2, 0, 3]
    factor = np.exp(STD[order] / RELEVANCE[order])
    expected = np.column_stack([RELEVANCE[order] / factor, RELEVANCE[order] * factor])
    np.testing.assert_allclose(ends(display), expected)
    display.plot(scale="linear")
    expected = [[15.0, 25.0], [0.4, 0.6], [0.0, 0.03]]  # no relevance is negative
    np.testing.assert_allclose(ends(display), expected)
    assert display.ax_.get_xscale() == "linear"
    assert FeatureRelevanceDisplay(RELEVANCE).plot().whiskers_ is None


def test_long_error_bars_do_not_stretch_the_axis():
    display = FeatureRelevanceDisplay([1.0, 2.0], std=[1e6, np.nan]).plot()
    low, high = display.ax_.get_xlim()
    assert 1e-4 < low < 1.0
    assert 2.0 < high < 1e4
    display.figure_.canvas.draw()


def test_order_of_the_features():
    model = Model().fit(X)
    display = FeatureRelevanceDisplay.from_estimator(model, sort=False)
    assert rows(display) == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(display.dropped_.get_ydata(), [1.0])
    display = FeatureRelevanceDisplay.from_estimator(model, sort=False, max_features=2)
    assert rows(display) == ["x0", "x2"]


def test_additional_features_are_counted():
    relevance = np.zeros(2000)
    relevance[[5, 700, 1999]] = [1.0, 3.0, 2.0]
    display = FeatureRelevanceDisplay(relevance).plot()
    assert rows(display) == ["x700", "x1999", "x5"]
    assert display.note_.get_text() == "and 1997 more dropped"
    assert display.dropped_ is None
    display.plot(max_features=2)
    assert display.note_.get_text() == "and 1 more kept, 1997 dropped"
    display = FeatureRelevanceDisplay(np.ones(50)).plot(max_features=30)
    assert display.note_.get_text() == "and 20 more kept"
    assert len(display.shown_) == 30
    display.figure_.canvas.draw()


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("n_features", [1, 3, 100])
def test_all_features_dropped(scale, n_features):
    display = FeatureRelevanceDisplay(np.zeros(n_features), std=np.zeros(n_features))
    display.plot(scale=scale)
    assert len(display.points_.get_xdata()) == 0
    if n_features == 100:
        assert display.note_.get_text() == "all 100 features dropped"
    display.figure_.canvas.draw()


def test_inclusion_probabilities():
    probability = [0.999, 0.004, 0.5, 0.3]
    model = Model([2.0, 0.0, 1.0, 0.0], probability=probability).fit(X)
    display = FeatureRelevanceDisplay.from_estimator(model, feature_names=NAMES)
    assert rows(display) == ["age", "bmi", "map", "sex"]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["included", ">99 %", "50 %", "30 %", "<1 %"]
    unknown = FeatureRelevanceDisplay([1.0, 2.0], inclusion_probability=[np.nan, 1.0]).plot()
    assert [text.get_text() for text in unknown.ax_.texts] == ["included", "100 %"]


def test_names_are_those_of_the_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES)
    assert rows(FeatureRelevanceDisplay.from_estimator(Model().fit(frame)))[0] == "bmi"
    pipeline = make_pipeline(StandardScaler(), Model()).fit(frame)
    assert rows(FeatureRelevanceDisplay.from_estimator(pipeline))[0] == "bmi"
    # without names of its own the scaler says what scikit-learn would
    pipeline = make_pipeline(StandardScaler(), Model()).fit(X)
    assert rows(FeatureRelevanceDisplay.from_estimator(pipeline))[0] == "x2"
    silent = make_pipeline(FunctionTransformer(np.asarray), Model()).fit(frame)
    assert rows(FeatureRelevanceDisplay.from_estimator(silent))[0] == "x2"


def test_long_names_are_shortened():
    display = FeatureRelevanceDisplay([1.0], feature_names=["a" * 60]).plot()
    assert rows(display) == ["a" * 27 + "…"]
    assert display.feature_names == ["a" * 60]


def test_given_axes_are_used():
    figure, axes = pyplot.subplots()
    display = FeatureRelevanceDisplay.from_estimator(Model().fit(X), ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_estimators_without_relevances_raise():
    with pytest.raises(NotFittedError):
        FeatureRelevanceDisplay.from_estimator(Model())
    with pytest.raises(
        TypeError, match="stores one relevance per feature in feature_relevance_; Linear"
    ):
        FeatureRelevanceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]))


@pytest.mark.parametrize(
    ("relevance", "options", "match"),
    [
        ([], {}, "relevance is empty"),
        ([1.0, -1.0], {}, "relevance must be finite and non-negative; got -1.0 to 1.0"),
        ([1.0, np.nan], {}, "relevance must be finite"),
        ([[1.0]], {}, "relevance must be a one-dimensional array of real numbers"),
        ([1.0, 2.0], {"std": [1.0]}, "std must have 2 values, one per feature; got 1"),
        ([1.0], {"std": [np.inf]}, "std must be finite"),
        ([1.0], {"inclusion_probability": [1.5]}, "must not exceed 1; got 1.5"),
        ([1.0], {"feature_names": ["a", "b"]}, "must contain 1 names, one per feature; got 2"),
    ],
)
def test_bad_data(relevance, options, match):
    with pytest.raises(ValueError, match=match):
        FeatureRelevanceDisplay(relevance, **options)


def test_bad_options():
    display = FeatureRelevanceDisplay(RELEVANCE)
    with pytest.raises(TypeError, match="feature_names must be a sequence of names"):
        FeatureRelevanceDisplay(RELEVANCE, feature_names="abcd")
    with pytest.raises(ValueError, match="scale must be one of 'log', 'linear'; got 'logit'"):
        display.plot(scale="logit")
    with pytest.raises(ValueError, match="max_features must be an integer of at least 1"):
        display.plot(max_features=0)
    with pytest.raises(TypeError, match="sort must be True or False"):
        display.plot(sort="yes")


def test_missing_inclusion_probabilities_have_no_heading():
    display = FeatureRelevanceDisplay([0.3, 2.0], inclusion_probability=[np.nan, np.nan]).plot()
    assert "included" not in [text.get_text() for text in display.ax_.texts]
    display = FeatureRelevanceDisplay([0.3, 2.0], inclusion_probability=[0.5, np.nan]).plot()
    assert "included" in [text.get_text() for text in display.ax_.texts]
