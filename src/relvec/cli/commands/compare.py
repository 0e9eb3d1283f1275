"""`relvec compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["compare"]


def compare(
    source: Annotated[str, typer.Argument(metavar="TABLE", help='A table; "-" reads stdin.')],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    task: Annotated[str, typer.Option(help="auto, regression or classification.")] = "auto",
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Compare this model only; may be repeated. rvm, linear, select, ridge, svm, gp, "
            "boosting.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Leave this column out; may be repeated.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Of the cross-validation.")] = 5,
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
    """Compare our models with those of scikit-learn, on the same folds.

    relvec compare houses.csv --target price
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
            max_rows=max_rows,
            seed=seed,
        )

    run(work, quiet=quiet, as_json=as_json, debug=debug)
