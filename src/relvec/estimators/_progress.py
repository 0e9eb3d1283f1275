"""Progress of denoising, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["resolve_progress"]


def resolve_progress(
    progress: bool | Callable[[int, int], None],
) -> Callable[[int, int], None] | None:
    """Return the function to call after each tile: the given one, one that prints, or None."""
    return _print_progress if progress is True else progress or None


def _print_progress(done: int, total: int) -> None:
    """Print the number of tiles done to the error stream; a total of zero is unknown."""
    end = "\n" if done == total else ""
    count = f"{done} of {total}" if total else str(done)
    sys.stderr.write(f"\rrelvec: {count} tiles denoised{end}")
    sys.stderr.flush()
