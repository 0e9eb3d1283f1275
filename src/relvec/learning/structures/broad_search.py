"""Search for the structure of a series by elimination, then by a beam."""

from __future__ import annotations

from dataclasses import dataclass

from relvec.learning.structures.fast_search import FastSeriesSearch
from relvec.learning.structures.search import SeriesSearch

__all__ = ["BroadSeriesSearch"]


@dataclass
class BroadSeriesSearch(FastSeriesSearch):
    """Search for the structure of a series by elimination, then by a beam.

    Neither finds the best structure always; what elimination finds is among those that the beam
    starts from, so the result is at least as good. See `SeriesSearch` for the parameters.
    """

    def run(self) -> None:
        """Search; what is fitted is in `found`."""
        if not self._is_seeded:
            FastSeriesSearch.run(self)
        SeriesSearch.run(self)
