"""One-dimensional signals before and after denoising."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")

from relvec import SmoothDenoiser, SparseBayesRegressor
from relvec.bases import CosineBasis, WaveletBasis
from relvec.datasets import make_noisy_signal
from relvec.plotting import SignalDisplay

DATA = make_noisy_signal("Doppler", 512, snr=5, random_state=0)


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


def test_from_signal_draws_everything():
    display = SignalDisplay.from_signal(DATA.noisy, x=DATA.x, truth=DATA.clean)
    assert labels(display) == ["observed", "95 % band", "denoised", "truth"]
    np.testing.assert_array_equal(display.noisy_.get_ydata(), DATA.noisy)
    np.testing.assert_array_equal(display.truth_.get_ydata(), DATA.clean)
    np.testing.assert_array_equal(display.line_.get_xdata(), DATA.x)
    assert display.component_axes_ == []
    display.figure_.canvas.draw()


def test_from_estimator_draws_what_was_fitted():
    denoiser = SmoothDenoiser().fit(DATA.noisy)
    display = SignalDisplay.from_estimator(denoiser, DATA.noisy)
    np.testing.assert_array_equal(display.line_.get_ydata(), denoiser.signal_)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(512))
    assert display.truth_ is None


@pytest.mark.parametrize(("coverage", "width"), [(0.95, 1.95996), (0.5, 0.67449)])
def test_the_band_is_that_of_a_normal_distribution(coverage, width):
    mean, std = np.zeros(20), np.full(20, 2.0)
    display = SignalDisplay(noisy=mean, denoised=mean, std=std).plot(coverage=coverage)
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(2.0 * width, rel=1e-5)
    assert corners[:, 1].min() == pytest.approx(-2.0 * width, rel=1e-5)
    assert labels(display)[1] == f"{100 * coverage:g} % band"


def test_no_std_no_band():
    display = SignalDisplay.from_signal(DATA.noisy, with_std=False)
    assert display.band_ is None
    assert labels(display) == ["observed", "denoised"]


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    display = SignalDisplay.from_signal(DATA.noisy, ax=axes, noise_std=DATA.noise_std)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_components_are_drawn_below():
    parts = np.stack([DATA.clean, np.zeros(512)])
    denoiser = SmoothDenoiser().fit(DATA.noisy)
    display = SignalDisplay.from_estimator(
        denoiser, DATA.noisy, components=parts, component_names=["waves", "rest"]
    )
    assert [axes.get_title(loc="left") for axes in display.component_axes_] == ["waves", "rest"]
    np.testing.assert_array_equal(display.component_axes_[0].lines[0].get_ydata(), DATA.clean)
    unnamed = SignalDisplay.from_estimator(denoiser, DATA.noisy, components=parts)
    assert unnamed.component_axes_[1].get_title(loc="left") == "component 1"


def test_a_regressor_and_the_parts_of_its_basis():
    x = np.arange(64.0)
    y = 3.0 * (x >= 32) + np.cos(x) + 0.1 * np.random.default_rng(0).normal(size=64)
    basis = WaveletBasis("haar", level=6) + CosineBasis()
    model = SparseBayesRegressor(basis, prior="ric").fit(x[:, np.newaxis], y)
    display = SignalDisplay.from_estimator(model, y, x=x, components=True)
    mean, std = model.predict(x[:, np.newaxis], return_std=True, include_noise=False)
    np.testing.assert_array_equal(display.line_.get_ydata(), mean)
    np.testing.assert_array_equal(display.std, std)
    titles = [axes.get_title(loc="left") for axes in display.component_axes_]
    assert titles == [part.name for part in model.components_]
    np.testing.assert_allclose(
        sum(axes.lines[0].get_ydata() for axes in display.component_axes_),
        mean - y.mean(),
        atol=1e-9,
    )
    assert SignalDisplay.from_estimator(model, y, x=x, components=False).component_axes_ == []
    with pytest.raises(ValueError, match="x is needed to plot a regressor"):
        SignalDisplay.from_estimator(model, y)


def test_a_denoiser_has_no_parts():
    denoiser = SmoothDenoiser().fit(DATA.noisy)
    with pytest.raises(ValueError, match="components=True is for regressors"):
        SignalDisplay.from_estimator(denoiser, DATA.noisy, components=True)


def test_samples_are_drawn_in_the_order_of_x():
    order = np.random.default_rng(0).permutation(512)
    display = SignalDisplay.from_signal(DATA.noisy[order], x=DATA.x[order])
    np.testing.assert_array_equal(display.noisy_.get_ydata(), DATA.noisy)
    np.testing.assert_array_equal(display.line_.get_xdata(), DATA.x)


def test_masked_samples_are_not_drawn():
    mask = np.ones(512, dtype=bool)
    mask[100:120] = False
    display = SignalDisplay.from_signal(DATA.noisy, mask=mask)
    assert np.isnan(display.noisy_.get_ydata()[100:120]).all()
    assert np.isfinite(display.line_.get_ydata()).all()


def test_dates_and_series():
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2026-01-01", periods=512)
    display = SignalDisplay.from_signal(pandas.Series(DATA.noisy, index=days), x=days)
    display.figure_.canvas.draw()
    assert len(display.line_.get_xdata()) == 512


def test_long_signals_are_drawn_as_lines():
    noisy = np.random.default_rng(0).normal(size=6000)
    display = SignalDisplay(noisy=noisy, denoised=np.zeros(6000)).plot()
    assert display.noisy_.get_linestyle() == "-"


@pytest.mark.parametrize(
    ("signal", "match"),
    [
        (
            np.zeros((8, 8)),
            "one-dimensional array of real numbers; got an array of shape.*ImageDisplay",
        ),
        (np.zeros(8, dtype=complex), "real and the imaginary part"),
        (["a", "b"], "one-dimensional array of real numbers"),
    ],
)
def test_signals_that_are_not_one_dimensional_raise(signal, match):
    with pytest.raises(ValueError, match=match):
        SignalDisplay.from_signal(signal)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"noisy": np.zeros(7)}, "noisy must have 8 values"),
        ({"std": np.zeros(7)}, "std must have 8 values"),
        ({"truth": np.zeros(9)}, "truth must have 8 values"),
        ({"x": np.zeros(9)}, "x must have 8 positions"),
        ({"components": [np.zeros(7)]}, r"components\[0\] must have 8 values"),
        ({"components": [np.zeros(8)], "component_names": []}, "a name for each of the 1"),
    ],
)
def test_lengths_must_agree(options, match):
    with pytest.raises(ValueError, match=match):
        SignalDisplay(**{"noisy": np.zeros(8), "denoised": np.zeros(8), **options})


def test_bad_coverage_and_axes():
    from matplotlib import pyplot

    display = SignalDisplay(noisy=np.zeros(8), denoised=np.zeros(8), components=[np.zeros(8)])
    with pytest.raises(ValueError, match="coverage must be between 0 and 1; got 95"):
        display.plot(coverage=95)
    _, axes = pyplot.subplots()
    with pytest.raises(ValueError, match="2 matplotlib axes, for the signal and 1 components"):
        display.plot(axes)
    with pytest.raises(ValueError, match="ax must be 2 matplotlib axes"):
        display.plot(["here", "there"])


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        SignalDisplay.from_estimator(SmoothDenoiser(), DATA.noisy)
