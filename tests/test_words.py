"""Names, documentation and messages use the words of the field."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.helpers_docs import ROOT

WORDS = tomllib.loads((ROOT / "tests" / "words.toml").read_text("utf-8"))["word"]
MOST_ALLOWED = 10
"""Occurrences that may stay, over all words."""


HISTORY = ROOT / "src" / "relvec" / "io" / "history.py"
"""Lists names in files of earlier releases, which must stay as they were written."""


def texts() -> list[Path]:
    """Files that users and contributors read."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("src", "docs", "examples"):
        for suffix in ("*.py", "*.md", "*.rst", "*.html", "*.css"):
            found += sorted((ROOT / folder).rglob(suffix))
    found.remove(HISTORY)
    return [path for path in found if not {"generated", "gallery"} & set(path.parts)]


TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in texts()}


def occurrences(word: dict[str, Any]) -> list[tuple[str, int, str]]:
    """File, number and text of each line that has the word."""
    pattern, found = re.compile(word["pattern"], re.IGNORECASE), []
    for name, text in TEXTS.items():
        for match in pattern.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            found.append((name, number, text.splitlines()[number - 1].strip()))
    return found


def is_allowed(word: dict[str, Any], name: str, line: str) -> bool:
    """Whether an exception names the file and a text of the line."""
    return any(
        each["file"] == name and each["text"] in line and each["reason"]
        for each in word.get("allowed", ())
    )


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word["use"])
def test_words_of_the_field(word: dict[str, Any]) -> None:
    wrong = [
        f"{name}:{number}: {line}"
        for name, number, line in occurrences(word)
        if not is_allowed(word, name, line)
    ]
    assert not wrong, f"write instead: {word['use']}\n" + "\n".join(wrong)


def test_exceptions_are_few_and_needed() -> None:
    n_allowed = 0
    for word in WORDS:
        lines = [(name, line) for name, _, line in occurrences(word)]
        for each in word.get("allowed", ()):
            used = [1 for name, line in lines if name == each["file"] and each["text"] in line]
            assert used, f"{each} allows what does not occur"
            n_allowed += len(used)
    assert n_allowed <= MOST_ALLOWED


def test_patterns_match_what_they_are_for() -> None:
    (price,) = (word for word in WORDS if word["use"].startswith("penalty;"))
    assert re.search(price["pattern"], "the price of an atom")
    assert not re.search(price["pattern"], "relvec fit houses.csv --target price -o m.relvec")
