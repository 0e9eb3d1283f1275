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
            help="auto, regression, counts (numbers of events) or classification. auto selects "
            "classification if the target is text or true/false, or has two values, or at most ten "
            "different whole numbers; counts only with --exposure.",
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
    noise: Annotated[
        str,
        typer.Option(
            metavar="NOISE",
            help="Noise of a regression: constant, heteroscedastic (its variance depends on the "
            "features), student_t or contaminated (outliers), or robust (one of the last two, "
            "by evidence).",
        ),
    ] = "constant",
    noise_variance: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the known noise variance of each row, in squared units of the "
            "target. It is not used as a feature.",
        ),
    ] = None,
    noise_std: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The same with standard deviations, such as measurement errors.",
        ),
    ] = None,
    scale_noise: Annotated[
        bool,
        typer.Option(
            "--scale-noise", help="The known noise is known up to a factor, which is estimated."
        ),
    ] = False,
    target_transform: Annotated[
        str | None,
        typer.Option(
            metavar="TRANSFORM",
            help="Transform of the target of a regression: auto (the one with the largest "
            "evidence, if any gains), log, yeo-johnson or none. Default: auto for positive skewed "
            "targets, else none.",
        ),
    ] = None,
    exposure: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the exposure of each row, such as time or area: counts are exposure "
            "times rate. It is not used as a feature.",
        ),
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Sample the posterior: the model is an average over all plausible models, and "
            "columns have inclusion probabilities. Slower.",
        ),
    ] = False,
    chains: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of Markov chains of --sample. Default: 4."),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=4, help="Draws of each chain that --sample keeps. Default: 500."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of processes for the chains. Default: 1."),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Construct a kernel: find trends, seasons and steps of a series for forecasts, or "
            "the components of a function of several columns.",
        ),
    ] = False,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of times of --search: the only input of the series."
        ),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(
            metavar="EFFORT", help="How much --search tries: fast, balanced (default) or thorough."
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="Predictions of --search: accuracy (an average of structures, default) or "
            "interpretable (the best structure alone).",
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
        from relvec.cli.noise_options import NoiseRequest
        from relvec.cli.sampling import SampleRequest
        from relvec.cli.searching import SearchRequest

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
                max_categories=max_categories,
                max_rows=max_rows,
                noise=NoiseRequest(
                    kind=noise,
                    variance=noise_variance,
                    std=noise_std,
                    scale=scale_noise,
                    exposure=exposure,
                    transform=target_transform,
                ),
                sample=SampleRequest(sample, chains, draws, jobs),
                search=SearchRequest(search, time, effort, mode),
                folds=folds,
                with_cv=not no_cv,
                seed=seed,
                format=format,
                delimiter=delimiter,
                decimal_comma=decimal_comma,
            ),
        )

    run_command(work, quiet=quiet, as_json=as_json, debug=debug)
