"""`relvec compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run_command
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["compare"]


def compare(
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help='Table to read; "-" reads the standard input.')
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")
    ],
    task: Annotated[
        str, typer.Option(metavar="TASK", help="auto, regression or classification.")
    ] = "auto",
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Compare only this model: rvm, linear, select, ridge (for classes: logistic "
            "regression), svm, gp or boosting. Can be repeated.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Do not use this column. Can be repeated."),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="K", help="Number of cross-validation folds.")] = 5,
    rolling: Annotated[
        bool,
        typer.Option(
            "--rolling",
            help="Hold out the rows after each of K origins in time instead of shuffled folds.",
        ),
    ] = False,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the time of each row, for --rolling. Default: the first column of "
            "dates, or the order of the rows.",
        ),
    ] = None,
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
    """Compare models of relvec and scikit-learn by cross-validation on the same folds.

    Example: relvec compare houses.csv --target price
    """

    def work(console: CommandConsole) -> None:
        from relvec.cli.comparing import compare_command
        from relvec.cli.sources import find_source

        compare_command(
            console,
            find_source(source, format=format, delimiter=delimiter, decimal_comma=decimal_comma),
            target=target,
            task=task,
            names=models or (),
            drop=drop or (),
            n_folds=folds,
            rolling=rolling,
            time=time,
            max_rows=max_rows,
            seed=seed,
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
