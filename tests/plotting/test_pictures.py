"""Pictures as they look, next to small stored ones.

Words are taken away first, so that fonts do not matter. To store pictures anew after a change
that was meant: ``RELVEC_STORE_PICTURES=1 pytest tests/plotting/test_pictures.py``, and look at
them before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.testing.compare import compare_images
from matplotlib.testing.decorators import remove_ticks_and_titles

from relvec import plotting
from relvec.bases import KernelBasis

STORED = Path(__file__).parent / "baseline"
TOLERANCE = 6.0
"""Root mean square over all pixels, of 255."""
LARGEST = 30_000

RNG = np.random.default_rng(11)
GRID = np.linspace(-3.0, 3.0, 80)
MEAN, STD = np.sin(GRID), 0.2 + 0.05 * GRID**2
NOISE = RNG.normal(size=40)


def fit():
    x = np.linspace(-2.5, 2.5, 40)
    display = plotting.RegressionFitDisplay(
        x=GRID,
        mean=MEAN,
        std=STD,
        function_std=0.4 * STD,
        x_observed=x,
        y_observed=np.sin(x) + 0.2 * NOISE,
        x_vectors=[-1.5, 0.0, 1.5],
        y_vectors=np.sin([-1.5, 0.0, 1.5]),
        truth=0.9 * MEAN,
    )
    return display.plot()


def predicted_observed():
    y = np.linspace(0.0, 1.0, 40)
    return plotting.PredictedObservedDisplay(y, y + 0.1 * NOISE, std=np.full(40, 0.08)).plot()


def residuals():
    y = np.linspace(0.0, 1.0, 40)
    return plotting.ResidualDisplay(y, 0.1 * NOISE, std=np.full(40, 0.08)).plot()


def functions():
    centers = np.linspace(-3.0, 3.0, 25)
    values = np.exp(-((GRID[:, None] - centers) ** 2))
    kept = values[:, [3, 12, 20]] * [1.0, -0.5, 1.4]
    return plotting.BasisFunctionsDisplay(x0=GRID, values=values, kept=kept).plot()


def surface():
    points = np.array([[x, y] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)])
    basis = KernelBasis(gamma=6.0)
    return plotting.BasisFunctionsDisplay.from_basis(basis, points, grid_resolution=50)


def weights():
    display = plotting.WeightDisplay(
        [2.0, -1.0, 0.5], std=[0.3, 0.2, 0.4], well_determined=[0.9, 0.8, 0.4]
    )
    return display.plot()


def well_determined():
    both = {"a": [1.0, 0.98, 0.9, 0.6, 0.1], "b": [0.97, 0.95]}
    return plotting.WellDeterminedDisplay(both).plot()


def trace():
    rising = {"a": -np.exp(-np.arange(12.0)), "b": -2.0 * np.exp(-0.5 * np.arange(12.0))}
    return plotting.EvidenceTraceDisplay(rising).plot()


def relevance():
    return plotting.FeatureRelevanceDisplay([0.3, 0.0, 2.0], std=[0.1, 0.0, 0.4]).plot()


def reliability():
    probability = (np.arange(300) % 100 + 0.5) / 100.0
    happened = (np.arange(300) * 0.37) % 1.0 < probability
    return plotting.ReliabilityDisplay.from_predictions(happened, probability)


def decision():
    x0, x1 = np.meshgrid(GRID, GRID)
    second = 1.0 / (1.0 + np.exp(-3.0 * (x1 - np.sin(2.0 * x0))))
    points = np.column_stack([GRID[::4], np.cos(3.0 * GRID[::4])])
    display = plotting.DecisionSurfaceDisplay(
        x0=GRID,
        x1=GRID,
        probability=np.stack([1.0 - second, second], axis=2),
        X=points,
        y=(points[:, 1] > 0.0).astype(int),
        relevance_vectors=points[::7],
    )
    return display.plot()


PICTURES = [
    fit,
    predicted_observed,
    residuals,
    functions,
    surface,
    weights,
    well_determined,
    trace,
    relevance,
    reliability,
    decision,
]


def save(draw, path):
    figure = draw().figure_
    figure.set_layout_engine("none")
    for axes in figure.axes:
        if axes.get_legend() is not None:
            axes.get_legend().remove()
        for text in list(axes.texts):
            text.remove()
        axes.set(xlabel="", ylabel="")
    remove_ticks_and_titles(figure)
    figure.set_size_inches(4.0, 3.0)
    figure.savefig(path, dpi=50, metadata={"Software": None})


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_the_picture_is_the_stored_one(draw, tmp_path):
    stored, drawn = STORED / f"{draw.__name__}.png", tmp_path / f"{draw.__name__}.png"
    if os.environ.get("RELVEC_STORE_PICTURES"):
        STORED.mkdir(exist_ok=True)
        save(draw, stored)
    assert stored.stat().st_size <= LARGEST
    save(draw, drawn)
    kept = tmp_path / f"{draw.__name__}-stored.png"  # what differs is written next to it
    kept.write_bytes(stored.read_bytes())
    assert compare_images(str(kept), str(drawn), TOLERANCE) is None


def test_a_change_is_noticed(tmp_path):
    drawn = tmp_path / "other.png"
    save(lambda: plotting.WeightDisplay([2.0, -1.0, 1.5], std=[0.3, 0.2, 0.4]).plot(), drawn)
    kept = tmp_path / "stored.png"
    kept.write_bytes((STORED / "weights.png").read_bytes())
    assert compare_images(str(kept), str(drawn), TOLERANCE) is not None
