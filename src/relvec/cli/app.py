"""The application, made of all commands there are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

import relvec
from relvec.cli import commands
from relvec.cli.limits import GIVEN, LIMITS

__all__ = ["COMMANDS", "app"]

FIRST = ("fit", "predict", "score", "inspect", "compare", "denoise", "export")
"""How help lists commands; others follow by name."""


def _find_commands() -> list[Callable[..., None]]:
    """The function of every file in `relvec.cli.commands` that has its name."""
    found = {module.name for module in iter_modules(commands.__path__)}
    names = [*FIRST, *sorted(found.difference(FIRST))]
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


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relvec {relvec.__version__}")
        raise typer.Exit


@app.callback()
def relvec_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and end."
        ),
    ] = False,
) -> None:
    """Sparse Bayesian models of tables, with error bars; and noise out of signals and images.

    Tables are csv, tsv, parquet, jsonl, npy or npz files; "-" is the standard input. Data go to
    the standard output and all talk to the standard error. Try: relvec demo
    """
    GIVEN.set(context.obj or LIMITS)
