"""Plots of the noise level."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMRegressor
from relvec.plotting import NoiseDisplay

RNG = np.random.default_rng(5)
X = RNG.uniform(size=(160, 2))
Y = np.sin(5 * X[:, 0]) + (0.1 + 0.5 * X[:, 0]) * RNG.normal(size=160)
ONE = RVMRegressor(noise="heteroscedastic").fit(X[:, :1], Y)
TWO = RVMRegressor(noise="heteroscedastic").fit(X, Y)


def test_line_with_band_along_one_feature():
    display = NoiseDisplay.from_estimator(ONE, X[:, :1], Y, coverage=0.9, n_points=50)
    std, interval = ONE.predict_noise(display.noise_x[:, None], 0.9)
    np.testing.assert_array_equal(display.level_.get_ydata(), std)
    np.testing.assert_array_equal(display.band, interval)
    residuals = np.abs(Y - ONE.predict(X[:, :1]))
    np.testing.assert_array_equal(display.points_.get_ydata(), residuals)
    assert display.band_.get_label() == "90 % band"
    assert len(display.binned_.get_xdata()) == 8
    # mean of the squares in bins of equal size is that of all rows
    np.testing.assert_allclose((display.binned_.get_ydata() ** 2).mean(), (residuals**2).mean())


def test_points_along_the_prediction_and_line_along_a_feature():
    display = NoiseDisplay.from_estimator(TWO, X, Y)
    np.testing.assert_array_equal(display.level_.get_xdata(), TWO.predict(X))
    np.testing.assert_array_equal(display.level_.get_ydata(), TWO.predict_noise(X))
    assert display.band_ is None
    along = NoiseDisplay.from_estimator(TWO, X, Y, feature=0)
    assert along.band_ is not None
    assert "medians" in along.ax_.get_xlabel()
    np.testing.assert_array_equal(along.points_.get_xdata(), X[:, 0])


def test_constant_noise_and_pipelines():
    flat = Y - Y + np.sin(5 * X[:, 0]) + 0.2 * RNG.normal(size=160)
    model = make_pipeline(StandardScaler(), RVMRegressor(gamma=1.0)).fit(X[:, :1], flat)
    display = NoiseDisplay.from_estimator(model, X[:, :1], flat)
    assert np.ptp(display.noise_std) == 0.0
    assert 0.15 < display.noise_std[0] < 0.25
    assert (display.band[:, 0] < display.noise_std).all()


def test_invalid_input():
    with pytest.raises(TypeError, match="needs a regressor with predict_noise; got BayesianRidge"):
        NoiseDisplay.from_estimator(BayesianRidge().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="nothing to plot"):
        NoiseDisplay([], [], [0.0], [1.0])
    with pytest.raises(ValueError, match="noise_std must be finite and not negative"):
        NoiseDisplay([0.0], [0.0], [0.0], [-1.0])
    with pytest.raises(ValueError, match=r"band must have shape \(1, 2\)"):
        NoiseDisplay([0.0], [0.0], [0.0], [1.0], band=[0.5, 1.5])
