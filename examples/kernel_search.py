"""
Series: structure and forecast
==============================

Problem: continue a series, and say what it is made of. Two series are simulated. Passengers grow by
a constant percentage, and their season grows with them, as in airline traffic. Carbon dioxide rises
ever faster, with a yearly season. The last years of both are held out. Nothing is chosen by hand:
neither periods, nor the trend, nor the logarithm that makes the first series additive.

Trends that explain the past almost equally well forecast differently, so forecasts average them.
The printed margins say by how many nats of penalised evidence the runner-up is behind; below 5 it
is undecided.

Run it with ``python examples/kernel_search.py [plot.png]``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from relvec import KernelSearchRegressor

PLOT = Path("build") / "kernel_search.png"
HELD_OUT = 36


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    rng = np.random.default_rng(0)
    series = {"passengers": make_passengers(144, rng), "carbon dioxide": make_gas(240, rng)}
    figure, axes = pyplot.subplots(len(series), 2, figsize=(11.0, 7.0), layout="constrained")
    for (name, (months, target)), row in zip(series.items(), axes, strict=True):
        known, later = slice(0, -HELD_OUT), slice(-HELD_OUT, None)
        model = KernelSearchRegressor().fit(months[known], target[known])
        describe(name, model, target[later])
        draw_forecast(row[0], name, model, months, target)
        draw_components(row[1], model, months[known])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def make_passengers(n_months: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Growth by a percentage, with a season and noise that are percentages too."""
    steps = np.arange(n_months)
    season = 0.15 * np.sin(2 * np.pi * steps / 12) + 0.06 * np.cos(4 * np.pi * steps / 12)
    log_target = 4.8 + 0.01 * steps + season + 0.03 * rng.normal(size=n_months)
    return np.datetime64("1990-01") + steps, np.exp(log_target)


def make_gas(n_months: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An accelerating rise with a season."""
    steps = np.arange(n_months)
    years = steps / 12.0
    season = 2.8 * np.sin(2 * np.pi * years) - 0.8 * np.cos(4 * np.pi * years)
    target = 320.0 + 0.9 * years + 0.02 * years**2 + season + 0.3 * rng.normal(size=n_months)
    return np.datetime64("1970-01") + steps, target


def describe(name: str, model: KernelSearchRegressor, later: np.ndarray) -> None:
    """Print the structure and the errors of the forecast."""
    ahead = model.future_inputs(HELD_OUT)
    rmse = np.sqrt(np.mean((model.predict(ahead) - later) ** 2))
    low, high = model.predict_interval(ahead, coverage=0.95).T
    covered = np.mean((low <= later) & (later <= high))
    transform = "" if model.transform_ == "identity" else f", {model.transform_} of the target"
    print(f"{name}: {model.expression_}{transform}")
    print(f"  periods in years: {(model.periods_ / 365.25).round(2).tolist()}")
    for component in model.components_:
        print(
            f"  {component.name:14} {component.share:6.1%} of the variance, "
            f"score without it {component.score_loss:.0f} nats lower"
        )
    for rival in model.structures_[1:3]:
        verdict = "undecided" if rival.is_undecided else "behind"
        print(f"  rival {rival.name} ({rival.transform}): {verdict} by {rival.margin:.1f} nats")
    print(f"  RMSE of the {HELD_OUT} months ahead {rmse:.2f}, coverage {covered:.0%}")


def draw_forecast(
    axes: Any, name: str, model: KernelSearchRegressor, months: np.ndarray, target: np.ndarray
) -> None:
    """Draw the series, its forecast and the interval."""
    ahead = model.future_inputs(HELD_OUT)
    low, high = model.predict_interval(ahead, coverage=0.95).T
    axes.plot(months, target, ".", color="0.5", markersize=3, label="series")
    axes.plot(ahead[:, 0], model.predict(ahead), color="C0", label="forecast")
    axes.fill_between(ahead[:, 0], low, high, color="C0", alpha=0.3, label="95 % interval")
    axes.set_title(name)
    axes.legend(frameon=False)


def draw_components(axes: Any, model: KernelSearchRegressor, months: np.ndarray) -> None:
    """Draw the components of the best structure."""
    parts = model.decompose(months)
    for number, name in enumerate(parts.names):
        axes.plot(months, parts.mean[:, number], label=name)
    transform = "" if parts.transform == "identity" else f", {parts.transform} of the target"
    axes.set_title(f"components{transform}")
    axes.legend(frameon=False)


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a plot, which needs matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
