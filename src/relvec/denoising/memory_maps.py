"""Memory-mapped signals."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["release_pages"]


def release_pages(array: Any) -> None:
    """Allow the operating system to evict the pages of a memory-mapped file from memory.

    It would evict them anyway when memory runs short, but until then they count as used. Written
    data are not lost: they belong to the file. Does nothing for arrays in memory.
    """
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    pages: Any = getattr(array, "_mmap", None)
    advice = getattr(mmap, "MADV_DONTNEED", None)
    # changed pages of a copy-on-write mapping (mode "c") exist in memory only: keep them
    if pages is not None and advice is not None and getattr(array, "mode", "c") != "c":
        pages.madvise(advice)
