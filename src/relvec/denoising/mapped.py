"""Signals that lie in files."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["release_pages"]


def release_pages(array: Any) -> None:
    """Tell the system that the pages of a mapped file, read or written so far, may leave memory.

    They would go by themselves when memory runs short; but until then they count as used. What
    was written is safe: it belongs to the file. Does nothing for arrays in memory.
    """
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    pages: Any = getattr(array, "_mmap", None)
    advice = getattr(mmap, "MADV_DONTNEED", None)
    # pages of a copy-on-write mapping exist in memory only
    if pages is not None and advice is not None and getattr(array, "mode", "c") != "c":
        pages.madvise(advice)
