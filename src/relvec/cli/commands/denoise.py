"""`relvec denoise`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["denoise"]


def denoise(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SIGNAL", help="Signal to read: a table, npy, npz, wav or image file."
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write. Default for tables: the standard output.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", "-c", metavar="COLUMN", help="Column to denoise. Can be repeated."
        ),
    ] = None,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Also write the posterior standard deviation (to tables and npz files only).",
        ),
    ] = False,
    noise: Annotated[
        float | None,
        typer.Option(metavar="STD", help="Standard deviation of the noise. Default: estimated."),
    ] = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="quality, or plain (faster).")
    ] = "quality",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Remove white noise from a signal or an image.

    Example: relvec denoise sensor.csv --column temperature --std -o clean.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.denoising import DenoiseRequest, denoise_command

        denoise_command(
            console,
            DenoiseRequest(
                source=source,
                output=output,
                columns=column or (),
                std=std,
                noise=noise,
                mode=mode,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
