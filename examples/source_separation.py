"""
Separating steps from a smooth curve
====================================

Problem: separate two sources of different character in one noisy signal. The signal (BlocksSinc,
Schmolck 2008, section 2.6.5) has steps in its left half and a smooth curve in its right half. Steps
are sparse in Haar wavelets, and smooth curves in thin-plate splines. With both bases and a penalty
on degrees of freedom, the model uses each basis where it is sparse, and `predict_components`
returns the two contributions. The separation is not unique: with other noise, part of the left half
may be assigned to the other component. The sum of both hardly changes.

Run it with ``python examples/source_separation.py [plot.png]``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from relvec import SparseBayesRegressor
from relvec._compat import import_optional
from relvec.bases import KernelBasis, WaveletBasis
from relvec.datasets import make_parts
from relvec.kernels import ThinPlateSpline

PLOT = Path("build") / "source_separation.png"
N, SNR = 1024, 7.0
INK, DATA, STEPS, CURVE = "0.15", "0.6", "#1f5a99", "#c2410c"


def main(path: Path = PLOT) -> None:
    steps, curve = make_parts("BlocksSinc", N, grid="linspace")
    truth = steps + curve
    noise = truth.std(ddof=1) / SNR
    x = np.linspace(-10, 10, N)[:, np.newaxis]
    y = truth + noise * np.random.default_rng(0).standard_normal(N)

    haar = WaveletBasis("haar", level=int(np.log2(N)))
    splines = KernelBasis(ThinPlateSpline(3.0))
    bases = {"splines": splines, "Haar": haar, "Haar + splines": haar + splines}
    print(f"BlocksSinc, {N} samples, noise variance {noise**2:.4f}\n")
    print(f"{'basis':16}{'MSE':>8}{'kept':>7}{'noise':>8}{'objective':>11}")
    for name, basis in bases.items():
        model = SparseBayesRegressor(basis, prior="ric").fit(x, y)
        error = float(np.mean((model.predict(x) - truth) ** 2))
        print(
            f"{name:16}{error:8.4f}{len(model.coef_):7d}{model.noise_variance_:8.4f}"
            f"{model.objective_:11.1f}"
        )

    # A constant could belong to either component: compare them without their means.
    found = model.predict_components(x, centred=True)
    print("\nComponents of the last model, and their correlation with the true source")
    halves = (slice(0, N // 2), slice(N // 2, N))
    for part, contribution, source, half in zip(
        model.components_, found.T, (steps, curve), halves, strict=True
    ):
        overall = np.corrcoef(contribution, source)[0, 1]
        within_half = np.corrcoef(contribution[half], source[half])[0, 1]
        print(
            f"  {part.name:13}{part.n_relevant:3d} of {part.n_atoms} basis functions, correlation "
            f"{overall:.3f}, in the half of the source {within_half:.3f}"
        )
    draw(path, x[:, 0], y, truth, model, (steps, curve))
    print(f"\nPlot: {os.path.relpath(path)}")


def draw(
    path: Path,
    x: np.ndarray,
    y: np.ndarray,
    truth: np.ndarray,
    model: SparseBayesRegressor,
    sources: tuple[np.ndarray, np.ndarray],
) -> None:
    pyplot = import_optional("matplotlib.pyplot")
    X = x[:, np.newaxis]
    found, std = model.predict_components(X, return_std=True, centred=True)
    figure, axes = pyplot.subplots(3, 1, figsize=(9, 8), sharex=True, layout="constrained")
    axes[0].plot(x, y, ".", color=DATA, ms=2, label="observed")
    axes[0].plot(x, model.predict(X), color=INK, lw=1.2, label="sum of both components")
    axes[0].set_title("Steps and a smooth curve, with noise", loc="left")
    titles = ("Haar component and true steps", "Spline component and true curve")
    for number, (ax, source) in enumerate(zip(axes[1:], sources, strict=True)):
        colour, part = (STEPS, CURVE)[number], found[:, number]
        ax.plot(x, source - source.mean(), color=DATA, lw=3, label="source")
        ax.fill_between(
            x,
            part - 2 * std[:, number],
            part + 2 * std[:, number],
            color=colour,
            alpha=0.25,
            lw=0,
            label="± 2 standard deviations",
        )
        ax.plot(x, part, color=colour, lw=1.2, label="estimate")
        ax.set_title(titles[number], loc="left")
    for ax in axes:
        ax.legend(frameon=False, fontsize=8, loc="upper right")
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("x")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
