"""
One precision per length-scale
==============================

Problem: a slow wave with a narrow peak. A sum of kernel bases of several length-scales
can fit both. With one prior precision per basis function (automatic relevance determination)
the model is sparse, but its posterior does not count the kernels that it removed: bands of the
function are too narrow. With one precision per basis, ``precision="tied"``, every kernel of a
relevant length-scale stays in the model, and the bands cover.

Run it with ``python examples/tied_precisions.py [plot.png]``; only the plot needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import root_mean_squared_error

from relvec import SparseBayesRegressor
from relvec._compat import import_optional
from relvec.bases import KernelBasis

NOISE = 0.2
LENGTH_SCALES = (1 / 4, 1 / 8, 1 / 16, 1 / 32)


def signal(x: np.ndarray) -> np.ndarray:
    """A slow wave with a narrow peak."""
    return np.sin(3.0 * np.pi * x) + np.exp(-0.5 * ((x - 0.7) / 0.04) ** 2)


def fit(precision: str, X: np.ndarray, y: np.ndarray) -> SparseBayesRegressor:
    first, *others = (KernelBasis(RBF(scale)) for scale in LENGTH_SCALES)
    # Error bars of the posterior alone, so that the two models differ in their precisions only.
    basis = sum(others, start=first)
    return SparseBayesRegressor(basis, precision=precision, error_bars="plain").fit(X, y)


def main(path: Path | None = None, n_sets: int = 12) -> None:
    grid = np.linspace(0.01, 0.99, 300)[:, np.newaxis]
    truth = signal(grid[:, 0])
    print(f"A wave with a peak, 200 rows, noise {NOISE}; averages of {n_sets} data sets\n")
    print(f"{'precision':12}{'RMSE':>7}{'coverage of the function at 95 %':>36}{'kernels':>9}")
    first, shares = {}, {}
    for precision in ("atom", "tied"):
        rows, hits = [], []
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            X = rng.random((200, 1))
            y = signal(X[:, 0]) + NOISE * rng.normal(size=200)
            model = fit(precision, X, y)
            mean, std = model.predict(grid, return_std=True, include_noise=False)
            rows.append((root_mean_squared_error(truth, mean), len(model.coef_)))
            hits.append(np.abs(mean - truth) <= 1.96 * std)
            first.setdefault(precision, (X, y, mean, std))
        error, n_kernels = np.mean(rows, axis=0)
        shares[precision] = np.mean(hits, axis=0)
        print(f"{precision:12}{error:7.3f}{np.mean(hits):36.2f}{n_kernels:9.0f}")
    if path is not None:
        draw(path, grid[:, 0], truth, first, shares)


def draw(
    path: Path,
    x: np.ndarray,
    truth: np.ndarray,
    fits: dict[str, tuple],
    shares: dict[str, np.ndarray],
) -> None:
    """Plot the bands of both models of the first data set, and the coverage over all data sets."""
    pyplot = import_optional("matplotlib.pyplot")
    titles = {"atom": "one precision per kernel", "tied": "one precision per length-scale"}
    figure, (*panels, last) = pyplot.subplots(
        1, 3, figsize=(12.0, 3.4), sharex=True, layout="constrained"
    )
    panels[1].sharey(panels[0])
    for axes, (precision, (X, y, mean, std)) in zip(panels, fits.items(), strict=True):
        low, high = mean - 1.96 * std, mean + 1.96 * std
        axes.plot(X[:, 0], y, ".", color="0.75", ms=4, label="data")
        axes.fill_between(x, low, high, color="#1f5a99", alpha=0.3, lw=0, label="95 % band")
        axes.plot(x, mean, color="#1f5a99", lw=1.5, label="mean")
        axes.plot(x, truth, color="0.2", lw=1, ls="--", label="true function")
        missed = np.where((truth < low) | (truth > high), truth, np.nan)
        axes.plot(x, missed, color="#c2410c", lw=2.5, label="not covered")
        axes.set_title(titles[precision], fontsize=10, loc="left")
    for (precision, share), colour in zip(shares.items(), ("#c2410c", "#1f5a99"), strict=True):
        smooth = np.convolve(np.pad(share, 10, mode="edge"), np.full(21, 1 / 21), mode="valid")
        last.plot(x, smooth, color=colour, lw=1.8, label=f"{precision}: {share.mean():.2f}")
    last.axhline(0.95, color="0.4", lw=1, ls="--", label="nominal: 0.95")
    last.set(ylim=(0.0, 1.05))
    last.set_title("fraction of data sets whose band covers", fontsize=10, loc="left")
    last.legend(frameon=False, fontsize=8, loc="lower left")
    for axes in (*panels, last):
        axes.set_xlabel("x")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("y")
    panels[1].legend(frameon=False, fontsize=8, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
