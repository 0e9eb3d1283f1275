"""`relvec denoise`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["denoise"]


def denoise(
    source: Annotated[
        str, typer.Argument(metavar="SIGNAL", help="A table, npy, npz, wav or image file.")
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="File to write; of tables stdout by default."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", help="Column with a signal; may be repeated."),
    ] = None,
    std: Annotated[
        bool,
        typer.Option("--std", help="Also write standard deviations (tables, npz; of sounds csv)."),
    ] = False,
    noise: Annotated[
        float | None, typer.Option(help="Standard deviation of the noise, if it is known.")
    ] = None,
    mode: Annotated[str, typer.Option(help="quality, or plain (faster).")] = "quality",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Take white noise out of a signal or an image.

    relvec denoise sensor.csv --column temperature --std -o clean.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.cleaning import DenoiseRequest, denoise_command

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

    run(work, quiet=quiet, as_json=as_json, debug=debug)
