"""`relvec export`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, Json, Quiet

__all__ = ["export"]


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write: .onnx, .c or .py.")],
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a model as a program that needs no relvec.

    relvec export houses.relvec -o houses.c
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.exporting import export_command

        export_command(console, model, output)

    run(work, quiet=quiet, as_json=as_json, debug=debug)
