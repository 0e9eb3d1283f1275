"""Figure 2.13 of Schmolck (2008): shrinkage of each coefficient without and with a penalty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec.datasets import make_noisy_signal
from relvec.priors import resolve_prior
from relvec.solvers.gaussian.shrinkage import entry_threshold, shrinkage
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.common.smooth_models import PRIORS, denoise
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "shrink_draw"]

PROTOCOL = """
Doppler, 1024 samples, SNR 7: least-squares weights of the symmlets against their posterior means,
without a penalty ("None") and with "BIC", clipped to 0.5 as in the thesis. The caption gives no
numbers. Ours are means over 10 draws; the plots show the first.

- **Figure 2.13**: the noise is estimated, as in Figure 2.12, whose fits these are. Without a
  penalty the model interpolates, so all weights stay unchanged.
- A second row has **known noise**: without a penalty the rule then shrinks (it is the non-negative
  garrote), but keeps a third of the pure noise coefficients.
- Lines are the shrinkage rules in closed form. Symmlets and their noise are those of Table 2.1.
"""
SHOWN = ("None", "BIC")
N = 1024
SNR = 7.0
N_DRAWS = 10
LIMIT = 0.5
ROWS = {"learnt": "σ² learnt", "given": "σ² given"}


def shrink_draw(
    folder: Path | None, prior: str, noise: str, seed: int, n: int = N
) -> dict[str, Any]:
    """Return the weights of one draw before and after; `noise` is learnt or given."""
    draw = make_noisy_signal("doppler", n, snr=SNR, exact_noise=True, random_state=seed)
    found = denoise(draw.noisy, prior, draw.noise_std**2 if noise == "given" else None)
    return {
        "n_components": int(np.count_nonzero(found.weights)),
        "n_small": int(np.count_nonzero(found.weights[np.abs(found.data) < 2.0 * draw.noise_std])),
        "noise_variance": found.noise_variance,
        "truth": draw.noise_std**2,
        # only the first draw is looked at
        **({"data": found.data, "weights": found.weights} if seed == 0 else {}),
    }


def _tasks(settings: Settings, results: Results) -> list[Task]:
    return [
        Task(f"{noise}/{prior}/{seed}", shrink_draw, (prior, noise, seed))
        for noise in ROWS
        for prior in SHOWN
        for seed in range(settings.draws(N_DRAWS))
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _tables(results: Results, settings: Settings) -> list[Table]:
    names = ("n_components", "n_small", "noise_variance", "truth")
    lines = [
        [f"{prior}, {words}", *(number(np.mean(results.column(key, name))) for name in names)]
        for noise, words in ROWS.items()
        for prior in SHOWN
        for key in [f"{noise}/{prior}"]
    ]
    head = ["", "weights kept", "of them below 2σ", "σ²", "true σ²"]
    return [Table(f"Figure 2.13: means over draws, of {N} weights", head, lines)]


def _draw_weights(axes: Axes, fit: dict[str, Any], prior: str) -> None:
    c = resolve_prior(PRIORS[prior]).bind(N).penalty
    level = fit["noise_variance"]
    edge = float(np.sqrt(entry_threshold(c) * level))
    z = np.linspace(-LIMIT, LIMIT, 2001)
    axes.plot(z, z, color=GREY, linewidth=0.8, label="unchanged")
    axes.plot(z, z * shrinkage(z**2 / level, c), color=COLOURS[1], linewidth=1.0, label="rule")
    axes.plot(fit["data"], fit["weights"], ".", color=COLOURS[0], markersize=4.0, label="weights")
    for side in (-edge, edge):
        axes.axvline(side, color="0.75", linestyle=":", linewidth=1.0)
    axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT))


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    figure, panels = make_figure(
        len(ROWS), len(SHOWN), width=4.2, height=3.7, sharex=True, sharey=True
    )
    for row, (noise, words) in zip(panels, ROWS.items(), strict=True):
        for axes, prior in zip(row, SHOWN, strict=True):
            fit = results[f"{noise}/{prior}/0"]
            _draw_weights(axes, fit, prior)
            axes.set_title(f"{prior}, {words}: S = {fit['n_components']}", fontsize="medium")
        row[0].set_ylabel("posterior mean")
    for axes in panels[-1]:
        axes.set_xlabel("least squares")
    panels[0, 0].legend(loc="upper left", fontsize="small")
    return {"schmolck_shrinkage": figure}


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figure 2.13",
    title="weights before and after shrinkage",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
