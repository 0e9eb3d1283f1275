"""What a command says, and where: data on the standard output, talk on the standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from relvec.cli.errors import CommandError

__all__ = ["Advance", "Talk", "plain", "run"]


class Advance(Protocol):
    """Moves a bar on by so many steps, of so many in all if that is known only now."""

    def __call__(self, steps: int, total: int | None = None) -> None:
        """Move on."""


class Talk:
    """The voice of one run of a command.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors.
    as_json : bool
        Answer with one JSON object on the standard output.

    Attributes
    ----------
    notes : list of str
        What was said so far.
    options : dict
        Parameters that warnings of the library speak of, and what they are called here.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.notes: list[str] = []
        self.options: dict[str, str] = {}

    def note(self, sentence: str) -> None:
        """Say a sentence once, and remember it for the answer."""
        if sentence in self.notes:
            return
        self.notes.append(sentence)
        if not self.quiet:
            print(sentence, file=sys.stderr)

    def answer(self, facts: dict[str, Any], screen: Callable[[], list[Any]]) -> None:
        """Give the result: an object for machines, or what `screen` makes of it for people."""
        if self.as_json:
            print(json.dumps(plain(facts), ensure_ascii=False))
            return
        from rich.console import Console

        width = None if sys.stdout.isatty() else 100
        console = Console(file=sys.stdout, width=width, highlight=False, markup=False)
        for part in screen():
            console.print(part)

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Advance]:
        """Show a bar on the standard error if it is a terminal; yields how to advance it."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda steps, total=None: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)

            def advance(steps: int, total: int | None = None) -> None:
                if total is not None:
                    bar.update(task, total=total)
                bar.advance(task, steps)

            yield advance


def plain(value: Any) -> Any:
    """Facts as JSON knows them: arrays become lists, what is not a number becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def run(
    work: Callable[[Talk], None], *, quiet: bool = False, as_json: bool = False, debug: bool = False
) -> None:
    """Do the work of a command; failures become one sentence and an exit code."""
    import typer

    talk = Talk(quiet=quiet, as_json=as_json)
    try:
        with _warnings_in_words(talk):
            work(talk)
        sys.stdout.flush()
    except typer.Exit:
        raise  # of a command inside this one, which has said why
    except BrokenPipeError:
        # whoever read our output has enough; a second failure when Python flushes is avoided
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        print("Stopped before the end; no file was written.", file=sys.stderr)
        raise typer.Exit(130) from None
    except Exception as error:
        if debug:
            raise
        sentence, code = _told(error)
        print(f"relvec: {sentence}", file=sys.stderr)
        if as_json:
            print(json.dumps({"error": sentence}, ensure_ascii=False))
        raise typer.Exit(code) from None


@contextmanager
def _warnings_in_words(talk: Talk) -> Iterator[None]:
    """Warnings of the library are sentences too: say each of them once, without its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)

        def show(message: Any, *where: Any, **more: Any) -> None:
            sentence = str(message)
            for parameter, option in talk.options.items():
                sentence = sentence.replace(parameter, option)
            talk.note(f"Note: {sentence}")

        warnings.showwarning = show
        yield


def _told(error: Exception) -> tuple[str, int]:
    """Sentence and exit code of a failure."""
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename else ""
        return f"The system refused to work with the file{where}: {error.strerror or error}.", 1
    if isinstance(error, MemoryError):
        return "There is not enough memory. Use fewer rows, for instance --max-rows 10000.", 1
    first = (str(error).strip() or "no reason was given").splitlines()[0]
    if isinstance(error, ValueError | TypeError | ImportError):
        return first, 1
    return (
        f"Something went wrong that was not foreseen ({type(error).__name__}: {first}). "
        "With --debug the same command shows where.",
        1,
    )
