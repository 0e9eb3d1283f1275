"""`relvec score`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["score"]


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help='A table with the target; "-" reads stdin.')
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="If it is not named as in training.")
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how well a model predicts rows whose target is known.

    relvec score houses.relvec test.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.scoring import score_command
        from relvec.cli.sources import find_source

        table = find_source(source, format=format, delimiter=delimiter, decimal_comma=decimal_comma)
        score_command(console, model, table, target)

    run(work, quiet=quiet, as_json=as_json, debug=debug)
