"""A finished experiment: verdicts, tables and pictures, and the files made of them."""

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

__all__ = ["FIGURES", "Outcome", "conclude", "shrink_picture", "tally", "write_files"]

COLUMNS = ("", "quantity", "model", "printed", "ours", "±", "ratio", "runs", "verdict")
NO_TEST = "no test: "
"""Stands before verdicts on figures that could hardly have come out otherwise."""
FIGURES = "figures"
"""Folder of the pictures, in that of all files."""
DPI = 90
N_COLOURS = 128


@dataclass(frozen=True)
class Outcome:
    """What came of an experiment.

    Parameters
    ----------
    name : str
        Of the experiment.
    experiment : Experiment
        What was done.
    judged : sequence of Judged
        Published figures next to ours.
    tables : sequence of Table
        What else is worth seeing.
    figures : dict of str to Figure
        Pictures by name.
    seconds : float
        CPU time.
    n_tasks, n_known : int
        Number of tasks, and how many of them were known from earlier runs.
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
        """All cells."""
        title = f"Printed figures and ours ± standard error; {number(self.seconds)} CPU s"
        return Table(title, COLUMNS, [_row(each) for each in self.judged])

    def misses(self, notes: Sequence[Note]) -> list[tuple[str, list[str]]]:
        """Return explanations, each with the cells of ours it is about."""
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
    """Return how many figures of ours have each verdict."""
    counted = (each for each in judged if each.cell.is_counted)
    return Counter(each.verdict for each in counted if each.cell.is_test or not tests_only)


def conclude(name: str, experiment: Experiment, results: Results, settings: Settings) -> Outcome:
    """Judge the results and make tables and pictures of them."""
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
    """Write a CSV file of the cells and a PNG file of each picture; returns their paths."""
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


def shrink_picture(path: Path, folder: Path) -> None:
    """Copy a picture to a folder with few colours, so that it is small enough to be kept."""
    from PIL import Image

    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(N_COLOURS, dither=Image.Dither.NONE)
    few.save(folder / path.name, optimize=True)
