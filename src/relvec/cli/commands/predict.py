"""`relvec predict`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["predict"]


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file to read.")],
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help='Table to read; "-" reads the standard input.')
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write. Default: the standard output."
        ),
    ] = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add the predictive standard deviation.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Add the bounds of intervals with this probability, e.g. 0.95."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    flag_extrapolation: Annotated[
        bool,
        typer.Option(
            "--flag-extrapolation",
            help="Add the degree of extrapolation: 0 among the training rows, 1 far from them.",
        ),
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Also write the columns of TABLE.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of the output. Default: from the suffix of -o; csv on the standard "
            "output, where tsv and jsonl are possible too.",
        ),
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict new rows, with predictive intervals or class probabilities.

    Example: relvec predict houses.relvec new.csv --interval 0.95 -o predicted.csv
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

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
