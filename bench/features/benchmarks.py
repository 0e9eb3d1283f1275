"""Published sets: whether feature selection costs accuracy where relevant features are unknown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from bench.classification.part import Case, Part, Plan, Record, Target, ok
from bench.features.outcomes import CELLS, cases_of, method_notes, rows_of, standard_error
from bench.features.problems import BENCHMARKS
from bench.report import Table

__all__ = ["BENCHMARKS_PART", "paired"]

OURS, PLAIN = "PFCVM", "RVM, one length-scale"
CANDIDATES = (OURS, "RVM", PLAIN, "SVC")
QUICK = ("Pima",)


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per set and method: all splits."""
    problems = [p for p in BENCHMARKS.values() if not plan.quick or p.name in QUICK]
    return cases_of(problems, CANDIDATES, plan, first_seed=0)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per set."""
    return [
        Table(name, ("method", *CELLS), rows_of(mine, CELLS))
        for name in dict.fromkeys(r["case"]["problem"] for r in records)
        if (mine := [r for r in records if r["case"]["problem"] == name])
    ]


def paired(ours: Record, other: Record) -> tuple[float, float]:
    """Return the difference of error rates in points on the same rows, and its standard error.

    The error is that over splits; where there is one split only, that over its test rows.
    """
    theirs = {draw["seed"]: draw for draw in other["draws"]}
    both = [(draw, theirs[draw["seed"]]) for draw in ours["draws"] if draw["seed"] in theirs]
    gaps = [100 * (one["error"] - two["error"]) for one, two in both]
    if len(gaps) > 1:
        return statistics.fmean(gaps), standard_error(gaps)
    one, two = both[0]
    difference = np.zeros(one["n_test"])
    difference[one["wrong"]] += 100.0
    difference[two["wrong"]] -= 100.0
    return gaps[0], float(difference.std(ddof=1)) / math.sqrt(one["n_test"])


def targets(records: Sequence[Record]) -> list[Target]:
    """Return our error rate above that of one length-scale, against its standard error."""
    result = []
    for name in dict.fromkeys(r["case"]["problem"] for r in records):
        known = {r["case"]["method"]: r for r in ok(records) if r["case"]["problem"] == name}
        if {OURS, PLAIN} <= set(known):
            # A single row that differs is exactly one standard error: rounding must not decide.
            gap, error = (round(value, 9) for value in paired(known[OURS], known[PLAIN]))
            result.append(Target(f"{name}: error above {PLAIN}", gap, error, unit=" points"))
    return result


def notes(records: Sequence[Record]) -> list[str]:
    """Return those of the methods, and what the targets are."""
    return [
        f"Targets: the error rate of {OURS} exceeds that of {PLAIN} by at most one standard error "
        f"of the paired difference. The standard error is over splits; where there is one split, "
        "over its test rows.",
        *method_notes(records),
    ]


BENCHMARKS_PART = Part(
    "bench.features.fits", cases, tables, targets, notes, repeats=10, needs_data=True
)
