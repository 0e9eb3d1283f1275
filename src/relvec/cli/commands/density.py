"""`relvec density`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet

__all__ = ["density"]


def density(
    source: Annotated[str, typer.Argument(metavar="TABLE", help="Table with the values.")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="COLUMN",
            help="Column of values; give it twice for a density of two variables.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Table of the density to write."),
    ] = None,
    support: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOWER:UPPER",
            help="Range of possible values, such as 0: or 0:1; once for each column.",
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of frequency weights.")
    ] = None,
    intensity: Annotated[
        bool,
        typer.Option("--intensity", help="Estimate the intensity of events, not their density."),
    ] = False,
    points: Annotated[
        int, typer.Option(metavar="N", min=10, help="Points of the table (along each column).")
    ] = 200,
    coverage: Annotated[
        float, typer.Option(metavar="P", help="Posterior probability of the band.")
    ] = 0.95,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Plot to write: png, pdf or svg.")
    ] = None,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Estimate the density of a column, with error bands.

    Example: relvec density waiting.csv --column minutes --support 0: -o density.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.densities import DensityRequest, density_command

        density_command(
            console,
            DensityRequest(
                source=source,
                columns=column or (),
                output=output,
                supports=support or (),
                weight=weight,
                intensity=intensity,
                points=points,
                coverage=coverage,
                plot=plot,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
