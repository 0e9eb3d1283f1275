"""Predictions and the degree of extrapolation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.plotting import ExtrapolationDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, size=(60, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
MODEL = RVMRegressor(gamma=0.5).fit(X, Y)
NEW = np.array([[0.5], [9.0], [-1.0], [-12.0]])
WIDE = RNG.uniform(-3.0, 3.0, size=(60, 4))
MANY = RVMRegressor(gamma=0.1).fit(WIDE, Y)


def test_background_and_band_over_one_feature():
    display = ExtrapolationDisplay.from_estimator(MODEL, X, NEW, Y[:4])
    np.testing.assert_array_equal(display.is_beyond_, [False, True, False, True])
    (x,) = display.inputs.axes
    assert x[0] < -12.0
    assert x[-1] > 9.0
    np.testing.assert_allclose(display.inputs.share, MODEL.extrapolating(x[:, None]))
    np.testing.assert_allclose(display.surface_.get_array().ravel(), display.inputs.share)
    np.testing.assert_allclose(display.inputs.std, MODEL.predict(x[:, None], return_std=True)[1])
    np.testing.assert_allclose(display.far_.get_xdata(), [9.0, -12.0])
    np.testing.assert_allclose(display.near_.get_ydata(), MODEL.predict(NEW[[0, 2]]))
    np.testing.assert_allclose(display.observed_.get_ydata(), Y[:4])
    np.testing.assert_allclose(display.training_.get_xdata(), X[:, 0])


def test_map_over_two_features():
    table = pd.DataFrame(WIDE[:, :2], columns=["a_$1$", "b"])
    model = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.5)).fit(table, Y)
    new = pd.DataFrame({"a_$1$": [0.0, 40.0], "b": [0.0, 0.0]})
    display = ExtrapolationDisplay.from_estimator(model, table, new, grid_resolution=20)
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(display.is_beyond_, [False, True])
    assert display.inputs.share.shape == (20, 20)
    assert display.ax_.get_ylabel() == "b"
    np.testing.assert_allclose(display.far_.get_xydata(), [[40.0, 0.0]])


def test_rows_against_the_degree_of_extrapolation():
    new = np.vstack([WIDE[:5], WIDE[:3] + 20.0])
    display = ExtrapolationDisplay.from_estimator(MANY, WIDE, new)
    np.testing.assert_allclose(display.share, MANY.extrapolating(new))
    np.testing.assert_allclose(display.far_.get_xdata(), display.share[5:])
    assert display.surface_ is None
    assert display.ax_.get_ylabel() == "predicted y"
    over_one = ExtrapolationDisplay.from_estimator(MODEL, X, NEW, kind="rows")
    np.testing.assert_allclose(over_one.near_.get_xdata(), MODEL.extrapolating(NEW[[0, 2]]))


def test_legend_contains_only_what_is_drawn():
    display = ExtrapolationDisplay.from_estimator(MODEL, X, X[:3])
    assert display.far_ is None
    labels = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert labels == {
        "95 % interval",
        "mean",
        "new",
        "training",
    }


def test_bad_input():
    linear = SparseBayesRegressor(LinearBasis()).fit(X, Y)
    with pytest.raises(ValueError, match="SparseBayesRegressor does not measure extrapolation"):
        ExtrapolationDisplay.from_estimator(linear, X, NEW)
    with pytest.raises(TypeError, match="RVMClassifier is a classifier"):
        ExtrapolationDisplay.from_estimator(RVMClassifier(gamma=0.1).fit(X, Y > 0.0), X, NEW)
    with pytest.raises(ValueError, match="same number of columns; got 2 and 1"):
        ExtrapolationDisplay.from_estimator(MODEL, WIDE[:, :2], NEW)
    with pytest.raises(ValueError, match='kind="inputs" needs a model with one or two features'):
        ExtrapolationDisplay.from_estimator(MANY, WIDE, WIDE[:3], kind="inputs")
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        ExtrapolationDisplay([1.5], [0.0], [1.0])
    with pytest.raises(ValueError, match="share is empty"):
        ExtrapolationDisplay([], [], [])
    with pytest.raises(ValueError, match="std must have 1 values, as many as share; got 2"):
        ExtrapolationDisplay([0.5], [0.0], [1.0, 2.0])
