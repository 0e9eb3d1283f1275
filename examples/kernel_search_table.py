"""
Functions of several inputs: main effects and one interaction
=============================================================

Problem: find out which inputs matter, in which form, and which of them act together. The target is
Friedman's function of ten inputs, of which five matter: two by their product, one by a parabola,
two by lines. Without a list of candidates the search finds one joint function of two inputs, one
smooth function and two lines, and leaves five inputs out. Each component can be drawn by itself.

Run it with ``python examples/kernel_search_table.py [plot.png]``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from relvec import KernelSearchRegressor

PLOT = Path("build") / "kernel_search_table.png"


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    X, y = make_friedman1(240, n_features=10, noise=1.0, random_state=0)
    model = KernelSearchRegressor().fit(X, y)
    print(f"structure: {model.expression_}")
    for component in model.components_:
        print(
            f"  {component.name:12} {component.share:6.1%} of the variance, "
            f"score without it {component.score_loss:.0f} nats lower"
        )
    X_new, truth = make_friedman1(2000, n_features=10, noise=0.0, random_state=1)
    rmse = np.sqrt(np.mean((model.predict(X_new) - truth) ** 2))
    print(
        f"error of the function {rmse:.2f}, noise 1.00, estimated {model.noise_variance_**0.5:.2f}"
    )

    shown = model.components_[:4]
    figure, axes = pyplot.subplots(1, len(shown), figsize=(12.0, 3.2), layout="constrained")
    parts = model.decompose(X)
    for number, component in enumerate(shown):
        features = sorted({factor.feature for factor in component.component.factors})
        draw_component(axes[number], X[:, features], parts.mean[:, number], features)
        axes[number].set_title(component.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def draw_component(axes: Any, X: np.ndarray, values: np.ndarray, features: list[int]) -> None:
    """Draw a component at the rows: a curve of one input, colours over two."""
    axes.set_xlabel(f"x{features[0]}")
    if len(features) == 1:
        order = np.argsort(X[:, 0])
        axes.plot(X[order, 0], values[order])
    else:
        axes.scatter(X[:, 0], X[:, 1], c=values, s=12)
        axes.set_ylabel(f"x{features[1]}")


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
