"""`relvec forecast`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, Json, Quiet

__all__ = ["forecast"]


def forecast(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="Model file of a series, from relvec fit --search."),
    ],
    steps: Annotated[
        int, typer.Option(metavar="N", help="Number of steps after the last time of the series.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Table to write. Default: standard output, csv."
        ),
    ] = None,
    coverage: Annotated[
        float, typer.Option(metavar="P", help="Probability that an interval covers a new value.")
    ] = 0.95,
    quantile: Annotated[
        list[float] | None,
        typer.Option(metavar="P", help="Add a column with this quantile. Can be repeated."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Plot to write: png, pdf or svg.")
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="Format of the table. Default: from the suffix."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Forecast a series: the next times with medians and intervals.

    Example: relvec forecast sales.relvec --steps 24 -o forecast.csv
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.forecasting import ForecastRequest, forecast_command

        forecast_command(
            console,
            ForecastRequest(
                model=model,
                steps=steps,
                output=output,
                coverage=coverage,
                quantiles=quantile or (),
                plot=plot,
                output_format=output_format,
            ),
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
