"""`relvec predict`: tables in, predictions out, a block of rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, listed
from relvec.cli.kinds import Column, prepare
from relvec.cli.metrics import Prediction, predict_table
from relvec.cli.model_file import StoredModel, load_model, match_columns
from relvec.cli.reading import read_blocks
from relvec.cli.sources import Source, find_source
from relvec.cli.summaries.parts import pairs
from relvec.cli.writing import TableWriter
from relvec.describing import has_extrapolation

__all__ = ["PredictRequest", "Surprises", "predict_blocks", "predict_command"]


@dataclass(frozen=True)
class PredictRequest:
    """What was asked for on the command line."""

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
class Surprises:
    """What new rows have that training rows had not; counted, and said once at the end."""

    levels: dict[str, Counter[str]] = field(default_factory=dict)
    gaps: Counter[str] = field(default_factory=Counter)

    def look(self, table: pl.DataFrame, columns: list[Column]) -> None:
        """Count levels that are not known and gaps where there were none."""
        for column in columns:
            values = table[column.name]
            if column.kind == "level":
                new = values.filter(values.is_not_null() & ~values.is_in(column.levels))
                if len(new):
                    self.levels.setdefault(column.name, Counter()).update(new.to_list())
            elif not column.n_missing and (n_gaps := int(values.is_nan().sum())):
                self.gaps[column.name] += n_gaps

    def say(self, console: CommandConsole) -> None:
        """Say what was found."""
        for name, counts in self.levels.items():
            most = [level for level, _ in counts.most_common(3)]
            console.note(
                f"{counts.total()} rows have values of '{name}' that were not there in training "
                f"({listed(most)}); the model takes them for none of the known ones."
            )
        for name, count in self.gaps.items():
            console.note(
                f"{count} rows miss '{name}', which no training row did; the median is used."
            )


def predict_command(console: CommandConsole, request: PredictRequest) -> None:
    """Predict a file, block by block."""
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
    # between lines that go to the same terminal a bar would be in the way
    with writer, console.progress("rows", None, shown=writer.path is not None) as advance:
        for frame, table in predict_blocks(stored, source, console):
            answers = _answers(stored, table, request)
            kept = frame.select(n for n in frame.columns if n not in answers)
            block = pl.DataFrame(answers)
            writer.write(kept.hstack(block) if request.keep else block)
            n_rows += len(block)
            names = list(answers)
            advance(len(block))
    facts = {"rows": n_rows, "columns": names, "output": writer.path, "notes": console.notes}
    if console.as_json:
        console.answer(facts, list)
    elif writer.path is not None and not console.quiet:
        console.answer(
            facts,
            lambda: [pairs([("predicted", f"{n_rows} rows"), ("saved", request.output or "")])],
        )


def _open_writer(console: CommandConsole, request: PredictRequest) -> TableWriter:
    if request.interval is not None and not 0.0 < request.interval < 1.0:
        raise UsageError(
            f"--interval must be a share strictly between 0 and 1, as 0.95; got {request.interval}."
        )
    writer = TableWriter(
        request.output, request.output_format, inputs=(request.source, request.model)
    )
    if console.as_json and writer.path is None:
        raise UsageError(
            "--json answers on the standard output, where the predictions would go: give -o, or "
            "use --output-format jsonl instead of --json."
        )
    return writer


def predict_blocks(
    stored: StoredModel, source: Source, console: CommandConsole
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Blocks of a table as they were read and as the model takes them."""
    surprises = Surprises()
    columns: list[Column] | None = None
    first = 1
    for frame in read_blocks(source, console.limits.block_rows):
        if columns is None:
            columns = match_columns(stored, frame.columns, source.name, console)
        table = prepare(frame, columns, first_row=first)
        surprises.look(table, stored.columns)
        first += len(frame)
        yield frame, table
    surprises.say(console)


def ask(
    stored: StoredModel, table: pl.DataFrame, *, with_std: bool, with_extrapolation: bool = False
) -> Prediction:
    """Predictions for prepared rows."""
    asked = {"with_std": with_std, "with_extrapolation": with_extrapolation}
    if stored.takes_tables:
        return predict_table(stored.pipeline, table, **asked)
    numbers: Any = table
    if not hasattr(stored.pipeline, "feature_names_in_"):
        numbers = table.to_numpy()
    if any(column.is_nan().any() for column in table):
        raise CommandError(
            "Some values are missing, and this model was not saved by relvec fit: it does not say "
            "what to put there. Fill the gaps first."
        )
    return predict_table(stored.pipeline, numbers, **asked)


def _check_request(stored: StoredModel, request: PredictRequest) -> None:
    asked = [n for n, on in (("--std", request.std), ("--interval", request.interval)) if on]
    if stored.task == "classification" and asked:
        raise UsageError(
            f"{asked[0]} is for numbers, and this model predicts classes: use --proba."
        )
    if stored.task == "regression" and request.proba:
        raise UsageError(
            "--proba is for classes, and this model predicts numbers: use --std or --interval."
        )
    if asked and not hasattr(stored.model, "noise_variance_"):
        raise UsageError(f"{asked[0]} is not possible: this model has no error bars.")
    if request.flag_extrapolation and not has_extrapolation(stored.model):
        raise UsageError(
            "--flag-extrapolation is not possible: this model does not tell which rows are beyond "
            "its data. Models on kernels that decay do: fit with --model rvm."
        )


def _answers(
    stored: StoredModel, table: pl.DataFrame, request: PredictRequest
) -> dict[str, pl.Series]:
    """New columns by name."""
    said = ask(
        stored,
        table,
        with_std=request.std or request.interval is not None,
        with_extrapolation=request.flag_extrapolation,
    )
    of = _of_numbers if said.proba is None else _of_classes
    columns = {f"{stored.target}_{what}": each for what, each in of(said, request).items()}
    if said.extrapolating is not None:
        columns["extrapolating"] = said.extrapolating
    return {name: pl.Series(name, values) for name, values in columns.items()}


def _of_classes(said: Prediction, request: PredictRequest) -> dict[str, Any]:
    assert said.proba is not None
    assert said.classes is not None
    columns: dict[str, Any] = {"predicted": said.labels}
    if request.proba:
        for label, proba in zip(said.classes.tolist(), said.proba.T, strict=True):
            columns[f"proba_{label}"] = proba
    return columns


def _of_numbers(said: Prediction, request: PredictRequest) -> dict[str, Any]:
    columns: dict[str, Any] = {"predicted": said.mean}
    if request.std:
        columns["std"] = said.std
    if request.interval is not None:
        from scipy.special import ndtri

        assert said.mean is not None
        assert said.std is not None
        reach = ndtri(0.5 * (1.0 + request.interval)) * said.std
        columns["lower"] = said.mean - reach
        columns["upper"] = said.mean + reach
    return columns
