"""A finished experiment: verdicts, tables, plots, and the files written from them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.report import Table, number
from reproduce.engine.cells import Judged, Verdict, judge
from reproduce.engine.experiment import Experiment, Results, Settings
from reproduce.engine.notes import Note, explain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "Outcome", "compress_image", "conclude", "tally", "write_files"]

COLUMNS = ("", "quantity", "model", "published", "ours", "±", "ratio", "runs", "verdict")
NO_TEST = "no test: "
"""Prefix of verdicts on values that could hardly have been different."""
FIGURES = "figures"
"""Subfolder of the plots."""
DPI = 90
N_COLOURS = 128


@dataclass(frozen=True)
class Outcome:
    """Results of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment.
    experiment : Experiment
        The experiment.
    judged : sequence of Judged
        Published values and ours, with verdicts.
    tables : sequence of Table
        Further tables.
    figures : dict of str to Figure
        Plots by name.
    seconds : float
        CPU time.
    n_tasks, n_known : int
        Number of tasks, and of those stored by earlier runs.
    """

    name: str
    experiment: Experiment
    judged: Sequence[Judged]
    tables: Sequence[Table]
    figures: dict[str, Figure]
    seconds: float
    n_tasks: int
    n_known: int

    @property
    def table(self) -> Table:
        """Table of all cells."""
        title = f"Published values and ours ± standard error; {number(self.seconds)} CPU s"
        return Table(title, COLUMNS, [_row(each) for each in self.judged])

    def misses(self, notes: Sequence[Note]) -> list[tuple[str, list[str]]]:
        """Return the explanations, each with the cells that it explains."""
        found: dict[str, list[str]] = {}
        for judged in self.judged:
            if judged.verdict is Verdict.MISSED and judged.cell.is_counted:
                text = explain(notes, self.name, judged.cell)
                cell = judged.cell
                found.setdefault(text, []).append(f"{cell.line}, {cell.column} of {cell.model}")
        return list(found.items())


def _row(judged: Judged) -> list[str]:
    cell = judged.cell
    ours = number(cell.ours)
    if cell.standard_error:
        ours += f" ± {number(cell.standard_error, 2)}"
    ratio = "–" if cell.published == 0.0 else f"{cell.ratio:.2f}"
    return [
        cell.line,
        cell.column,
        cell.model,
        cell.printed,
        ours,
        number(cell.slack, 2),
        ratio,
        str(cell.n),
        ("" if cell.is_test else NO_TEST) + judged.verdict,
    ]


def tally(judged: Sequence[Judged], tests_only: bool = False) -> Counter[Verdict]:
    """Count the verdicts."""
    counted = (each for each in judged if each.cell.is_counted)
    return Counter(each.verdict for each in counted if each.cell.is_test or not tests_only)


def conclude(name: str, experiment: Experiment, results: Results, settings: Settings) -> Outcome:
    """Judge the results, and make tables and plots."""
    return Outcome(
        name=name,
        experiment=experiment,
        judged=judge(experiment.cells(results, settings)),
        tables=experiment.tables(results, settings),
        figures=experiment.figures(results, settings),
        seconds=results.seconds,
        n_tasks=len(results),
        n_known=results.n_known,
    )


def write_files(outcome: Outcome, folder: Path) -> list[Path]:
    """Write a CSV file of the cells and a PNG file of each plot; return their paths."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    paths = []
    if outcome.judged:
        path = folder / f"{outcome.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            names = ("line", "quantity", "model", "published", "published_error", "unit", "ours")
            more = ("standard_error", "runs", "slack", "kind", "truth", "is_test", "verdict")
            writer.writerow([*names, *more])
            for each in outcome.judged:
                cell = each.cell
                writer.writerow(
                    [
                        cell.line,
                        cell.column,
                        cell.model,
                        cell.published,
                        cell.published_error,
                        cell.unit,
                        cell.ours,
                        cell.standard_error,
                        cell.n,
                        cell.slack,
                        cell.kind,
                        cell.truth,
                        cell.is_test,
                        each.verdict,
                    ]
                )
        paths.append(path)
    for name, figure in outcome.figures.items():
        paths.append(folder / FIGURES / f"{name}.png")
        figure.savefig(paths[-1], dpi=DPI)
    return paths


def compress_image(path: Path, folder: Path) -> None:
    """Copy an image to a folder with few colours, which makes the file small."""
    from PIL import Image

    with Image.open(path) as image:
        quantised = image.convert("RGB").quantize(N_COLOURS, dither=Image.Dither.NONE)
    quantised.save(folder / path.name, optimize=True)
