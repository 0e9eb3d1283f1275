"""Progress of long work, on the terminal."""

from __future__ import annotations

import sys

__all__ = ["Terminal"]


class Terminal:
    """Writes how far a job has come, on one line of the error stream."""

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` tiles are done; a total of zero is not known."""
        end = "\n" if done == total else ""
        share = f"{done} of {total}" if total else str(done)
        sys.stderr.write(f"\rrelvec: {share} tiles denoised{end}")
        sys.stderr.flush()
