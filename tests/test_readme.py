"""Pages run from top to bottom, without a warning, and print what they say they print."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from tests.helpers_docs import DOCS, ROOT, load

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
CONSOLE = {page for page in PAGES if "```console" in page.read_text("utf-8")}
FENCE = re.compile(r"^```(\S*)[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
HAS_CONSOLE = bool(shutil.which("bash") and find_spec("typer") and find_spec("polars"))

transcripts = load(DOCS / "_tools" / "transcripts.py")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run_and_print_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # pages may write files
    text = page.read_text("utf-8")
    # what Python prints on the pages of commands may stay unsaid: sizes of files, mostly
    must_say = "```output" in text or (page.is_relative_to(DOCS) and page not in CONSOLE)
    for ran in chain(*transcripts.play(text, tmp_path, str(page), HAS_CONSOLE)):
        if ran.name.startswith("cc ") and not shutil.which("cc"):
            continue
        assert ran.code == 0, f"{page.name}: {ran.name}\n{ran.printed}"
        if ran.expected or must_say:
            assert ran.is_up_to_date, (
                f"{page.name}: {ran.name} printed\n{ran.printed}\n"
                f"If that is right: python docs/_tools/transcripts.py {page.relative_to(ROOT)}"
            )
    if page in CONSOLE and not HAS_CONSOLE:
        pytest.skip("its commands need bash, typer and polars")


def test_there_is_something_to_check() -> None:
    assert {page.name for page in CONSOLE} >= {"command_line.md", "model_files.md"}
    for name in ("README.md", "CONTRIBUTING.md", "docs/start.md"):
        assert "```python\n" in (ROOT / name).read_text("utf-8")


def test_every_output_is_below_the_code_that_prints_it() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        below = sum(block["output"] is not None for block in transcripts.BLOCK.finditer(text))
        assert text.count("```output\n") == below, f"{page.name}: an output that belongs to no code"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub(
        lambda fence: fence[0] if fence[1].startswith("{") else "", page.read_text("utf-8")
    )
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.slow
@pytest.mark.skipif(not HAS_CONSOLE, reason="commands need bash, typer and polars")
def test_commands_of_the_readme_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(50, 200, size=60), rng.integers(1, 6, size=60)
    price = 2.0 * area + 10.0 * rooms + rng.normal(size=60)
    table = [f"{a:.1f},{r},{p:.1f}" for a, r, p in zip(area, rooms, price, strict=True)]
    (tmp_path / "houses.csv").write_text("\n".join(["area,rooms,price", *table]), "utf-8")
    steps = np.arange(48)
    units = 100 + steps + 10 * np.sin(2 * np.pi * steps / 12) + rng.normal(size=48)
    months = (np.datetime64("2020-01") + steps).astype(str)
    series = [f"{month},{unit:.1f}" for month, unit in zip(months, units, strict=True)]
    (tmp_path / "sales.csv").write_text("\n".join(["month,units", *series]), "utf-8")
    (tmp_path / "new.csv").write_text("area,rooms\n100,3\n150,4\n", "utf-8")
    lines = re.findall(r"^relvec .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        printed, code = transcripts.run(line, tmp_path)
        assert code == 0, f"{line}\n{printed}"


@pytest.mark.skipif(not HAS_CONSOLE, reason="commands need bash, typer and polars")
@pytest.mark.parametrize("line", ["relvec fit", "relvec frob"])
def test_a_transcript_that_is_not_true_is_noticed(line: str, tmp_path: Path) -> None:
    ((ran,),) = transcripts.play(f"```console\n$ {line}\nall is well\n```\n", tmp_path)
    assert not ran.is_up_to_date
    assert ran.code == 2


@pytest.mark.parametrize(
    "promised",
    [
        "",
        "```output\nerror 0.46 of\n```\n",
        "```output\nerror 0.43 of 9\n```\n",
        "```output\nloss 0.46 of 9\n```\n",
        "```output\nerror 0.46 of 9\nmore\n```\n",
    ],
)
def test_an_output_that_is_not_true_is_noticed(promised: str, tmp_path: Path) -> None:
    code = '```python\nprint("error 0.46 of 9")\n```\n\n'
    ((ran,),) = transcripts.play(code + promised, tmp_path)
    assert not ran.is_up_to_date
    mended = transcripts.update_page(code + promised, tmp_path)
    assert mended.rstrip() == code + "```output\nerror 0.46 of 9\n```"
    ((ran,),) = transcripts.play(mended.replace("0.46 of", "0.47 of", 1), tmp_path)
    assert ran.is_up_to_date


def test_pages_that_are_right_are_renewed_to_themselves(tmp_path: Path) -> None:
    page = (
        "# A\n\n```python\nx = 1\n```\n\nWords.\n\n```python\nprint([x, 'a'])\nprint()\n```\n\n"
        "```output\n[1, 'a']\n```\n\n```python\nprint(*range(9), sep=chr(10))\n```\n\n"
        "```output\n0\n...\n8\n```\n\n```output\nof nothing\n```\n"
    )
    assert transcripts.update_page(page, tmp_path) == page
    silent = "```python\nx = 1\n```\n\n```output\n2\n```\n\nWords.\n"
    assert transcripts.update_page(silent, tmp_path) == "```python\nx = 1\n```\n\nWords.\n"


def test_classes_of_a_page_can_be_found_by_name(tmp_path: Path) -> None:
    page = "```python\nimport pickle\nclass Own: ...\npickle.dumps(Own())\n```\n"
    ((ran,),) = transcripts.play(page, tmp_path)
    assert ran.is_up_to_date
    assert "documentation_page" not in sys.modules


def test_errors_of_a_page_are_on_its_lines(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as error:
        transcripts.play("# A\n\n```python\nx = 1\nx / 0\n```\n", tmp_path, "start.md")
    assert [(where.path, where.lineno + 1) for where in error.traceback][-1] == ("start.md", 5)
