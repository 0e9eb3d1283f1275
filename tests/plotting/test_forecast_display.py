"""Plots of forecasts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec import KernelSearchRegressor, RVMRegressor
from relvec.plotting import ForecastDisplay

T = np.arange(84.0)[:, np.newaxis]
Y = (
    0.1 * T[:, 0]
    + np.sin(2 * np.pi * T[:, 0] / 12)
    + 0.2 * np.random.default_rng(0).normal(size=84)
)
DATES = np.arange("2010-01", "2017-01", dtype="datetime64[M]").astype("datetime64[D]")


@pytest.fixture(scope="module")
def model():
    return KernelSearchRegressor(effort="fast", mode="interpretable").fit(T[:72], Y[:72])


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


def test_bands_are_predictive_intervals(model):
    display = ForecastDisplay.from_estimator(model, T[72:], Y[72:], names=("t", "sales"))
    np.testing.assert_allclose(display.median, model.predict(T[72:]), rtol=1e-6)
    for interval, coverage in zip(display.intervals, (0.5, 0.8, 0.95), strict=True):
        np.testing.assert_allclose(interval, model.predict_interval(T[72:], coverage), rtol=1e-6)
    assert labels(display) == [
        "observed",
        "95 % interval",
        "80 % interval",
        "50 % interval",
        "median",
        "observed later",
    ]
    np.testing.assert_array_equal(display.observed_.get_ydata(), Y[72:])
    np.testing.assert_allclose(display.history_.get_xdata(), T[:72, 0])
    assert display.ax_.get_ylabel() == "sales"
    display.figure_.canvas.draw()


def test_the_next_inputs_by_default(model):
    display = ForecastDisplay.from_estimator(model, n_steps=5, n_history=20, coverages=[0.9])
    np.testing.assert_allclose(display.x_future, np.arange(72.0, 77.0))
    assert len(display.history_.get_xdata()) == 20
    assert len(display.bands_) == 1
    assert display.observed_ is None
    assert len(ForecastDisplay.from_estimator(model).x_future) == 72 // 5
    later = ForecastDisplay.from_estimator(model, y=Y[72:75])
    assert len(later.x_future) == 3


def test_dates():
    model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(DATES[:72], Y[:72])
    display = ForecastDisplay.from_estimator(model, DATES[72:], Y[72:])
    assert display.x_future.dtype.kind == "M"
    assert display.history_.get_xdata()[0] == DATES[0]
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(
        ForecastDisplay.from_estimator(model, n_steps=12).x_future, DATES[72:]
    )


def test_given_axes_are_used(model):
    figure, axes = pyplot.subplots()
    display = ForecastDisplay.from_estimator(model, n_steps=3, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_long_histories_are_lines():
    display = ForecastDisplay(
        x=np.arange(1000.0),
        y=np.zeros(1000),
        x_future=[1000.0, 1001.0],
        median=[0.0, 0.0],
        intervals=[[[-1.0, 1.0], [-1.0, 1.0]]],
        coverages=[0.8],
    ).plot()
    assert display.history_.get_marker() == ""


def test_errors(model):
    with pytest.raises(TypeError, match="ForecastDisplay needs a fitted KernelSearchRegressor"):
        ForecastDisplay.from_estimator(RVMRegressor(gamma=0.1).fit(T, Y))
    good = {"x": [0.0], "y": [0.0], "x_future": [1.0], "median": [0.0]}
    with pytest.raises(ValueError, match=r"intervals must have shape \(3, 1, 2\)"):
        ForecastDisplay(**good, intervals=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="x_future must have 1 positions; got 2"):
        ForecastDisplay(**{**good, "x_future": [1.0, 2.0]}, intervals=np.zeros((3, 1, 2)))
    with pytest.raises(ValueError, match="x must be a one-dimensional array of numbers or dates"):
        ForecastDisplay(**{**good, "x": ["a"]}, intervals=np.zeros((3, 1, 2)))
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        ForecastDisplay(**good, intervals=np.zeros((1, 1, 2)), coverages=[95])
