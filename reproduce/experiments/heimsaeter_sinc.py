"""Figures 5.1 and 5.2 of Heimsæter (2021): sinc without and with noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec import DRVMRegressor, RVMRegressor
from relvec.published import AlternatingDRVM
from reproduce.common.kernlab import SMALLEST_NOISE, make_rvm
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.common.published import load
from reproduce.common.regressions import draw_sinc
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "fit", "fit_variant"]

PROTOCOL = """
100 points of [−10, 10], without noise and with noise uniform on [−0.1, 0.1]. Errors are RMSEs with
respect to the truth at 1000 points. The thesis gives numbers of vectors for the case without noise,
and no error; those with noise are means of Table 5.1, which is a separate experiment.

- **RVM** is kernlab's in the thesis: one length-scale, estimated from half as many random pairs of
  inputs as there are points, no intercept, MacKay's fixed-point iteration. Ours has the same model.
  Without noise only the pairs are random: 100 draws of them here, one in the thesis.
- Without noise the evidence (marginal likelihood) increases without bound as σ goes to zero, and
  the number of vectors depends on where σ stops. kernlab stops when σ² falls below 2·10⁻⁹, so σ² is
  fixed there for both models.
- **DRVM** is `DRVMRegressor()`; the code of the thesis is initialised with values chosen by
  cross-validation that are not given.
"""
SEED = 20_000
N_PAIRS = 100
MODEL_COLOURS = {"RVM": COLOURS[2], "DRVM": COLOURS[0]}
"""Green and blue, as in the thesis."""
VARIANTS: dict[str, Callable[[], Any]] = {
    "RVMRegressor(), σ free": RVMRegressor,
    "DRVMRegressor(), σ free": DRVMRegressor,
    "DRVMRegressor(), flat prior": lambda: DRVMRegressor(
        prior="flat", noise_variance=SMALLEST_NOISE
    ),
} | {
    f"AlternatingDRVM from ϑ = {theta:g}, σ free": (
        lambda theta=theta: AlternatingDRVM(initial_theta=theta)
    )
    for theta in (0.03, 0.05, 0.1, 0.2)
}
"""Other fits without noise."""


def _judge(model: Any, seed: int | None) -> dict[str, Any]:
    split = draw_sinc(seed)
    curve = model.fit(split.X, split.y).predict(split.X_test)
    return {
        "rms": float(np.sqrt(np.mean((curve - split.y_test) ** 2))),
        "n_vectors": len(model.relevance_),
        "vectors": np.asarray(model.relevance_),
        "curve": curve.round(6),
        "noise_variance": float(model.noise_variance_),
    }


def fit(folder: Path | None, label: str, seed: int | None, pairs: int) -> dict[str, Any]:
    """Fit data without noise, or a draw of it.

    Parameters
    ----------
    folder : Path or None
        Not used.
    label : {"RVM", "DRVM"}
        What to fit.
    seed : int or None
        Of the noise; none without.
    pairs : int
        Seed of the pairs of inputs from which the width of the RVM is estimated.
    """
    options = {"noise_variance": SMALLEST_NOISE} if seed is None else {}
    if label == "DRVM":
        return _judge(DRVMRegressor(**options), seed)
    return _judge(make_rvm(draw_sinc(seed).X, pairs, **options), seed)


def fit_variant(folder: Path | None, label: str) -> dict[str, Any]:
    """Fit data without noise in another way."""
    return _judge(VARIANTS[label](), None)


def _tasks(settings: Settings, results: Results) -> list[Task]:
    tasks = [
        Task(f"clean/RVM/{pairs}", fit, ("RVM", None, pairs))
        for pairs in range(settings.at_most(N_PAIRS, quick=10))
    ]
    tasks.append(Task("clean/DRVM/0", fit, ("DRVM", None, 0)))
    tasks += [Task(f"noisy/{label}/0", fit, (label, SEED, 0)) for label in MODEL_COLOURS]
    return tasks + [Task(f"variants/{label}", fit_variant, (label,)) for label in VARIANTS]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = load(settings.folder, "heimsaeter", "other")["sinc_noise_free"]
    return [
        Cell.of(
            "Figure 5.1, no noise",
            "vectors",
            label,
            printed[f"{label.lower()}_vectors"],
            results.column(f"clean/{label}", "n_vectors"),
            kind=Kind.SIZE,
            runs=1,
        )
        for label in MODEL_COLOURS
    ]


def _tables(results: Results, settings: Settings) -> list[Table]:
    lines = {f"{label}, σ² held": results.under(f"clean/{label}") for label in MODEL_COLOURS}
    lines |= {label: [results[f"variants/{label}"]] for label in VARIANTS}
    rows = []
    for label, fits in lines.items():
        vectors = [each["n_vectors"] for each in fits]
        rows.append(
            [
                label,
                number(float(np.median(vectors))),
                f"{min(vectors)} to {max(vectors)}" if len(fits) > 1 else "–",
                f"{np.median([each['rms'] for each in fits]):.1e}",
                f"{np.median([each['noise_variance'] for each in fits]):.1e}",
                str(len(fits)),
            ]
        )
    title = "Sinc without noise, medians: the number of vectors depends on where σ stops"
    return [Table(title, ["", "vectors", "from … to", "RMSE", "σ²", "fits"], rows)]


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    figure, panels = make_figure(2, 2, sharex=True, sharey=True)
    for row, (kind, seed) in zip(panels, (("clean", None), ("noisy", SEED)), strict=True):
        split = draw_sinc(seed)
        for axes, (label, colour) in zip(row, MODEL_COLOURS.items(), strict=True):
            found = results[f"{kind}/{label}/0"]
            x, chosen = split.X[:, 0], np.array(found["vectors"], dtype=int)
            axes.plot(split.X_test[:, 0], split.y_test, color=GREY, linewidth=3.0, label="truth")
            axes.plot(x, split.y, "*", color="0.35", markersize=3.5, label="data")
            axes.plot(split.X_test[:, 0], found["curve"], color=colour, label=label)
            circles = {"color": colour, "fillstyle": "none", "markersize": 8.0}
            axes.plot(x[chosen], split.y[chosen], "o", label="vectors", **circles)
            axes.set_title(
                f"{label}: {found['n_vectors']} vectors, RMSE {found['rms']:.2g}", fontsize="medium"
            )
            axes.legend(fontsize="small")
    panels[0, 0].set_ylabel("Figure 5.1: no noise")
    panels[1, 0].set_ylabel("Figure 5.2: uniform noise")
    for axes in panels[1]:
        axes.set_xlabel("x")
    return {"heimsaeter_sinc": figure}


EXPERIMENT = Experiment(
    source="Heimsæter 2021, Figures 5.1 and 5.2",
    title="sinc without and with noise, by RVM and DRVM",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
