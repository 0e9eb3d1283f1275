"""Plot of bias–variance decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec import bias_variance_decomposition
from relvec.plotting import BiasVarianceDisplay


def function(X):
    return X[:, 0] ** 2 + 0.0 * X[:, -1]


def make(seed, n_features=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(30, n_features))
    return X, function(X) + 0.3 * rng.normal(size=30)


def results(**options):
    return [
        bias_variance_decomposition(
            model, make, function=function, n_fits=10, random_state=0, name=name, **options
        )
        for model, name in ((LinearRegression(), "line $x"), (Ridge(alpha=100.0), "ridge"))
    ]


def test_curves_are_the_values_at_the_inputs_in_order():
    found = results()
    display = BiasVarianceDisplay.from_results(found)
    assert len(display.axes_) == 2
    x = np.sort(found[0].X[:, 0])
    for lines, result in zip(display.lines_, found, strict=True):
        order = np.argsort(result.X[:, 0])
        for label, values in (
            ("squared bias", result.point_remainder),
            ("variance", result.point_variance),
            ("noise", result.point_noise),
        ):
            np.testing.assert_array_equal(lines[label].get_xdata(), x)
            np.testing.assert_array_equal(lines[label].get_ydata(), values[order])
        total = result.point_remainder + result.point_variance + result.point_noise
        np.testing.assert_allclose(lines["MSE"].get_ydata(), total[order])
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)


def test_bars_sum_to_the_error():
    found = results()
    figure, ax = pyplot.subplots()
    display = BiasVarianceDisplay.from_results(found, kind="bars", ax=ax)
    assert display.figure_ is figure
    widths = [[bar.get_width() for bar in bars] for bars in display.bars_.values()]
    np.testing.assert_allclose(np.sum(widths, axis=0), [each.mse for each in found])
    pyplot.close(figure)


def test_several_inputs_and_bootstrap_samples_give_bars():
    wide = bias_variance_decomposition(
        Ridge(), lambda seed: make(seed, 2), function=function, n_fits=4, random_state=0
    )
    for result in (
        wide,
        bias_variance_decomposition(Ridge(), make(0), n_fits=8, random_state=0),
        bias_variance_decomposition(Ridge(), make(0), n_fits=8, noise_variance=9.0, random_state=0),
    ):
        display = BiasVarianceDisplay.from_results(result)
        widths = [bars[0].get_width() for bars in display.bars_.values()]
        assert sum(widths) == pytest.approx(result.mse)
        with pytest.raises(ValueError, match='kind="bars"'):
            display.plot(kind="curves")
        pyplot.close(display.figure_)


def test_wrong_arguments_raise():
    with pytest.raises(TypeError, match="bias_variance_decomposition"):
        BiasVarianceDisplay([1.0])
    with pytest.raises(TypeError, match="at least one"):
        BiasVarianceDisplay([])
    own = results()[0]
    other = bias_variance_decomposition(Ridge(), make(0), n_fits=8, random_state=0)
    with pytest.raises(ValueError, match="cannot be compared"):
        BiasVarianceDisplay([own, other])
