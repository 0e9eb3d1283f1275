"""`relvec predict`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["predict"]


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    source: Annotated[str, typer.Argument(metavar="TABLE", help='A table; "-" reads stdin.')],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="File to write; by default stdout.")
    ] = None,
    std: Annotated[bool, typer.Option("--std", help="Add the standard deviation.")] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add the ends of intervals that hold this share, as 0.95.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    flag_extrapolation: Annotated[
        bool,
        typer.Option("--flag-extrapolation", help="Add how far rows are beyond the data, 0 to 1."),
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Copy the columns of the table.")] = False,
    output_format: Annotated[
        str | None, typer.Option(help="csv, tsv or jsonl on stdout; else from the suffix of -o.")
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict new rows, with error bars or probabilities.

    relvec predict houses.relvec new.csv --interval 0.95 -o predicted.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.predicting import PredictRequest, predict_command

        predict_command(
            console,
            PredictRequest(
                model=model,
                source=source,
                output=output,
                std=std,
                interval=interval,
                proba=proba,
                flag_extrapolation=flag_extrapolation,
                keep=keep,
                output_format=output_format,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run(work, quiet=quiet, as_json=as_json, debug=debug)
