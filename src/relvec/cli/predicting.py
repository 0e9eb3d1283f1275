"""`relvec predict`: predict a table, one block of rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.kinds import Column, prepare_columns
from relvec.cli.metrics import Prediction, predict_table
from relvec.cli.model_file import StoredModel, load_model, match_columns
from relvec.cli.reading import read_blocks
from relvec.cli.row_columns import (
    RowColumn,
    RowValues,
    note_absent_column,
    read_row_values,
)
from relvec.cli.sources import Source, find_source
from relvec.cli.summaries.parts import key_values
from relvec.cli.writing import TableWriter
from relvec.describing import has_extrapolation, lacks_noise

__all__ = ["PredictRequest", "UnfamiliarValues", "predict_blocks", "predict_command"]


@dataclass(frozen=True)
class PredictRequest:
    """Arguments of `relvec predict`."""

    model: str
    source: str
    output: str | None = None
    std: bool = False
    interval: float | None = None
    proba: bool = False
    flag_extrapolation: bool = False
    keep: bool = False
    output_format: str | None = None
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


@dataclass
class UnfamiliarValues:
    """Counts of values in new rows that the training rows did not have."""

    categories: dict[str, Counter[str]] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)

    def count(self, table: pl.DataFrame, columns: list[Column]) -> None:
        """Count new categories, and missing values in columns that had none in training."""
        for column in columns:
            values = table[column.name]
            if column.kind == "category":
                new = values.filter(values.is_not_null() & ~values.is_in(column.categories))
                if len(new):
                    self.categories.setdefault(column.name, Counter()).update(new.to_list())
            elif (
                column.kind != "time"
                and not column.n_missing
                and (n_missing := int(values.is_nan().sum()))
            ):
                self.missing[column.name] += n_missing

    def report(self, console: CommandConsole) -> None:
        """Print a note for each column with such values."""
        for name, counts in self.categories.items():
            most = [category for category, _ in counts.most_common(3)]
            console.note(
                f"Categories of '{name}' absent from the training rows: {format_names(most)} "
                f"({_count_rows(counts.total())}); they are encoded as zeros."
            )
        for name, count in self.missing.items():
            console.note(
                f"'{name}' is missing in {_count_rows(count)}, but in no training row; the median "
                "of the training rows is imputed."
            )


def _count_rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def predict_command(console: CommandConsole, request: PredictRequest) -> None:
    """Predict a table and write the predictions."""
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
    )
    writer = _open_writer(console, request)
    stored = load_model(request.model)
    _check_request(stored, request)
    n_rows = 0
    names: list[str] = []
    # no progress bar between predictions that are printed on the same terminal
    with writer, console.progress("rows", None, shown=writer.path is not None) as advance:
        for frame, table, row_values in predict_blocks(stored, source, console):
            predictions = _prediction_columns(stored, table, request, row_values)
            kept = frame.select(n for n in frame.columns if n not in predictions)
            block = pl.DataFrame(predictions)
            writer.write(kept.hstack(block) if request.keep else block)
            n_rows += len(block)
            names = list(predictions)
            advance(len(block))
    facts = {"rows": n_rows, "columns": names, "output": writer.path, "notes": console.notes}
    if console.as_json:
        console.report(facts, list)
    elif writer.path is not None and not console.quiet:
        console.report(
            facts,
            lambda: [
                key_values([("predicted", f"{n_rows} rows"), ("saved", request.output or "")])
            ],
        )


def _open_writer(console: CommandConsole, request: PredictRequest) -> TableWriter:
    if request.interval is not None and not 0.0 < request.interval < 1.0:
        raise UsageError(
            f"--interval must be strictly between 0 and 1, as 0.95; got {request.interval}."
        )
    writer = TableWriter(
        request.output, request.output_format, inputs=(request.source, request.model)
    )
    if console.as_json and writer.path is None:
        raise UsageError(
            "--json prints on the standard output, where the predictions would go. Write them to "
            "a file with -o, or use --output-format jsonl instead of --json."
        )
    return writer


def predict_blocks(
    stored: StoredModel, source: Source, console: CommandConsole
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, RowValues | None]]:
    """Yield each block of a table as read, as converted for the model, and its row values."""
    unfamiliar = UnfamiliarValues()
    columns: list[Column] | None = None
    row_column: RowColumn | None = None
    first = 1
    for frame in read_blocks(source, console.limits.block_rows):
        if columns is None:
            columns = match_columns(stored, frame.columns, source.name, console)
            row_column = _find_row_column(stored, frame.columns, console)
        table = prepare_columns(frame, columns, first_row=first)
        unfamiliar.count(table, stored.columns)
        row_numbers = np.arange(first, first + len(frame))
        first += len(frame)
        yield frame, table, read_row_values(row_column, frame, source, row_numbers)
    unfamiliar.report(console)


def _find_row_column(
    stored: StoredModel, names: Sequence[str], console: CommandConsole
) -> RowColumn | None:
    """Return the column of noise or exposure, if the table has it; else print a note."""
    column = stored.row_column
    if column is not None and column.name not in names:
        note_absent_column(column, console)
        return None
    if column is None and lacks_noise(stored.model):
        console.note(
            "The model was fitted with known noise, and that of these rows is not known: intervals "
            "and standard deviations are those of the function, without noise."
        )
    return column


def predict_prepared(stored: StoredModel, table: pl.DataFrame, **options: Any) -> Prediction:
    """Predict rows that were converted by `prepare_columns`; options as in `predict_table`."""
    if stored.takes_tables:
        return predict_table(stored.pipeline, table, **options)
    numbers: Any = table
    if not hasattr(stored.pipeline, "feature_names_in_"):
        numbers = table.to_numpy()
    if any(column.is_nan().any() for column in table):
        raise CommandError(
            "The table has missing values, and this model was not saved by relvec fit, so it "
            "cannot impute them. Impute them first."
        )
    return predict_table(stored.pipeline, numbers, **options)


def _check_request(stored: StoredModel, request: PredictRequest) -> None:
    requested = [n for n, on in (("--std", request.std), ("--interval", request.interval)) if on]
    if stored.task == "classification" and requested:
        raise UsageError(
            f"{requested[0]} is for regression, but this model predicts classes; use --proba."
        )
    if stored.task != "classification" and request.proba:
        raise UsageError(
            "--proba is for classes, but this model predicts numbers; use --std or --interval."
        )
    if requested and not hasattr(stored.model, "predict_interval"):
        raise UsageError(
            f"{requested[0]} is not possible: this model has no predictive standard deviations."
        )
    if request.flag_extrapolation and not has_extrapolation(stored.model):
        raise UsageError(
            "--flag-extrapolation is not possible: it needs a model with kernels that decay with "
            "distance. Fit one with --model rvm."
        )


def _prediction_columns(
    stored: StoredModel,
    table: pl.DataFrame,
    request: PredictRequest,
    row_values: RowValues | None,
) -> dict[str, pl.Series]:
    """Return the columns of predictions, by name."""
    prediction = predict_prepared(
        stored,
        table,
        with_std=request.std,
        coverage=request.interval,
        with_extrapolation=request.flag_extrapolation,
        row_values=row_values,
    )
    make_columns = _number_columns if prediction.proba is None else _class_columns
    columns = {
        f"{stored.target}_{suffix}": values
        for suffix, values in make_columns(prediction, request).items()
    }
    if prediction.extrapolating is not None:
        columns["extrapolating"] = prediction.extrapolating
    return {name: pl.Series(name, values) for name, values in columns.items()}


def _class_columns(prediction: Prediction, request: PredictRequest) -> dict[str, Any]:
    assert prediction.proba is not None
    assert prediction.classes is not None
    columns: dict[str, Any] = {"predicted": prediction.labels}
    if request.proba:
        for label, proba in zip(prediction.classes.tolist(), prediction.proba.T, strict=True):
            columns[f"proba_{label}"] = proba
    return columns


def _number_columns(prediction: Prediction, request: PredictRequest) -> dict[str, Any]:
    columns: dict[str, Any] = {"predicted": prediction.mean}
    if request.std:
        columns["std"] = prediction.std
    if prediction.interval is not None:
        columns["lower"], columns["upper"] = prediction.interval.T
    return columns
