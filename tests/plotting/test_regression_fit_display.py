"""Regression function over one feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMRegressor
from relvec.plotting import RegressionFitDisplay

RNG = np.random.default_rng(7)
X = np.sort(RNG.uniform(-10.0, 10.0, size=(70, 1)), axis=0)
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * RNG.normal(size=70)
MODEL = RVMRegressor(gamma=0.1).fit(X, Y)
X3 = RNG.normal(size=(60, 3)) * [1.0, 5.0, 0.1]
Y3 = X3[:, 0] + np.sin(X3[:, 1]) + 0.1 * RNG.normal(size=60)
MODEL3 = RVMRegressor().fit(X3, Y3)


def test_line_bands_points_and_relevance_vectors():
    display = RegressionFitDisplay.from_estimator(MODEL, X, Y, coverage=0.8)
    x, mean = display.mean_.get_data()
    expected, std = MODEL.predict(x[:, None], return_std=True)
    np.testing.assert_allclose(mean, expected)
    assert x[0] < X.min()
    assert x[-1] > X.max()
    np.testing.assert_array_equal(display.points_.get_xdata(), X[:, 0])
    np.testing.assert_array_equal(display.points_.get_ydata(), Y)
    vectors = MODEL.relevance_vectors_[:, 0]
    np.testing.assert_array_equal(display.relevance_.get_xdata(), vectors)
    on_line = MODEL.predict(MODEL.relevance_vectors_)
    np.testing.assert_allclose(display.relevance_.get_ydata(), on_line, atol=1e-3)
    for band, spread in (
        (display.band_, std),
        (display.function_band_, MODEL.predict(x[:, None], True, include_noise=False)[1]),
    ):
        vertices = band.get_paths()[0].vertices[:, 1]
        reach = norm.ppf(0.9) * spread
        assert vertices.max() == pytest.approx((expected + reach).max())
        assert vertices.min() == pytest.approx((expected - reach).min())
    display.figure_.canvas.draw()


def test_true_function_is_drawn():
    display = RegressionFitDisplay.from_estimator(MODEL, X, truth=lambda x: x[:, 0] ** 2)
    np.testing.assert_allclose(display.truth_.get_ydata(), display.x**2)
    assert display.points_ is None


@pytest.mark.parametrize("as_frame", [False, True])
def test_other_features_are_at_their_medians(as_frame):
    table = pd.DataFrame(X3, columns=["a", "b", "c"]) if as_frame else X3
    model = RVMRegressor(gamma=0.1).fit(table, Y3)
    display = RegressionFitDisplay.from_estimator(model, table, Y3, feature="b" if as_frame else 1)
    rows = np.tile(np.median(X3, axis=0), (len(display.x), 1))
    rows[:, 1] = display.x
    asked = pd.DataFrame(rows, columns=["a", "b", "c"]) if as_frame else rows
    np.testing.assert_allclose(display.mean, model.predict(asked))
    assert display.relevance_ is None
    assert display.ax_.get_xlabel() == ("b" if as_frame else "x1")
    assert any("medians" in text.get_text() for text in display.ax_.texts)


def test_relevance_vectors_of_a_pipeline_are_in_original_units():
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(gamma=2.0)).fit(X, Y)
    display = RegressionFitDisplay.from_estimator(pipeline, X, Y)
    for center in display.relevance_.get_xdata():
        assert np.abs(X[:, 0] - center).min() < 1e-9
    assert display.band_ is not None


def test_regressors_without_std_have_no_bands():
    display = RegressionFitDisplay.from_estimator(LinearRegression().fit(X, Y), X, Y)
    assert display.band_ is None
    assert display.function_band_ is None
    process = GaussianProcessRegressor(alpha=0.01).fit(X, Y)
    display = RegressionFitDisplay.from_estimator(process, X, Y)
    assert display.band_ is not None
    assert display.function_band_ is None


def test_given_predictions_and_axes():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = RegressionFitDisplay.from_predictions(
        [0.0, 1.0], [2.0, 3.0], [0.5, 0.5], names=("time", "dose"), ax=axes
    )
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time", "dose")
    assert axes.get_xlim() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"x": [1.0, 0.0], "mean": [0.0, 0.0]}, "ascending order; sort it first"),
        ({"x": [1.0], "mean": [0.0]}, "at least 2 values"),
        ({"x": [0.0, 1.0], "mean": [0.0]}, "mean must have 2 values, as many as x; got 1"),
        ({"x": [0.0, 1.0], "mean": [0.0, 1.0], "x_observed": [1.0]}, "must be given together"),
        (
            {"x": [0.0, 1.0], "mean": [0.0, 1.0], "x_observed": [1.0], "y_observed": [1.0, 2.0]},
            "the same length; got 1 and 2",
        ),
    ],
)
def test_bad_lines(options, match):
    with pytest.raises(ValueError, match=match):
        RegressionFitDisplay(**options)


def test_bad_input():
    with pytest.raises(ValueError, match="one of the 3 features.*PredictedObservedDisplay"):
        RegressionFitDisplay.from_estimator(MODEL3, X3, Y3)
    with pytest.raises(ValueError, match="below 3, the number of features; got 3"):
        RegressionFitDisplay.from_estimator(MODEL3, X3, Y3, feature=3)
    with pytest.raises(ValueError, match=r"one of \['x0', 'x1', 'x2'\]; got 'age'"):
        RegressionFitDisplay.from_estimator(MODEL3, X3, Y3, feature="age")
    with pytest.raises(ValueError, match="coverage must be between 0 and 1; got 95"):
        RegressionFitDisplay.from_estimator(MODEL, X, Y, coverage=95)
    with pytest.raises(NotFittedError):
        RegressionFitDisplay.from_estimator(RVMRegressor(), X, Y)
    two = RVMRegressor(gamma=0.1).fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(ValueError, match="plots one target; the model has 2"):
        RegressionFitDisplay.from_estimator(two, X, Y)
    with pytest.raises(TypeError, match="must contain only numbers"):
        RegressionFitDisplay.from_estimator(MODEL, [["a"], ["b"]])
