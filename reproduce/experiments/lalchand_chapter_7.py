"""Chapter 7 of Lalchand (2017): basis functions, and a line fitted by Gaussians of two widths."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from bench.report import Table, number
from relvec import RVMRegressor
from relvec.published.textbook import TextbookSolver
from reproduce.common.plots import COLOURS, GREY, draw_line_fit, make_figure
from reproduce.common.published import find, load
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "fit", "report"]

PROTOCOL = """
Chapter 7: y = 0.5 sin x + 0.5 x − 0.02 (x − 5)² at 100 points of [−10, 10] with noise, fitted with
kernels exp(−(x − z)²/2σ²) of length-scale σ = 1 or 2, one on each point. Points are on a grid
(Figures 7.6 and 7.7, the only ones with numbers in the text) or drawn at random (7.8 to 7.11).

- **The noise is not given.** Its standard deviation is 0.1 here, which is our choice: the data are
  our own draws, those of the report are not known. The "additional noise" of Figures 7.10 and 7.11
  is 0.5. Levels from 0.05 to 0.5 were tried before 0.1 was chosen, and are in the second table: the
  verdict on the number of basis functions at length-scale 1 depends on the level. The report shows
  one draw, we 10.
- The algorithm is the sequential one of Tipping and Faul, as in the report (`TextbookSolver`): one
  step is one iteration. It starts at a noise variance of a tenth of that of the target and ends
  when no log precision changes by more than 0.001; neither is given.
- No error is given, so a smaller number of basis functions or iterations than published is not
  "better" by the rule. The first table has our default solver on the same data.
- Error bars are those of equation 7.3, with two standard deviations. Traces of the noise and of
  well-determined weights are from runs that were stopped early.
"""
N_DRAWS = 10
NOISE, MORE_NOISE = 0.1, 0.5
OTHER_LEVELS = (0.05, 0.2, 0.3, 0.5)
WIDTHS = (1.0, 2.0)
N_CUTS = 24


class Setup(NamedTuple):
    """What one of the published pictures shows."""

    place: str
    width: float
    noise: float

    @property
    def key(self) -> str:
        """Of its tasks."""
        return f"{self.place}/width{self.width:g}/noise{self.noise:g}"

    @property
    def name(self) -> str:
        """Description."""
        where = "on a grid" if self.place == "grid" else "at random"
        return f"{where}, length-scale {self.width:g}, noise {self.noise:g}"


PICTURES = {
    6: Setup("grid", 1.0, NOISE),
    7: Setup("grid", 2.0, NOISE),
    8: Setup("rand", 1.0, NOISE),
    9: Setup("rand", 2.0, NOISE),
    10: Setup("rand", 1.0, MORE_NOISE),
    11: Setup("rand", 2.0, MORE_NOISE),
}


def _function(x: np.ndarray) -> np.ndarray:
    """Equation 7.2."""
    return 0.5 * np.sin(x) + 0.5 * x - 0.02 * (x - 5.0) ** 2


def _data(folder: Path | None, place: str, noise: float, draw: int) -> tuple[np.ndarray, ...]:
    with np.load(find(folder, "lalchand.npz"), allow_pickle=False) as file:
        x, truth = file[f"x_{place}"], file[f"f_{place}"]
        return x, truth, truth + noise * file["unit_noise"][draw]


def _model(x: np.ndarray, y: np.ndarray, width: float, solver: Any = "auto") -> RVMRegressor:
    model = RVMRegressor(
        gamma=0.5 / width**2,
        fit_intercept=False,
        error_bars="plain",
        calibrate=False,
        solver=solver,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # runs that are cut short
        return model.fit(x[:, np.newaxis], y)


def fit(folder: Path | None, place: str, width: float, noise: float, draw: int) -> dict[str, Any]:
    """Fit one draw by single steps and by the default solver."""
    x, truth, y = _data(folder, place, noise, draw)
    value: dict[str, Any] = {}
    for name, solver in (("", TextbookSolver()), ("default_", "auto")):
        model = _model(x, y, width, solver)
        difference = model.predict(x[:, np.newaxis]) - truth
        value |= {
            f"{name}size": len(model.relevance_),
            f"{name}steps": int(model.n_iter_),
            f"{name}rms": float(np.sqrt(np.mean(difference**2))),
            f"{name}noise": float(np.sqrt(model.noise_variance_)),
            f"{name}evidence": float(model.log_evidence_),
        }
    return value


def report(folder: Path | None, place: str, width: float, noise: float) -> dict[str, Any]:
    """Fit the first draw, and again cut short after some numbers of steps."""
    x, _, y = _data(folder, place, noise, 0)
    model = _model(x, y, width, TextbookSolver())
    grid = np.linspace(-11.0, 11.0, 221)
    mean, std = model.predict(grid[:, np.newaxis], return_std=True)
    chosen = np.asarray(model.relevance_)
    design = np.exp(-0.5 * ((x[:, np.newaxis] - x[chosen]) / width) ** 2)
    alpha, variance = np.asarray(model.weight_precision_), model.noise_variance_
    covariance = variance * np.eye(len(x)) + (design / alpha) @ design.T
    solved = np.linalg.solve(covariance, np.column_stack([design, y]))
    inner, quality = np.sum(design * solved[:, :-1], axis=0), design.T @ solved[:, -1]
    without = alpha / (alpha - inner)
    cuts = np.unique(np.geomspace(1, model.n_iter_, N_CUTS).astype(int))
    partial = [_model(x, y, width, TextbookSolver(max_iter=int(cut))) for cut in cuts]
    return {
        "grid": grid,
        "mean": mean,
        "std": std,
        "chosen": chosen,
        "weights": model.coef_,
        "determined": model.well_determined_,
        "sparsity": without * inner,
        "quality": (without * quality) ** 2,
        "cuts": cuts,
        "evidence": [each.log_evidence_ for each in partial],
        "noise": [np.sqrt(each.noise_variance_) for each in partial],
        "sizes": [len(each.relevance_) for each in partial],
        "dof": [each.effective_dof_ for each in partial],
    }


def _setups() -> list[Setup]:
    others = [Setup("grid", width, noise) for width in WIDTHS for noise in OTHER_LEVELS]
    return [*PICTURES.values(), *others]


def _tasks(settings: Settings, results: Results) -> list[Task]:
    tasks = [
        Task(f"{setup.key}/{draw}", fit, (*setup, draw))
        for setup in _setups()
        for draw in range(settings.at_most(N_DRAWS))
    ]
    return tasks + [
        Task(f"report/{setup.key}", report, tuple(setup)) for setup in PICTURES.values()
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    printed = load(settings.folder, "lalchand")
    cells = []
    for picture in (6, 7):
        setup, row = PICTURES[picture], printed[f"fig_7_{picture}"]
        for column, name, entry in (
            ("basis functions", "basis_functions", "size"),
            ("iterations", "iterations", "steps"),
        ):
            ours = results.column(setup.key, entry)
            line = f"Figure 7.{picture}, length-scale {setup.width:g}"
            cells.append(
                Cell.of(line, column, "RVM", row[name], ours, kind=Kind.SIZE, runs=1, unit=1.0)
            )
    return cells


def _mean(values: list[float]) -> str:
    array = np.array(values)
    return f"{number(float(array.mean()))} ± {number(float(array.std(ddof=1)), 2)}"


def _tables(results: Results, settings: Settings) -> list[Table]:
    first, second = [], []
    for setup in PICTURES.values():
        row = [setup.name]
        for prefix in ("", "default_"):
            row += [_mean(results.column(setup.key, f"{prefix}{e}")) for e in ("size", "rms")]
        ours = np.array(results.column(setup.key, "default_evidence"))
        gain = ours - results.column(setup.key, "evidence")
        first.append([*row, f"{gain.mean():+.2f}", f"{gain.min():+.2f}"])
    for setup in sorted((each for each in _setups() if each.place == "grid"), key=_by_width):
        found = (_mean(results.column(setup.key, entry)) for entry in ("size", "steps", "noise"))
        second.append([f"length-scale {setup.width:g}", f"{setup.noise:g}", *found])
    head = ["points", "size", "RMSE", "default: size", "RMSE", "gain in evidence", "smallest gain"]
    title = "Sequential and default solver, ± standard deviation of draws; evidence in nats"
    other = "Effect of the unknown noise level on a grid, ± standard deviation of draws"
    return [
        Table(title, head, first),
        Table(other, ["", "noise", "basis functions", "iterations", "estimated noise"], second),
    ]


def _by_width(setup: Setup) -> tuple[float, float]:
    return setup.width, setup.noise


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    shown = {"lalchand_chapter_7_bases": _draw_bases(settings.folder)}
    for picture, setup in PICTURES.items():
        found = {name: np.asarray(v) for name, v in results[f"report/{setup.key}"].items()}
        title = f"Figure 7.{picture}: {setup.name}"
        figure = _draw_report(
            _data(settings.folder, setup.place, setup.noise, 0), found, setup.width
        )
        figure.suptitle(title)
        shown[f"lalchand_chapter_7_{picture}"] = figure
    return shown


def _label(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize="medium")


def _draw_bases(folder: Path | None) -> Figure:
    """Draw Figures 7.1 to 7.5."""
    figure, panels = make_figure(2, 4, width=3.4, height=2.6)
    fine = np.linspace(-10.0, 10.0, 401)
    for row, place in zip(panels, ("grid", "rand"), strict=True):
        centres = _data(folder, place, 0.0, 0)[0]
        for axes, width in zip(row[:2], WIDTHS, strict=True):
            bumps = np.exp(-0.5 * ((fine[:, np.newaxis] - centres) / width) ** 2)
            axes.plot(fine, bumps[:, ::4], color=COLOURS[0], linewidth=0.7)
            number_, word = (1, "grid") if place == "grid" else (2, "random")
            _label(axes, "x", "φ", f"7.{number_}: {word}, length-scale {width:g} (each fourth)")
    centres = np.linspace(-8.0, 8.0, 5)
    bumps = np.exp(-0.5 * (fine[:, np.newaxis] - centres) ** 2).max(axis=1)
    image = panels[0, 2].imshow(
        np.multiply.outer(bumps, bumps), extent=(-10, 10, -10, 10), origin="lower", cmap="viridis"
    )
    figure.colorbar(image, ax=panels[0, 2])
    _label(panels[0, 2], "x1", "x2", "7.3: Gaussians in two inputs")
    turn = np.linspace(-np.pi, np.pi, 201)
    for place_, degree in enumerate((2, 3, 5, 7, 9)):
        panels[1, 2].plot(turn, turn**degree, color=COLOURS[place_], label=f"x^{degree}")
    panels[1, 2].set_ylim(-60.0, 60.0)
    panels[1, 2].legend(fontsize="x-small")
    _label(panels[1, 2], "x", "φ", "7.4: polynomials")
    panels[0, 3].plot(fine, _function(fine), color=COLOURS[0])
    _label(panels[0, 3], "x", "y", "7.5: the function")
    x, _, y = _data(folder, "rand", NOISE, 0)
    panels[1, 3].plot(fine, _function(fine), color=GREY, linewidth=3.0)
    panels[1, 3].plot(x, y, ".", color="0.35", markersize=3.0)
    _label(panels[1, 3], "x", "y", f"100 random points, noise {NOISE:g}")
    return figure


def _draw_report(
    data: tuple[np.ndarray, ...], found: dict[str, np.ndarray], width: float
) -> Figure:
    """Draw one fit: curve, basis functions, traces and what is known of each weight."""
    x, _, y = data
    figure, panels = make_figure(2, 3, width=4.3, height=2.9)
    fitted, evidence, traces, functions, determined, factors = panels.ravel()
    grid, mean, std, chosen = (found[name] for name in ("grid", "mean", "std", "chosen"))
    fitted.fill_between(grid, mean - 2 * std, mean + 2 * std, color=COLOURS[0], alpha=0.2, lw=0)
    draw_line_fit(
        fitted, truth=(grid, _function(grid)), data=(x, y), curve=(grid, mean), vectors=chosen
    )
    fitted.legend(fontsize="x-small")
    _label(fitted, "x", "y", f"fit, ± 2 sd; {len(chosen)} basis functions")
    evidence.plot(found["cuts"], found["evidence"], ".-", color=COLOURS[0], markersize=4.0)
    evidence.set_xscale("log")
    _label(evidence, "iteration", "log evidence", f"evidence; {found['cuts'][-1]} iterations")
    traces.loglog(found["cuts"], found["noise"], ".-", color=COLOURS[0], markersize=4.0)
    _label(traces, "iteration", "noise sd", "noise (blue); basis functions (orange), Σγ dashed")
    right = traces.twinx()
    right.plot(found["cuts"], found["sizes"], color=COLOURS[1])
    right.plot(found["cuts"], found["dof"], "--", color=COLOURS[1])
    bumps = np.exp(-0.5 * ((grid[:, np.newaxis] - x[chosen]) / width) ** 2) * found["weights"]
    functions.plot(grid, bumps, linewidth=1.0)
    _label(functions, "x", "w φ(x)", "weighted basis functions")
    determined.vlines(x[chosen], 0.0, found["determined"], colors=COLOURS[0])
    determined.plot(x[chosen], found["determined"], "o", color=COLOURS[0], markersize=4.0)
    determined.set_ylim(0.0, 1.05)
    _label(determined, "centre", "γ", "how well determined each weight is")
    factors.semilogy(x[chosen], found["quality"], "o", color=COLOURS[1])
    factors.semilogy(x[chosen], found["sparsity"], "s", color=COLOURS[0], fillstyle="none")
    _label(factors, "centre", "", "quality q² (dots) and sparsity s (squares)")
    return figure


EXPERIMENT = Experiment(
    source="Lalchand 2017, chapter 7",
    title="one-dimensional regression with Gaussian kernels of two length-scales",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
