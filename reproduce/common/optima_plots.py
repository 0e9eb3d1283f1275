"""Plots of many runs on the same data: curves, atoms, errors and objectives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from reproduce.common.plots import COLOURS, GREY, make_figure

__all__ = ["Ends", "draw_ends", "draw_sorted"]

GOOD, BAD, DUPLICATE = COLOURS[0], COLOURS[1], "#CFE3EF"
MOST_ROWS = 128
"""More rows than this are thinner than a pixel and might not be drawn."""


class Ends(NamedTuple):
    """Runs on one data set."""

    x: np.ndarray
    truth: np.ndarray
    y: np.ndarray
    runs: dict[str, list[Any]]
    """By quantity, an entry for each run."""
    oversmoothed: float
    """Errors above this count as oversmoothed."""
    n_atoms: int

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.runs[name])

    @property
    def is_bad(self) -> np.ndarray:
        """Which runs are oversmoothed."""
        return self["mse"] > self.oversmoothed

    @property
    def by_atoms(self) -> list[int]:
        """Runs in the order of their sets of atoms, equal ones side by side."""
        return sorted(range(len(self.runs["atoms"])), key=lambda run: self.runs["atoms"][run])

    def is_duplicate(self, order: list[int]) -> np.ndarray:
        """Which runs have the same atoms as one before, in an order."""
        seen: set[tuple[int, ...]] = set()
        found = []
        for run in order:
            atoms = tuple(self.runs["atoms"][run])
            found.append(atoms in seen)
            seen.add(atoms)
        return np.array(found)

    def precisions(self, order: list[int]) -> np.ndarray:
        """Return log precisions by atom and run; not a number where an atom is out."""
        image = np.full((self.n_atoms, len(order)), np.nan)
        for column, run in enumerate(order):
            image[self.runs["atoms"][run], column] = self.runs["log_alpha"][run]
        return image


def draw_ends(ends: Ends, title: str, has_details: bool) -> Figure:
    """Draw curves and atoms of all runs; with details also noise levels and precisions."""
    figure, panels = make_figure(2 if has_details else 1, 2, width=5.5, height=3.4)
    _draw_curves(panels[0, 0], ends)
    order = ends.by_atoms
    _draw_atoms(panels[0, 1], ends, order)
    if has_details:
        _draw_noise(panels[1, 0], ends)
        axes = panels[1, 1]
        image = _show(axes, ends.precisions(order), cmap="viridis")
        figure.colorbar(image, ax=axes, label="log10 α")
        _label(axes, "runs, as above", "atom", "precisions; empty where infinite")
    figure.suptitle(f"{title}: {len(order)} runs in random order")
    return figure


def _label(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize="medium")


def _show(axes: Axes, values: np.ndarray, **options: Any) -> Any:
    """Draw values by atom and run; of neighbouring atoms the largest if there are many."""
    n_atoms, n_runs = values.shape
    share = max(n_atoms // MOST_ROWS, 1)
    pooled = np.fmax.reduce(values.reshape(-1, share, n_runs), axis=1)
    extent = (-0.5, n_runs - 0.5, n_atoms - 0.5, -0.5)
    return axes.imshow(pooled, aspect="auto", interpolation="nearest", extent=extent, **options)


def _draw_curves(axes: Axes, ends: Ends) -> None:
    axes.plot(ends.x, ends.truth, color=GREY, linewidth=4.0, label="truth")
    axes.plot(ends.x, ends.y, ".", color="0.35", markersize=3.0, label="data")
    opacity = float(np.clip(20.0 / len(ends["mse"]), 0.03, 0.5))
    for chosen, colour, word in ((~ends.is_bad, GOOD, "runs"), (ends.is_bad, BAD, "oversmoothed")):
        if chosen.any():
            curves = ends["curve"][chosen].T
            axes.plot(ends.x, curves, color=colour, linewidth=0.8, alpha=opacity)
            axes.plot([], [], color=colour, label=f"{word}: {chosen.sum()}")
    axes.legend(fontsize="small")
    _label(axes, "x", "ŷ", "posterior means of all runs")


def _draw_atoms(axes: Axes, ends: Ends, order: list[int]) -> None:
    repeated = ends.is_duplicate(order)
    image = np.where(repeated, 1.0, 0.0) * np.ones((ends.n_atoms, 1))
    image[np.isfinite(ends.precisions(order))] = 2.0
    colours = ListedColormap(["white", DUPLICATE, GOOD])
    _show(axes, image, cmap=colours, vmin=0, vmax=2)
    n = len(order) - int(repeated.sum())
    _label(
        axes, "runs, equal ones side by side", "atom", f"atoms kept, {n} different; pale: repeated"
    )


def _draw_noise(axes: Axes, ends: Ends) -> None:
    noise, bad = ends["noise"], ends.is_bad
    edges = np.linspace(0.0, 1.05 * float(noise.max()), 61)
    axes.hist(noise[~bad], bins=edges.tolist(), color=GOOD, label="runs")
    if bad.any():
        axes.hist(noise[bad], bins=edges.tolist(), color=BAD, label="oversmoothed")
    true = float(np.mean((ends.y - ends.truth) ** 2))
    axes.axvline(true, color="black", linestyle="--", linewidth=1.0, label="truth")
    axes.legend(fontsize="small")
    _label(axes, "σ²", "runs", "noise variance found")


def draw_sorted(ends: Ends) -> Figure:
    """Draw different solutions by their objective: steps, sizes, errors and atoms."""
    order = np.argsort(ends["objective"], kind="stable").tolist()
    order = [run for run, old in zip(order, ends.is_duplicate(order), strict=True) if not old]
    bad = ends.is_bad[order]
    figure, panels = make_figure(3, 1, width=9.0, height=2.8, sharex=True)
    steps, values, atoms = panels[:, 0]
    place = np.arange(len(order))
    steps.semilogy(place, ends["steps"][order], ".", color=GOOD, markersize=3.0)
    _label(steps, "", "steps", "steps (dots) and atoms (line)")
    sizes = [len(ends.runs["atoms"][run]) for run in order]
    right = steps.twinx()
    right.plot(place, sizes, color=BAD, linewidth=0.8)
    right.set_ylabel("S", color=BAD)
    values.semilogy(place, ends["mse"][order], ".", color=BAD, markersize=3.0, label="to the truth")
    values.semilogy(place, ends["data_mse"][order], ".", color=COLOURS[2], markersize=3.0)
    values.plot([], [], ".", color=COLOURS[2], label="to the data")
    _label(values, "", "MSE", "errors (dots) and objective (line; oversmoothed ones are far below)")
    objective = ends["objective"][order]
    right = values.twinx()
    right.plot(place[~bad], objective[~bad], color=GOOD, linewidth=1.3)
    right.set_ylabel("log posterior", color=GOOD)
    values.legend(fontsize="small", loc="center right")
    shown = np.where(np.isfinite(ends.precisions(order)), 1.0, np.nan)
    shown[:, bad] *= 2.0
    colours = ListedColormap([GOOD, BAD])
    _show(atoms, shown, cmap=colours, vmin=1, vmax=2)
    _label(atoms, "different solutions, the best on the right", "atom", "atoms kept")
    return figure
