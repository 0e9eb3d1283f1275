"""The Typer application, assembled from the modules in `relvec.cli.commands`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

import relvec
from relvec.cli import commands
from relvec.cli.limits import CURRENT_LIMITS, LIMITS

__all__ = ["COMMANDS", "app"]

COMMAND_ORDER = (
    "fit",
    "predict",
    "forecast",
    "score",
    "inspect",
    "compare",
    "denoise",
    "density",
    "export",
)
"""Order of the commands in the help text; the others follow alphabetically."""


def _find_commands() -> list[Callable[..., None]]:
    """Import each module of `relvec.cli.commands` and return the function named after it."""
    found = {module.name for module in iter_modules(commands.__path__)}
    names = [*COMMAND_ORDER, *sorted(found.difference(COMMAND_ORDER))]
    return [getattr(import_module(f"{commands.__name__}.{name}"), name) for name in names]


COMMANDS = tuple(_find_commands())

app = typer.Typer(
    name="relvec",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in COMMANDS:
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relvec {relvec.__version__}")
        raise typer.Exit


@app.callback()
def relvec_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Fit sparse Bayesian models to tables, and denoise signals and images.

    Tables are csv, tsv, parquet, jsonl, npy or npz files; "-" reads the standard input. Results go
    to the standard output; notes, warnings and errors go to the standard error. For an example,
    run: relvec demo
    """
    CURRENT_LIMITS.set(context.obj or LIMITS)
