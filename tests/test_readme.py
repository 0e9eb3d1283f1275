"""Every block of Python in the documentation runs, in order, without a warning."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\S*)[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Iterator[dict[str, object]]:
    """Names of a module that can be found by name, so that what it defines can be pickled."""
    module = types.ModuleType("documentation_page")
    sys.modules[module.__name__] = module
    yield module.__dict__
    del sys.modules[module.__name__]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(
    page: Path,
    namespace: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # pages may write files
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        # Blank lines in front make line numbers in a traceback those of the page.
        line = text.count("\n", 0, match.start(1))
        exec(compile("\n" * line + match.group(1), str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub(
        lambda fence: fence[0] if fence[1].startswith("{") else "", page.read_text("utf-8")
    )
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/start.md"])
def test_there_is_code_to_run(name: str) -> None:
    assert BLOCK.search((ROOT / name).read_text(encoding="utf-8"))
