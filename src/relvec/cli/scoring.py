"""`relvec score`: metrics of a model on a table whose target is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import check_column
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, format_names
from relvec.cli.kinds import as_categories
from relvec.cli.metrics import Prediction, compute_metrics
from relvec.cli.model_file import load_model
from relvec.cli.predicting import predict_blocks, predict_prepared
from relvec.cli.problem import read_target
from relvec.cli.sources import Source
from relvec.cli.summaries.fit import DEFINITIONS
from relvec.cli.summaries.parts import format_number, key_values, legend

__all__ = ["score_command"]

TITLES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "deviance": "Poisson deviance",
    "d2": "D²",
    "mlpd": "MLPD",
    "coverage": "coverage of 95 % intervals",
    "error_rate": "error rate",
    "log_loss": "log loss",
    "accuracy": "accuracy",
    "confidence": "mean confidence",
}
FRACTIONS = ("coverage", "error_rate", "accuracy", "confidence")


def score_command(console: CommandConsole, model: str, source: Source, target: str | None) -> None:
    """Compute the metrics of a model on a table."""
    stored = load_model(model)
    name = target or stored.target
    stored = replace(stored, target=name)
    known: list[np.ndarray] = []
    predictions: list[Prediction] = []
    n_read = 0
    for frame, table, row_values in predict_blocks(stored, source, console):
        check_column(name, frame.columns, source, role="target")
        if row_values is None and stored.row_column is not None and stored.task == "counts":
            raise CommandError(
                f"{source.name} has no column '{stored.row_column.name}' with the exposure of each "
                "row, without which counts cannot be compared with predictions."
            )
        values, has_target = read_target(frame[name], stored.task, stored.classes)
        n_read += len(frame)
        if len(values):
            known.append(values)
            predictions.append(
                predict_prepared(
                    stored,
                    table.filter(has_target),
                    target=None if stored.task == "classification" else values,
                    row_values=None if row_values is None else row_values.select(has_target),
                )
            )
    if not known:
        raise CommandError(f"No row of {source.name} has a known '{name}'.")
    truth, prediction = _labels_as_text(np.concatenate(known), _concatenate(predictions))
    if prediction.classes is not None:
        _note_new_classes(truth, prediction.classes, name, console)
    metrics = compute_metrics(truth, prediction)
    n_used = sum(map(len, known))
    if n_used < n_read:
        console.note(f"{n_read - n_used} of {n_read} rows are not used: '{name}' is missing.")
    facts: dict[str, Any] = {
        "target": name,
        "task": stored.task,
        "rows": n_used,
        "scores": metrics,
        "notes": console.notes,
    }
    console.report(facts, lambda: [key_values(_summary_lines(facts)), "", _legend(metrics)])


def _note_new_classes(
    truth: np.ndarray, classes: np.ndarray, name: str, console: CommandConsole
) -> None:
    new = np.setdiff1d(truth, classes)
    if len(new):
        console.note(
            f"{int(np.isin(truth, new).sum())} rows have a '{name}' that is not a class of the "
            f"model: {format_names(new.tolist())}. They count as errors. Its classes are "
            f"{format_names(classes.tolist())}."
        )


def _legend(metrics: dict[str, float]) -> Any:
    """Define the metrics that are not obvious from their names."""
    return legend(*(DEFINITIONS[name] for name in metrics if name in DEFINITIONS))


def _summary_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("rows", str(facts["rows"]))]
    for name, value in facts["scores"].items():
        shown = f"{100 * value:.1f} %" if name in FRACTIONS else format_number(value)
        lines.append((TITLES[name], shown))
    return lines


def _labels_as_text(target: np.ndarray, prediction: Prediction) -> tuple[np.ndarray, Prediction]:
    """Convert classes to text, because models saved from Python may have numeric classes."""
    if prediction.classes is None or prediction.classes.dtype.kind in "UO":
        return target, prediction
    labels = as_categories(pl.Series(prediction.classes.tolist())).to_list()
    if prediction.classes.dtype.kind == "b":
        target = np.char.lower(target)
    return target, replace(prediction, classes=np.asarray(labels, dtype=str))


def _concatenate(parts: list[Prediction]) -> Prediction:
    def join(name: str) -> np.ndarray | None:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    names = ("mean", "std", "interval", "log_density", "exposure", "proba")
    joined: dict[str, Any] = {name: join(name) for name in names}
    return Prediction(**joined, classes=parts[0].classes)
