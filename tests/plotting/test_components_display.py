"""Plots of the parts of constructed kernels."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec import KernelSearchRegressor, RVMRegressor
from relvec.plotting import ComponentCurve, ComponentsDisplay

T = np.arange(96.0)[:, np.newaxis]
Y = np.exp(
    3.0
    + 0.01 * T[:, 0]
    + 0.3 * np.sin(2 * np.pi * T[:, 0] / 12)
    + 0.03 * np.random.default_rng(0).normal(size=96)
)
DATES = np.arange("2010-01", "2018-01", dtype="datetime64[M]").astype("datetime64[D]")


@pytest.fixture(scope="module")
def model():
    return KernelSearchRegressor(effort="fast", mode="interpretable").fit(T, Y)


@pytest.fixture(scope="module")
def dated():
    return KernelSearchRegressor(effort="fast", mode="interpretable").fit(DATES, Y)


def test_the_parts_add_up_to_the_total(model):
    display = ComponentsDisplay.from_estimator(model, unit="months", names=("month", "sales"))
    total = display.total.mean
    parts = sum(curve.mean for curve in display.curves)
    np.testing.assert_allclose(total - parts, (total - parts)[0], atol=1e-8)
    assert [curve.name for curve in display.curves] == ["Linear trend (LIN)", "Yearly season (PER)"]
    assert len(display.axes_) == len(display.lines_) == len(display.bands_) == 3
    assert {axes.get_ylabel() for axes in display.axes_} == {"log sales"}
    assert display.axes_[-1].get_xlabel() == "month"
    np.testing.assert_allclose(display.y_observed, np.log(Y))
    display.figure_.canvas.draw()


def test_the_curve_goes_on_beyond_the_record(model):
    display = ComponentsDisplay.from_estimator(model, horizon=0.5, grid_resolution=10)
    assert display.total.x[-1] == pytest.approx(1.5 * 95.0)
    assert display.end == 95.0
    # points for each of the periods, though fewer were asked for
    assert len(display.total.x) > 12 * 1.5 * 96 / 12
    short = ComponentsDisplay.from_estimator(model, horizon=0.0)
    assert short.total.x[-1] == pytest.approx(95.0)


def test_bands_are_posterior_intervals(model):
    display = ComponentsDisplay.from_estimator(model)
    mean, std = model.predict_latent(display.total.x[:, np.newaxis], return_std=True)
    np.testing.assert_allclose(display.total.mean, mean)
    np.testing.assert_allclose(display.total.std, std)
    corners = display.bands_[0].get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx((mean + 1.95996 * std).max(), rel=1e-4)
    # A line, centred over the record, is known best in its middle.
    line = next(curve for curve in display.curves if "LIN" in curve.name)
    inside = line.x <= 95.0
    assert abs(line.x[inside][line.std[inside].argmin()] - 47.5) < 1.0
    assert line.mean[inside].mean() == pytest.approx(0.0, abs=0.01)


def test_dates(dated):
    display = ComponentsDisplay.from_estimator(dated)
    assert display.total.x.dtype.kind == "M"
    assert display.end == DATES[-1]
    assert any("Yearly season" in curve.name for curve in display.curves)
    display.figure_.canvas.draw()


def test_given_axes_are_used(model):
    figure, axes = pyplot.subplots(3)
    display = ComponentsDisplay.from_estimator(model, ax=axes)
    assert display.figure_ is figure
    assert display.axes_ == list(axes)
    with pytest.raises(ValueError, match="ax must be 3 matplotlib axes"):
        display.plot(axes[0])


def test_functions_of_features_are_drawn_in_a_grid():
    x = np.linspace(0.0, 1.0, 20)
    curves = [
        ComponentCurve("Linear function of a", x, x, 0.1 * x, labels=("a",)),
        ComponentCurve("Joint", x, np.outer(x, x), second=x, labels=("a", "b")),
        ComponentCurve("Of three", x, x, labels=("c", "d", "e")),
        ComponentCurve("Smooth function of f", x, x**2, 0.1 * x, labels=("f",)),
    ]
    display = ComponentsDisplay(curves=curves).plot()
    assert [axes.get_xlabel() for axes in display.axes_] == ["a", "a", "c", "f"]
    assert display.axes_[1].get_ylabel() == "b"
    assert display.bands_[1] is None
    assert display.lines_[2].get_linestyle() == "None"
    assert sum(axes.get_visible() for axes in display.figure_.axes) >= 4


def test_errors(model):
    with pytest.raises(TypeError, match="needs a fitted KernelSearchRegressor; got RVMRegressor"):
        ComponentsDisplay.from_estimator(RVMRegressor(gamma=0.1).fit(T, Y))
    with pytest.raises(ValueError, match="horizon must be zero or positive"):
        ComponentsDisplay.from_estimator(model, horizon=-1.0)
    with pytest.raises(ValueError, match="There is nothing to plot"):
        ComponentsDisplay(curves=[])
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        ComponentsDisplay.from_estimator(model, coverage=95)
