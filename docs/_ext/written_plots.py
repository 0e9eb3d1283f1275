"""Show plots that an example writes to a file, as well as those it leaves open.

Scripts of the repository take the name of an image file as their argument.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

FOLDER = Path(__file__).resolve().parents[2] / "build" / "plots"


def arguments(settings: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Arguments that an example is run with: the name of its image file."""
    return [str(FOLDER / f"{Path(script['src_file']).stem}.png")]


class WrittenPlots:
    """A scraper of the gallery; it is called after every block of every example."""

    def __init__(self) -> None:
        self.last_call = time.time()

    def __repr__(self) -> str:
        # the gallery compares settings by their text
        return "WrittenPlots()"

    def __call__(self, block: Any, block_vars: dict[str, Any], settings: dict[str, Any]) -> str:
        """Copy images that were written since the last call."""
        written = [path for path in FOLDER.glob("*.png") if path.stat().st_mtime >= self.last_call]
        self.last_call = time.time()
        copies = []
        for image in sorted(written, key=lambda path: path.stat().st_mtime):
            copies.append(next(block_vars["image_path_iterator"]))
            shutil.copy(image, copies[-1])
        return figure_rst(copies, settings["src_dir"])


scrape = WrittenPlots()
