"""Limit of time and progress of a construction."""

from __future__ import annotations

import math
import time
from typing import Any

from relvec.solvers import Monitor, Progress

__all__ = ["Watch"]


class Watch:
    """Says whether a search is to end, and passes on its progress.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now until the search is to end.
    monitor : callable, optional
        Called after every fit of a structure; returning True asks the search to end.
    """

    def __init__(self, time_limit: float | None = None, monitor: Monitor | None = None) -> None:
        self._end = math.inf if time_limit is None else time.monotonic() + time_limit
        self._monitor = monitor
        self._is_asked = False

    @property
    def is_over(self) -> bool:
        """Whether the search is to end."""
        return self._is_asked or time.monotonic() > self._end

    def report(self, progress: Progress) -> None:
        """Pass on the progress."""
        if self._monitor is not None and self._monitor(progress):
            self._is_asked = True

    def __getstate__(self) -> dict[str, Any]:
        # other processes cannot call the monitor
        return self.__dict__ | {"_monitor": None}
