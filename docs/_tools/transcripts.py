"""Run the Python and console blocks of a page in order, and compare or renew what commands print.

``python docs/_tools/transcripts.py docs/guide/command_line.md`` writes the output of all commands
into the page. The tests compare: words must be the same; figures may differ, because their last
digits depend on the machine. A line of three dots stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(r"^```(?P<kind>python|console)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,:TZ+e-]*")
SHELL = 'relvec() {{ "{python}" -m relvec "$@"; }}\n'


@dataclass(frozen=True)
class Command:
    """A command of a page, what the page says it prints, and what it prints."""

    line: str
    promised: str
    printed: str
    code: int


def words(text: str) -> list[str]:
    """Lines without figures, bars and spacing.

    Examples
    --------
    >>> words("noise   9.89 (std)  ██")
    ['noise # (std)']
    """
    lines = (NUMBER.sub("#", re.sub("[█─]+", " ", line)) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line.split()]


def agrees(promised: str, printed: str) -> bool:
    r"""Whether output is what a page promises.

    Examples
    --------
    >>> agrees("rows 1\n...\nend", "rows 2\nmore\nend"), agrees("a", "b")
    (True, False)
    """
    pattern = "\n".join(
        "(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in words(promised)
    )
    return re.fullmatch(pattern, "\n".join(words(printed))) is not None


def run(line: str, folder: Path) -> tuple[str, int]:
    """Run one line of a console; errors are printed where they happen."""
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


def play(text: str, folder: Path) -> list[list[Command]]:
    """Run a page from top to bottom; one list of commands for each block of a console."""
    # a module that can be found by name, so that classes of the page can be saved
    module = ModuleType("documentation_page")
    sys.modules[module.__name__] = module
    played = []
    try:
        for block in BLOCK.finditer(text):
            if block["kind"] == "python":
                exec(compile(block["body"], "page", "exec"), module.__dict__)
                continue
            commands = []
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                line, _, promised = part.partition("\n")
                commands.append(Command(line, promised, *run(line, folder)))
            played.append(commands)
    finally:
        del sys.modules[module.__name__]
    return played


def renewed(text: str, folder: Path) -> str:
    """Text of a page with what its commands print now; shortened outputs stay as they are."""
    played = iter(play(text, folder))

    def replace(block: re.Match[str]) -> str:
        if block["kind"] == "python":
            return block[0]
        parts = []
        for command in next(played):
            kept = "\n...\n" in "\n" + command.promised
            printed = "\n".join(line.rstrip() for line in command.printed.splitlines())
            body = command.promised if kept else f"{printed.strip(chr(10))}\n\n"
            parts.append(f"$ {command.line}\n{body}")
        return "```console\n" + "".join(parts).rstrip("\n") + "\n```"

    return BLOCK.sub(replace, text)


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            page.write_text(renewed(page.read_text(encoding="utf-8"), Path(place)), "utf-8")
