"""`relvec fit`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["fit"]


def fit(
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help='Table to read; "-" reads the standard input.')
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Model file to write.")
    ],
    task: Annotated[
        str,
        typer.Option(
            metavar="TASK",
            help="auto, regression or classification. auto selects classification if the target "
            "is text or true/false, or has two values, or at most ten different whole numbers.",
        ),
    ] = "auto",
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="rvm (relevance vector machine), linear (sparse linear model), select (RVM with "
            "feature selection), or auto (linear or rvm, whichever cross-validates better).",
        ),
    ] = "auto",
    target_transform: Annotated[
        str,
        typer.Option(
            metavar="TRANSFORM",
            help="Transform of a skewed target: log (positive targets), yeo-johnson, auto (whether "
            "and which is decided by the evidence), or none. Predictions are those of the target.",
        ),
    ] = "none",
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Use only this column. Can be repeated."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Do not use this column. Can be repeated."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Treat the numbers in this column as categories. Can be repeated.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="K", help="Number of cross-validation folds.")] = 5,
    no_cv: Annotated[
        bool, typer.Option("--no-cv", help="Fit without cross-validation; faster.")
    ] = False,
    max_rows: Annotated[
        int,
        typer.Option(metavar="N", help="Use at most N rows, drawn at random; 0 uses all rows."),
    ] = 50_000,
    max_categories: Annotated[
        int,
        typer.Option(
            metavar="N", help="Leave out columns of text with more than N different values."
        ),
    ] = 30,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table, estimate its accuracy by cross-validation, and save it.

    Example: relvec fit houses.csv --target price -o houses.relvec
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.fitting import FitRequest, fit_command

        fit_command(
            console,
            FitRequest(
                source=source,
                target=target,
                output=output,
                task=task,
                model=model,
                target_transform=target_transform,
                features=features or (),
                drop=drop or (),
                categorical=categorical or (),
                max_categories=max_categories,
                max_rows=max_rows,
                folds=folds,
                with_cv=not no_cv,
                seed=seed,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
