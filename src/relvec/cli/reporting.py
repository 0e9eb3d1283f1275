"""`relvec report`: a page about a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.columns import find_column
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, listed
from relvec.cli.inspecting import input_names
from relvec.cli.kinds import as_levels
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.predicting import predict_blocks
from relvec.cli.problem import read_target
from relvec.cli.sampling import stream
from relvec.cli.sources import find_source
from relvec.cli.summaries.parts import figure, pairs, size
from relvec.cli.writing import check_target, replacing
from relvec.reporting import make_report

__all__ = ["ReportRequest", "report_command"]

ROWS = ("auto", "training", "new")


@dataclass(frozen=True)
class ReportRequest:
    """What was asked for on the command line."""

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
    """Make the page and say where it is."""
    _check_request(request)
    stored = load_model(request.model)
    X, y = _rows_of(stored, request.source, request, console)
    held_out = None if request.test is None else _rows_of(stored, request.test, request, console)
    n_fits = min(request.n_folds, len(y))
    if n_fits > console.limits.many_folds:
        console.note(f"{n_fits} folds mean as many fits; --folds 5 or 10 would do.")
    with console.progress("report", None) as advance:
        report = make_report(
            stored.pipeline,
            X,
            y,
            held_out=held_out,
            title=request.title or f"{request.target or stored.target}: {Path(request.model).name}",
            names=input_names(stored),
            target=request.target or stored.target,
            rows=request.rows,
            cv=request.n_folds,
            n_bootstrap=request.n_bootstrap,
            random_state=request.seed,
        )
        advance(1)
    with replacing(request.output) as temporary:
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
        console.answer(facts, lambda: [pairs(_lines(facts, stored.task))])


def _lines(facts: dict[str, Any], task: str) -> list[tuple[str, str]]:
    """Where the page is, and the error by which to judge the model."""
    judged = list(facts["metrics"])[-1]
    figures = facts["metrics"][judged]
    if task == "classification":
        what, error = "wrong", f"{100 * figures['error_rate']:.1f} %"
    else:
        what, error = "error (rms)", figure(figures["rmse"])
    together = ", all rows together" if "fold" in judged else ""
    return [
        ("saved", f"{facts['output']} ({size(facts['bytes'])})"),
        (what, f"{error} ({judged}{together})"),
    ]


def _check_request(request: ReportRequest) -> None:
    """Find what cannot be done before any work is."""
    if request.rows not in ROWS:
        raise UsageError(f"--rows must be one of {listed(ROWS)}; got '{request.rows}'.")
    if request.n_folds < 0 or request.n_folds == 1:
        raise UsageError(f"--folds must be 0 for none, or at least 2; got {request.n_folds}.")
    if request.n_bootstrap < 0:
        raise UsageError(f"--bootstrap must not be negative; got {request.n_bootstrap}.")
    if request.source == "-" and request.test == "-":
        raise UsageError("Only one of TABLE and --test can be read from the standard input.")
    if request.output == "-":
        raise UsageError("A report does not go to the standard output; name a file with -o.")
    check_target(request.output, request.model, request.source, request.test or "-")
    if not request.output.lower().endswith((".html", ".htm")):
        raise UsageError(f"A report is a page of HTML: '{request.output}' must end in .html.")


def _rows_of(
    stored: StoredModel, path: str, request: ReportRequest, console: CommandConsole
) -> tuple[Any, np.ndarray]:
    """Inputs as the model takes them, and targets, of the rows that have one."""
    source = find_source(
        path,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
    )
    name = request.target or stored.target
    tables: list[pl.DataFrame] = []
    targets: list[np.ndarray] = []
    n_read = 0
    for frame, table in predict_blocks(stored, source, console):
        find_column(name, frame.columns, source, role="target")
        values, is_known = read_target(frame[name], stored.task, stored.classes)
        n_read += len(frame)
        tables.append(table.filter(is_known))
        targets.append(values)
    table, y = pl.concat(tables), np.concatenate(targets)
    if len(y) < 2:
        raise CommandError(
            f"{source.name} has {len(y)} rows with a known '{name}'; a report needs at least 2."
        )
    if len(y) < n_read:
        console.note(f"{n_read - len(y)} of {n_read} rows have no '{name}' and are not used.")
    if 0 < request.max_rows < len(y):
        console.note(
            f"Of {len(y)} rows, {request.max_rows} drawn by chance are used; --max-rows changes "
            "that."
        )
        rng = stream(request.seed, "report")
        chosen = np.sort(rng.choice(len(y), request.max_rows, replace=False))
        table, y = table[chosen], y[chosen]
    if stored.task == "classification":
        y = _as_known(y, np.asarray(stored.pipeline.classes_), name)
    if stored.takes_tables or hasattr(stored.pipeline, "feature_names_in_"):
        return table, y
    return table.to_numpy(), y


def _as_known(labels: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """Labels as the model spells them, which may be numbers."""
    texts = as_levels(pl.Series(classes.tolist())).to_list()
    if classes.dtype.kind == "b":
        labels = np.char.lower(labels)
    known = dict(zip(texts, classes, strict=True))
    unknown = [label for label in np.unique(labels).tolist() if label not in known]
    if unknown:
        raise CommandError(
            f"'{name}' has values that the model does not know: {listed(unknown)}. It knows "
            f"{listed(texts)}."
        )
    return np.array([known[label] for label in labels.tolist()], dtype=classes.dtype)
