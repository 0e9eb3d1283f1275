"""
A signal and a photograph, with noise added and taken away again
================================================================

The signal is WaveLab's Piece-Regular: smooth stretches, peaks and jumps. The photograph is a part
of one that comes with scikit-learn, so nothing is downloaded. Noise of a known size is added to
both. The denoiser is told neither that size nor anything about the signals. Because we know the
truth, we can ask what cannot be asked of real data: was the noise level found, how much of the
error is gone, and do the error bars hold what they promise?

Run it with ``python examples/denoising.py [picture.png]``. It needs PyWavelets and matplotlib:
``pip install "relvec[wavelets,plot]"``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_image

from relvec import SmoothDenoiser
from relvec.datasets import make_noisy_signal

PICTURE = Path("build") / "denoising.png"
NOISE = 25.0


def main(picture: Path = PICTURE) -> None:
    pyplot = load_pyplot()
    from relvec.plotting import ImageDisplay, SignalDisplay

    line = make_noisy_signal("Piece-Regular", 1024, snr=4, random_state=0)
    photograph = load_photograph()
    noise = NOISE * np.random.default_rng(0).normal(size=photograph.shape)
    noisy_photograph = photograph + noise

    print(f"{'':24}{'noise':>8}{'found':>8}{'error left':>12}{'95 % band':>11}{'time':>9}")
    denoiser = fit("signal, 1024 samples", line.noisy, line.clean, line.noise_std)
    painter = fit("photograph, 136 x 164", noisy_photograph, photograph, NOISE)
    print(
        "\nnoise, found: standard deviation that was added, and the one that was estimated."
        "\nerror left: root mean squared error after denoising, as a share of that before."
        "\n95 % band: how much of the truth it holds."
    )
    print(f"\nThe signal took {denoiser.effective_dof_:.0f} effective parameters.")
    print("Weights of the transforms:")
    for name, weight in zip(denoiser.transforms_, denoiser.transform_weights_, strict=True):
        print(f"  {name:26}{weight:5.2f}")

    figure = pyplot.figure(figsize=(9.0, 6.0), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.15, 1.0])
    SignalDisplay.from_estimator(
        denoiser, line.noisy, x=line.x, truth=line.clean, ax=top.subplots()
    )
    display = ImageDisplay.from_estimator(painter, noisy_photograph, ax=bottom.subplots(1, 3))
    for image in display.images_:
        image.set_interpolation("nearest")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPicture: {os.path.relpath(picture)}")


def load_photograph() -> np.ndarray:
    """A part of the photograph of a temple, at half its resolution."""
    part = load_sample_image("china.jpg")[60:332, 150:478].astype(float)
    return part.reshape(136, 2, 164, 2, 3).mean(axis=(1, 3))


def fit(name: str, noisy: np.ndarray, clean: np.ndarray, noise_std: float) -> SmoothDenoiser:
    """Denoise, and print how far the result is from the truth."""
    began = time.perf_counter()
    denoiser = SmoothDenoiser().fit(noisy)
    seconds = time.perf_counter() - began
    error = denoiser.signal_ - clean
    left = np.sqrt(np.mean(error**2) / np.mean((noisy - clean) ** 2))
    inside = np.mean(np.abs(error) <= 1.96 * denoiser.std_)
    found = np.mean(denoiser.noise_std_)
    print(f"{name:24}{noise_std:8.3g}{found:8.3g}{left:12.0%}{inside:11.1%}{seconds:7.2f} s")
    return denoiser


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a picture, which needs matplotlib. "
            'Install it with: pip install "relvec[wavelets,plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
