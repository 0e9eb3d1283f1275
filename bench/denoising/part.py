"""What a part of the suite consists of."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench.report import Table

__all__ = ["Case", "Part", "Record", "Target", "geometric_mean", "ok", "target_table"]

Case = dict[str, Any]
Record = dict[str, Any]


class Target(NamedTuple):
    """A measured number and its target."""

    what: str
    measured: float
    limit: float
    at_least: bool = False
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the number meets its limit."""
        if self.at_least:
            return self.measured >= self.limit
        return self.measured <= self.limit


@dataclass(frozen=True)
class Part:
    """Cases to run, each in a process of its own, and what to make of their records."""

    cases: Callable[[bool], Iterable[Case]]
    """All cases, or the few small ones of a quick run."""
    run: Callable[[Case, Sequence[int]], Record]
    """One case on the draws with these seeds."""
    tables: Callable[[Sequence[Record]], list[Table]]
    targets: Callable[[Sequence[Record]], list[Target]]
    repeats: int
    """Draws (or rounds of timing) unless asked otherwise."""
    is_default: bool = True


def ok(records: Iterable[Record]) -> list[Record]:
    """Return the records of cases that ran to their end."""
    return [record for record in records if record["status"] == "ok"]


def geometric_mean(values: Iterable[float]) -> float:
    """Return the exponential of the mean logarithm."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def target_table(targets: Sequence[Target]) -> Table:
    """Return the table that says which targets are met."""
    rows = [
        [
            target.what,
            f"{target.measured:.4g}{target.unit}",
            f"{'≥' if target.at_least else '≤'} {target.limit:g}{target.unit}",
            "met" if target.is_met else "**not met**",
        ]
        for target in targets
    ]
    return Table("Targets", ("", "measured", "target", ""), rows)
