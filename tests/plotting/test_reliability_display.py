"""Reliability diagrams."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor
from relvec.datasets import make_snake
from relvec.plotting import ReliabilityCurve, ReliabilityDisplay

X, Y, TRUTH = make_snake(120, random_state=0, return_truth=True)
X_TEST, Y_TEST = TRUTH.sample(1500, random_state=1)
MODEL = RVMClassifier(gamma=1.0).fit(X, Y)
PROBABILITY = MODEL.predict_proba(X_TEST)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 7, 10])
def test_the_curve_is_that_of_scikit_learn(strategy, n_bins):
    display = ReliabilityDisplay.from_estimator(
        MODEL, X_TEST, Y_TEST, n_bins=n_bins, strategy=strategy
    )
    frequency, mean = calibration_curve(Y_TEST, PROBABILITY[:, 1], n_bins=n_bins, strategy=strategy)
    line = display.lines_["RVMClassifier"].lines[0]
    np.testing.assert_allclose(line.get_xdata(), mean)
    np.testing.assert_allclose(line.get_ydata(), frequency)
    assert display.curves[0].count.sum() == len(Y_TEST)


def test_bars_are_binomial_intervals():
    curve = ReliabilityDisplay.from_estimator(MODEL, X_TEST, Y_TEST).curves[0]
    for n, p, low, high in zip(curve.count, curve.frequency, *curve.interval(0.9), strict=True):
        exact = binomtest(round(n * p), n).proportion_ci(0.9, method="wilson")
        assert (low, high) == pytest.approx((exact.low, exact.high))


def test_intervals_contain_frequencies_of_zero_and_one():
    predicted = np.repeat([0.05, 0.95], 30)
    curve = ReliabilityCurve.from_events("sure", predicted, predicted > 0.5)
    low, high = curve.interval()
    np.testing.assert_array_equal(low[0], 0.0)
    np.testing.assert_array_equal(high[1], 1.0)
    ReliabilityDisplay([curve]).plot()


def test_the_legend_has_the_expected_calibration_error():
    predicted = np.repeat([0.25, 0.85], [30, 10])
    happened = np.concatenate([np.arange(30) < 15, np.ones(10, dtype=bool)])
    display = ReliabilityDisplay.from_predictions(happened, predicted, name="mine")
    expected = 0.75 * abs(0.5 - 0.25) + 0.25 * abs(1.0 - 0.85)
    assert display.curves[0].expected_error == pytest.approx(expected)
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == f"mine, ECE {expected:.3f}"


def test_the_histogram_counts_all_predictions():
    display = ReliabilityDisplay.from_estimator(MODEL, X_TEST, Y_TEST)
    counts = [bar.get_height() for bar in display.histograms_["RVMClassifier"]]
    np.testing.assert_array_equal(
        counts, np.histogram(PROBABILITY[:, 1], np.linspace(0.0, 1.0, 21))[0]
    )
    assert display.histogram_ax_.get_xlabel() == "predicted probability of class 1"


def test_several_estimators_and_names():
    other = LogisticRegression().fit(X, Y)
    display = ReliabilityDisplay.from_estimator([MODEL, other], X_TEST, Y_TEST)
    assert list(display.lines_) == ["RVMClassifier", "LogisticRegression"]
    display = ReliabilityDisplay.from_estimator([MODEL, MODEL], X_TEST, Y_TEST)
    assert list(display.lines_) == ["RVMClassifier 1", "RVMClassifier 2"]
    display = ReliabilityDisplay.from_estimator({"a": MODEL}, X_TEST, Y_TEST, marginalise=False)
    plug_in = MODEL.predict_proba(X_TEST, marginalise=False)[:, 1]
    np.testing.assert_array_equal(display.curves[0].predicted, plug_in)
    display.figure_.canvas.draw()


def test_several_classes_use_the_most_probable_class():
    rng = np.random.default_rng(0)
    probability = rng.dirichlet([1.0, 2.0, 3.0], size=500)
    y = np.array(["a", "b", "c"])[[rng.choice(3, p=row) for row in probability]]
    display = ReliabilityDisplay.from_predictions(y, probability)
    right = np.array(["a", "b", "c"])[probability.argmax(axis=1)] == y
    frequency, mean = calibration_curve(right, probability.max(axis=1), n_bins=10)
    np.testing.assert_allclose(display.curves[0].frequency, frequency)
    np.testing.assert_allclose(display.curves[0].mean, mean)
    xlabel = display.histogram_ax_.get_xlabel()
    assert xlabel == "predicted probability of the most probable class"


def test_a_single_observed_class_with_given_classes():
    display = ReliabilityDisplay.from_predictions(np.ones(4), np.full(4, 0.9), classes=[0, 1])
    np.testing.assert_array_equal(display.curves[0].frequency, [1.0])
    with pytest.raises(ValueError, match="at least 2 distinct classes, unless classes are given"):
        ReliabilityDisplay.from_predictions(np.ones(4), np.full(4, 0.9))


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1)
    display = ReliabilityDisplay.from_estimator(MODEL, X_TEST, Y_TEST, ax=axes)
    assert display.figure_ is figure
    assert (display.ax_, display.histogram_ax_) == tuple(axes)
    with pytest.raises(ValueError, match="2 matplotlib axes, for the curves and the histogram"):
        ReliabilityDisplay.from_estimator(MODEL, X_TEST, Y_TEST, ax=axes[0])


@pytest.mark.parametrize(
    ("y", "probability", "options", "match"),
    [
        ([0, 1], [0.5], {}, r"must have shape \(2, 2\) or \(2,\); got \(1,\)"),
        ([0, 1, 2], np.ones(3), {}, r"must have shape \(3, 3\); got \(3,\)"),
        ([0, 1], [0.5, 1.5], {}, "must be between 0 and 1; they range from 0.5 to 1.5"),
        ([0, 1], [0.5, np.nan], {}, "must be between 0 and 1"),
        ([[0, 1]], [[0.5, 0.5]], {}, "y_true must be a vector"),
        ([0, 1], [0.5, 0.5], {"n_bins": 0}, "n_bins must be an integer of at least 1"),
        ([0, 1], [0.5, 0.5], {"strategy": "quantiles"}, "Did you mean 'quantile'"),
    ],
)
def test_bad_predictions(y, probability, options, match):
    with pytest.raises(ValueError, match=match):
        ReliabilityDisplay.from_predictions(y, probability, **options)


@pytest.mark.slow
def test_bad_estimators():
    with pytest.raises(TypeError, match="classifiers with predict_proba; got RVMRegressor"):
        ReliabilityDisplay.from_estimator(RVMRegressor().fit(X, Y), X_TEST, Y_TEST)
    with pytest.raises(NotFittedError):
        ReliabilityDisplay.from_estimator(RVMClassifier(), X_TEST, Y_TEST)
    with pytest.raises(ValueError, match="nothing to plot"):
        ReliabilityDisplay.from_estimator([], X_TEST, Y_TEST)
    named = RVMClassifier(gamma=1.0).fit(X, np.array(["a", "b"])[Y])
    with pytest.raises(ValueError, match="must have the same classes; 'RVMClassifier 2' has"):
        ReliabilityDisplay.from_estimator([MODEL, named], X_TEST, Y_TEST)


def test_names_of_curves_must_be_distinct():
    curve = ReliabilityCurve.from_events("a", np.full(4, 0.5), np.ones(4, dtype=bool))
    with pytest.raises(ValueError, match="with distinct names"):
        ReliabilityDisplay([curve, curve])
    with pytest.raises(ValueError, match="at least one curve"):
        ReliabilityDisplay([])
    with pytest.raises(ValueError, match="coverage must be between 0 and 1; got 95"):
        ReliabilityDisplay([curve]).plot(coverage=95)
