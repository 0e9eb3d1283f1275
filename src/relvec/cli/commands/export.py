"""`relvec export`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, Json, Quiet

__all__ = ["export"]


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file to read.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; the suffix .onnx, .c or .py selects the language.",
        ),
    ],
    mean_only: Annotated[
        bool,
        typer.Option(
            "--mean-only",
            help="Omit the standard deviation of a regressor, as is necessary if its noise is not "
            "constant.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Export a model to ONNX, C or Python code that runs without relvec.

    Example: relvec export houses.relvec -o houses.c
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.exporting import export_command

        export_command(console, model, output, mean_only=mean_only)

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
