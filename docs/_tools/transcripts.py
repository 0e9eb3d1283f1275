"""Run the Python and console blocks of a page in order; compare or update their output.

``python docs/_tools/transcripts.py docs/start.md`` writes the output of its blocks into the page:
output of commands below each command, output of Python into an ``output`` block below the block.

The tests compare the page with the present output. Words must be equal. Numbers of Python may
differ by two units of the last digit that either side shows, because rounding errors differ between
computers and a search may end at another local optimum; print no more digits than are stable.
Numbers of commands may differ freely: among them are times, dates and sizes of files. A line of
three dots stands for any lines, and an output that has one is not updated.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n+```output\n(?P<output>.*?)^```$)?"
    r"|^```console\n(?P<commands>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d(?:[\d.,:TZ+e-]*[\dZ])?\.?")
SHELL = 'relvec() {{ "{python}" -m relvec "$@"; }}\n'


@dataclass(frozen=True)
class Ran:
    """A command or a block of Python, its output on the page, and its present output."""

    name: str
    expected: str
    printed: str
    code: int = 0
    units: float = math.inf

    @property
    def is_up_to_date(self) -> bool:
        """Whether the page shows the present output."""
        return agrees(self.expected, self.printed, self.units)


def tidy(text: str) -> list[str]:
    """Lines without bars and superfluous spacing.

    Examples
    --------
    >>> tidy("noise   9.89 (std)  ██")
    ['noise 9.89 (std)']
    >>> tidy("[ 1.   12. ]")
    ['[1. 12.]']
    """
    lines = (" ".join(re.sub("[█─]+", " ", line).split()) for line in text.splitlines())
    return [re.sub(r"(?<=[\[(]) | (?=[\])])", "", line) for line in lines if line]


def close(expected: str, printed: str, units: float) -> bool:
    """Whether two numbers differ by no more than so many units of the last digit shown.

    Examples
    --------
    >>> close("0.46", "0.47", 2), close("0.46", "0.5", 2), close("1.", "0.98", 2)
    (True, False, True)
    >>> close("2026-01-31", "2026-02-01", 2), close("2026-01-31", "2026-02-01", math.inf)
    (False, True)
    """
    if expected == printed or units == math.inf:
        return True
    try:
        one, other = Decimal(expected), Decimal(printed)
    except InvalidOperation:
        return False
    last = min(int(value.as_tuple().exponent) for value in (one, other))
    return abs(one - other) <= Decimal(units).scaleb(last)


def agrees(expected: str, printed: str, units: float = math.inf) -> bool:
    r"""Whether present output agrees with that on a page.

    Examples
    --------
    >>> agrees("rows 1\n...\nend", "rows 2\nmore\nend"), agrees("a", "b")
    (True, False)
    >>> agrees("error 0.46", "error 0.47", units=2), agrees("error 0.46", "error 0.49", units=2)
    (True, False)
    """
    lines = tidy(expected)
    pattern = "\n".join(
        "(?:.*\n)*?.*"
        if line == "..."
        else f"({NUMBER.pattern})".join(re.escape(words) for words in NUMBER.split(line))
        for line in lines
    )
    found = re.fullmatch(pattern, "\n".join(tidy(printed)))
    numbers = [number for line in lines if line != "..." for number in NUMBER.findall(line)]
    return found is not None and all(
        close(number, now, units) for number, now in zip(numbers, found.groups(), strict=True)
    )


def run(line: str, folder: Path) -> tuple[str, int]:
    """Run one line of a console; errors are printed where they happen.

    A plain ``relvec ...`` is run in this process, which spares the imports of a new one.
    """
    if re.fullmatch(r"relvec [^|&;<>$`*]*", line):
        return run_here(shlex.split(line, comments=True)[1:], folder)
    done = subprocess.run(
        ["bash", "-c", SHELL.format(python=sys.executable) + line],
        cwd=folder,
        env=os.environ | {"COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode


def run_here(arguments: list[str], folder: Path) -> tuple[str, int]:
    """Run the command with these arguments in this process."""
    from typer.testing import CliRunner

    from relvec.cli.app import app

    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})
    return done.stderr + done.stdout, done.exit_code  # in the order in which a pipe gets them


@contextlib.contextmanager
def namespace() -> Iterator[dict[str, object]]:
    """Names of a module that can be found by name, so that classes of a page can be saved."""
    module = ModuleType("documentation_page")
    sys.modules[module.__name__] = module
    try:
        yield module.__dict__
    finally:
        del sys.modules[module.__name__]


def play(text: str, folder: Path, page: str = "page", commands: bool = True) -> list[list[Ran]]:
    """Run a page from top to bottom; one list for each block, of a block of Python with one entry.

    Without ``commands`` those of consoles are not run, and their lists are empty.
    """
    played = []
    with namespace() as names:
        for block in BLOCK.finditer(text):
            if block["code"] is not None:
                line = text.count("\n", 0, block.start("code"))
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    # blank lines in front make line numbers in a traceback those of the page
                    exec(compile("\n" * line + block["code"], page, "exec"), names)
                name = f"the block on line {line}"
                played.append([Ran(name, block["output"] or "", printed.getvalue(), units=2)])
                continue
            ran = []
            for part in re.split(r"^\$ ", block["commands"], flags=re.MULTILINE)[1:]:
                line, _, expected = part.partition("\n")
                ran += [Ran(line, expected, *run(line, folder))] if commands else []
            played.append(ran)
    return played


def format_output(ran: Ran) -> str:
    """Output for the page; shortened outputs stay as they are."""
    if "\n...\n" in "\n" + ran.expected:
        return ran.expected.strip("\n")
    return "\n".join(line.rstrip() for line in ran.printed.splitlines()).strip("\n")


def update_page(text: str, folder: Path) -> str:
    """Text of a page with the present output of its blocks."""
    played = iter(play(text, folder))

    def replace(block: re.Match[str]) -> str:
        ran = next(played)
        if block["code"] is not None:
            output = format_output(ran[0])
            below = f"\n\n```output\n{output}\n```" if output else ""
            return f"```python\n{block['code']}```{below}"
        parts = [f"$ {command.name}\n{format_output(command)}".rstrip("\n") for command in ran]
        return "```console\n" + "\n\n".join(parts) + "\n```"

    return BLOCK.sub(replace, text)


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            page.write_text(update_page(page.read_text(encoding="utf-8"), Path(place)), "utf-8")
