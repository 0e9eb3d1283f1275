"""Figures 2.14 and 2.15 of Schmolck (2008): steps and a smooth curve by a union of dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec import SparseBayesRegressor
from relvec.bases import Basis, KernelBasis, UnionBasis, WaveletBasis
from relvec.datasets import make_parts
from relvec.kernels import ThinPlateSpline
from reproduce.common.plots import COLOURS, GREY, draw_line_fit, make_figure
from reproduce.common.published import load
from reproduce.common.smooth_models import PRIORS, inputs
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "LINES", "fit_line", "likely_height", "make_draw"]

PROTOCOL = """
Blocks followed by Sinc, SNR 7, with estimated noise. Thin-plate splines of scale 3 on [−10, 10],
Haar wavelets with the largest number of levels, and both together, with the penalty "RIC"; and the
relevance vector machine ("None") with both. The thesis shows one draw; ours are means over 10, and
the plots show the first.

- **The data are not those that the text describes.** The number of samples is not given. Haar
  wavelets alone have a closed form, so their line depends only on the data: with Blocks and Sinc as
  in the appendix, neither 512, 1024, 2048 nor 4096 samples give the published S and MSE together.
  With 1024 samples and a higher Sinc they do. So the height of Sinc is estimated: of 1, 2, ..., 8
  the one whose Haar line is nearest to the published values, in standard deviations over draws. The
  Haar line is then no test, nor is the line without a prior, from which the number of samples was
  inferred; the other two lines are tests. The last table has the data as described.
- Blocks is on the grid of the appendix, from 0 to 1 including both ends. Both grids, four numbers
  of samples and nine heights were compared with the published Haar line before this was decided.
- Ours is `SparseBayesRegressor` without an intercept. Its penalty uses the exact effective degrees
  of freedom, also for overlapping components; that of the thesis, equation (2.60), uses the sum
  that would hold if components did not overlap, and depends on the units of kernels.
- **Figure 2.15**: the contribution of each dictionary, by `predict_components`. The thesis calls
  the separation with RIC near-perfect. Ours is near-perfect for Sinc, but not for Blocks, to which
  splines contribute a slope and a peak: the mean squared error of the parts is 2, two hundred times
  that of their sum (last columns below). The figure has no numbers, so this is not counted above;
  the claim is **not reproduced**.
"""
TABLE = ("schmolck", "other")
N_DRAWS = 10
HEIGHTS = tuple(range(1, 9))
DESCRIBED = 1
"""Height of Sinc as the text has it."""
WIDTH = 3.0
LINES = {
    "tpspline3": ("tpspline", "RIC"),
    "haar": ("haar", "RIC"),
    "haar_plus_tpspline": ("haar + tpspline", "RIC"),
    "rvm_none_haar_plus_tpspline": ("haar + tpspline", "None"),
}
"""Names in the file of printed figures; dictionary and prior."""
SETS_THE_DATA = ("haar", "rvm_none_haar_plus_tpspline")
"""Lines from which the height of Sinc and the number of samples were inferred."""
UNIT = 1e-3
SEPARATION = ("MSE, Haar to Blocks", "MSE, tpspline to Sinc")


def _label(line: str) -> str:
    return ", ".join(LINES[line])


def _basis(dictionary: str, n: int) -> Basis:
    haar = WaveletBasis("haar", level=int(np.log2(n)))
    splines = KernelBasis(ThinPlateSpline(WIDTH))
    chosen: dict[str, Basis] = {"haar": haar, "tpspline": splines}
    return chosen.get(dictionary) or UnionBasis([haar, splines])


def make_draw(
    n: int, snr: float, height: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Blocks, Sinc (each zero in the half of the other) and their sum with noise.

    Parameters
    ----------
    n : int
        Number of samples, both halves together.
    snr : float
        Standard deviation of the clean signal over that of the noise, which is exact.
    height : float
        By what Sinc is multiplied.
    seed : int
        Of the noise.
    """
    blocks, sinc = make_parts("BlocksSinc", n, grid="linspace")
    sinc = height * sinc
    noise = np.random.RandomState(seed).standard_normal(n)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    clean = blocks + sinc
    return blocks, sinc, clean + clean.std(ddof=1) / snr * noise


def fit_line(
    folder: Path | None, line: str, n: int, snr: float, height: float, seed: int
) -> dict[str, Any]:
    """Fit one line to one draw."""
    dictionary, prior = LINES[line]
    blocks, sinc, noisy = make_draw(n, snr, height, seed)
    clean = blocks + sinc
    x = inputs(n)
    model = SparseBayesRegressor(
        _basis(dictionary, n), prior=PRIORS[prior], fit_intercept=False, calibrate=False
    ).fit(x, noisy)
    parts = model.predict_components(x).T
    curve = parts.sum(axis=0)
    result = {
        "n_components": len(model.relevance_),
        "by_part": [part.n_relevant for part in model.components_],
        "error": float(np.mean((curve - clean) ** 2)),
        "noise_variance": model.noise_variance_,
        "truth": (clean.std(ddof=1) / snr) ** 2,
    }
    if len(parts) == 2:
        wanted = zip(parts, (blocks, sinc), strict=True)
        result["separation"] = [float(np.mean((part - truth) ** 2)) for part, truth in wanted]
    if seed == 0:
        result |= {"parts": parts, "noisy": noisy, "clean": clean}
    return result


def _printed(settings: Settings) -> dict[str, Any]:
    table: dict[str, Any] = load(settings.folder, *TABLE)["blockssinc_fig_2_14"]
    return table


def _data(settings: Settings) -> tuple[int, float]:
    printed = _printed(settings)
    return printed["N_inferred"], printed["SNR"]


def _haar_tasks(settings: Settings, results: Results) -> list[Task]:
    n, snr = _data(settings)
    return [
        Task(f"height {height}/haar/{seed}", fit_line, ("haar", n, snr, float(height), seed))
        for height in HEIGHTS
        for seed in range(settings.draws(N_DRAWS))
    ]


def likely_height(results: Results, printed: dict[str, Any]) -> int:
    """Return the height of Sinc whose Haar line is nearest to the print.

    Parameters
    ----------
    results : Results
        With Haar lines of all heights.
    printed : dict
        The table of printed figures.
    """
    distances = {}
    for height in HEIGHTS:
        total = 0.0
        for column, entry in (("S", "n_components"), ("MSE", "error")):
            values = np.array(results.column(f"height {height}/haar", entry), dtype=float)
            spread = max(float(values.std()), 0.01 * float(values.mean()))
            total += ((values.mean() - printed["haar"][column]) / spread) ** 2
        distances[height] = total
    return min(distances, key=lambda height: distances[height])


def _other_tasks(settings: Settings, results: Results) -> list[Task]:
    n, snr = _data(settings)
    heights = {likely_height(results, _printed(settings)), DESCRIBED}
    return [
        Task(f"height {height}/{line}/{seed}", fit_line, (line, n, snr, float(height), seed))
        for height in sorted(heights)
        for line in LINES
        if line != "haar"
        for seed in range(settings.draws(N_DRAWS))
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = _printed(settings)
    height = likely_height(results, printed)
    return [
        Cell.of(
            _label(line),
            column,
            "RVM" if LINES[line][1] == "None" else "sRVM",
            printed[line][column],
            results.column(f"height {height}/{line}", entry),
            kind=kind,
            runs=1,
            unit=unit,
            is_test=line not in SETS_THE_DATA,
        )
        for line in LINES
        for column, entry, kind, unit in (
            ("MSE", "error", Kind.ERROR, UNIT),
            ("S", "n_components", Kind.SIZE, 1.0),
        )
    ]


def _mean(results: Results, key: str, name: str) -> str:
    return number(np.mean(results.column(key, name)))


def _tables(results: Results, settings: Settings) -> list[Table]:
    printed = _printed(settings)
    chosen = likely_height(results, printed)
    heights = []
    for height in HEIGHTS:
        key = f"height {height}/haar"
        names = ("n_components", "error", "noise_variance", "truth")
        heights.append([f"{height}", *(_mean(results, key, name) for name in names)])
    head = ["height of Sinc", "S", "MSE", "σ²", "true σ²"]
    tables = [Table("Haar wavelets alone, RIC: means over draws", head, heights)]
    for height, words in ((chosen, f"{chosen} times as high"), (DESCRIBED, "as described")):
        tables.append(_separation(results, height, f"Sinc {words}: means over draws"))
    return tables


def _separation(results: Results, height: int, title: str) -> Table:
    lines = []
    for line in LINES:
        key = f"height {height}/{line}"
        names = ("n_components", "error", "noise_variance", "truth")
        cells = [_label(line), *(_mean(results, key, name) for name in names)]
        if "separation" in results.under(key)[0]:
            parts = np.mean(results.column(key, "by_part"), axis=0)
            errors = np.mean(results.column(key, "separation"), axis=0)
            cells += [" + ".join(number(part) for part in parts), *map(number, errors)]
        else:
            cells += ["–"] * 3
        lines.append(cells)
    head = ["", "S", "MSE", "σ²", "true σ²", "S by dictionary", *SEPARATION]
    return Table(title, head, lines)


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    height = likely_height(results, _printed(settings))
    n, _ = _data(settings)
    x = inputs(n)[:, 0]
    fits, panels = make_figure(3, 1, width=8.0, height=2.4, sharex=True)
    for axes, line, letter in zip(panels[:, 0], LINES, "abc", strict=False):
        fit = results[f"height {height}/{line}/0"]
        draw_line_fit(
            axes,
            truth=(x, np.asarray(fit["clean"])),
            data=(x, np.asarray(fit["noisy"])),
            curve=(x, np.sum(fit["parts"], axis=0)),
            title=f"({letter}) {_label(line)}: MSE {fit['error']:.3f}, S = {fit['n_components']}",
            colour=COLOURS[1],
        )
    panels[0, 0].legend(loc="upper right", fontsize="small", ncols=3)
    panels[-1, 0].set_xlabel("x")
    return {
        "schmolck_blockssinc_2_14": fits,
        "schmolck_blockssinc_2_15": _draw_parts(results, height, x),
    }


def _draw_parts(results: Results, height: int, x: np.ndarray) -> Figure:
    figure, panels = make_figure(1, 2, width=5.0, height=3.4, sharey=True)
    lines = ("rvm_none_haar_plus_tpspline", "haar_plus_tpspline")
    for axes, line, name in zip(panels[0], lines, ("RVM", "sRVM"), strict=True):
        fit = results[f"height {height}/{line}/0"]
        axes.plot(x, fit["noisy"], ".", color=GREY, markersize=1.5)
        for part, colour, label in zip(fit["parts"], COLOURS, ("Haar", "tpspline"), strict=False):
            axes.plot(x, part, color=colour, linewidth=1.2, label=label)
        counts = " + ".join(str(count) for count in fit["by_part"])
        axes.set_title(f"{name}, {LINES[line][1]}: S = {counts}", fontsize="medium")
        axes.set_xlabel("x")
    panels[0, 0].legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figures 2.14 and 2.15",
    title="steps and a smooth curve by a union of dictionaries",
    protocol=PROTOCOL,
    stages=(_haar_tasks, _other_tasks),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
