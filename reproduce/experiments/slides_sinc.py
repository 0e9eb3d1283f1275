"""The example of regression in Tipping's slides: sinc with Gaussian noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Table, number
from reproduce.common.plots import COLOURS, draw_line_fit, make_figure
from reproduce.common.published import load
from reproduce.common.sinc_splines import N_DRAWS, fit_rvm, fit_svm, read_sinc
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "fit"]

PROTOCOL = """
The slide shows support and relevance vector regression side by side, with errors, numbers of
vectors and the estimated noise: one draw there, 100 here.

- **Data**: the slide does not describe them. We use sinc at 100 points of [−10, 10], as in Tipping
  (2001), with Gaussian noise of the published standard deviation. Errors are with respect to the
  true function at 1000 points.
- **Kernel**: not given. The slide says "C and ε found by cross-validation", and a Gaussian kernel
  would also need a length-scale; so we use the linear spline (29) of Figure 2 of the paper, which
  has none. The last table has the RVM with the Gaussian kernel exp(−(x − z)²/3²) of Section 4.3 of
  the paper instead.
- **RVM**: `RVMRegressor(kernel=LinearSpline())`. **SVM**: as for Tipping's Figure 2, with inputs
  shifted to [0, 20], and C and ε by 5-fold cross-validation on the same grid.
"""
MODELS = {"RVM": "rvr", "SVM": "svr"}
"""Names here, and in the file of published values."""
FIGURES = (
    ("largest error", "max", "largest", Kind.ERROR, 1e-4),
    ("RMSE", "rms", "rms", Kind.ERROR, 1e-4),
    ("vectors", "vectors", "n_vectors", Kind.SIZE, 1.0),
)
LINE = "sinc, Gaussian noise"
GAUSSIAN = "RVM, Gaussian kernel"
WIDTH = 3.0
"""r of the Gaussian kernel in Section 4.3 of the paper."""


def fit(folder: Path | None, model: str, draw: int) -> dict[str, Any]:
    """Fit one draw of the noise.

    Parameters
    ----------
    folder : Path or None
        Data.
    model : str
        A name of `MODELS`, or `GAUSSIAN`.
    draw : int
        Which of the frozen draws, also the seed of folds.
    """
    data = read_sinc(folder)
    y = data["f"] + data["noise_gauss"][draw]
    if model == "SVM":
        return fit_svm(data, y, seed=draw)
    return (
        fit_rvm(data, y, kernel="rbf", gamma=WIDTH**-2) if model == GAUSSIAN else fit_rvm(data, y)
    )


def _tasks(settings: Settings, results: Results) -> list[Task]:
    n = settings.at_most(N_DRAWS)
    return [
        Task(f"{model}/{draw}", fit, (model, draw))
        for model in (*MODELS, GAUSSIAN)
        for draw in range(n)
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = load(settings.folder, "slides")["sinc_demo"]
    cells = []
    for model, name in MODELS.items():
        for column, figure, entry, kind, unit in FIGURES:
            of, values = printed[f"{name}_{figure}"], results.column(model, entry)
            cells.append(Cell.of(LINE, column, model, of, values, kind=kind, runs=1, unit=unit))
    cells.append(
        Cell.of(
            LINE,
            "estimate of the noise",
            "RVM",
            printed["rvr_noise_estimate"],
            results.column("RVM", "noise"),
            kind=Kind.ESTIMATE,
            runs=1,
            truth=printed["noise_sd"],
            unit=1e-3,
        )
    )
    return cells


def _tables(results: Results, settings: Settings) -> list[Table]:
    names = ("largest", "rms", "n_vectors", "noise")
    rows = []
    for model in ("RVM", GAUSSIAN):
        columns = (np.asarray(results.column(model, name), dtype=float) for name in names)
        texts = (f"{number(each.mean())} ± {number(each.std(ddof=1), 2)}" for each in columns)
        rows.append([model, *texts])
    title = "Gaussian kernel instead of the linear spline; mean ± standard deviation of draws"
    return [Table(title, ["", "largest error", "RMSE", "vectors", "noise"], rows)]


def _draw(axes: Axes, data: dict[str, np.ndarray], model: str, value: dict[str, Any]) -> None:
    """Draw a model as on the slide: the SVM with its tube, the RVM with error bars."""
    colour = COLOURS[list(MODELS).index(model)]
    curve = np.asarray(value["curve"])
    band, words = (
        (value["epsilon"], "tube ± ε")
        if model == "SVM"
        else (2.0 * np.asarray(value["band"]), "± 2 predictive sd")
    )
    axes.fill_between(
        data["x_test"],
        curve - band,
        curve + band,
        color=colour,
        alpha=0.15,
        label=words,
        linewidth=0,
    )
    facts = f"largest error {number(value['largest'])}, RMSE {number(value['rms'])}"
    if model == "RVM":
        facts += f", noise {number(value['noise'])}"
    draw_line_fit(
        axes,
        truth=(data["x_test"], data["f_test"]),
        data=(data["x"], data["f"] + data["noise_gauss"][0]),
        curve=(data["x_test"], curve),
        vectors=value["vectors"],
        title=f"{model}, {value['n_vectors']} vectors\n{facts}",
        colour=colour,
    )
    axes.set_xlabel("x")
    axes.legend(fontsize="x-small", loc="upper left")


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    data = read_sinc(settings.folder)
    figure, panels = make_figure(1, 2, height=3.6, sharey=True)
    for axes, model in zip(panels[0], ("SVM", "RVM"), strict=True):
        _draw(axes, data, model, results[f"{model}/0"])
    return {"slides_sinc": figure}


EXPERIMENT = Experiment(
    source="Tipping's slides",
    title="sinc with Gaussian noise by SVM and RVM",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
