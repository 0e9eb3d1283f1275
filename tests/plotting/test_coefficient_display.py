"""Coefficients by level."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")

from relvec import SmoothDenoiser
from relvec.datasets import make_noisy_signal
from relvec.plotting import CoefficientDisplay

DATA = make_noisy_signal("Bumps", 512, snr=5, random_state=0)


def test_every_coefficient_is_a_stem():
    denoiser = SmoothDenoiser("plain").fit(DATA.noisy)
    display = CoefficientDisplay.from_estimator(denoiser)
    model = denoiser.model_
    assert len(display.kept_.get_segments()) == model.n_components_
    assert len(display.dropped_.get_segments()) == 512 - model.n_components_
    assert [row.name for row in display.rows] == [
        "approximation",
        *(f"level {j}" for j in range(5, 0, -1)),
    ]
    values = np.concatenate([row.value for row in display.rows])
    np.testing.assert_allclose(values, model.data / np.sqrt(model.noise_variance))
    for row in display.rows:
        np.testing.assert_array_equal(row.kept, np.abs(row.value) > display.threshold)
    display.figure_.canvas.draw()


def test_positions_of_wavelet_coefficients():
    noisy = np.zeros(256)
    noisy[60] = 100.0
    denoiser = SmoothDenoiser("plain", dictionary="haar", noise_std=1.0).fit(noisy)
    for row in CoefficientDisplay.from_estimator(denoiser).rows:
        (position,) = row.position[row.kept]
        assert abs(position - 60.5 / 256) <= 0.5 / len(row.value)


def test_cosines_are_one_row():
    denoiser = SmoothDenoiser("plain", dictionary="cosine").fit(DATA.noisy)
    display = CoefficientDisplay.from_estimator(denoiser)
    assert [row.name for row in display.rows] == ["cosine coefficients"]
    assert display.ax_.get_xlabel() == "frequency / maximum frequency"


def test_images_by_magnitude():
    image = np.zeros((64, 64))
    image[20:40, 10:30] = 20.0
    noisy = image + np.random.default_rng(0).normal(size=image.shape)
    denoiser = SmoothDenoiser("plain", noise_std=1.0).fit(noisy)
    display = CoefficientDisplay.from_estimator(denoiser)
    assert display.kind == "magnitude"
    values = display.kept_.get_xdata()
    assert len(values) == denoiser.model_.n_components_
    assert values.min() > display.threshold
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match='the signal has the shape.*Use kind="magnitude"'):
        CoefficientDisplay.from_estimator(denoiser, kind="position")


def test_one_dimensional_signals_by_magnitude():
    display = CoefficientDisplay.from_estimator(
        SmoothDenoiser("plain").fit(DATA.noisy), kind="magnitude"
    )
    assert display.ax_.get_xscale() == "log"


def test_nothing_kept():
    noisy = np.random.default_rng(0).normal(size=128)
    denoiser = SmoothDenoiser("plain", noise_std=10.0).fit(noisy)
    for kind in ("position", "magnitude"):
        display = CoefficientDisplay.from_estimator(denoiser, kind=kind)
        display.figure_.canvas.draw()


def test_bad_input():
    with pytest.raises(ValueError, match="at least one level"):
        CoefficientDisplay([], threshold=1.0)
    with pytest.raises(ValueError, match="kind must be one of"):
        CoefficientDisplay.from_estimator(SmoothDenoiser("plain").fit(DATA.noisy), kind="stems")
    with pytest.raises(TypeError, match="fitted SmoothDenoiser"):
        CoefficientDisplay.from_estimator(DATA.noisy)
