"""`relvec fit`."""

from __future__ import annotations

from typing import Annotated

import typer

from relvec.cli.console import CommandConsole, run
from relvec.cli.options import Debug, DecimalComma, Delimiter, Format, Json, Quiet, Seed

__all__ = ["fit"]


def fit(
    source: Annotated[str, typer.Argument(metavar="TABLE", help='A table; "-" reads stdin.')],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Model file to write.")],
    task: Annotated[
        str,
        typer.Option(
            help="auto, regression or classification. auto: text, true/false, two values and "
            "whole numbers of at most ten values are classes."
        ),
    ] = "auto",
    model: Annotated[
        str,
        typer.Option(
            help="auto, rvm (kernels), linear (sparse), or select (kernels, chooses columns). "
            "auto: the better of linear and rvm on unseen rows."
        ),
    ] = "auto",
    features: Annotated[
        list[str] | None, typer.Option(help="Use this column only; may be repeated.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Leave this column out; may be repeated.")
    ] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Numbers of this column are codes; may be repeated.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Of the cross-validation.")] = 5,
    no_cv: Annotated[bool, typer.Option("--no-cv", help="Fit only: fast, nothing tested.")] = False,
    max_rows: Annotated[
        int, typer.Option(help="Of more rows so many are drawn by chance; 0 uses all.")
    ] = 50_000,
    max_levels: Annotated[
        int, typer.Option(help="Leave out columns of more different texts.")
    ] = 30,
    seed: Seed = 0,
    format: Format = None,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table, say how good it is, and save it.

    relvec fit houses.csv --target price -o houses.relvec
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
                features=features or (),
                drop=drop or (),
                categorical=categorical or (),
                max_levels=max_levels,
                max_rows=max_rows,
                folds=folds,
                with_cv=not no_cv,
                seed=seed,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run(work, quiet=quiet, as_json=as_json, debug=debug)
