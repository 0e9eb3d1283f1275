"""`relvec demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, Quiet, Seed

__all__ = ["demo"]


def demo(
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Write the example files to this folder. Default: not kept."
        ),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an example, from a table to predictions, and show the commands.

    Example: relvec demo --folder try-it
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.demonstrating import demo_command

        demo_command(console, folder, seed)

    run_command(work, quiet=quiet, debug=debug)
