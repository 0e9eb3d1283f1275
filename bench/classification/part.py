"""What a part of the suite consists of."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.denoising.part import Target, ok, target_table
from bench.report import Table

__all__ = ["Case", "Part", "Plan", "Record", "Target", "mean_and_error", "ok", "target_table"]

Case = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    seeds: Sequence[int]
    quick: bool = False


@dataclass(frozen=True)
class Part:
    """Cases to run, each in a process of its own, and what to make of their records."""

    module: str
    """Where the function ``run(case)`` is; a module with few imports of its own."""
    cases: Callable[[Plan], Iterable[Case]]
    tables: Callable[[Sequence[Record]], list[Table]]
    targets: Callable[[Sequence[Record]], list[Target]]
    notes: Callable[[Sequence[Record]], list[str]]
    repeats: int
    """Draws unless asked otherwise."""
    needs_data: bool = False
    is_default: bool = True


def mean_and_error(values: Iterable[float], digits: int = 3) -> str:
    """Return the mean with its standard error, if there is more than one value."""
    known = list(values)
    mean = f"{statistics.fmean(known):.{digits}f}"
    if len(known) < 2:
        return mean
    return f"{mean} ± {statistics.stdev(known) / math.sqrt(len(known)):.{digits}f}"
