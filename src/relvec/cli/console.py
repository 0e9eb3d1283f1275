"""What a command says, and where: data on the standard output, talk on the standard error."""

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
from relvec.cli.limits import GIVEN, LIMITS, Limits

__all__ = ["Advance", "CommandConsole", "plain", "run", "screen_width", "visible"]

PLAINER = str.maketrans({"█": "#", "←": "<", "±": "+-", "–": "-", "─": "-", "²": "2", "×": "x"})
"""Signs of screens, and what stands for them where they are not known."""


class Advance(Protocol):
    """Moves a bar on by so many steps, of so many in all if that is known only now."""

    def __call__(self, steps: int, total: int | None = None) -> None:
        """Move on."""


class CommandConsole:
    """The voice of one run of a command.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors.
    as_json : bool
        Answer with one JSON object on the standard output, notes included.
    limits : Limits, optional
        How much the command reads, keeps and says.

    Attributes
    ----------
    notes : list of str
        What was said so far.
    options : dict
        Parameters that warnings of the library speak of, and what they are called here.
    """

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, limits: Limits = LIMITS
    ) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.limits = limits
        self.notes: list[str] = []
        self.options: dict[str, str] = {}

    def note(self, sentence: str) -> None:
        """Say a sentence once, and remember it for the answer."""
        if sentence in self.notes:
            return
        self.notes.append(sentence)
        if not self.quiet and not self.as_json:
            _say(sentence)

    def notes_of_many(self, what: str, sentences: list[str]) -> None:
        """Say all sentences of one sort, or of very many the first few."""
        many = self.limits.many_notes
        shown = sentences if len(sentences) <= many else sentences[: many - 1]
        for sentence in shown:
            self.note(sentence)
        if len(shown) < len(sentences):
            self.note(f"{len(sentences)} {what} in all; relvec inspect lists the columns in use.")

    def answer(self, facts: dict[str, Any], screen: Callable[[], list[Any]]) -> None:
        """Give the result: an object for machines, or what `screen` makes of it for people."""
        if sys.stdout is None:
            raise CommandError("There is no standard output to answer on.")
        if self.as_json:
            _print_json(plain(facts))
            return
        from rich.console import Console

        console = Console(
            file=sys.stdout, width=screen_width(), highlight=False, markup=False, emoji=False
        )
        with console.capture() as captured:
            for part in screen():
                console.print(part)
        print(_encodable(captured.get(), sys.stdout), end="")

    @contextmanager
    def progress(self, label: str, total: int | None, *, shown: bool = True) -> Iterator[Advance]:
        """Show a bar on the standard error if it is a terminal; yields how to advance it."""
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
            task = bar.add_task(visible(label), total=total)

            def advance(steps: int, total: int | None = None) -> None:
                if total is not None:
                    bar.update(task, total=total)
                bar.advance(task, steps)

            yield advance


def screen_width() -> int:
    """Columns of the terminal; of a file, as many as people read without effort."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 100
    return shutil.get_terminal_size().columns


def visible(text: str) -> str:
    r"""Text of one line that changes no terminal: control characters are written out.

    Examples
    --------
    >>> print(visible("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def _say(sentence: str) -> None:
    """Say a sentence on the standard error, if there is one."""
    if sys.stderr is None:
        return
    text = _encodable(visible(sentence), sys.stderr)
    if sys.stderr.isatty():  # between words, where a terminal would break them
        width = max(20, shutil.get_terminal_size().columns)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def _encodable(text: str, stream: Any) -> str:
    """Text in the characters that a stream knows, where it knows few of them."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plainer = text.translate(PLAINER)
        return plainer.encode(encoding, "replace").decode(encoding)
    return text


def _print_json(facts: Any) -> None:
    text = json.dumps(facts, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(facts)
    print(text)


def _drop_output() -> None:
    """Write what is still waiting for the standard output nowhere, so that Python can end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


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
    work: Callable[[CommandConsole], None],
    *,
    quiet: bool = False,
    as_json: bool = False,
    debug: bool = False,
) -> None:
    """Do the work of a command; failures become one sentence and an exit code."""
    import typer

    console = CommandConsole(quiet=quiet, as_json=as_json, limits=GIVEN.get())
    try:
        with _warnings_in_words(console):
            work(console)
        if sys.stdout is not None:
            sys.stdout.flush()
    except typer.Exit:
        raise  # of a command inside this one, which has said why
    except BrokenPipeError:
        _drop_output()  # whoever read it has enough
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _say("Stopped before the end; no file was written.")
        raise typer.Exit(130) from None
    except Exception as error:
        if debug:
            raise
        raise typer.Exit(_fail(error, as_json=as_json)) from None


def _fail(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong; the exit code."""
    sentence, code = _told(error)
    _say(f"relvec: {sentence}")
    if sys.stdout is None:
        return code
    try:
        if as_json:
            _print_json({"error": sentence})
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return code


@contextmanager
def _warnings_in_words(console: CommandConsole) -> Iterator[None]:
    """Warnings of the library are sentences too: say each of them once, without its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)

        def show(message: Any, *where: Any, **more: Any) -> None:
            sentence = " ".join(str(message).split())
            for parameter, option in console.options.items():
                sentence = sentence.replace(parameter, option)
            console.note(f"Note: {sentence}")

        warnings.showwarning = show
        yield


def _told(error: Exception) -> tuple[str, int]:
    """Sentence and exit code of a failure."""
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename else ""
        return f"The system refused to read or write{where}: {error.strerror or error}.", 1
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
