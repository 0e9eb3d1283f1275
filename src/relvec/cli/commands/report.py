"""`relvec report`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["report"]


def report(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help='Best the rows of the fit; "-" reads stdin.')
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="HTML file to write.")
    ] = "report.html",
    test: Annotated[
        str | None, typer.Option(help="A table of rows that were kept aside, to judge by.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="If it is not named as in training.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    rows: Annotated[
        str, typer.Option(help="Whether TABLE holds the rows of the fit: auto, training or new.")
    ] = "auto",
    folds: Annotated[int, typer.Option(help="Of the cross-validation; 0 for none.")] = 5,
    bootstrap: Annotated[
        int, typer.Option(help="Fits that split the error into bias and variance; 0 for none.")
    ] = 30,
    max_rows: Annotated[
        int, typer.Option(help="Of more rows so many are drawn by chance; 0 uses all.")
    ] = 5_000,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write all about a model on one page: figures, pictures, vectors.

    relvec report houses.relvec houses.csv --test new.csv -o report.html
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.reporting import ReportRequest, report_command

        report_command(
            console,
            ReportRequest(
                model=model,
                source=source,
                output=output,
                test=test,
                target=target,
                title=title,
                rows=rows,
                n_folds=folds,
                n_bootstrap=bootstrap,
                max_rows=max_rows,
                seed=seed,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run(work, quiet=quiet, as_json=as_json, debug=debug)
