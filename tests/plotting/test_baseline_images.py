"""Plots against small baseline images.

Text is removed first, so that fonts do not matter. To update the baselines after an intended
change: ``RELVEC_STORE_BASELINES=1 pytest tests/plotting/test_baseline_images.py``, and inspect
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
TOLERANCE = 1.5
"""RMS difference over all pixels, on a scale of 255."""
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


def log_odds():
    return plotting.LogOddsDisplay(
        x=GRID, mean=2.0 * MEAN, std=STD, samples=(GRID[:9], GRID[-9:])
    ).plot()


def shrinkage():
    return plotting.ShrinkageDisplay.from_priors(n_samples=256)


def signal():
    noisy = MEAN + 0.1 * np.resize(NOISE, 80)
    return plotting.SignalDisplay(
        noisy=noisy, denoised=MEAN, std=0.4 * STD, x=GRID, truth=0.9 * MEAN
    ).plot()


def image():
    clean = np.add.outer(MEAN[::4], MEAN[::5])
    noisy = clean + 0.2 * np.resize(NOISE, clean.shape)
    std = np.full(clean.shape, 0.1)
    return plotting.ImageDisplay(noisy=noisy, denoised=clean, noise_std=0.2, std=std).plot()


def selection():
    kept = (np.arange(20)[:, None] * [0.37, 0.61, 0.83]) % 1.0 < [0.9, 0.5, 0.2]
    return plotting.SelectionFrequencyDisplay.from_supports(kept)


def coefficients():
    rows = [
        plotting.CoefficientRow(
            f"level {level}",
            (np.arange(count) + 0.5) / count,
            4.0 * np.sin(np.arange(count) ** 1.5),
            np.abs(4.0 * np.sin(np.arange(count) ** 1.5)) > 2.0,
        )
        for level, count in ((2, 16), (1, 32))
    ]
    return plotting.CoefficientDisplay(rows, threshold=2.0).plot()


def scale_path():
    steps = np.arange(12.0)[:, None]
    scales = np.exp(-0.3 * steps * [0.0, 0.5, 1.0])
    scales[6:, 2] = 0.0
    return plotting.FeatureRelevancePathDisplay(scales, np.log1p(steps[:, 0])).plot()


def atom_evidence():
    kept = plotting.AtomEvidence("a", sparsity=2.0, quality=4.0, precision=4.0 / 14.0)
    left_out = plotting.AtomEvidence("b", sparsity=2.0, quality=2.0, dof_factor=1.5, penalty=1.0)
    return plotting.AtomEvidenceDisplay([kept, left_out]).plot()


def weight_prior():
    return plotting.WeightPriorDisplay.from_priors()


def weight_contours():
    return plotting.WeightPriorDisplay.from_priors(["gaussian", "flat"], kind="contours")


def atom_ellipses():
    return atom_evidence().plot(kind="ellipses")


def extrapolation():
    inputs = plotting.ExtrapolationMap(
        [GRID],
        np.clip(np.abs(GRID) - 1.5, 0.0, 1.0),
        X=np.linspace(-1.5, 1.5, 9)[:, None],
        X_new=np.array([[-2.7], [-0.5], [0.8], [2.8]]),
        names=["x0"],
        mean=MEAN,
        std=STD,
    )
    return plotting.ExtrapolationDisplay(
        [1.0, 0.0, 0.0, 1.0],
        [-0.3, -0.5, 0.7, 0.3],
        [0.5, 0.2, 0.2, 0.6],
        y_new=[0.5, -0.4, 0.6, -0.2],
        inputs=inputs,
    ).plot()


def extrapolation_rows():
    return extrapolation().plot(kind="rows")


def density():
    display = plotting.DensityDisplay(
        x=GRID,
        density=np.exp(-0.5 * GRID**2) / np.sqrt(2 * np.pi),
        band=np.exp(-0.5 * GRID**2)[:, None] * [0.33, 0.48],
        data=1.1 * NOISE,
        truth=0.38 * np.exp(-0.45 * GRID**2),
    )
    return display.plot()


def density_contours():
    height = np.exp(-0.5 * ((GRID[:, None] - 0.5 * GRID) ** 2 + 0.6 * GRID**2))
    points = np.column_stack([NOISE[:20], NOISE[20:]])
    return plotting.DensityContourDisplay(x0=GRID, x1=GRID, density=height, data=points).plot()


def inclusion():
    return plotting.InclusionDisplay([0.02, 0.97, 0.6, 0.3, 1.0], n_others=4).plot()


def chains():
    steps = np.arange(60.0)
    waves = np.stack([np.sin((1.0 + 0.3 * k) * steps) + 0.6 * (k == 2) for k in range(3)])
    return {"a": waves, "b": np.round(2.0 * waves)}


def traces():
    return plotting.TraceDisplay.from_draws(chains())


def ranks():
    return plotting.RankDisplay.from_draws(chains(), n_bins=6)


PLOTS = [
    inclusion,
    traces,
    ranks,
    density,
    density_contours,
    extrapolation,
    extrapolation_rows,
    atom_ellipses,
    weight_prior,
    weight_contours,
    atom_evidence,
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
    log_odds,
    shrinkage,
    signal,
    image,
    selection,
    coefficients,
    scale_path,
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
        axes.set_title("", loc="left")
        for child in list(axes.child_axes):
            if not hasattr(child, "set_title"):  # a secondary axis, which has only text
                child.remove()
    remove_ticks_and_titles(figure)
    figure.set_size_inches(4.0, 3.0)
    figure.savefig(path, dpi=50, metadata={"Software": None})


@pytest.mark.slow
@pytest.mark.parametrize("draw", PLOTS, ids=lambda draw: draw.__name__)
def test_plot_agrees_with_the_baseline(draw, tmp_path):
    stored, drawn = STORED / f"{draw.__name__}.png", tmp_path / f"{draw.__name__}.png"
    if os.environ.get("RELVEC_STORE_BASELINES"):
        STORED.mkdir(exist_ok=True)
        save(draw, stored)
    assert stored.stat().st_size <= LARGEST
    save(draw, drawn)
    kept = tmp_path / f"{draw.__name__}-stored.png"  # the difference image is written next to it
    kept.write_bytes(stored.read_bytes())
    assert compare_images(str(kept), str(drawn), TOLERANCE) is None


def test_baseline_comparison_detects_changes(tmp_path):
    drawn = tmp_path / "other.png"
    save(lambda: plotting.WeightDisplay([2.0, -1.0, 1.5], std=[0.3, 0.2, 0.4]).plot(), drawn)
    kept = tmp_path / "stored.png"
    kept.write_bytes((STORED / "weights.png").read_bytes())
    assert compare_images(str(kept), str(drawn), TOLERANCE) is not None


LEGENDS = {
    extrapolation: {
        "95 % interval",
        "mean",
        "new",
        "extrapolated",
        "observed",
        "training",
    },
    fit: {
        "95 %, new targets",
        "95 %, function",
        "data",
        "mean",
        "true function",
        "relevance vectors",
    },
    predicted_observed: {"inside 95 % interval (95.0 %)", "outside"},
    functions: {"25 candidates", "3 kept"},
    surface: {"9 candidates"},
    reliability: {"predictions, ECE 0.050"},
    decision: {"class 0", "class 1", "relevance vectors"},
    log_odds: {"± 2 std", "log odds"},
    shrinkage: {
        "flat, c = 0",
        "aic, c = 1",
        "bic, c = 2.77",
        "ric, c = 5.55",
        "soft threshold 3.33",
        "hard threshold 3.33",
    },
    signal: {"observed", "95 % band", "denoised", "truth"},
    density: {"histogram", "95 % band", "density", "truth"},
    density_contours: {"data", "25, 50, 75, 95 % of the probability"},
    coefficients: {"below the threshold", "dropped", "kept"},
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", LEGENDS, ids=lambda draw: draw.__name__)
def test_legends_explain_what_is_drawn(draw):
    legend = draw().ax_.get_legend()
    assert {text.get_text() for text in legend.get_texts()} == LEGENDS[draw]


def test_gammas_are_written():
    assert {"γ", "0.90", "0.80", "0.40"} <= {text.get_text() for text in weights().ax_.texts}
