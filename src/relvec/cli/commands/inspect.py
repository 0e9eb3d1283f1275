"""`relvec inspect`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, Json, Quiet

__all__ = ["inspect"]


def inspect(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file to read.")],
    vectors: Annotated[
        bool,
        typer.Option("--vectors", help="List the relevance vectors (or linear terms) and weights."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the contents of a model file.

    Example: relvec inspect houses.relvec --vectors
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.inspecting import inspect_command

        inspect_command(console, model, with_vectors=vectors)

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
