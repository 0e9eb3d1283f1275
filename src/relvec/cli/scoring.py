"""`relvec score`: how well a model predicts rows whose target is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import find_column
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, listed
from relvec.cli.kinds import as_levels
from relvec.cli.metrics import Prediction, measure
from relvec.cli.model_file import load_model
from relvec.cli.predicting import ask, predict_blocks
from relvec.cli.problem import read_target
from relvec.cli.sources import Source
from relvec.cli.summaries.fit import MEANINGS
from relvec.cli.summaries.parts import figure, legend, pairs

__all__ = ["score_command"]

WORDS = {
    "rmse": "error (rms)",
    "mae": "mean |error|",
    "r2": "R²",
    "log_density": "log density",
    "coverage": "in 95 % intervals",
    "error": "wrong",
    "log_loss": "log loss",
    "accuracy": "right",
    "confidence": "mean confidence",
}
SHARES = ("coverage", "error", "accuracy", "confidence")


def score_command(console: CommandConsole, model: str, source: Source, target: str | None) -> None:
    """Measure a model on a file."""
    stored = load_model(model)
    name = target or stored.target
    stored = replace(stored, target=name)
    known: list[np.ndarray] = []
    said: list[Prediction] = []
    n_read = 0
    for frame, table in predict_blocks(stored, source, console):
        find_column(name, frame.columns, source, role="target")
        values, has_target = read_target(frame[name], stored.task, stored.classes)
        n_read += len(frame)
        if len(values):
            known.append(values)
            said.append(ask(stored, table.filter(has_target), with_std=True))
    if not known:
        raise CommandError(f"No row of {source.name} has a known '{name}'.")
    truth, answers = _with_labels_as_text(np.concatenate(known), _joined(said))
    if answers.classes is not None:
        _say_new_classes(truth, answers.classes, name, console)
    figures = measure(truth, answers)
    n_used = sum(map(len, known))
    if n_used < n_read:
        console.note(f"{n_read - n_used} of {n_read} rows have no '{name}' and are not counted.")
    facts: dict[str, Any] = {
        "target": name,
        "task": stored.task,
        "rows": n_used,
        "scores": figures,
        "notes": console.notes,
    }
    console.answer(facts, lambda: [pairs(_lines(facts)), "", _legend(figures)])


def _say_new_classes(
    truth: np.ndarray, classes: np.ndarray, name: str, console: CommandConsole
) -> None:
    new = np.setdiff1d(truth, classes)
    if len(new):
        console.note(
            f"{int(np.isin(truth, new).sum())} rows have a '{name}' that the model does not know: "
            f"{listed(new.tolist())}. They count as wrong; it knows {listed(classes.tolist())}."
        )


def _legend(figures: dict[str, float]) -> Any:
    """Say what the figures are that not everyone knows."""
    words = [MEANINGS[name] for name in figures if name in MEANINGS]
    if "confidence" in figures:
        words.append("mean confidence is the probability it gave its own choices.")
    return legend(*words)


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("rows", str(facts["rows"]))]
    for name, value in facts["scores"].items():
        shown = f"{100 * value:.1f} %" if name in SHARES else figure(value)
        lines.append((WORDS[name], shown))
    return lines


def _with_labels_as_text(target: np.ndarray, said: Prediction) -> tuple[np.ndarray, Prediction]:
    """Compare labels as they are written: models that were not fitted here may know numbers."""
    if said.classes is None or said.classes.dtype.kind in "UO":
        return target, said
    labels = as_levels(pl.Series(said.classes.tolist())).to_list()
    if said.classes.dtype.kind == "b":
        target = np.char.lower(target)
    return target, replace(said, classes=np.asarray(labels, dtype=str))


def _joined(parts: list[Prediction]) -> Prediction:
    def join(name: str) -> np.ndarray | None:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    return Prediction(join("mean"), join("std"), join("proba"), parts[0].classes)
