"""Progress of long work, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["resolve_progress"]


def resolve_progress(
    progress: bool | Callable[[int, int], None],
) -> Callable[[int, int], None] | None:
    """Return what to call after each tile: the user's function, the terminal, or nothing."""
    return _write if progress is True else progress or None


def _write(done: int, total: int) -> None:
    """Say how many tiles are done, on one line of the error stream; zero: unknown total."""
    end = "\n" if done == total else ""
    share = f"{done} of {total}" if total else str(done)
    sys.stderr.write(f"\rrelvec: {share} tiles denoised{end}")
    sys.stderr.flush()
