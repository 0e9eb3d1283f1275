"""Show pictures that an example writes to a file, next to those it leaves open.

Scripts of the repository take the name of a picture as their argument.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

FOLDER = Path(__file__).resolve().parents[2] / "build" / "pictures"


def arguments(settings: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Arguments that an example is run with: where its picture goes."""
    return [str(FOLDER / f"{Path(script['src_file']).stem}.png")]


class WrittenPictures:
    """A scraper of the gallery; it is called after every block of every example."""

    def __init__(self) -> None:
        self.looked = time.time()

    def __repr__(self) -> str:
        # the gallery compares settings by their text
        return "WrittenPictures()"

    def __call__(self, block: Any, block_vars: dict[str, Any], settings: dict[str, Any]) -> str:
        """Take over pictures that were written since the last look."""
        written = [path for path in FOLDER.glob("*.png") if path.stat().st_mtime >= self.looked]
        self.looked = time.time()
        copies = []
        for picture in sorted(written, key=lambda path: path.stat().st_mtime):
            copies.append(next(block_vars["image_path_iterator"]))
            shutil.copy(picture, copies[-1])
        return figure_rst(copies, settings["src_dir"])


scrape = WrittenPictures()
