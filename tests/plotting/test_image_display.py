"""Images before and after denoising, with residuals."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pywt")

from relvec import SmoothDenoiser
from relvec.plotting import ImageDisplay

RNG = np.random.default_rng(0)
DISC = 100.0 * (np.hypot(*np.mgrid[-1:1:48j, -1:1:40j]) < 0.6)
GREY = DISC + 10.0 * RNG.normal(size=DISC.shape)
COLOUR = np.stack([DISC, 100.0 - DISC, DISC / 2], axis=2) + 10.0 * RNG.normal(size=(48, 40, 3))


def titles(display):
    return [axes.get_title(loc="left") for axes in display.ax_]


def test_grey():
    denoiser = SmoothDenoiser(noise_std=10.0).fit(GREY)
    display = ImageDisplay.from_estimator(denoiser, GREY)
    assert titles(display) == ["observed", "denoised", "residual / noise std"]
    residual = display.images_[2]
    np.testing.assert_allclose(residual.get_array(), (GREY - denoiser.signal_) / 10.0)
    assert residual.get_clim() == (-3.0, 3.0)
    assert display.images_[0].get_clim() == display.images_[1].get_clim()
    display.figure_.canvas.draw()


@pytest.mark.slow
def test_colour_with_std():
    display = ImageDisplay.from_signal(COLOUR, noise_std=[10.0, 10.0, 20.0], show_std=True)
    assert titles(display)[2:] == [
        "residual of brightness / noise std",
        "posterior std / noise std",
    ]
    expected = (COLOUR - display.denoised).sum(axis=2) / np.sqrt(600.0)
    np.testing.assert_allclose(display.images_[2].get_array(), expected)
    assert display.images_[0].get_array().shape == (48, 40, 3)
    display.figure_.canvas.draw()


def test_channels_first():
    first = np.moveaxis(COLOUR, 2, 0)
    display = ImageDisplay.from_signal(first, channel_axis=0, noise_std=10.0)
    assert display.noisy.shape == display.denoised.shape == (48, 40, 3)


def test_noise_std_per_pixel():
    noise = np.where(np.arange(40) < 20, 5.0, 10.0) * np.ones((48, 1))
    display = ImageDisplay.from_signal(GREY, noise_std=noise)
    np.testing.assert_allclose(display.residual, (GREY - display.denoised) / noise)


def test_integer_images_have_the_range_of_their_type():
    image = np.clip(GREY, 0, 255).astype(np.uint8)
    display = ImageDisplay.from_signal(image, noise_std=10.0)
    assert display.images_[0].get_clim() == (0.0, 255.0)
    assert display.plot(limits=(0, 100)).images_[0].get_clim() == (0, 100)


@pytest.mark.slow
def test_missing_pixels():
    for image in (GREY.copy(), COLOUR.copy()):
        image[10:14, 5:9] = np.nan
        ImageDisplay.from_signal(image, noise_std=10.0).figure_.canvas.draw()


def test_given_axes_are_used():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3)
    display = ImageDisplay.from_signal(GREY, noise_std=10.0, ax=axes)
    assert display.figure_ is figure
    assert display.ax_ == list(axes)
    with pytest.raises(ValueError, match="4 matplotlib axes.*and the standard deviation; got 3"):
        ImageDisplay.from_signal(GREY, noise_std=10.0, show_std=True, ax=axes)


def test_a_flat_result_can_be_drawn():
    flat = np.zeros((8, 8))
    ImageDisplay(noisy=flat, denoised=flat, noise_std=1.0).plot().figure_.canvas.draw()


@pytest.mark.parametrize(
    ("signal", "match"),
    [
        (np.zeros(8), "For a one-dimensional signal use SignalDisplay"),
        (np.zeros((8, 8, 8)), "one slice at a time"),
        (np.zeros((8, 8), dtype=complex), "of real numbers"),
    ],
)
def test_not_an_image(signal, match):
    with pytest.raises(ValueError, match=match):
        ImageDisplay.from_signal(signal)


def test_bad_input():
    flat = np.zeros((8, 8))
    with pytest.raises(ValueError, match="denoised must have the shape of the noisy image"):
        ImageDisplay(noisy=flat, denoised=np.zeros((8, 9)), noise_std=1.0)
    with pytest.raises(ValueError, match="noise_std must be positive"):
        ImageDisplay(noisy=flat, denoised=flat, noise_std=0.0)
    with pytest.raises(ValueError, match="one per channel.*got shape"):
        ImageDisplay(noisy=flat, denoised=flat, noise_std=np.ones(3))
    display = ImageDisplay(noisy=flat, denoised=flat, noise_std=1.0)
    with pytest.raises(ValueError, match="limits must be two increasing numbers"):
        display.plot(limits=(1.0, 1.0))
    with pytest.raises(ValueError, match="residual_limit must be a positive number"):
        display.plot(residual_limit=-1.0)
    denoiser = SmoothDenoiser(noise_std=1.0, with_std=False).fit(flat + GREY[:8, :8])
    with pytest.raises(ValueError, match="fitted with with_std=True"):
        ImageDisplay.from_estimator(denoiser, flat, show_std=True)
