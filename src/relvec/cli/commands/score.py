"""`relvec score`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["score"]


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file to read.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help='Table with the target; "-" reads the standard input.'
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column of the target. Default: its name in the training table.",
        ),
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure how well a model predicts a table whose target is known.

    Example: relvec score houses.relvec test.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.scoring import score_command
        from relvec.cli.sources import find_source

        table = find_source(source, format=format, delimiter=delimiter, decimal_comma=decimal_comma)
        score_command(console, model, table, target)

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
