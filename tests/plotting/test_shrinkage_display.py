"""Shrinkage rules of priors, and thresholding."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")

from relvec import SmoothDenoiser
from relvec.datasets import make_noisy_signal
from relvec.plotting import ShrinkageDisplay
from relvec.priors import SmoothnessPrior


def test_rules_agree_with_the_priors():
    display = ShrinkageDisplay.from_priors(n_samples=1024)
    assert list(display.lines_) == ["flat", "aic", "bic", "ric", "soft", "hard"]
    penalties = {"flat": 0.0, "aic": 1.0, "bic": 0.5 * math.log(1024), "ric": math.log(1024)}
    for name, c in penalties.items():
        z, mean = display.lines_[name].get_data()
        kept = z**2 > 1.0 + 2.0 * c
        np.testing.assert_allclose(mean[~kept], 0.0)
        np.testing.assert_allclose(mean[kept], z[kept] - z[kept] / (z[kept] ** 2 - 2.0 * c))
    display.figure_.canvas.draw()


def test_the_thresholds_are_universal():
    display = ShrinkageDisplay.from_priors(["bic"], n_samples=1024)
    z, soft = display.lines_["soft"].get_data()
    universal = math.sqrt(2.0 * math.log(1024))
    np.testing.assert_allclose(soft[-1], z[-1] - universal)
    hard = display.lines_["hard"].get_ydata()
    assert hard[-1] == z[-1]
    assert np.isnan(hard).sum() == 2  # no line across the jumps
    assert list(ShrinkageDisplay.from_priors("bic", thresholds=False).lines_) == ["bic"]


def test_priors_may_be_objects():
    display = ShrinkageDisplay.from_priors([SmoothnessPrior(2.0)], thresholds=False)
    assert list(display.penalties.values()) == [2.0]


def test_coefficients_lie_on_the_rule():
    data = make_noisy_signal("Bumps", 512, snr=5, random_state=0)
    denoiser = SmoothDenoiser().fit(data.noisy)
    display = ShrinkageDisplay.from_estimator(denoiser, thresholds=True)
    z, mean = display.points_.get_data()
    assert np.abs(z).max() <= display.limit
    np.testing.assert_allclose(mean, np.interp(z, *display.lines_["rule"].get_data()), atol=0.2)
    same = ShrinkageDisplay.from_estimator(denoiser.model_)
    assert same.penalties == {"rule": denoiser.model_.c}


def test_channel_must_be_given():
    noisy = np.random.default_rng(0).normal(size=(64, 2))
    denoiser = SmoothDenoiser("plain", channel_axis=1, noise_std=1.0).fit(noisy)
    with pytest.raises(ValueError, match="has 2 channels.*channel=0"):
        ShrinkageDisplay.from_estimator(denoiser)
    with pytest.raises(ValueError, match="channel must be below 2; got 2"):
        ShrinkageDisplay.from_estimator(denoiser, channel=2)
    assert ShrinkageDisplay.from_estimator(denoiser, channel=1).points_ is not None


def test_bad_input():
    with pytest.raises(ValueError, match="at least one rule"):
        ShrinkageDisplay({})
    with pytest.raises(ValueError, match=r"penalties\['x'\] must be a non-negative number"):
        ShrinkageDisplay({"x": -1.0})
    with pytest.raises(ValueError, match="has no closed form"):
        ShrinkageDisplay.from_priors(["gamma"])
    with pytest.raises(ValueError, match="n_samples"):
        ShrinkageDisplay.from_priors(n_samples=1)
    with pytest.raises(TypeError, match="a fitted SmoothDenoiser.*got str"):
        ShrinkageDisplay.from_estimator("bic")
    with pytest.raises(ValueError, match=r"points\[1\] must have 2 values"):
        ShrinkageDisplay({"x": 1.0}, points=([0.0, 1.0], [0.0]))


def test_no_noise():
    denoiser = SmoothDenoiser("plain", noise_std=0.0).fit(np.arange(64.0))
    with pytest.raises(ValueError, match="The noise standard deviation is zero"):
        ShrinkageDisplay.from_estimator(denoiser)


def test_single_channel():
    denoiser = SmoothDenoiser("plain", noise_std=1.0).fit(np.arange(64.0))
    with pytest.raises(ValueError, match="a single channel; got channel=1"):
        ShrinkageDisplay.from_estimator(denoiser, channel=1)
