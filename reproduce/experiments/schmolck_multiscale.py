"""Figure 2.12 of Schmolck (2008): Doppler by kernels, and by penalised symmlets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec.datasets import make_noisy_signal
from reproduce.common.plots import COLOURS, GREY
from reproduce.common.smooth_models import denoise, inputs, kernel_model
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "PANELS", "fit_panel"]

PROTOCOL = """
Doppler, 1024 samples, SNR 7, with estimated noise. The relevance vector machine with Gaussian
kernels of scale 0.5 and 0.05 (inputs from −10 to 10) and with symmlets, and the smooth relevance
vector machine with symmlets and the penalty "BIC". The caption gives no numbers. Ours are means
over 10 draws; the plot shows the first. Symmlets and their noise are those of Table 2.1.

- The error on the first 128 samples, where the signal oscillates fast, is also reported separately:
  the figure shows that a wide kernel fails there, and that a narrow one overfits everywhere else.
"""
N = 1024
N_FAST = 128
"""Samples in the insets."""
SNR = 7.0
N_DRAWS = 10
PANELS = {
    "gauss 0.5, None": ("None", 0.5),
    "gauss 0.05, None": ("None", 0.05),
    "symmlet, None": ("None", None),
    "symmlet, BIC": ("BIC", None),
}
"""Prior, and scale of the kernel if there is one."""
PLACES = {
    "gauss 0.5, None": "top",
    "gauss 0.05, None": "left",
    "symmlet, None": "right",
    "symmlet, BIC": "bottom",
}
MOSAIC = [["top", "top"], ["left", "right"], ["bottom", "bottom"]]


def fit_panel(
    folder: Path | None, prior: str, width: float | None, seed: int, n: int = N
) -> dict[str, Any]:
    """Fit one draw; errors of the fast part and of the rest separately."""
    draw = make_noisy_signal("doppler", n, snr=SNR, exact_noise=True, random_state=seed)
    if width is None:
        found = denoise(draw.noisy, prior)
        curve, noise = found.curve, found.noise_variance
        n_components = int(np.count_nonzero(found.weights))
    else:
        model = kernel_model(draw.noisy, prior, kernel="rbf", gamma=width**-2)
        curve, noise = model.predict(inputs(n)), model.noise_variance_
        n_components = len(model.relevance_)
    squares = (curve - draw.clean) ** 2
    return {
        "n_components": n_components,
        "error": float(squares.mean()),
        "fast": float(squares[:N_FAST].mean()),
        "slow": float(squares[N_FAST:].mean()),
        "noise_variance": noise,
        "truth": draw.noise_std**2,
        # only the first draw is looked at
        **({"curve": curve, "noisy": draw.noisy, "clean": draw.clean} if seed == 0 else {}),
    }


def _tasks(settings: Settings, results: Results) -> list[Task]:
    return [
        Task(f"{name}/{seed}", fit_panel, (*panel, seed))
        for name, panel in PANELS.items()
        for seed in range(settings.draws(N_DRAWS))
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _tables(results: Results, settings: Settings) -> list[Table]:
    names = ("n_components", "error", "fast", "slow", "noise_variance", "truth")
    lines = [
        [panel, *(number(np.mean(results.column(panel, name))) for name in names)]
        for panel in PANELS
    ]
    head = ["", "S", "MSE", f"MSE, first {N_FAST}", "MSE, rest", "σ²", "true σ²"]
    return [Table("Figure 2.12: means over draws", head, lines)]


def _draw_curves(axes: Axes, fit: dict[str, Any], stop: int | None, is_inset: bool) -> None:
    x = inputs(N)[:stop, 0]
    noisy, clean, curve = (np.asarray(fit[name])[:stop] for name in ("noisy", "clean", "curve"))
    axes.plot(x, noisy, ".", color=GREY, markersize=2.0, label="data")
    axes.plot(x, clean, color="black", linewidth=0.9, label="truth")
    axes.plot(x, curve, color=COLOURS[1], linewidth=1.0, label="fit")
    if is_inset:
        axes.set(xticks=[], yticks=[], ylim=(-0.6, 0.75))


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    figure = Figure(figsize=(9.5, 9.0), layout="constrained")
    panels = figure.subplot_mosaic(MOSAIC, sharex=True, sharey=True)
    for name, place in PLACES.items():
        axes, fit = panels[place], results[f"{name}/0"]
        _draw_curves(axes, fit, None, is_inset=False)
        _draw_curves(axes.inset_axes((0.28, 0.66, 0.7, 0.33)), fit, N_FAST, is_inset=True)
        words = f"S = {fit['n_components']}, MSE {fit['error']:.2g}"
        axes.set_title(f"{name}: {words}", fontsize="medium")
        axes.set_ylim(-0.65, 1.4)
    panels["bottom"].set_xlabel("x; insets: the first 128 samples")
    panels["top"].legend(loc="lower right", fontsize="small")
    return {"schmolck_multiscale": figure}


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figure 2.12",
    title="smoothness by the length-scale of a kernel, and by a prior",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
