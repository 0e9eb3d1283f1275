"""`relvec demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, Quiet, Seed

__all__ = ["demo"]


def demo(
    folder: Annotated[
        str | None, typer.Option(help="Keep the files there; by default they are removed.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run an example from table to predictions, and show the commands.

    relvec demo --folder try-it
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.demonstrating import demo_command

        demo_command(console, folder, seed)

    run(work, quiet=quiet, debug=debug)
