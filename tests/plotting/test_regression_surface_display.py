"""Regression function over two features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor
from relvec.plotting import RegressionSurfaceDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(-10.0, 10.0, size=(80, 2))
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1] + 0.05 * RNG.normal(size=80)
MODEL = RVMRegressor(gamma=0.02).fit(X, Y)


def test_colours_are_predictions_and_targets_on_one_scale():
    display = RegressionSurfaceDisplay.from_estimator(MODEL, X, Y, grid_resolution=20)
    for i, j in ((0, 0), (3, 17), (19, 5)):
        predicted = MODEL.predict([[display.x0[j], display.x1[i]]])[0]
        assert display.mean[i, j] == pytest.approx(predicted)
    assert display.surface_.get_clim() == display.points_.get_clim()
    low, high = display.surface_.get_clim()
    assert low <= min(Y.min(), display.mean.min())
    assert high >= max(Y.max(), display.mean.max())
    np.testing.assert_array_equal(display.points_.get_array(), Y)
    np.testing.assert_allclose(display.relevance_.get_xydata(), MODEL.relevance_vectors_)
    assert display.colorbar_.ax.get_ylabel() == "y"


def test_data_frames_and_no_targets():
    table = pd.DataFrame(X, columns=["a_$1$", "b"])
    model = RVMRegressor(gamma=0.02).fit(table, Y)
    display = RegressionSurfaceDisplay.from_estimator(model, table, target_name="height")
    display.figure_.canvas.draw()
    assert display.points_ is None
    assert display.ax_.get_ylabel() == "b"


def test_constant_model_is_plotted():
    flat = RVMRegressor(gamma=0.02).fit(X, np.ones(80))
    display = RegressionSurfaceDisplay.from_estimator(flat, X, np.ones(80))
    display.figure_.canvas.draw()
    assert display.relevance_ is None


def test_bad_input():
    three = RVMRegressor(gamma=0.02).fit(np.c_[X, X[:, 0]], Y)
    with pytest.raises(ValueError, match=r"two features.*\(80, 3\).*RegressionFitDisplay"):
        RegressionSurfaceDisplay.from_estimator(three, np.c_[X, X[:, 0]], Y)
    with pytest.raises(TypeError, match="RVMClassifier is a classifier"):
        RegressionSurfaceDisplay.from_estimator(RVMClassifier(gamma=0.1).fit(X, Y > 0.0), X, Y)
    with pytest.raises(ValueError, match="y must have 80 values, one for each row of X; got 3"):
        RegressionSurfaceDisplay.from_estimator(MODEL, X, Y[:3])
    grid = np.arange(4.0)
    with pytest.raises(ValueError, match=r"mean must have shape \(4, 4\).*got \(3, 4\)"):
        RegressionSurfaceDisplay(x0=grid, x1=grid, mean=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="X and y must be given together"):
        RegressionSurfaceDisplay(x0=grid, x1=grid, mean=np.zeros((4, 4)), X=X)
