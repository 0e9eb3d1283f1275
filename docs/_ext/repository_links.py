"""Rewrite links to files of the repository into links to the pages that show them.

Pages are written to be read in the repository as well, so they link to `../bench/README.md` or
`../examples/quickstart.py`. On the site some of these files are pages; links to others are replaced
by their text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\]\[]+)\]\((?!https?:|mailto:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)
FENCE = re.compile(r"^```(?P<label>\S*)[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "extending.md",
    "bench/README.md": "benchmarks.md",
    "bench/ACCURACY.md": "accuracy.md",
    "bench/NOISE.md": "noise_benchmark.md",
    "bench/COUNTS.md": "counts_benchmark.md",
    "bench/DENSITY.md": "density_benchmark.md",
    "bench/SAMPLING.md": "sampling_benchmark.md",
    "bench/KERNELS.md": "kernels_benchmark.md",
    "reproduce/README.md": "reproduced.md",
    "reproduce/RESULTS.md": "results.md",
    "examples": "gallery/index.rst",
}


def page_of(file: Path) -> Path | None:
    """Page of the site that shows a file of the repository, if there is one.

    Examples
    --------
    >>> page_of(ROOT / "bench" / "README.md").relative_to(DOCS).as_posix()
    'benchmarks.md'
    """
    if file.is_relative_to(DOCS):
        return file
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else ""
    if name in PAGES:
        return DOCS / PAGES[name]
    if name.startswith("examples/"):
        return DOCS / "gallery" / f"{file.stem}.rst"
    return None


def rewritten(text: str, source: Path, page: Path) -> str:
    """Text of the file `source`, for the folder of `page`, with links that lead to pages."""

    def replace(match: re.Match[str]) -> str:
        target = page_of((source.parent / match["path"]).resolve())
        if target is None:
            return match["text"]
        path = Path(os.path.relpath(target, page.parent)).as_posix()
        return f"[{match['text']}]({path}{match['anchor'] or ''})"

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts.append(LINK.sub(replace, text[end : fence.start()]))
        # directives contain text, other fences code
        is_text = fence["label"].startswith("{")
        parts.append(LINK.sub(replace, fence[0]) if is_text else fence[0])
        end = fence.end()
    return "".join([*parts, LINK.sub(replace, text[end:])])


def read_source(app: Any, docname: str, content: list[str]) -> None:
    """Rewrite links of a page."""
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        content[0] = rewritten(content[0], page, page)


def read_include(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """Rewrite links of a file that is shown in a page."""
    page = Path(app.env.doc2path(docname))
    content[0] = rewritten(content[0], (Path(app.srcdir) / path).resolve(), page)


def setup(app: Any) -> dict[str, bool]:
    """Connect to the events of reading files."""
    app.connect("source-read", read_source)
    app.connect("include-read", read_include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
