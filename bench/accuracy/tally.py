"""Wins, ties and losses of relvec against each peer, over sets."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench.accuracy.methods import OURS
from bench.accuracy.metrics import METRICS, Metric

__all__ = ["Comparison", "Score", "compare", "comparisons", "is_finished", "scores"]

Record = dict[str, Any]

N_ERRORS = 2.0
"""Standard errors beyond which a difference is a win or a loss."""


class Comparison(NamedTuple):
    """relvec and a peer on one set: by how much relvec is better, and its standard error.

    The difference is infinite and negative where the peer finished and relvec did not.
    """

    problem: str
    peer: str
    metric: Metric
    ours: float
    theirs: float
    gap: float
    error: float
    """With the correction of Nadeau and Bengio (2003) for draws that have rows in common."""
    plain_error: float
    """As if draws had no rows in common."""

    def verdict(self, *, is_corrected: bool = True) -> str:
        """Return "win", "tie" or "loss"."""
        # rounding must not decide where all draws differ alike
        margin = N_ERRORS * (self.error if is_corrected else self.plain_error) + 1e-12
        if self.gap > margin:
            return "win"
        return "loss" if self.gap < -margin else "tie"


@dataclass
class Score:
    """How often relvec was better, as good and worse."""

    win: int = 0
    tie: int = 0
    loss: int = 0

    def __str__(self) -> str:
        return f"{self.win} / {self.tie} / {self.loss}" if self.n_sets else "–"

    @property
    def n_sets(self) -> int:
        """How many sets were compared."""
        return self.win + self.tie + self.loss


def is_finished(record: Record | None) -> bool:
    """Whether all draws that were asked for are there."""
    return record is not None and record["status"] == "ok" and bool(record["draws"])


def _value(metric: Metric, value: float) -> float:
    """Return the value on the scale on which differences are taken, more being better."""
    if metric.is_ratio:
        value = math.log(max(value, 1e-3 if metric.key == "cpu" else 1.0))
    return value if metric.is_more_better else -value


def compare(ours: Record, other: Record, metric: Metric) -> Comparison | None:
    """Return the paired comparison on the draws that both have.

    None if there is nothing to compare: a peer without vectors, or fewer than two draws.
    """
    theirs = {draw["seed"]: draw for draw in other["draws"]}
    both = [(draw, theirs[draw["seed"]]) for draw in ours["draws"] if draw["seed"] in theirs]
    if len(both) < 2 or any(draw[metric.key] is None for pair in both for draw in pair):
        return None
    gaps = [_value(metric, a[metric.key]) - _value(metric, b[metric.key]) for a, b in both]
    variance = statistics.variance(gaps)
    overlap = statistics.fmean(one["overlap"] for one, _ in both)
    return Comparison(
        ours["problem"],
        other["method"],
        metric,
        statistics.fmean(one[metric.key] for one, _ in both),
        statistics.fmean(two[metric.key] for _, two in both),
        statistics.fmean(gaps),
        math.sqrt(variance * (1.0 / len(gaps) + overlap)),
        math.sqrt(variance / len(gaps)),
    )


def comparisons(part: str, records: Sequence[Record]) -> list[Comparison]:
    """Return all comparisons of a part.

    A peer that did not finish a set is not compared on it. Where it finished and relvec did not,
    that is a loss in every metric the peer has.
    """
    known = {(r["problem"], r["method"]): r for r in records if r["part"] == part}
    result = []
    for (problem, peer), record in known.items():
        ours = known.get((problem, OURS))
        if peer == OURS or ours is None or not is_finished(record):
            continue
        for metric in METRICS[part]:
            if is_finished(ours):
                found = compare(ours, record, metric)
                if found is not None:
                    result.append(found)
            elif record["draws"][0][metric.key] is not None:
                theirs = statistics.fmean(draw[metric.key] for draw in record["draws"])
                lost = Comparison(problem, peer, metric, math.nan, theirs, -math.inf, 0.0, 0.0)
                result.append(lost)
    return result


def scores(
    found: Sequence[Comparison], *, is_corrected: bool = True
) -> dict[tuple[str, str], Score]:
    """Return the score by peer and key of the metric."""
    result: dict[tuple[str, str], Score] = {}
    for one in found:
        score = result.setdefault((one.peer, one.metric.key), Score())
        verdict = one.verdict(is_corrected=is_corrected)
        setattr(score, verdict, getattr(score, verdict) + 1)
    return result
