"""Residual plots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression

pytest.importorskip("matplotlib")

from relvec import RVMRegressor
from relvec.describing import compute_normal_quantiles, compute_quantile_band
from relvec.plotting import ResidualDisplay

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 2))
Y = X[:, 0] + 0.3 * RNG.normal(size=80)
MODEL = RVMRegressor(gamma=0.1).fit(X, Y)


def test_residuals_are_standardised():
    mean, std = MODEL.predict(X, return_std=True)
    display = ResidualDisplay.from_estimator(MODEL, X, Y)
    np.testing.assert_allclose(display.points_.get_ydata(), (Y - mean) / std)
    np.testing.assert_allclose(display.points_.get_xdata(), mean)
    drawn = display.quantile_points_.get_ydata()
    np.testing.assert_allclose(drawn, np.sort((Y - mean) / std))
    plain = ResidualDisplay.from_estimator(MODEL, X, Y, standardise=False)
    np.testing.assert_allclose(plain.values_, Y - mean)
    display.figure_.canvas.draw()


@pytest.mark.parametrize("kind", ["predicted", "quantiles"])
def test_single_panels(kind):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = ResidualDisplay.from_estimator(MODEL, X, Y, kind=kind, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert (display.points_ is None) == (kind == "quantiles")
    assert (display.quantile_points_ is None) == (kind == "predicted")


def test_regressor_without_std():
    display = ResidualDisplay.from_estimator(LinearRegression().fit(X, Y), X, Y)
    assert display.std is None


def test_quantiles_agree_with_scipy():
    expected = stats.norm.ppf((np.arange(1, 21) - 0.375) / 20.25)
    np.testing.assert_allclose(compute_normal_quantiles(20), expected)


@given(st.integers(2, 60), st.integers(0, 2**31))
def test_quantile_band_has_its_nominal_coverage(count, seed):
    low, high = compute_quantile_band(count)
    middle = compute_normal_quantiles(count)
    assert (low < middle).all()
    assert (middle < high).all()
    np.testing.assert_allclose(low, -high[::-1], rtol=1e-9)
    rank = seed % count + 1
    beta = stats.beta(rank, count + 1 - rank)
    inside = beta.cdf(stats.norm.cdf(high[rank - 1])) - beta.cdf(stats.norm.cdf(low[rank - 1]))
    assert inside == pytest.approx(0.95)


def test_bad_input():
    with pytest.raises(ValueError, match="y_pred must have 2 values, as many as y_true; got 1"):
        ResidualDisplay.from_predictions([0.0, 1.0], [0.0])
    with pytest.raises(ValueError, match="std must be positive"):
        ResidualDisplay.from_predictions([0.0], [0.0], [0.0])
    with pytest.raises(ValueError, match="residuals must have 1 values"):
        ResidualDisplay([0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="nothing to plot"):
        ResidualDisplay([], [])
    with pytest.raises(ValueError, match="Did you mean 'quantiles'"):
        ResidualDisplay.from_estimator(MODEL, X, Y, kind="quantile")
    only = ResidualDisplay.from_estimator(MODEL, X, Y, kind="predicted").ax_
    with pytest.raises(ValueError, match="2 matplotlib axes"):
        ResidualDisplay.from_estimator(MODEL, X, Y, ax=only)
