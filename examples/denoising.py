"""
Denoising a signal and a photograph
===================================

Problem: remove white noise of unknown level from a signal and from an image. The signal is
WaveLab's Piece-Regular: smooth pieces, peaks and jumps. The photograph comes with scikit-learn.
Noise of known level is added to both; the denoiser estimates the level. As the truth is known, we
can check the estimated noise level, the remaining error, and the coverage of the error bars.

Run it with ``python examples/denoising.py [plot.png]``. It needs PyWavelets and matplotlib:
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

PLOT = Path("build") / "denoising.png"
NOISE = 25.0


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    from relvec.plotting import ImageDisplay, SignalDisplay

    line = make_noisy_signal("Piece-Regular", 1024, snr=4, random_state=0)
    photograph = load_photograph()
    noise = NOISE * np.random.default_rng(0).normal(size=photograph.shape)
    noisy_photograph = photograph + noise

    print(f"{'':24}{'noise':>8}{'estimate':>10}{'RMSE ratio':>12}{'coverage':>10}{'time':>9}")
    denoiser = fit("signal, 1024 samples", line.noisy, line.clean, line.noise_std)
    image_denoiser = fit("photograph, 136 x 164", noisy_photograph, photograph, NOISE)
    print(
        "\nnoise, estimate: true and estimated standard deviation of the noise."
        "\nRMSE ratio: root mean squared error after denoising, divided by that before."
        "\ncoverage: fraction of the true signal inside the 95 % band."
    )
    print(f"\nEffective degrees of freedom of the signal: {denoiser.effective_dof_:.0f}")
    print("Weights of the transforms:")
    for name, weight in zip(denoiser.transforms_, denoiser.transform_weights_, strict=True):
        print(f"  {name:26}{weight:5.2f}")

    figure = pyplot.figure(figsize=(9.0, 6.0), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.15, 1.0])
    SignalDisplay.from_estimator(
        denoiser, line.noisy, x=line.x, truth=line.clean, ax=top.subplots()
    )
    display = ImageDisplay.from_estimator(
        image_denoiser, noisy_photograph, ax=bottom.subplots(1, 3)
    )
    for image in display.images_:
        image.set_interpolation("nearest")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def load_photograph() -> np.ndarray:
    """Return a part of a photograph of a temple, at half its resolution."""
    part = load_sample_image("china.jpg")[60:332, 150:478].astype(float)
    return part.reshape(136, 2, 164, 2, 3).mean(axis=(1, 3))


def fit(name: str, noisy: np.ndarray, clean: np.ndarray, noise_std: float) -> SmoothDenoiser:
    """Denoise, and compare the result with the truth."""
    began = time.perf_counter()
    denoiser = SmoothDenoiser().fit(noisy)
    seconds = time.perf_counter() - began
    error = denoiser.signal_ - clean
    ratio = np.sqrt(np.mean(error**2) / np.mean((noisy - clean) ** 2))
    coverage = np.mean(np.abs(error) <= 1.96 * denoiser.std_)
    estimate = np.mean(denoiser.noise_std_)
    print(f"{name:24}{noise_std:8.3g}{estimate:10.3g}{ratio:12.0%}{coverage:10.1%}{seconds:7.2f} s")
    return denoiser


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a plot, which needs matplotlib. "
            'Install it with: pip install "relvec[wavelets,plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
