"""`relvec report`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["report"]


def report(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model file to read.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help='Table to evaluate on, usually the training rows; "-" reads the standard input.',
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")
    ] = "report.html",
    test: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Table of held-out rows to evaluate the model on."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column of the target. Default: its name in the training table.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the report.")] = None,
    rows: Annotated[
        str,
        typer.Option(
            metavar="ROWS",
            help="Whether TABLE contains the training rows (training) or other rows (new). auto "
            "decides by comparing rows with the relevance vectors.",
        ),
    ] = "auto",
    folds: Annotated[
        int,
        typer.Option(metavar="K", help="Number of cross-validation folds; 0 for none."),
    ] = 5,
    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of bootstrap fits that split the error into bias and variance; 0 for "
            "none.",
        ),
    ] = 30,
    max_rows: Annotated[
        int,
        typer.Option(metavar="N", help="Use at most N rows, drawn at random; 0 uses all rows."),
    ] = 5_000,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write an HTML report on a model: metrics, plots, relevance vectors.

    Example: relvec report houses.relvec houses.csv --test new.csv -o report.html
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

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
