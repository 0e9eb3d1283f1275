"""Log odds along one feature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, SparseBayesClassifier
from relvec.bases import PolynomialBasis
from relvec.datasets import make_overlapping_uniforms
from relvec.plotting import LogOddsDisplay

X, Y, TRUTH = make_overlapping_uniforms(200, random_state=0, return_truth=True)
MODEL = RVMClassifier(gamma=20.0).fit(X, Y)


def test_line_and_band_are_the_posterior_of_the_logit():
    display = LogOddsDisplay.from_estimator(MODEL, X, Y, n_std=1.5, grid_resolution=300)
    x = display.line_.get_xdata()
    assert x[0] < X.min() < X.max() < x[-1]
    mean, std = MODEL.decision_function(x[:, None], return_std=True, marginalise=False)
    np.testing.assert_allclose(display.line_.get_ydata(), mean)
    np.testing.assert_allclose(
        expit(mean), MODEL.predict_proba(x[:, None], marginalise=False)[:, 1]
    )
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((mean + 1.5 * std).max())
    assert corners[:, 1].min() == pytest.approx((mean - 1.5 * std).min())
    assert "± 1.5 std" in display.ax_.get_legend_handles_labels()[1]


def test_infinite_true_log_odds_are_clipped():
    display = LogOddsDisplay.from_estimator(MODEL, X, Y, truth=TRUTH.log_odds)
    x, truth = display.truth_.get_xdata(), display.truth_.get_ydata()
    top = display.ax_.get_ylim()[1]
    assert (truth[(x > 0.0) & (x < 0.5)] > top).all()
    np.testing.assert_array_equal(truth[(x >= 0.5) & (x <= 1.0)], 0.0)
    assert (truth[(x > 1.0) & (x < 1.5)] < -top).all()
    assert np.isnan(truth[(x < 0.0) | (x > 1.5)]).all()


def test_training_inputs_and_relevance_vectors():
    display = LogOddsDisplay.from_estimator(MODEL, X, Y)
    first, second = display.samples_
    np.testing.assert_array_equal(first.get_xdata(), X[Y == 0, 0])
    np.testing.assert_array_equal(second.get_xdata(), X[Y == 1, 0])
    assert first.get_ydata()[0] < 0.0 < second.get_ydata()[0]
    np.testing.assert_array_equal(display.relevance_.get_xdata(), X[MODEL.relevance_, 0])
    assert display.ax_.get_ylabel() == "log odds of class 1"
    display.figure_.canvas.draw()


def test_optional_elements():
    model = SparseBayesClassifier(PolynomialBasis(degree=3)).fit(X, np.array(["b", "a"])[Y])
    display = LogOddsDisplay.from_estimator(model, X)
    assert display.relevance_ is None
    assert display.truth_ is None
    assert display.samples_ == []
    assert display.ax_.get_ylabel() == "log odds of b"
    bare = LogOddsDisplay(x=[0.0, 1.0], mean=[-2.0, 2.0]).plot()
    assert bare.band_ is None


def test_limits_of_the_axis():
    line = {"x": [0.0, 1.0], "mean": [-4.0, 2.0]}
    assert LogOddsDisplay(**line).plot().ax_.get_ylim() == (-5.0, 5.0)
    assert LogOddsDisplay(**line).plot(limit=3.0).ax_.get_ylim() == (-3.0, 3.0)
    steep = LogOddsDisplay(x=[0.0, 1.0], mean=[-400.0, 2.0]).plot()
    assert steep.ax_.get_ylim() == (-10.0, 10.0)


def test_probabilities_are_on_the_right():
    display = LogOddsDisplay(x=[0.0, 1.0], mean=[-3.0, 3.0]).plot()
    (right,) = display.ax_.child_axes
    marked = [float(text.get_text()) for text in right.get_yticklabels()]
    np.testing.assert_allclose(expit(right.get_yticks()), marked)
    assert marked == [0.1, 0.5, 0.9]


def test_frames_and_given_axes():
    pandas = pytest.importorskip("pandas")
    from matplotlib import pyplot

    frame = pandas.DataFrame({"age": X[:, 0]})
    model = RVMClassifier(gamma=20.0).fit(frame, Y)
    figure, axes = pyplot.subplots()
    display = LogOddsDisplay.from_estimator(model, frame, Y, ax=axes)
    assert display.figure_ is figure
    assert axes.get_xlabel() == "age"


def test_wrong_models():
    two = RVMClassifier(gamma=1.0).fit(np.column_stack([X, X**2]), Y)
    with pytest.raises(
        ValueError, match="plots models with one feature; RVMClassifier was fitted to 2"
    ):
        LogOddsDisplay.from_estimator(two, X)
    three = RVMClassifier(gamma=1.0).fit(X[::4], np.arange(50) % 3)
    with pytest.raises(ValueError, match="two classes; RVMClassifier was fitted to 3"):
        LogOddsDisplay.from_estimator(three, X)
    with pytest.raises(TypeError, match="needs a classifier with predict_proba; got str"):
        LogOddsDisplay.from_estimator("model", X)


@pytest.mark.parametrize(
    ("X_given", "options", "match"),
    [
        (X[:, 0], {}, r"X must have shape \(n_samples, 1\); got shape \(200,\)"),
        (X, {"y": Y[:7]}, "a class for each of the 200 rows of X"),
        (X, {"grid_resolution": 1}, "grid_resolution must be an integer of at least 2"),
        (X, {"n_std": 0.0}, "n_std must be a positive number"),
        (X, {"limit": -1.0}, "limit must be a positive number"),
    ],
)
def test_bad_input(X_given, options, match):
    with pytest.raises(ValueError, match=match):
        LogOddsDisplay.from_estimator(MODEL, X_given, **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"mean": [0.0]}, "mean must have 2 values, as many as x; got 1"),
        ({"std": [0.0, 1.0, 2.0]}, "std must have 2 values"),
        ({"truth": [[0.0, 1.0]]}, "truth must be a one-dimensional array of real numbers"),
        ({"classes": [0, 1, 2]}, "classes must contain two labels; got 3"),
    ],
)
def test_lengths_must_agree(options, match):
    with pytest.raises(ValueError, match=match):
        LogOddsDisplay(**{"x": [0.0, 1.0], "mean": [0.0, 1.0], **options})
