"""Output of a command: results on the standard output, messages on the standard error."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from relvec.cli.errors import CommandError
from relvec.cli.limits import CURRENT_LIMITS, LIMITS, Limits

__all__ = [
    "Advance",
    "CommandConsole",
    "escape_controls",
    "run_command",
    "terminal_width",
    "to_json_types",
]

ASCII_EQUIVALENTS = str.maketrans(
    {"█": "#", "←": "<", "±": "+-", "–": "-", "─": "-", "²": "2", "×": "x"}
)
"""Replacements for the symbols of summaries, used if the output encoding lacks them."""


class Advance(Protocol):
    """Callback that advances a progress bar."""

    def __call__(self, steps: int, total: int | None = None) -> None:
        """Advance by `steps`; `total` sets the length of the bar once it is known."""


class CommandConsole:
    """Messages and results of one run of a command.

    Parameters
    ----------
    quiet : bool
        Print errors only.
    as_json : bool
        Print the results, including the notes, as one JSON object on the standard output.
    limits : Limits, optional
        Limits on what the command reads, stores and prints.

    Attributes
    ----------
    notes : list of str
        Notes so far.
    option_names : dict
        Command-line options by the name of the Python parameter that warnings mention.
    """

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, limits: Limits = LIMITS
    ) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.limits = limits
        self.notes: list[str] = []
        self.option_names: dict[str, str] = {}

    def note(self, message: str) -> None:
        """Print a note, unless it was printed before, and store it for the JSON output."""
        if message in self.notes:
            return
        self.notes.append(message)
        if not self.quiet and not self.as_json:
            _print_message(message)

    def note_many(self, what: str, messages: list[str]) -> None:
        """Print notes of one kind; if there are many, only the first few and their number."""
        many = self.limits.many_notes
        shown = messages if len(messages) <= many else messages[: many - 1]
        for message in shown:
            self.note(message)
        if len(shown) < len(messages):
            self.note(f"{len(messages)} {what} in total; relvec inspect lists the columns used.")

    def report(self, facts: dict[str, Any], summarise: Callable[[], list[Any]]) -> None:
        """Print the results: `facts` as JSON, or the parts that `summarise` returns as text."""
        if sys.stdout is None:
            raise CommandError("The standard output is closed; results cannot be printed.")
        if self.as_json:
            _print_json(to_json_types(facts))
            return
        from rich.console import Console

        console = Console(
            file=sys.stdout, width=terminal_width(), highlight=False, markup=False, emoji=False
        )
        with console.capture() as captured:
            for part in summarise():
                console.print(part)
        print(_make_encodable(captured.get(), sys.stdout), end="")

    @contextmanager
    def progress(self, label: str, total: int | None, *, shown: bool = True) -> Iterator[Advance]:
        """Show a progress bar if the standard error is a terminal; yield its callback."""
        if self.quiet or not shown or not sys.stderr.isatty():
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
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(escape_controls(label), total=total)

            def advance(steps: int, total: int | None = None) -> None:
                if total is not None:
                    bar.update(task, total=total)
                bar.advance(task, steps)

            yield advance


def terminal_width() -> int:
    """Width of the terminal in characters; 100 if the output is not a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 100
    return shutil.get_terminal_size().columns


def escape_controls(text: str) -> str:
    r"""Replace control characters by escape sequences, so that text cannot alter the terminal.

    Examples
    --------
    >>> print(escape_controls("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def _print_message(message: str) -> None:
    """Print a message on the standard error, if it is open."""
    if sys.stderr is None:
        return
    text = _make_encodable(escape_controls(message), sys.stderr)
    if sys.stderr.isatty():  # wrap between words; the terminal would wrap inside them
        width = max(20, shutil.get_terminal_size().columns)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def _make_encodable(text: str, stream: Any) -> str:
    """Replace the characters that the encoding of a stream lacks."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plainer = text.translate(ASCII_EQUIVALENTS)
        return plainer.encode(encoding, "replace").decode(encoding)
    return text


def _print_json(facts: Any) -> None:
    text = json.dumps(facts, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(facts)
    print(text)


def _discard_output() -> None:
    """Discard buffered output, so that Python does not fail when it flushes it at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def to_json_types(value: Any) -> Any:
    """Convert to types of JSON: arrays become lists; NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): to_json_types(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_types(each) for each in value]
    if hasattr(value, "tolist"):
        return to_json_types(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def run_command(
    work: Callable[[CommandConsole], None],
    *,
    quiet: bool = False,
    as_json: bool = False,
    debug: bool = False,
) -> None:
    """Run a command; turn exceptions into one error message and an exit code."""
    import typer

    console = CommandConsole(quiet=quiet, as_json=as_json, limits=CURRENT_LIMITS.get())
    try:
        with _warnings_as_notes(console):
            work(console)
        if sys.stdout is not None:
            sys.stdout.flush()
    except typer.Exit:
        raise  # raised by a nested command, which has printed its error
    except BrokenPipeError:
        _discard_output()  # the reader closed the pipe, e.g. head
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _print_message("Interrupted; no file was written.")
        raise typer.Exit(130) from None
    except Exception as error:
        if debug:
            raise
        raise typer.Exit(_report_failure(error, as_json=as_json)) from None


def _report_failure(error: Exception, *, as_json: bool) -> int:
    """Print the error message and return the exit code."""
    message, code = _describe_error(error)
    _print_message(f"relvec: {message}")
    if sys.stdout is None:
        return code
    try:
        if as_json:
            _print_json({"error": message})
        sys.stdout.flush()
    except OSError:
        _discard_output()
    return code


@contextmanager
def _warnings_as_notes(console: CommandConsole) -> Iterator[None]:
    """Turn Python warnings into notes, with options in place of parameter names."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)

        def show(message: Any, *where: Any, **more: Any) -> None:
            text = " ".join(str(message).split())
            for parameter, option in console.option_names.items():
                text = text.replace(parameter, option)
            console.note(f"Warning: {text}")

        warnings.showwarning = show
        yield


def _describe_error(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code for an exception."""
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename else ""
        return f"Cannot read or write{where}: {error.strerror or error}.", 1
    if isinstance(error, MemoryError):
        return "Out of memory. Use fewer rows, for example --max-rows 10000.", 1
    first = (str(error).strip() or "no details").splitlines()[0]
    if isinstance(error, ValueError | TypeError | ImportError):
        return first, 1
    return (
        f"Unexpected error ({type(error).__name__}: {first}). "
        "Run the same command with --debug for a traceback.",
        1,
    )
