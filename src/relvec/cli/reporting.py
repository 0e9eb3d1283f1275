"""`relvec report`: an HTML report on a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import check_column
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.inspecting import feature_names
from relvec.cli.kinds import as_categories
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.predicting import predict_blocks
from relvec.cli.problem import read_target
from relvec.cli.randomness import make_generator
from relvec.cli.row_columns import RowValues
from relvec.cli.sources import find_source
from relvec.cli.summaries.parts import format_number, format_size, key_values
from relvec.cli.writing import atomic_output, check_output
from relvec.reporting import make_report

__all__ = ["ReportRequest", "report_command"]

ROWS = ("auto", "training", "new")


@dataclass(frozen=True)
class ReportRequest:
    """Arguments of `relvec report`."""

    model: str
    source: str
    output: str = "report.html"
    test: str | None = None
    target: str | None = None
    title: str | None = None
    rows: str = "auto"
    n_folds: int = 5
    n_bootstrap: int = 30
    max_rows: int = 5_000
    seed: int = 0
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


def report_command(console: CommandConsole, request: ReportRequest) -> None:
    """Write the report and print a summary."""
    _check_request(request)
    stored = load_model(request.model)
    X, y, row_values = _read_rows(stored, request.source, request, console)
    known: dict[str, Any] = {}
    if row_values is not None:
        known = {row_values.column.parameter: row_values.values}
    held_out: tuple[Any, ...] | None = None
    if request.test is not None:
        *pair, others = _read_rows(stored, request.test, request, console)
        held_out = (*pair, *([] if others is None else [others.values]))
    n_fits = min(request.n_folds, len(y))
    if n_fits > console.limits.many_folds:
        console.note(f"{n_fits} folds need {n_fits} fits; --folds 5 or 10 is usually enough.")
    with console.progress("report", None) as advance:
        report = make_report(
            stored.pipeline,
            X,
            y,
            held_out=held_out,
            **known,
            title=request.title or f"{request.target or stored.target}: {Path(request.model).name}",
            names=feature_names(stored),
            target=request.target or stored.target,
            rows=request.rows,
            cv=request.n_folds,
            n_bootstrap=request.n_bootstrap,
            random_state=request.seed,
        )
        advance(1)
    with atomic_output(request.output) as temporary:
        report.save(temporary)
        n_bytes = Path(temporary).stat().st_size
    facts: dict[str, Any] = {
        "output": request.output,
        "bytes": n_bytes,
        "rows": len(y),
        "metrics": report.metrics,
        "log_evidence": report.evidence.log_evidence,
        "log_evidence_gain": report.evidence.log_evidence_gain,
        "notes": console.notes,
    }
    if console.as_json or not console.quiet:
        console.report(facts, lambda: [key_values(_summary_lines(facts, stored.task))])


def _summary_lines(facts: dict[str, Any], task: str) -> list[tuple[str, str]]:
    """List the output file and the RMSE or error rate, on held-out rows if there are any."""
    # the last set of rows is the most independent of the training rows
    rows = list(facts["metrics"])[-1]
    metrics = facts["metrics"][rows]
    if task == "classification":
        name, value = "error rate", f"{100 * metrics['error_rate']:.1f} %"
    elif task == "counts":
        name, value = "deviance", format_number(metrics["deviance"])
    else:
        name, value = "RMSE", format_number(metrics["rmse"])
    pooled = ", all rows pooled" if "fold" in rows else ""
    return [
        ("saved", f"{facts['output']} ({format_size(facts['bytes'])})"),
        (name, f"{value} ({rows}{pooled})"),
    ]


def _check_request(request: ReportRequest) -> None:
    """Check the arguments before anything is read."""
    if request.rows not in ROWS:
        raise UsageError(f"--rows must be one of {format_names(ROWS)}; got '{request.rows}'.")
    if request.n_folds < 0 or request.n_folds == 1:
        raise UsageError(f"--folds must be 0 (none) or at least 2; got {request.n_folds}.")
    if request.n_bootstrap < 0:
        raise UsageError(f"--bootstrap must not be negative; got {request.n_bootstrap}.")
    if request.source == "-" and request.test == "-":
        raise UsageError("Only one of TABLE and --test can be read from the standard input.")
    if request.output == "-":
        raise UsageError("A report cannot be written to the standard output; name a file with -o.")
    check_output(request.output, request.model, request.source, request.test or "-")
    if not request.output.lower().endswith((".html", ".htm")):
        raise UsageError(f"A report is an HTML file: '{request.output}' must end in .html.")


def _read_rows(
    stored: StoredModel, path: str, request: ReportRequest, console: CommandConsole
) -> tuple[Any, np.ndarray, RowValues | None]:
    """Read the rows with a known target: the converted table, the target and row values."""
    source = find_source(
        path,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
    )
    name = request.target or stored.target
    tables: list[pl.DataFrame] = []
    targets: list[np.ndarray] = []
    known: list[np.ndarray] = []
    n_read = 0
    for frame, table, row_values in predict_blocks(stored, source, console):
        check_column(name, frame.columns, source, role="target")
        if stored.row_column is not None and row_values is None:
            check_column(stored.row_column.name, frame.columns, source, role=stored.row_column.noun)
        values, is_known = read_target(frame[name], stored.task, stored.classes)
        n_read += len(frame)
        tables.append(table.filter(is_known))
        targets.append(values)
        known += [] if row_values is None else [row_values.values[is_known]]
    table, y = pl.concat(tables), np.concatenate(targets)
    if len(y) < 2:
        raise CommandError(
            f"{source.name} has {len(y)} rows with a known '{name}'; a report needs at least 2."
        )
    if len(y) < n_read:
        console.note(f"{n_read - len(y)} of {n_read} rows are not used: '{name}' is missing.")
    if 0 < request.max_rows < len(y):
        console.note(
            f"{request.max_rows} of {len(y)} rows, drawn at random, are used; see --max-rows."
        )
        rng = make_generator(request.seed, "report")
        chosen = np.sort(rng.choice(len(y), request.max_rows, replace=False))
        table, y = table[chosen], y[chosen]
        known = [np.concatenate(known)[chosen]] if known else []
    if stored.task == "classification":
        y = _match_labels(y, np.asarray(stored.pipeline.classes_), name)
    found = None
    if stored.row_column is not None:
        found = RowValues(stored.row_column, np.concatenate(known))
    if stored.takes_tables or hasattr(stored.pipeline, "feature_names_in_"):
        return table, y, found
    return table.to_numpy(), y, found


def _match_labels(labels: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """Convert labels to the classes of the model, which may be numbers."""
    texts = as_categories(pl.Series(classes.tolist())).to_list()
    if classes.dtype.kind == "b":
        labels = np.char.lower(labels)
    known = dict(zip(texts, classes, strict=True))
    unknown = [label for label in np.unique(labels).tolist() if label not in known]
    if unknown:
        raise CommandError(
            f"'{name}' has values that are not classes of the model: {format_names(unknown)}. Its "
            f"classes are {format_names(texts)}."
        )
    return np.array([known[label] for label in labels.tolist()], dtype=classes.dtype)
