"""
Trend and season
================

Problem: fourteen years of monthly sales, of which the last three are to be forecast. The level
drifts, and there is a season whose amplitude grows with time. A sum of bases says this:
``SlopeWalkBasis()`` is a trend whose slope wanders, ``PeriodicBasis(1.0) * RampBasis()`` a season
that grows. Every basis is a Gaussian process with one prior variance, which the evidence
determines, as it does the length-scale within the season. The forecast is a distribution, and each
basis has its share of it. A sum of smooth functions that knows of no season is shown for
comparison.

Run it with ``python examples/trend_and_season.py [plot.png]``; only the plot needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import root_mean_squared_error

from relvec import SparseBayesRegressor
from relvec._compat import import_optional
from relvec.bases import PeriodicBasis, RampBasis, SlopeWalkBasis, SmoothBasis

NOISE = 0.5


def make_series(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Year and sales of each month."""
    rng = np.random.default_rng(seed)
    year = 2010.0 + np.arange(168) / 12.0
    elapsed = year - 2010.0
    slope = 0.6 + 0.15 * np.cumsum(rng.normal(size=168)) / np.sqrt(12.0)
    trend = 10.0 + np.cumsum(slope) / 12.0
    season = np.sin(2.0 * np.pi * year) + 0.5 * np.cos(4.0 * np.pi * year)
    amplitude = 0.6 + 0.2 * elapsed
    return year[:, np.newaxis], trend + amplitude * season + NOISE * rng.normal(size=168)


def main(path: Path | None = None) -> None:
    X, y = make_series()
    past, future = X[:, 0] < 2021.0, X[:, 0] >= 2021.0
    season = PeriodicBasis(1.0) + PeriodicBasis(1.0) * RampBasis()
    bases = {
        "trend and season": SlopeWalkBasis() + season,
        "smooth functions": SmoothBasis(),
    }
    print(f"Sales of {past.sum()} months, forecast of {future.sum()}\n")
    print(f"{'basis':20}{'RMSE':>8}{'in 95 % interval':>18}{'log evidence':>14}")
    models = {}
    for name, basis in bases.items():
        model = models[name] = SparseBayesRegressor(basis).fit(X[past], y[past])
        mean, std = model.predict(X[future], return_std=True)
        error = root_mean_squared_error(y[future], mean)
        inside = np.mean(np.abs(y[future] - mean) <= 1.96 * std)
        print(f"{name:20}{error:8.2f}{inside:18.2f}{model.log_evidence_:14.1f}")
    model = models["trend and season"]
    print(f"\nnoise: {np.sqrt(model.noise_variance_):.2f} (true value {NOISE})")
    print("effective degrees of freedom of each basis:")
    for part in model.components_:
        print(f"  {part.name:28}{part.effective_dof:5.1f} of {part.n_atoms} columns")
    if path is not None:
        draw(path, X, y, past, models)


def draw(
    path: Path,
    X: np.ndarray,
    y: np.ndarray,
    past: np.ndarray,
    models: dict[str, SparseBayesRegressor],
) -> None:
    """Plot both forecasts, and the contributions of the bases to the first."""
    pyplot = import_optional("matplotlib.pyplot")
    figure, axes = pyplot.subplots(3, 1, figsize=(8.0, 8.0), sharex=True, layout="constrained")
    grid = np.linspace(2010.0, 2024.0, 600)[:, np.newaxis]
    for axis, (name, model) in zip(axes, models.items(), strict=False):
        mean, std = model.predict(grid, return_std=True)
        low, high = mean - 1.96 * std, mean + 1.96 * std
        axis.fill_between(grid[:, 0], low, high, alpha=0.3, linewidth=0.0)
        axis.plot(grid[:, 0], mean, label=name)
        axis.plot(X[past, 0], y[past], "k.", markersize=4, label="seen")
        axis.plot(X[~past, 0], y[~past], "r.", markersize=4, label="to be forecast")
        axis.axvline(2021.0, color="grey", linewidth=0.8)
        axis.legend(loc="upper left", fontsize="small")
        axis.set(ylabel="sales", ylim=(y.min() - 4.0, y.max() + 6.0))
    model = models["trend and season"]
    mean, std = model.predict_components(grid, return_std=True, centred=True)
    for number, part in enumerate(model.components_):
        low, high = (mean[:, number] + sign * 1.96 * std[:, number] for sign in (-1.0, 1.0))
        axes[2].fill_between(grid[:, 0], low, high, alpha=0.3, linewidth=0.0)
        axes[2].plot(grid[:, 0], mean[:, number], label=part.name)
    axes[2].axvline(2021.0, color="grey", linewidth=0.8)
    axes[2].legend(loc="upper left", fontsize="small")
    axes[2].set(xlabel="year", ylabel="contribution")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
